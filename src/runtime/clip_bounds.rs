//! `clip_bounds`: the volume that the meshes of a rig take over a whole clip.

use super::check::JobError;
use super::{LocalToModelJob, PaletteJob, SampleJob, palette_bounds};
use crate::clip::{Channel, Clip, ClipKind, Cursor};
use crate::math::{Affine3x4, LANES, Row};
use crate::rig::{Aabb, ClipBounds, Rig};
use crate::skeleton::Pose;
use glam::Vec3;

/// Samples per second: the key rate of common files.
const RATE: f32 = 30.0;

/// Limit on the samples of a clip: 20 minutes.
const MOMENTS: usize = 36_000;

/// Limit on the matrices that a measurement computes: about two seconds of work.
pub(super) const MATRICES: usize = 1 << 27;

/// Measures the volume that a rig's meshes take while a clip plays. It takes 30 samples per second and extends the box
/// by half of the largest second difference of two intervals, for the times between samples. Meant for loading and
/// baking: some milliseconds per minute of a clip. `clip` is a full clip of the rig's skeleton, or `None` for the rest pose.
/// `None` if a sample is not finite, or the clip needs more than 36,000 samples or 2^27 matrices.
///
/// # Errors
/// If the clip is additive or was built for another skeleton.
pub fn clip_bounds(rig: &Rig, clip: Option<&Clip>) -> Result<Option<ClipBounds>, JobError> {
    ClipBoundsScratch::new(rig).measure(rig, clip)
}

/// The buffers of [`clip_bounds`], shared by the clips of one rig; they grow to the needs of a clip.
#[derive(Debug)]
pub(crate) struct ClipBoundsScratch {
    pose: Pose,
    locals: Vec<[Row; 12]>,
    models: Vec<Affine3x4>,
    rows: Vec<Affine3x4>,
    hints: Vec<u16>,
    cursors: Vec<Cursor>,
}

impl ClipBoundsScratch {
    /// Buffers for a rig.
    pub fn new(rig: &Rig) -> Self {
        let skeleton = rig.skeleton();
        Self {
            pose: skeleton.rest_pose().clone(),
            locals: vec![[Row::splat(0.0); 12]; skeleton.blocks()],
            models: vec![Affine3x4::IDENTITY; skeleton.len()],
            rows: vec![Affine3x4::IDENTITY; rig.palette_len()],
            hints: Vec::new(),
            cursors: Vec::new(),
        }
    }

    /// Measures a clip, by the rules of [`clip_bounds`].
    pub fn measure(
        &mut self,
        rig: &Rig,
        clip: Option<&Clip>,
    ) -> Result<Option<ClipBounds>, JobError> {
        if let Some(clip) = clip.filter(|c| c.kind() == ClipKind::Additive) {
            return Err(JobError::Kind {
                job: "clip_bounds",
                clip: clip.name().to_owned(),
                have: "additive",
                needed: "full",
            });
        }
        measure(rig, clip, |time| self.pose(rig, clip, time))
    }

    /// Measures the positions of the joints in place of meshes, for a rig that draws nothing. The anchor is a joint, or
    /// the origin of the model. `None` also for a clip that is additive or of another skeleton.
    pub fn measure_joints(
        &mut self,
        rig: &Rig,
        clip: Option<&Clip>,
        anchor: Option<u16>,
    ) -> Option<ClipBounds> {
        if clip.is_some_and(|clip| clip.kind() == ClipKind::Additive) {
            return None;
        }
        let pose = |time: f32| {
            self.models(rig, clip, time)?;
            let mut mesh = Aabb::EMPTY;
            // Without joints the origin of the model counts.
            let origin = self.models.is_empty().then_some(Vec3::ZERO);
            let joints = self.models.iter().map(Affine3x4::translation);
            joints.chain(origin).for_each(|joint| mesh.add(joint));
            Ok(Moment { mesh, anchor: self.translation(anchor), scale: 0.0 })
        };
        measure(rig, clip, pose).ok().flatten()
    }

    /// The position of a joint; the origin of the model for `None`.
    fn translation(&self, joint: Option<u16>) -> Vec3 {
        let model = joint.and_then(|joint| self.models.get(usize::from(joint)));
        model.map_or(Vec3::ZERO, Affine3x4::translation)
    }

    /// The model matrices and the palette of the last pose.
    pub(super) fn matrices(&self) -> (&[Affine3x4], &[Affine3x4]) {
        (&self.models, &self.rows)
    }

    /// Computes the model matrices at a time.
    fn models(&mut self, rig: &Rig, clip: Option<&Clip>, time: f32) -> Result<(), JobError> {
        let skeleton = rig.skeleton();
        let pose = match clip {
            Some(clip) => {
                self.hints.resize(clip.hint_count().max(self.hints.len()), 0);
                let cursors = clip.timelines().len().max(self.cursors.len());
                self.cursors.resize(cursors, Cursor::default());
                SampleJob {
                    skeleton,
                    clip,
                    time,
                    hints: &mut self.hints,
                    cursors: &mut self.cursors,
                    output: &mut self.pose,
                }
                .run()?;
                rig.rest_left_out(&mut self.pose);
                &self.pose
            }
            None => skeleton.rest_pose(),
        };
        LocalToModelJob { skeleton, pose, locals: &mut self.locals, output: &mut self.models }.run()
    }

    pub(super) fn pose(
        &mut self,
        rig: &Rig,
        clip: Option<&Clip>,
        time: f32,
    ) -> Result<Moment, JobError> {
        self.models(rig, clip, time)?;
        let mut rest = &mut self.rows[..];
        for skin in rig.skins() {
            let (output, later) = rest.split_at_mut(skin.len().min(rest.len()));
            rest = later;
            PaletteJob { skin, models: &self.models, output }.run()?;
        }
        let mesh = palette_bounds(rig.slot_bounds(), &self.rows)?;
        let norm = |row: &Affine3x4| {
            let squares = row.rows.iter().flat_map(|r| &r[..3]).map(|v| v * v);
            squares.sum::<f32>().sqrt()
        };
        Ok(Moment {
            mesh,
            anchor: self.translation(rig.anchor()),
            scale: self.rows.iter().map(norm).fold(0.0, f32::max),
        })
    }
}

/// The box of the meshes and the position of the anchor in one pose.
pub(super) struct Moment {
    mesh: Aabb,
    anchor: Vec3,
    /// The largest factor by which a palette row scales.
    scale: f32,
}

/// The bounds over the samples of a clip. `None` if a sample is not finite, or there are too many.
fn measure(
    rig: &Rig,
    clip: Option<&Clip>,
    mut pose: impl FnMut(f32) -> Result<Moment, JobError>,
) -> Result<Option<ClipBounds>, JobError> {
    let duration = clip.map_or(0.0, Clip::duration);
    let intervals = intervals(clip);
    if intervals >= MOMENTS || cost(rig, intervals) > MATRICES {
        return Ok(None);
    }
    let mut all = ClipBounds::EMPTY;
    let mut scale = 0.0f32;
    let mut curvature = [Vec3::ZERO; 2];
    let mut last: [Option<Aabb>; 2] = [None; 2];
    for moment in 0..=intervals {
        let time = match intervals {
            0 => 0.0,
            _ => duration * (moment as f32 / intervals as f32),
        };
        let now = pose(time)?;
        all.mesh.union(&now.mesh);
        all.anchor.add(now.anchor);
        scale = scale.max(now.scale);
        if let [Some(a), Some(b)] = last {
            let second = |a: Vec3, b: Vec3, c: Vec3| (a - 2.0 * b + c).abs();
            curvature[0] = curvature[0].max(second(a.min, b.min, now.mesh.min));
            curvature[1] = curvature[1].max(second(a.max, b.max, now.mesh.max));
        }
        last = [last[1], Some(now.mesh)];
    }
    if !all.mesh.is_empty() {
        all.mesh.min -= 0.5 * curvature[0];
        all.mesh.max += 0.5 * curvature[1];
    }
    all.morph = scale * excess(rig, clip);
    Ok(all.is_sound().then_some(all))
}

/// The number of intervals between the samples of a clip. Saturates; durations are finite and not negative.
fn intervals(clip: Option<&Clip>) -> usize {
    (clip.map_or(0.0, Clip::duration) * RATE).ceil() as usize
}

/// The number of matrices that measuring a clip computes, with the fixed cost of its samples.
pub(crate) fn clip_cost(rig: &Rig, clip: &Clip) -> usize {
    cost(rig, intervals(Some(clip)))
}

pub(super) fn cost(rig: &Rig, intervals: usize) -> usize {
    // The fixed cost of a sample is about that of 64 matrices.
    let matrices = 64 + rig.skeleton().len() + rig.palette_len();
    intervals.saturating_add(1).saturating_mul(matrices)
}

/// The distance by which a clip's or the rest pose's morph weights outside [0, 1] move a vertex, in mesh space; a bound.
fn excess(rig: &Rig, clip: Option<&Clip>) -> f32 {
    let displacements = rig.displacements().iter().enumerate();
    let beyond = |v: f32| (v - 1.0).max(-v).max(0.0);
    let of_scalar = |scalar: usize| {
        let block = clip.and_then(|clip| {
            let block = clip.block_at(Channel::Scalar, scalar / LANES)?;
            Some(clip.reach(Channel::Scalar, block, scalar % LANES)[0])
        });
        match block {
            Some([low, high]) => beyond(low).max(beyond(high)),
            None => beyond(rig.skeleton().rest_pose().scalar(scalar)),
        }
    };
    displacements
        .filter(|(_, d)| **d > 0.0)
        .map(|(scalar, displacement)| displacement * of_scalar(scalar))
        .sum()
}
