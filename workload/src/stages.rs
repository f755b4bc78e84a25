//! The public jobs one by one, for one character whose data stays in the cache, and the same stages of the
//! textbook pipeline to compare with.

use super::subject::Subject;
use super::textbook::Textbook;
use glam::Mat4;
use phalanx::clip::{Clip, ClipKind, Cursor};
use phalanx::math::{Affine3x4, Row};
use phalanx::runtime::{BlendJob, JobError, LayerJob, LocalToModelJob, PaletteJob, SampleJob};
use phalanx::skeleton::{Pose, Trs};
use std::hint::black_box;
use std::sync::Arc;

/// Clip time in seconds from one pass to the next.
const FRAME: f32 = 1.0 / 60.0;

/// A stage of the pipeline, run by one or two jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Samples one clip.
    Sample,
    /// Blends two poses, each at weight 1/2.
    Blend,
    /// Blends two poses and adds a masked additive pose.
    BlendAdditive,
    /// Computes the model matrices of all joints.
    LocalToModel,
    /// Computes the palettes of all skins.
    Palette,
}

impl Stage {
    /// All stages, in pipeline order.
    pub const ALL: [Self; 5] =
        [Self::Sample, Self::Blend, Self::BlendAdditive, Self::LocalToModel, Self::Palette];

    /// The stage's name in tables and CSV rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Blend => "blend",
            Self::BlendAdditive => "blend+additive",
            Self::LocalToModel => "local_to_model",
            Self::Palette => "palette",
        }
    }
}

/// The jobs of one character, with its buffers.
pub struct Jobs<'a> {
    subject: &'a Subject,
    time: f32,
    hints: Vec<u16>,
    cursors: Vec<Cursor>,
    samples: [Pose; 2],
    delta: Pose,
    pose: Pose,
    locals: Vec<[Row; 12]>,
    models: Vec<Affine3x4>,
    palette: Vec<Affine3x4>,
}

impl<'a> Jobs<'a> {
    /// Samples the first two clips of the workloads half-way, and runs all stages once.
    ///
    /// # Errors
    /// If a job rejects its input.
    pub fn new(subject: &'a Subject) -> Result<Self, JobError> {
        let skeleton = subject.rig.skeleton();
        let pose = || skeleton.rest_pose().clone();
        let mut jobs = Self {
            subject,
            time: 0.0,
            hints: Vec::new(),
            cursors: Vec::new(),
            samples: [pose(), pose()],
            delta: pose(),
            pose: pose(),
            locals: vec![[Row::splat(0.0); 12]; skeleton.blocks()],
            models: vec![Affine3x4::IDENTITY; skeleton.len()],
            palette: vec![Affine3x4::IDENTITY; subject.rig.palette_len()],
        };
        let [first, second] = [0, 1].map(|k| &subject.rig.clips()[subject.clips.clips[k]]);
        jobs.fit(first);
        let middle = |clip: &Clip| clip.duration() / 2.0;
        let additive = subject.clips.additive.as_ref();
        jobs.samples[1] = jobs.sampled(second, middle(second))?;
        if let Some(clip) = additive {
            jobs.delta = jobs.sampled(clip, middle(clip))?;
        }
        jobs.samples[0] = jobs.sampled(first, middle(first))?;
        for stage in Stage::ALL {
            jobs.run(stage)?;
        }
        Ok(jobs)
    }

    fn fit(&mut self, clip: &Clip) {
        self.hints.resize(self.hints.len().max(clip.hint_count()), 0);
        let cursors = self.cursors.len().max(clip.timelines().len());
        self.cursors.resize(cursors, Cursor::default());
    }

    fn sampled(&mut self, clip: &Clip, time: f32) -> Result<Pose, JobError> {
        self.fit(clip);
        let skeleton = self.subject.rig.skeleton();
        let mut output = skeleton.rest_pose().clone();
        SampleJob {
            skeleton,
            clip,
            time,
            hints: &mut self.hints,
            cursors: &mut self.cursors,
            output: &mut output,
        }
        .run()?;
        Ok(output)
    }

    /// The clip that [`Stage::Sample`] samples.
    fn clip(&self) -> &'a Arc<Clip> {
        &self.subject.rig.clips()[self.subject.clips.clips[0]]
    }

    /// Runs a stage once.
    ///
    /// # Errors
    /// If a job rejects its input.
    pub fn run(&mut self, stage: Stage) -> Result<(), JobError> {
        let skeleton = self.subject.rig.skeleton();
        match stage {
            Stage::Sample => {
                let clip = self.clip();
                self.time = next_time(self.time, clip.duration());
                SampleJob {
                    skeleton,
                    clip,
                    time: self.time,
                    hints: &mut self.hints,
                    cursors: &mut self.cursors,
                    output: &mut self.samples[0],
                }
                .run()
            }
            Stage::Blend | Stage::BlendAdditive => {
                let [a, b] = &self.samples;
                BlendJob {
                    actions: &[(a, 0.5), (b, 0.5)],
                    rest: skeleton.rest_pose(),
                    output: &mut self.pose,
                }
                .run()?;
                if stage == Stage::Blend {
                    return Ok(());
                }
                LayerJob {
                    pose: &mut self.pose,
                    layer: &self.delta,
                    kind: ClipKind::Additive,
                    weight: 1.0,
                    mask: self.subject.clips.mask.as_ref(),
                }
                .run()
            }
            Stage::LocalToModel => LocalToModelJob {
                skeleton,
                pose: &self.pose,
                locals: &mut self.locals,
                output: &mut self.models,
            }
            .run(),
            Stage::Palette => {
                let mut rest = self.palette.as_mut_slice();
                for skin in self.subject.rig.skins() {
                    let (output, later) = rest.split_at_mut(skin.len());
                    let models = &self.models;
                    PaletteJob { skin, models, output }.run()?;
                    rest = later;
                }
                Ok(())
            }
        }
    }

    /// Runs a stage `passes` times; the optimiser cannot drop the results.
    ///
    /// # Errors
    /// If a job rejects its input.
    pub fn passes(&mut self, stage: Stage, passes: u32) -> Result<(), JobError> {
        for _ in 0..passes {
            self.run(stage)?;
            black_box(&mut *self);
        }
        Ok(())
    }
}

/// The stages of one character in the textbook pipeline, with its buffers.
pub struct BookJobs<'a> {
    book: &'a Textbook,
    clip: usize,
    duration: f32,
    time: f32,
    pose: Vec<Trs>,
    other: Vec<Trs>,
    added: Vec<Trs>,
    reference: Vec<Trs>,
    mask: Vec<f32>,
    world: Vec<Mat4>,
    palette: Vec<Mat4>,
}

impl<'a> BookJobs<'a> {
    /// Samples the same clips at the same times as [`Jobs::new`].
    pub fn new(book: &'a Textbook, subject: &Subject) -> Self {
        let sampled = |clip: usize, share: f32| {
            let mut pose = vec![Trs::IDENTITY; book.joints()];
            book.sample(clip, subject.raw.clips[clip].duration * share, &mut pose);
            pose
        };
        let [first, second, _] = subject.clips.clips;
        let mut jobs = Self {
            clip: first,
            duration: subject.raw.clips[first].duration,
            time: 0.0,
            pose: sampled(first, 0.5),
            other: sampled(second, 0.5),
            added: sampled(subject.additive, 0.5),
            reference: sampled(subject.additive, 0.0),
            mask: book.mask(subject.mask_node),
            world: vec![Mat4::IDENTITY; book.joints()],
            palette: vec![Mat4::IDENTITY; book.slots()],
            book,
        };
        jobs.run(Stage::LocalToModel);
        jobs
    }

    fn run(&mut self, stage: Stage) {
        match stage {
            Stage::Sample => {
                self.time = next_time(self.time, self.duration);
                self.book.sample(self.clip, self.time, &mut self.pose);
            }
            // In place, as tutorials do. The pose converges to the other one; the work stays the same.
            Stage::Blend => Textbook::blend(&mut self.pose, &self.other, 0.5),
            Stage::BlendAdditive => {
                Textbook::blend(&mut self.pose, &self.other, 0.5);
                Textbook::add(&mut self.pose, &self.added, &self.reference, &self.mask);
            }
            Stage::LocalToModel => self.book.models(&self.pose, &mut self.world),
            Stage::Palette => self.book.palette(&self.world, &mut self.palette),
        }
    }

    /// Runs a stage `passes` times; the optimiser cannot drop the results.
    pub fn passes(&mut self, stage: Stage, passes: u32) {
        for _ in 0..passes {
            self.run(stage);
            black_box(&mut *self);
        }
    }
}

fn next_time(time: f32, duration: f32) -> f32 {
    let next = time + FRAME;
    if next < duration { next } else { 0.0 }
}
