//! `Capture`: finds the offset between the poses of one layer before and after a call, and how fast it changes. Offsets
//! are state that a snapshot keeps, so they are found without fused operations, with the same bits on all machines.

use super::evaluated::Evaluated;
use super::gather::{Gather, Instances};
use super::instance::locate;
use super::kernel::decay::{between, mirrored, rotation_offset, vector_offset};
use super::kernel::quat::{guard, unit};
use super::mix::Mix;
use super::offsets::{NewOffset, Offsets, SCALARS};
use super::scratch::{Scratch, Sources};
use super::tables::{ROTATION, SCALE, TRANSLATION, Units};
use crate::math::{LANES, Row};
use crate::simd::{Kernel, Lanes, dispatch_portable, each};
use fearless_simd::prelude::*;

/// The poses that an offset is found from: the one shown and the one of what plays on, each now and a moment earlier or
/// later.
pub(crate) const POSES: usize = 4;

/// The poses of a layer in the registers of a scratch, for one call after another.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    poses: [Vec<Row>; POSES],
    parts: Vec<(usize, usize, [Row; 4])>,
}

impl Capture {
    /// Evaluates the pose of a layer, the only one that `visit` shows, without its mask and at full weight, and calls
    /// `scalars` with its inputs. Returns false if it shows none.
    pub fn take<I: Instances>(
        &mut self,
        pose: usize,
        of: &I,
        offsets: &Offsets,
        visit: impl FnOnce(&mut Gather<'_>),
        scalars: impl FnOnce(&Scratch),
    ) -> bool {
        let tables = of.tables();
        let out = &mut self.poses[pose];
        Evaluated::with_buffers(of, |scratch, hints| {
            visit(&mut Gather::new(tables, &mut scratch.run));
            let Some(layer) = scratch.run.layers.first_mut() else {
                return false;
            };
            // No layer of the rig, so none with a mask.
            (layer.layer, layer.weight) = (usize::MAX, 1.0);
            let (sources, scratch) = (tables.portable(), &mut scratch.run);
            dispatch_portable(LayerPose { sources, offsets, hints, scratch: &mut *scratch });
            // The scratch may have room for more lanes.
            out.clear();
            out.extend_from_slice(&scratch.pose[..sources.program.units.lanes() * 10 / LANES]);
            scalars(scratch);
            true
        })
    }

    /// Adds the parts in which the poses differ to a new offset. `later` tells that the second pose is later than the
    /// first one, which was shown; `inverse` is 1 over the seconds between two. Returns false if the pool is full.
    pub fn find<I: Instances>(
        &mut self,
        of: &I,
        (later, inverse): (bool, f32),
        offsets: &mut Offsets,
        new: &mut NewOffset,
    ) -> bool {
        let Self { poses, parts } = self;
        parts.clear();
        let units = &of.tables().portable().program.units;
        dispatch_portable(Difference { poses, units, later, inverse, parts });
        parts.iter().all(|(channel, block, rows)| offsets.push(new, (*channel, *block), rows))
    }
}

/// The pose of the only layer of a scratch, in all units.
struct LayerPose<'a> {
    sources: Sources<'a>,
    offsets: &'a Offsets,
    hints: &'a mut [u16],
    scratch: &'a mut Scratch,
}

impl Kernel for LayerPose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { sources, offsets, hints, scratch } = self;
        let Scratch { layers, actions, cursors, pose, above, .. } = scratch;
        locate(&sources, actions, hints, cursors);
        let (varying, offsets) = (sources.program.units.all(), Some(offsets));
        let mix = Mix { simd, sources, varying, layers, actions, cursors, offsets };
        let pose = bytemuck::must_cast_slice_mut(pose);
        mix.blend(pose, bytemuck::must_cast_slice_mut(above));
    }
}

/// The parts in which two poses differ.
struct Difference<'a> {
    /// Shown now and then; playing on now and later.
    poses: &'a [Vec<Row>; POSES],
    units: &'a Units,
    /// Whether the second pose is later than the first.
    later: bool,
    inverse: f32,
    parts: &'a mut Vec<(usize, usize, [Row; 4])>,
}

impl Kernel for Difference<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let (n, units) = (S::f32s::LEN, self.units);
        let poses: [&[f32]; POSES] =
            each!(&[][..]; POSES; i => bytemuck::must_cast_slice(&self.poses[i]));
        let inverse = S::f32s::splat(simd, self.inverse);
        for channel in [TRANSLATION, ROTATION, SCALE] {
            for block in 0..units.lanes() / LANES {
                let mut rows = [Row::splat(0.0); 4];
                for slice in 0..LANES / n {
                    let at = units.register(channel, block * (LANES / n) + slice) * n;
                    let (d, rate) = match channel {
                        ROTATION => turn(simd, poses, at, (self.later, inverse)),
                        _ => shift(simd, poses, at, (self.later, inverse)),
                    };
                    let mut row = 0;
                    while row < 4 {
                        let v = if row < 3 { d[row] } else { rate };
                        v.store_slice(&mut rows[row].0[slice * n..(slice + 1) * n]);
                        row += 1;
                    }
                }
                if rows[..3].iter().any(|row| row.0 != [0.0; LANES]) {
                    self.parts.push((channel, block, rows));
                }
            }
        }
    }
}

/// The offset of a group of rotations.
#[inline(always)]
fn turn<S: Lanes>(
    simd: S,
    poses: [&[f32]; POSES],
    at: usize,
    (later, inverse): (bool, S::f32s),
) -> ([S::f32s; 3], S::f32s) {
    let get = |i: usize| -> [S::f32s; 4] {
        let q = super::kernel::track::get(simd, poses[i], at);
        unit(simd, &guard(simd, q))
    };
    let (shown, then, next, after) = (get(0), get(1), get(2), get(3));
    let then = if later { mirrored(&shown, &then) } else { then };
    let now = between(&next, &shown);
    let before = between(&mirrored(&next, &after), &then);
    rotation_offset(simd, &now, &before, inverse)
}

/// The offset of a group of translations or scales.
#[inline(always)]
fn shift<S: Lanes>(
    simd: S,
    poses: [&[f32]; POSES],
    at: usize,
    (later, inverse): (bool, S::f32s),
) -> ([S::f32s; 3], S::f32s) {
    let get = |i: usize| -> [S::f32s; 3] { super::kernel::track::get(simd, poses[i], at) };
    difference(simd, [get(0), get(1), get(2), get(3)], (later, inverse))
}

/// The offset of values that add up.
#[inline(always)]
fn difference<S: Lanes, const C: usize>(
    simd: S,
    [shown, then, next, after]: [[S::f32s; C]; POSES],
    (later, inverse): (bool, S::f32s),
) -> ([S::f32s; C], S::f32s) {
    let zero = S::f32s::splat(simd, 0.0);
    let now = each!(zero; C; i => shown[i] - next[i]);
    let before = each!(zero; C; i => {
        let moved = if later { then[i] - shown[i] } else { shown[i] - then[i] };
        now[i] - (moved - (after[i] - next[i]))
    });
    vector_offset(simd, (&now, &before), &next, inverse)
}

/// Adds the parts in which rows of scalars differ, as [`Capture::find`] does for joints.
pub(crate) fn scalar_parts(
    poses: [&[Row]; POSES],
    (later, inverse): (bool, f32),
    offsets: &mut Offsets,
    new: &mut NewOffset,
) -> bool {
    (0..poses[0].len()).all(|block| {
        let rows =
            dispatch_portable(ScalarPart { poses: poses.map(|p| &p[block]), later, inverse });
        rows[0].0 == [0.0; LANES] || offsets.push(new, (SCALARS, block), &rows)
    })
}

struct ScalarPart<'a> {
    poses: [&'a Row; POSES],
    later: bool,
    inverse: f32,
}

impl Kernel for ScalarPart<'_> {
    type Output = [Row; 4];

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> [Row; 4] {
        let mut rows = [Row::splat(0.0); 4];
        let n = S::f32s::LEN;
        for first in (0..LANES).step_by(n) {
            let range = first..first + n;
            let get = |i: usize| [S::f32s::from_slice(simd, &self.poses[i].0[range.clone()])];
            let how = (self.later, S::f32s::splat(simd, self.inverse));
            let ([d], rate) = difference(simd, [get(0), get(1), get(2), get(3)], how);
            d.store_slice(&mut rows[0].0[range.clone()]);
            rate.store_slice(&mut rows[3].0[range]);
        }
        rows
    }
}
