//! The stored form of instances: which are alive and where, their playback, and the free indices.

use super::State;
use crate::evaluate::{Gaze, JointOverride, MAX_FEET, POSE_ROWS, Replaces, Tails};
use crate::math::{Affine3x4, Row};
use crate::playback::arena::Arena;
use crate::playback::blend_space::space::Space;
use crate::playback::clock::Clock;
use crate::playback::error::PlaybackError;
use crate::playback::ids::{MAX_INSTANCES, RETIRED};
use crate::playback::inputs::{Input, Inputs, POSE};
use crate::playback::linear_fade::LinearFade;
use crate::playback::modifiers::{Space as TargetSpace, Target};
use crate::playback::options::MAX_SPEED;
use crate::playback::overrides::Overrides;
use crate::playback::root_motion::narrow;
use crate::playback::snapshot::bytes::{Reader, Writer};
use crate::playback::snapshot::identity::PoolIdentity;
use crate::playback::snapshot::layer::{self, Context};
use crate::skeleton::MAX_JOINTS;
use crate::skeleton::limits::{MAX_OVERRIDE_LENGTH, MAX_WORLD, is_world};
use glam::{DAffine3, Quat, Vec2, Vec3};

/// Bytes per layer of an index without an instance: memory is reserved for its layers all the same.
const PER_DEAD_LAYER: usize = 12;
/// Bytes of every index: generation and flags.
const PER_INSTANCE: usize = 3;
/// A bound of the angles of looks: π, and what rounding adds.
const MAX_LOOK: f64 = 4.0;

fn write_rows(w: &mut Writer, rows: &Affine3x4) {
    rows.rows.as_flattened().iter().for_each(|&v| w.f32(v));
}

fn read_rows(r: &mut Reader<'_>, what: &'static str) -> Result<Affine3x4, PlaybackError> {
    let numbers: [f32; 12] = read_numbers(r, what)?;
    Ok(Affine3x4 { rows: bytemuck::must_cast(numbers) })
}

impl State {
    pub(in crate::playback) fn write(&self, w: &mut Writer, layers: usize, scheduled: &[bool]) {
        let (ticks, backwards) = self.clock.parts();
        w.u64(ticks as u64);
        w.flags([backwards, self.world_wide.is_some()]);
        w.u64(self.evicted);
        w.count(self.len());
        for (index, (&alive, &scheduled)) in self.alive.iter().zip(scheduled).enumerate() {
            w.u16(self.generation[index]);
            w.flags([alive, alive && self.visible[index], alive && scheduled]);
            if !alive {
                w.zeros(PER_DEAD_LAYER * layers);
                continue;
            }
            w.f32(self.speed[index]);
            match self.world_wide.as_ref().and_then(|wide| wide.get(index)) {
                Some(wide) => wide.to_cols_array().iter().for_each(|&v| w.f64(v)),
                None => write_rows(w, &self.world[index]),
            }
            let overrides = self.overrides.of(index);
            // A joint has at most one override, and joints are fewer than 2^16.
            w.u16(overrides.len() as u16);
            for o in overrides {
                w.u16(o.joint);
                w.u8(match o.replaces {
                    Replaces::Local => 0,
                    Replaces::ModelRotation => 1,
                    Replaces::Model => 2,
                });
                w.f32(o.weight);
                write_rows(w, &o.matrix);
            }
            // There are at most 64 inputs, the last of which may be a pose.
            let inputs = self.inputs.all(index);
            let (inputs, pose) = inputs.split_at(inputs.partition_point(|i| i.modifier < POSE));
            // There are at most 63 modifiers, of at most 8 feet.
            w.u16(inputs.len() as u16);
            for input in inputs {
                let springs = self.inputs.springs().get(index, input.modifier);
                write_input(w, input, springs.as_deref().filter(|_| input.slot == 0));
            }
            write_pose(w, pose.first().map(|input| (&input.weight, self.inputs.pose(index))));
            for at in index * layers..(index + 1) * layers {
                layer::write(w, &self.entries.stored(at), self.clock, &self.offsets);
            }
        }
        w.count(self.free.len());
        self.free.iter().for_each(|&index| w.u32(index));
    }
}

/// Reads instances. Returns their state, and whether each is scheduled.
pub(in crate::playback) fn read(
    r: &mut Reader<'_>,
    identity: &PoolIdentity,
    spaces: &Arena<Space>,
    modifiers: &Arena<u64>,
) -> Result<(State, Vec<bool>), PlaybackError> {
    let layers = identity.layers.len();
    let ticks = r.u64("clock")? as i64;
    let [backwards, roots] = r.flags("flags of instances")?;
    let mut state = State {
        clock: Clock::of_parts((ticks, backwards)),
        evicted: r.u64("actions evicted")?,
        world_wide: roots.then(Vec::new),
        ..State::default()
    };
    let least = PER_INSTANCE + PER_DEAD_LAYER * layers;
    let count = r.count("instances", least, MAX_INSTANCES)?;
    state.reserve_exact(count, layers);
    let mut scheduled = Vec::with_capacity(count);
    // The same for all instances of a rig; 0 before the first.
    let mut pose_rows = 0;
    for index in 0..count {
        let state = (&mut state, &mut pose_rows);
        let is_scheduled = read_one(r, (identity, spaces, modifiers), state, index)?;
        scheduled.push(is_scheduled);
    }
    let free = r.count("free indices", 4, MAX_INSTANCES)?;
    let mut taken = state.alive.clone();
    for _ in 0..free {
        let index = r.u32("free index")?;
        let at = index as usize;
        let is_free = taken.get(at) == Some(&false) && state.generation[at] != RETIRED;
        r.needs(is_free, "a free index is not free")?;
        taken[at] = true;
        state.free.push(index);
    }
    // Indices that are neither alive nor free must be used up.
    let rest = taken.iter().zip(&state.generation).filter(|t| !t.0);
    let used_up = rest.clone().all(|(_, &generation)| generation == RETIRED);
    state.retired = rest.count();
    r.needs(used_up, "an index is neither alive nor free nor used up")?;
    Ok((state, scheduled))
}

/// Reads the instance at an index. Returns whether it is scheduled.
fn read_one(
    r: &mut Reader<'_>,
    (identity, spaces, modifiers): (&PoolIdentity, &Arena<Space>, &Arena<u64>),
    (state, pose_rows): (&mut State, &mut usize),
    index: usize,
) -> Result<bool, PlaybackError> {
    let layers = identity.layers.len();
    let generation = r.u16("generation of an instance")?;
    let [alive, visible, scheduled] = r.flags("flags of an instance")?;
    r.needs(!alive || generation != RETIRED, "an instance lives on a used-up index")?;
    state.append(layers);
    state.generation[index] = generation;
    state.alive[index] = alive;
    if let Some(wide) = &mut state.world_wide {
        wide.push(DAffine3::IDENTITY);
    }
    if !alive {
        r.needs(!visible && !scheduled, "an instance is gone and has flags")?;
        r.zeros(PER_DEAD_LAYER * layers, "an instance that is gone")?;
        return Ok(true);
    }
    state.visible[index] = visible;
    state.speed[index] = r.f32("speed of an instance", -MAX_SPEED, MAX_SPEED)?;
    match &mut state.world_wide {
        None => state.world[index] = read_rows(r, "world transform")?,
        Some(wide) => {
            let mut columns = [0.0; 12];
            for v in &mut columns {
                *v = r.f64("world transform", f64::MIN, f64::MAX)?;
            }
            wide[index] = DAffine3::from_cols_array(&columns);
            state.world[index] = narrow(&wide[index]);
            let within = is_world(&state.world[index]);
            r.needs(within, "a world transform is beyond its limit")?;
        }
    }
    read_overrides(r, &mut state.overrides, index as u32)?;
    read_inputs(r, &mut state.inputs, (index, modifiers))?;
    read_pose(r, &mut state.inputs, index, pose_rows)?;
    for (number, &layer) in identity.layers.iter().enumerate() {
        let context = Context {
            clips: &identity.clips,
            spaces,
            clock: state.clock,
            speed: state.speed[index],
            layer,
        };
        let stored = layer::read(r, &context, &mut state.offsets)?;
        state.entries.restore(index * layers + number, &stored);
    }
    Ok(scheduled)
}

fn write_pose(w: &mut Writer, pose: Option<(&LinearFade, &[Row])>) {
    let Some((weight, rows)) = pose else {
        return w.u16(0);
    };
    // Lanes are fewer than 2^20.
    w.u16((rows.len() / POSE_ROWS) as u16);
    w.flags([weight.running()]);
    layer::write_fade(w, weight);
    rows.iter().flat_map(|row| row.0).for_each(|v| w.f32(v));
}

/// Reads the pose of an instance, if it has one.
fn read_pose(
    r: &mut Reader<'_>,
    inputs: &mut Inputs,
    instance: usize,
    size: &mut usize,
) -> Result<(), PlaybackError> {
    let rows = usize::from(r.u16("groups of a pose")?) * POSE_ROWS;
    if rows == 0 {
        return Ok(());
    }
    let one_size = *size == 0 || *size == rows;
    r.needs(one_size, "poses of one rig have different sizes")?;
    *size = rows;
    let [runs] = r.flags("flags of a pose")?;
    let weight = layer::read_fade(r, runs, "weight of a pose", (0.0, 1.0))?;
    let most = f64::from(MAX_OVERRIDE_LENGTH);
    let mut pose = Vec::new();
    for _ in 0..rows {
        let mut row = Row::default();
        for v in &mut row.0 {
            *v = r.f32("pose", -most, most)?;
        }
        pose.push(row);
    }
    inputs.set_pose(instance, &pose);
    inputs.set_weight(instance, POSE, weight);
    Ok(())
}

fn write_input(w: &mut Writer, input: &Input, springs: Option<&Tails>) {
    let Input { modifier, slot, target, weight, gaze, .. } = input;
    let follows = *gaze != Gaze::default();
    w.u8(*modifier);
    w.u8(*slot);
    let swings = springs.is_some();
    let turns = target.rotation.is_some();
    w.flags([weight.running(), turns, target.normal.is_some(), follows, swings]);
    if *slot == 0 {
        layer::write_fade(w, weight);
    }
    match target.space {
        TargetSpace::Model => w.u32(0),
        TargetSpace::World => w.u32(1),
        // Joints are fewer than 2^16.
        TargetSpace::Joint(joint) => w.u32(2 + joint as u32),
    }
    let rotation = target.rotation.map(|q| q.to_array());
    let normal = target.normal.map(|n| n.to_array());
    let numbers = target.position.to_array().into_iter();
    let numbers = numbers.chain(rotation.into_iter().flatten()).chain(normal.into_iter().flatten());
    let followed = follows.then_some([gaze.at.x, gaze.at.y, gaze.share]);
    numbers.chain(followed.into_iter().flatten()).for_each(|v| w.f32(v));
    if let Some(tails) = springs {
        write_tails(w, tails);
    }
}

fn write_tails(w: &mut Writer, tails: &Tails) {
    w.flags([tails.at.is_some()]);
    w.u64(tails.at.unwrap_or(0) as u64);
    tails.world.to_cols_array().iter().for_each(|&v| w.f64(v));
    w.count(tails.anchors.len());
    w.count(tails.groups.len());
    tails.anchors.iter().for_each(|anchor| write_rows(w, anchor));
    tails.groups.as_flattened().as_flattened().iter().for_each(|&v| w.f32(v));
}

/// Reads where springs have got to.
fn read_tails(r: &mut Reader<'_>) -> Result<Tails, PlaybackError> {
    let [began] = r.flags("flags of springs")?;
    let at = r.u64("time of springs")? as i64;
    let mut world = [0.0; 12];
    for v in &mut world {
        *v = r.f64("world transform of springs", f64::MIN, f64::MAX)?;
    }
    let anchors = r.count("places of springs", 48, MAX_JOINTS)?;
    let groups = r.count("tails of springs", 192, MAX_JOINTS)?;
    let numbers = |r: &mut Reader<'_>, count: usize| {
        let number = |_| r.f32("a spring", -f64::from(f32::MAX), f64::from(f32::MAX));
        (0..count).map(number).collect::<Result<Vec<f32>, _>>()
    };
    let anchors = numbers(r, 12 * anchors)?;
    let groups = numbers(r, 48 * groups)?;
    let rows = |&row: &[f32; 12]| Affine3x4 { rows: bytemuck::must_cast(row) };
    let tails = |&group: &[f32; 48]| bytemuck::must_cast(group);
    Ok(Tails {
        at: began.then_some(at),
        world: DAffine3::from_cols_array(&world),
        anchors: anchors.as_chunks().0.iter().map(rows).collect(),
        groups: groups.as_chunks().0.iter().map(tails).collect(),
    })
}

/// Reads the inputs of an instance for a rig that had these modifiers.
fn read_inputs(
    r: &mut Reader<'_>,
    inputs: &mut Inputs,
    (instance, modifiers): (usize, &Arena<u64>),
) -> Result<(), PlaybackError> {
    // The modifier of the last input, and the slot that it may have next.
    let mut last: Option<(u8, u8)> = None;
    for _ in 0..r.u16("modifiers of an instance")? {
        let (modifier, slot) = (r.u8("modifier of an instance")?, r.u8("slot of a target")?);
        let follows = match slot {
            0 => last.is_none_or(|(last, _)| last < modifier),
            _ => usize::from(slot) < MAX_FEET && last == Some((modifier, slot)),
        };
        r.needs(follows, "modifiers of an instance do not ascend")?;
        last = Some((modifier, slot + 1));
        let known = modifiers.get(modifier.into()).is_some();
        r.needs(known, "an instance has a target for a modifier that its rig lacks")?;
        let [runs, turns, has_normal, follows, swings] = r.flags("flags of a target")?;
        r.needs(slot == 0 || !runs && !follows && !swings, "a slot has a weight")?;
        let weight = match slot {
            0 => Some(layer::read_fade(r, runs, "weight of a modifier", (0.0, 1.0))?),
            _ => None,
        };
        let space = match r.u32("space of a target")? {
            0 => TargetSpace::Model,
            1 => TargetSpace::World,
            joint => TargetSpace::Joint(joint as usize - 2),
        };
        let position = Vec3::from_array(read_numbers(r, "target")?);
        let rotation =
            if turns { Some(Quat::from_array(read_numbers(r, "target")?)) } else { None };
        let normal =
            if has_normal { Some(Vec3::from_array(read_numbers(r, "target")?)) } else { None };
        let target = Target { space, position, rotation, normal };
        inputs.set_slot(instance, (modifier, slot), target);
        if let Some(weight) = weight {
            inputs.set_weight(instance, modifier, weight);
        }
        if follows {
            let [x, y] = [(); 2].map(|()| r.f32("look of a target", -MAX_LOOK, MAX_LOOK));
            let share = r.f32("look of a target", 0.0, 1.0)?;
            inputs.set_gaze(instance, modifier, Gaze { at: Vec2::new(x?, y?), share });
        }
        if swings {
            let tails = read_tails(r)?;
            let active = inputs.active(instance) >> modifier & 1 == 1;
            r.needs(active, "springs without a weight have a state")?;
            inputs.set_springs(instance, modifier, tails);
        }
    }
    Ok(())
}

fn read_numbers<const N: usize>(
    r: &mut Reader<'_>,
    what: &'static str,
) -> Result<[f32; N], PlaybackError> {
    let mut numbers = [0.0; N];
    let most = f64::from(MAX_WORLD);
    for number in &mut numbers {
        *number = r.f32(what, -most, most)?;
    }
    Ok(numbers)
}

fn read_overrides(
    r: &mut Reader<'_>,
    overrides: &mut Overrides,
    instance: u32,
) -> Result<(), PlaybackError> {
    let mut least = 0;
    for _ in 0..r.u16("overrides")? {
        let joint = r.u16("joint of an override")?;
        r.needs(u32::from(joint) >= least, "joints of overrides do not ascend")?;
        least = u32::from(joint) + 1;
        let replaces = match r.u8("space of an override")? {
            0 => Replaces::Local,
            1 => Replaces::ModelRotation,
            space => {
                r.needs(space == 2, "an override has an unknown space")?;
                Replaces::Model
            }
        };
        let weight = r.f32("weight of an override", 0.0, 1.0)?;
        let matrix = read_rows(r, "override")?;
        let by = JointOverride { replaces, weight, ..JointOverride::whole(joint, matrix) };
        let appended = overrides.append(instance, by);
        r.needs(appended.is_ok(), "an override is beyond its limit")?;
    }
    Ok(())
}
