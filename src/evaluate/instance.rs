//! The run of one instance: choose tables → sample and blend → local matrices → stage → down the hierarchy. Palette
//! rows are written once, front to back.

use super::kernel::track::get;
use super::kernel::{compose, locate_all, multiply};
use super::mix::Mix;
use super::offsets::Offsets;
use super::scratch::{ActionInput, Last, LayerInput, Scratch, Sources};
use super::stage::{Given, PoseMut, Stage};
use super::tables::{
    ClipProgram, Fold, ROTATION, SCALE, TRANSLATION, Topology, UnitSet, group_floats,
};
use crate::clip::Cursor;
use crate::math::{Affine3x4, Row};
use crate::simd::{Lanes, Streaming, out_of_line};
use fearless_simd::{Level, prelude::*};

/// Evaluates one instance. The caller has reserved the scratch, filled its layers and actions, and checked that
/// clips, hints and output belong to the rig.
pub(crate) struct Instance<'a> {
    pub sources: Sources<'a>,
    pub stage: Stage<'a>,
    /// Key hints: `hint_stride` for every clip that may play.
    pub hints: &'a mut [u16],
    pub scratch: &'a mut Scratch,
    pub output: &'a mut [Affine3x4],
    /// Permission to store the rows past the caches: nothing may read them until the fence is dropped.
    pub streaming: Option<Streaming<'a>>,
}

/// The tables chosen for one run: topology, folds, and the source of constant values.
#[derive(Clone, Copy)]
struct RunTables<'a> {
    /// The units that vary.
    varying: UnitSet,
    /// The constants of all other units, per channel, in the registers of a pose.
    constants: [&'a [f32]; 3],
    /// Units of scale, outside those that vary, whose scales are all 1.
    unit_scale: u64,
    topology: &'a Topology,
    /// Folded constants of `topology`; what they leave out is in `base`.
    fold: &'a Fold,
    base: &'a Fold,
    /// The clip, if one plays alone at full weight.
    alone: Option<&'a ClipProgram>,
    last: Last,
}

impl<'a> Instance<'a> {
    #[inline(always)]
    pub fn run<S: Lanes>(mut self, simd: S) {
        let tables = self.pose(simd);
        let Scratch { locals, models, .. } = self.scratch;
        tables.topology.walk.run(
            simd,
            (&tables.fold.walk, &tables.base.walk),
            bytemuck::must_cast_slice(locals),
            models,
            self.output,
            self.streaming,
        );
    }

    /// Evaluates the local matrices alone, and passes the pose to `read`.
    #[inline(always)]
    pub fn read<S: Lanes>(mut self, simd: S, read: impl FnOnce(&PoseMut<'_>)) {
        let tables = self.pose(simd);
        if self.stage.is_empty() {
            self.scratch.changed.fill(0);
        }
        read(&view(simd.level(), self.sources, self.scratch, &tables));
    }

    /// Evaluates the local matrices of the lanes that move, with the stage.
    #[inline(always)]
    fn pose<S: Lanes>(&mut self, simd: S) -> RunTables<'a> {
        let Scratch { layers, actions, cursors, pose, above, locals, last, .. } =
            &mut *self.scratch;
        let sources = self.sources;
        locate(&sources, actions, self.hints, cursors);
        let mut tables = choose_tables(&sources, layers, actions, &self.stage);
        *last = tables.last;
        let offsets = self.stage.offsets;
        let mix = Mix { simd, sources, varying: tables.varying, layers, actions, cursors, offsets };
        let pose: &mut [f32] = bytemuck::must_cast_slice_mut(pose);
        let given = self.stage.given();
        match (given, tables.alone) {
            // It replaces all.
            (Some(Given { weight: 1.0, .. }), _) => {}
            (_, Some(clip)) => mix.alone(clip, pose),
            _ => mix.blend(pose, bytemuck::must_cast_slice_mut(above)),
        }
        if let Some(given) = given {
            let constants = pose_constants(&tables);
            tables.unit_scale &= if given.even { !0 } else { 0 };
            tables.varying = UnitSet::ALL;
            tables.varying.0[SCALE] &= !tables.unit_scale;
            out_of_line(
                simd,
                #[inline(always)]
                || mix.given(&given, (constants, tables.unit_scale), pose),
            );
        }
        local_matrices(&mix, &tables, pose, locals);
        if !self.stage.is_empty() {
            if !sources.before.is_empty() {
                let mut before = std::mem::take(&mut self.scratch.before);
                sources
                    .before
                    .compute(&view(simd.level(), sources, self.scratch, &tables), &mut before);
                self.scratch.before = before;
            }
            self.stage.run(&mut view(simd.level(), sources, self.scratch, &tables));
        }
        tables
    }
}

/// Finds the keys of all actions.
#[inline(always)]
pub(super) fn locate(
    sources: &Sources<'_>,
    actions: &mut [ActionInput],
    hints: &mut [u16],
    cursors: &mut [Cursor],
) {
    let mut next = 0;
    for action in actions.iter_mut() {
        action.cursor = next as u32;
        if let Some(program) = sources.clip(action.clip) {
            let at = usize::from(action.hint) * sources.hint_stride;
            let hints = hints.get_mut(at..).unwrap_or_default();
            locate_all(&program.clip, action.time, hints, &mut cursors[next..]);
            next += program.clip.timelines().len();
        }
    }
}

/// The constants of all lanes. Those of the run may be the base's behind the lanes that move, where the fold has the
/// clip's own.
fn pose_constants<'a>(tables: &RunTables<'a>) -> [&'a [f32]; 3] {
    match tables.alone {
        Some(clip) => [clip.constants.pose(); 3],
        None => tables.constants,
    }
}

/// The pose in a scratch, after a run has composed its local matrices.
fn view<'s>(
    level: Level,
    sources: Sources<'s>,
    scratch: &'s mut Scratch,
    tables: &RunTables<'s>,
) -> PoseMut<'s> {
    PoseMut {
        level,
        sources,
        lane_of: sources.rig.skeleton().lane_of(),
        parents: sources.rig.skeleton().parents(),
        layers: &scratch.layers,
        actions: &scratch.actions,
        pose: bytemuck::must_cast_slice(&scratch.pose),
        constants: pose_constants(tables),
        varying: tables.varying,
        locals: bytemuck::must_cast_slice_mut(&mut scratch.locals),
        moving: tables.topology.moving,
        changed: &mut scratch.changed,
    }
}

/// Composes the local matrices of the groups that the topology reads.
#[inline(always)]
fn local_matrices<'p, S: Lanes>(
    mix: &Mix<'_, S>,
    tables: &RunTables<'p>,
    pose: &'p [f32],
    locals: &mut [Row],
) {
    let units = &mix.sources.program.units;
    let (simd, n) = (mix.simd, S::f32s::LEN);
    let floats: &mut [f32] = bytemuck::must_cast_slice_mut(locals);
    let groups = tables.topology.moving.div_ceil(n);
    let parts = |all: [&'p [f32]; 3]| {
        let [translations, rotations, scales] = all.map(|all| all.split_at(units.groups * 4 * n));
        let [translations, scales] =
            [translations, scales].map(|all| all.1.split_at(units.groups * 3 * n));
        [translations.0, rotations.0, scales.1]
    };
    let (pose, constants) = (parts([pose; 3]), parts(tables.constants));
    // Chunks have known sizes, so their loads need no checks.
    let of_pose = pose[TRANSLATION].chunks_exact(3 * n);
    let of_pose = of_pose.zip(pose[ROTATION].chunks_exact(4 * n));
    let of_constants = constants[TRANSLATION].chunks_exact(3 * n);
    let of_constants = of_constants.zip(constants[ROTATION].chunks_exact(4 * n));
    let all = floats[..groups * group_floats(n)].chunks_exact_mut(group_floats(n));
    let [t_varies, q_varies, s_varies] = tables.varying.0;
    let (no_scale, shift) = (tables.unit_scale, units.shift);
    for (group, ((out, moves), stays)) in all.zip(of_pose).zip(of_constants).enumerate() {
        let unit = group >> shift;
        let has = |set: u64| set >> unit & 1 == 1;
        let t = if has(t_varies) { moves.0 } else { stays.0 };
        let q = if has(q_varies) { moves.1 } else { stays.1 };
        let (t, q) = (get(simd, t, 0), get(simd, q, 0));
        if has(no_scale) {
            compose(simd, &t, &q, None, out);
        } else {
            let from = if has(s_varies) { pose } else { constants };
            let s = get(simd, from[SCALE], group * 3 * n);
            compose(simd, &t, &q, Some(&s), out);
        }
    }
}

/// Chooses the tables of a run. A single clip at full weight takes its own constants; otherwise lanes that no clip
/// touches take the base. The choice depends only on what plays and on the joints that the stage changes.
#[inline(always)]
fn choose_tables<'a>(
    sources: &Sources<'a>,
    layers: &[LayerInput],
    actions: &[ActionInput],
    stage: &Stage<'_>,
) -> RunTables<'a> {
    let program = sources.program;
    let mut changed = 0;
    for o in stage.overrides {
        let lane = sources.rig.skeleton().lane_of()[usize::from(o.joint)];
        changed = changed.max(program.topology_of(usize::from(lane) + 1));
    }
    if stage.lanes > 0 {
        changed = changed.max(program.topology_of(stage.lanes));
    }
    if let Some((clip, index)) = alone(sources, layers, actions)
        && let Some(own) = &clip.alone
        && changed <= own.topology
    {
        let (topology, base) = program.topology(sources.rig, own.topology);
        return RunTables {
            varying: clip.moving,
            constants: clip.constants_alone(own, &program.base),
            unit_scale: clip.unit_scale(),
            topology,
            fold: &own.fold,
            base,
            alone: Some(clip),
            last: Last { topology: own.topology, alone: Some(index) },
        };
    }
    let (varying, lanes) = touched(sources, layers, actions, stage.offsets);
    let index = program.topology_of(lanes).max(changed);
    let (topology, fold) = program.topology(sources.rig, index);
    RunTables {
        varying,
        constants: [program.base.pose(); 3],
        unit_scale: program.base.unit_scale & !varying.0[SCALE],
        topology,
        fold,
        base: fold,
        alone: None,
        last: Last { topology: index, alone: None },
    }
}

/// The clip and its index, if it is the run's only input, at full weight. Inputs alone decide: a run may have no pool, and
/// a fade counts by its present weight.
#[inline(always)]
fn alone<'a>(
    sources: &Sources<'a>,
    layers: &[LayerInput],
    actions: &[ActionInput],
) -> Option<(&'a ClipProgram, u16)> {
    let [layer] = layers else { return None };
    let [action] = actions else { return None };
    if layer.rest != 0.0 || layer.offset.is_some() || !sources.replaces(layer) {
        return None;
    }
    Some((sources.clip(action.clip)?, action.clip))
}

/// The units that a clip or the rest pose changes from the base, and one more than the last such lane.
#[inline(always)]
fn touched(
    sources: &Sources<'_>,
    layers: &[LayerInput],
    actions: &[ActionInput],
    offsets: Option<&Offsets>,
) -> (UnitSet, usize) {
    let program = sources.program;
    let mut all = UnitSet::default();
    let mut lanes = 0;
    let mut covered = false;
    for layer in layers {
        let mask = sources.masks.get(layer.layer);
        let mut units = UnitSet::default();
        let mut of_layer = 0;
        for action in &actions[layer.actions.clone()] {
            if let Some(clip) = sources.clip(action.clip) {
                units.join(&clip.touched);
                of_layer = of_layer.max(clip.touched_lanes);
            }
        }
        if layer.rest > 0.0 || !(covered || sources.replaces(layer)) {
            all.join(&program.rest_differences.units);
            lanes = lanes.max(program.rest_differences.lanes);
        }
        covered = true;
        if let (Some(offset), Some(offsets)) = (&layer.offset, offsets) {
            let (differ, end) = offsets.reach(offset.id, &program.units);
            units.join(&differ);
            of_layer = of_layer.max(end);
        }
        if let Some(mask) = mask {
            units = units.and(&mask.units);
            of_layer = of_layer.min(mask.lanes);
        }
        all.join(&units);
        lanes = lanes.max(of_layer);
    }
    if !covered {
        all.join(&program.rest_differences.units);
        lanes = lanes.max(program.rest_differences.lanes);
    }
    (all, lanes)
}

impl Scratch {
    /// Writes a joint's model matrix after a run that wrote `rows`: its palette row times the bind matrix. A joint without
    /// such a row takes its anchor's model matrix times the constant product from there. In place: a matrix that is
    /// stored and copied costs more than the product.
    #[inline(always)]
    pub fn model<S: Lanes>(
        &self,
        simd: S,
        sources: &Sources<'_>,
        (joint, rows): (usize, &[Affine3x4]),
        out: &mut Affine3x4,
    ) {
        if let Some((row, bind)) = &sources.program.slots[joint] {
            let [x, y, z] = &bind.rows;
            return multiply(simd, &rows[*row as usize], [x, y, z], out);
        }
        let (topology, mut fold) = sources.program.topology(sources.rig, self.last.topology);
        let clip = self.played_alone(sources);
        if let Some(own) = clip.and_then(|c| c.alone.as_ref()) {
            fold = &own.fold;
        }
        let at = topology.unslotted.binary_search(&(joint as u16));
        let Ok(product) = at.map(|at| &fold.products[at]) else {
            *out = Affine3x4::IDENTITY;
            return;
        };
        let anchor = &self.models[usize::from(topology.anchor[joint])].0;
        let mut left = Affine3x4::IDENTITY;
        left.rows.as_flattened_mut().copy_from_slice(&anchor[..12]);
        let [x, y, z] = &product.rows;
        multiply(simd, &left, [x, y, z], out);
    }

    /// The clip that played alone in the last run.
    #[inline(always)]
    fn played_alone<'a>(&self, sources: &Sources<'a>) -> Option<&'a ClipProgram> {
        sources.clip(self.last.alone?)
    }
}
