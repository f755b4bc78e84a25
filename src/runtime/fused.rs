//! The fused run of one instance: sample → blend → compose per group of lanes in registers, then the
//! steps of its plan, palette rows written once, front to back.

use super::plan::{Group, Plan, Source, StepKind, group_floats};
use super::sample::{locate_all, slerp_parameter};
use crate::clip::{Block, BlockKind, Channel, Clip, Cursor};
use crate::math::{Affine3x4, Kernel, LANES, Lanes, Row, each};
use crate::rig::Rig;
use crate::skeleton::{JointMask, Pose};
use fearless_simd::prelude::*;

/// A clip at a time with a weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedAction<'a> {
    pub clip: &'a Clip,
    pub time: f32,
    /// Share of the layer: weights that sum to more than 1 are divided by the sum already.
    pub weight: f32,
    /// Its key hints: this many u16 into the instance's.
    pub first_hint: usize,
    /// Its cursors: this many into the scratch's.
    pub first_cursor: usize,
}

/// A weighted set of actions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FusedLayer<'a> {
    pub additive: bool,
    pub weight: f32,
    pub mask: Option<&'a JointMask>,
    pub first_action: usize,
    pub end_action: usize,
    /// The share of the rest pose.
    pub rest: f32,
}

/// A worker's buffers for one rig.
#[derive(Clone, Debug, Default)]
pub(crate) struct FusedScratch {
    cursors: Vec<Cursor>,
    /// Rows of local matrices, as the transposes leave them.
    locals: Vec<[f32; 4]>,
    /// Model matrices; the first is the identity of the root.
    models: Vec<Row>,
}

impl FusedScratch {
    /// Makes room for a rig and for that many cursors.
    pub fn reserve(&mut self, rig: &Rig, cursors: usize) {
        let lanes = rig.skeleton().blocks() * LANES;
        grow(&mut self.cursors, cursors, Cursor::default());
        grow(&mut self.locals, lanes * 3, [0.0; 4]);
        let mut root = Row::splat(0.0);
        root.0[..12].copy_from_slice(Affine3x4::IDENTITY.rows.as_flattened());
        grow(&mut self.models, rig.skeleton().len() + 1, root);
    }
}

fn grow<T: Clone>(v: &mut Vec<T>, len: usize, value: T) {
    if v.len() < len {
        v.resize(len, value);
    }
}

/// Evaluates one instance. The caller has checked that plan, scratch, hints and output belong to the
/// rig and to the clips of the actions.
pub(crate) struct Fused<'a> {
    pub rest: &'a Pose,
    pub plan: &'a Plan,
    pub layers: &'a [FusedLayer<'a>],
    pub actions: &'a [Option<FusedAction<'a>>],
    pub hints: &'a mut [u16],
    pub scratch: &'a mut FusedScratch,
    pub output: &'a mut [Affine3x4],
}

impl Kernel for Fused<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let FusedScratch {
            cursors,
            locals,
            models,
        } = self.scratch;
        for action in self.actions.iter().flatten() {
            let hints = self.hints.get_mut(action.first_hint..).unwrap_or_default();
            let cursors = &mut cursors[action.first_cursor..];
            locate_all(action.clip, action.time, hints, cursors);
        }
        let single = match (self.layers, self.actions) {
            ([layer], [Some(_)]) => {
                !layer.additive && layer.rest == 0.0 && layer.weight >= 1.0 && layer.mask.is_none()
            }
            _ => false,
        };
        let mix = Mix {
            simd,
            rest: self.rest,
            plan: self.plan,
            layers: self.layers,
            actions: self.actions,
            cursors,
        };
        let floats = locals.as_flattened_mut();
        let chunks = floats.chunks_exact_mut(group_floats(S::f32s::LEN));
        if single {
            for (group, out) in self.plan.groups.iter().zip(chunks) {
                mix.compose::<true>(group, out);
            }
        } else {
            for (group, out) in self.plan.groups.iter().zip(chunks) {
                mix.compose::<false>(group, out);
            }
        }
        walk(simd, self.plan, locals, models, self.output);
    }
}

/// Runs the steps of a plan.
#[inline(always)]
fn walk<S: Lanes>(
    simd: S,
    plan: &Plan,
    locals: &[[f32; 4]],
    models: &mut [Row],
    output: &mut [Affine3x4],
) {
    let stride = S::f32s::LEN;
    let mut output = output.iter_mut();
    let mut write = |m: S::Matrix| {
        if let Some(out) = output.next() {
            simd.store_rows(m, bytemuck::must_cast_mut(&mut out.rows));
        }
    };
    let table = |at: u32| {
        let [x, y, z] = &plan.table[at as usize];
        [x, y, z]
    };
    for step in &plan.steps {
        let parent = simd.load_matrix(&models[usize::from(step.parent)].0);
        let local = match step.kind {
            StepKind::Palette => {
                write(simd.multiply(parent, table(step.bind)));
                continue;
            }
            StepKind::MovingBoth | StepKind::MovingModel => {
                // One check for all three rows.
                let rows = &locals[step.source as usize..][..2 * stride + 1];
                [&rows[0], &rows[stride], &rows[2 * stride]]
            }
            StepKind::ConstantBoth | StepKind::ConstantModel => table(step.source),
        };
        let model = simd.multiply(parent, local);
        simd.store_matrix(model, &mut models[usize::from(step.model)].0);
        if matches!(step.kind, StepKind::MovingBoth | StepKind::ConstantBoth) {
            write(simd.multiply(model, table(step.bind)));
        }
    }
}

/// The channels of one instance, group by group.
struct Mix<'a, S: Lanes> {
    simd: S,
    rest: &'a Pose,
    plan: &'a Plan,
    layers: &'a [FusedLayer<'a>],
    actions: &'a [Option<FusedAction<'a>>],
    cursors: &'a [Cursor],
}

impl<'a, S: Lanes> Mix<'a, S> {
    #[inline(always)]
    fn splat(&self, v: f32) -> S::f32s {
        S::f32s::splat(self.simd, v)
    }

    /// The group's lanes of a row.
    #[inline(always)]
    fn load(&self, row: &Row, group: &Group) -> S::f32s {
        // The mask changes nothing; it shows the compiler that the slice lies within the row.
        let at = usize::from(group.lane) & (LANES - S::f32s::LEN);
        S::f32s::from_slice(self.simd, &row.0[at..at + S::f32s::LEN])
    }

    #[inline(always)]
    fn load_rows<const C: usize>(&self, rows: &[Row], first: usize, group: &Group) -> [S::f32s; C] {
        let rows = &rows[first..first + C];
        each!(self.splat(0.0); C; c => self.load(&rows[c], group))
    }

    /// Local matrices of a group, transposed to rows.
    #[inline(always)]
    fn compose<const SINGLE: bool>(&self, group: &Group, out: &mut [f32]) {
        let q = match group.rotation {
            Source::Fixed(at) => self.load_rows(&self.plan.rows, at as usize, group),
            _ => self.rotation::<SINGLE>(group),
        };
        let one = self.splat(1.0);
        let n = dot::<S>(&q, &q);
        let k = self.splat(2.0) / n;
        let [x, y, z, w] = q;
        let (xs, ys, zs) = (x * k, y * k, z * k);
        let (xx, yy, zz) = (x * xs, y * ys, z * zs);
        let (xy, xz, yz) = (x * ys, x * zs, y * zs);
        let (wx, wy, wz) = (w * xs, w * ys, w * zs);
        let mut rows = [
            [one - (yy + zz), xy - wz, xz + wy],
            [xy + wz, one - (xx + zz), yz - wx],
            [xz - wy, yz + wx, one - (xx + yy)],
        ];
        if group.scale != Source::One {
            let s = self.vector::<SINGLE>(Channel::Scale, group.scale, group);
            for row in &mut rows {
                for c in 0..3 {
                    row[c] *= s[c];
                }
            }
        }
        let t = self.vector::<SINGLE>(Channel::Translation, group.translation, group);
        let width = S::f32s::LEN;
        for (i, ([a, b, c], t)) in rows.into_iter().zip(t).enumerate() {
            let out = &mut out[i * 4 * width..(i + 1) * 4 * width];
            let parts = self.simd.transpose([a, b, c, t]);
            for (part, out) in parts.iter().zip(out.chunks_exact_mut(width)) {
                part.store_slice(out);
            }
        }
    }

    /// The way between the keys, per lane.
    #[inline(always)]
    fn alpha(&self, b: &Block, cursor: Cursor, group: &Group) -> S::f32s {
        let alpha = self.splat(cursor.alpha);
        if b.hold == 0 {
            return alpha;
        }
        let held = if cursor.alpha >= 1.0 { 1.0 } else { 0.0 };
        let bits = u64::from(b.hold) >> group.lane & ((1 << S::f32s::LEN) - 1);
        S::mask32s::from_bitmask(self.simd, bits).select(self.splat(held), alpha)
    }

    /// Samples a block; rotations come out as the interpolation leaves them, not normalised.
    #[inline(always)]
    fn sample<const C: usize>(
        &self,
        action: &FusedAction<'_>,
        b: &Block,
        group: &Group,
    ) -> [S::f32s; C] {
        let rows = action.clip.rows();
        let first = b.first_row as usize;
        if b.kind == BlockKind::Constant {
            return self.load_rows(rows, first, group);
        }
        let cursor = self.cursors[action.first_cursor + b.timeline as usize];
        let mut t = self.alpha(b, cursor, group);
        let key = cursor.key as usize;
        if b.kind == BlockKind::Cubic {
            let at = first + key * 3 * C;
            let five = &rows[at..at + 6 * C];
            let part = |i: usize| -> [S::f32s; C] { self.load_rows(five, i * C, group) };
            return self.hermite(part(1), part(2), part(3), part(4), t);
        }
        let two = &rows[first + key * C..][..2 * C];
        let k0: [S::f32s; C] = self.load_rows(two, 0, group);
        let k1: [S::f32s; C] = self.load_rows(two, C, group);
        if C == 4 && b.kind == BlockKind::Slerp {
            let cosine = k0
                .iter()
                .zip(&k1)
                .fold(self.splat(0.0), |sum, (a, b)| a.mul_add(*b, sum));
            t = slerp_parameter::<S, S::f32s>(self.simd, cosine, t);
        }
        each!(self.splat(0.0); C; c => k1[c].mul_add(t, k0[c].mul_add(-t, k0[c])))
    }

    #[inline(always)]
    fn hermite<const C: usize>(
        &self,
        v0: [S::f32s; C],
        m0: [S::f32s; C],
        m1: [S::f32s; C],
        v1: [S::f32s; C],
        t: S::f32s,
    ) -> [S::f32s; C] {
        let one = self.splat(1.0);
        let (t2, u) = (t * t, one - t);
        let h01 = t2 * (self.splat(3.0) - t - t);
        let h00 = one - h01;
        let h10 = t * u * u;
        let h11 = -(t2 * u);
        each!(self.splat(0.0); C; i => v0[i].mul_add(h00, v1[i].mul_add(h01, m0[i].mul_add(h10, m1[i] * h11))))
    }

    /// Weight × mask of a layer.
    #[inline(always)]
    fn lane_weight(&self, layer: &FusedLayer<'_>, weight: f32, group: &Group) -> S::f32s {
        let w = self.splat(weight);
        match layer.mask {
            Some(mask) => self.load(&mask.rows()[usize::from(group.block)], group) * w,
            None => w,
        }
    }

    #[inline(always)]
    fn rest_rows<const C: usize>(&self, channel: Channel, group: &Group) -> [S::f32s; C] {
        let block = usize::from(group.block);
        let rows: &[Row] = match channel {
            Channel::Translation => &self.rest.translation[block],
            Channel::Rotation => &self.rest.rotation[block],
            _ => &self.rest.scale[block],
        };
        self.load_rows(rows, 0, group)
    }

    /// Translation or scale of a group.
    #[inline(always)]
    fn vector<const SINGLE: bool>(
        &self,
        channel: Channel,
        source: Source,
        group: &Group,
    ) -> [S::f32s; 3] {
        if let Source::Fixed(at) = source {
            return self.load_rows(&self.plan.rows, at as usize, group);
        }
        let block = usize::from(group.block);
        let value = |action: &FusedAction<'_>| match action.clip.block_at(channel, block) {
            Some(b) => self.sample::<3>(action, b, group),
            None => self.rest_rows(channel, group),
        };
        if SINGLE {
            return match self.actions {
                [Some(only)] => value(only),
                _ => self.rest_rows(channel, group),
            };
        }
        let mut pose: Option<[S::f32s; 3]> = None;
        for layer in self.layers {
            let actions = &self.actions[layer.first_action..layer.end_action];
            let actions = actions.iter().flatten();
            if layer.additive {
                let mut below = pose.unwrap_or_else(|| self.rest_rows(channel, group));
                for action in actions {
                    let Some(b) = action.clip.block_at(channel, block) else {
                        continue;
                    };
                    let delta: [S::f32s; 3] = self.sample(action, b, group);
                    let w = self.lane_weight(layer, action.weight, group);
                    for c in 0..3 {
                        below[c] = if channel == Channel::Translation {
                            delta[c].mul_add(w, below[c])
                        } else {
                            below[c] * (delta[c] - self.splat(1.0)).mul_add(w, self.splat(1.0))
                        };
                    }
                }
                pose = Some(below);
                continue;
            }
            let mut sum = [self.splat(0.0); 3];
            if layer.rest > 0.0 {
                let rest: [S::f32s; 3] = self.rest_rows(channel, group);
                sum = each!(self.splat(0.0); 3; c => rest[c] * self.splat(layer.rest));
            }
            for action in actions {
                let v = value(action);
                let w = self.splat(action.weight);
                for c in 0..3 {
                    sum[c] = v[c].mul_add(w, sum[c]);
                }
            }
            if pose.is_none() && layer.weight >= 1.0 && layer.mask.is_none() {
                pose = Some(sum);
                continue;
            }
            let below = pose.unwrap_or_else(|| self.rest_rows(channel, group));
            let w = self.lane_weight(layer, layer.weight, group);
            let keep = self.splat(1.0) - w;
            pose = Some(each!(self.splat(0.0); 3; c => sum[c].mul_add(w, below[c] * keep)));
        }
        pose.unwrap_or_else(|| self.rest_rows(channel, group))
    }

    /// Rotation of a group, of any length but zero.
    #[inline(always)]
    fn rotation<const SINGLE: bool>(&self, group: &Group) -> [S::f32s; 4] {
        let block = usize::from(group.block);
        let at = |clip: &'a Clip| clip.block_at(Channel::Rotation, block);
        if SINGLE {
            if let [Some(only)] = self.actions
                && let Some(b) = at(only.clip)
            {
                return self.guarded(self.sample::<4>(only, b, group), b);
            }
            return self.rest_rows(Channel::Rotation, group);
        }
        let mut pose: Option<[S::f32s; 4]> = None;
        for layer in self.layers {
            let actions = &self.actions[layer.first_action..layer.end_action];
            let actions = actions.iter().flatten();
            if layer.additive {
                let mut below = pose.unwrap_or_else(|| self.rest_rows(Channel::Rotation, group));
                for action in actions {
                    let Some(b) = at(action.clip) else { continue };
                    let d = self.normalized(self.sample::<4>(action, b, group), b);
                    let w = self.lane_weight(layer, action.weight, group);
                    below = self.add_turn(below, d, w);
                }
                pose = Some(below);
                continue;
            }
            let mut sum = [self.splat(0.0); 4];
            for (i, action) in actions.enumerate() {
                let w = self.splat(action.weight);
                let (q, w) = match at(action.clip) {
                    Some(b) => {
                        let q = self.guarded(self.sample::<4>(action, b, group), b);
                        let w = self.unit_weight(&q, w, b);
                        (q, w)
                    }
                    None => (self.rest_rows(Channel::Rotation, group), w),
                };
                sum = if i == 0 {
                    each!(self.splat(0.0); 4; c => q[c] * w)
                } else {
                    self.aligned(sum, &q, w)
                };
            }
            if layer.rest > 0.0 {
                let rest = self.rest_rows(Channel::Rotation, group);
                sum = self.aligned(sum, &rest, self.splat(layer.rest));
            }
            if pose.is_none() && layer.weight >= 1.0 && layer.mask.is_none() {
                pose = Some(sum);
                continue;
            }
            let below = pose.unwrap_or_else(|| self.rest_rows(Channel::Rotation, group));
            let (below, above) = (self.unit(below), self.unit(sum));
            let w = self.lane_weight(layer, layer.weight, group);
            let keep = self.splat(1.0) - w;
            let kept = each!(self.splat(0.0); 4; c => below[c] * keep);
            pose = Some(self.aligned(kept, &above, w));
        }
        pose.unwrap_or_else(|| self.rest_rows(Channel::Rotation, group))
    }

    /// `sum + w q`, with `q` on the sum's side.
    #[inline(always)]
    fn aligned(&self, sum: [S::f32s; 4], q: &[S::f32s; 4], w: S::f32s) -> [S::f32s; 4] {
        let d = dot::<S>(&sum, q);
        let w = d.simd_lt(self.splat(0.0)).select(-w, w);
        each!(self.splat(0.0); 4; c => q[c].mul_add(w, sum[c]))
    }

    /// `w / |q|`: a weight that makes up for the length that interpolation left.
    #[inline(always)]
    fn unit_weight(&self, q: &[S::f32s; 4], w: S::f32s, b: &Block) -> S::f32s {
        let n = dot::<S>(q, q);
        match b.kind {
            BlockKind::Constant => w,
            // Lengths are within 6e-5 of 1, so one Newton step is exact to 1e-8.
            BlockKind::Linear => w * n.mul_add(self.splat(-0.5), self.splat(1.5)),
            _ => w / n.sqrt(),
        }
    }

    #[inline(always)]
    fn unit(&self, q: [S::f32s; 4]) -> [S::f32s; 4] {
        let inverse = self.splat(1.0) / dot::<S>(&q, &q).sqrt();
        each!(self.splat(0.0); 4; c => q[c] * inverse)
    }

    #[inline(always)]
    fn normalized(&self, q: [S::f32s; 4], b: &Block) -> [S::f32s; 4] {
        let w = self.unit_weight(&q, self.splat(1.0), b);
        self.guarded(each!(self.splat(0.0); 4; c => q[c] * w), b)
    }

    /// Replaces what a spline through zero, or past f32's range, left without a direction.
    #[inline(always)]
    fn guarded(&self, q: [S::f32s; 4], b: &Block) -> [S::f32s; 4] {
        if b.kind != BlockKind::Cubic {
            return q;
        }
        let n = dot::<S>(&q, &q);
        let low = n.simd_gt(self.splat(f32::MIN_POSITIVE));
        let valid = low & n.simd_lt(self.splat(f32::INFINITY));
        let zero = self.splat(0.0);
        let identity = [zero, zero, zero, self.splat(1.0)];
        each!(self.splat(0.0); 4; c => valid.select(q[c], identity[c]))
    }

    /// `q · nlerp(1, d, w)`, of any length; a negative weight turns the other way.
    #[inline(always)]
    fn add_turn(&self, q: [S::f32s; 4], d: [S::f32s; 4], w: S::f32s) -> [S::f32s; 4] {
        let zero = self.splat(0.0);
        let size = w.simd_lt(zero).select(-w, w);
        let flip = d[3].simd_lt(zero).select(-size, size);
        let turn = w.simd_lt(zero).select(-flip, flip);
        let bx = d[0] * turn;
        let by = d[1] * turn;
        let bz = d[2] * turn;
        let bw = d[3].mul_add(flip, self.splat(1.0) - size);
        let [ax, ay, az, aw] = q;
        [
            aw.mul_add(bx, ax.mul_add(bw, ay.mul_add(bz, -(az * by)))),
            aw.mul_add(by, ay.mul_add(bw, az.mul_add(bx, -(ax * bz)))),
            aw.mul_add(bz, az.mul_add(bw, ax.mul_add(by, -(ay * bx)))),
            aw.mul_add(bw, -(ax.mul_add(bx, ay.mul_add(by, az * bz)))),
        ]
    }
}

#[inline(always)]
fn dot<S: Lanes>(a: &[S::f32s; 4], b: &[S::f32s; 4]) -> S::f32s {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], a[3] * b[3])))
}
