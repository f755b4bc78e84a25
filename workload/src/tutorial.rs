//! `Tutorial`: the workloads on the textbook pipeline, the baseline of the benchmarks.

use super::subject::Subject;
use super::textbook::Textbook;
use crate::{Workload, hash01};
use glam::Mat4;
use phalanx::skeleton::Trs;
use rayon::prelude::*;

/// Characters per task.
const CHUNK: usize = 32;

/// The characters of a workload on the textbook pipeline, with the same clips at the same times as its crowd.
#[derive(Debug)]
pub struct Tutorial<'a> {
    book: &'a Textbook,
    workload: Workload,
    clips: [(usize, f32); 3],
    additive: (usize, f32),
    /// The additive clip's first frame.
    reference: Vec<Trs>,
    mask: Vec<f32>,
    /// Clip times, four per character: three clips and the additive one.
    times: Vec<[f32; 4]>,
    palettes: Vec<Mat4>,
}

impl<'a> Tutorial<'a> {
    /// Makes the characters of [`Workload::crowd`].
    pub fn new(book: &'a Textbook, subject: &Subject, workload: Workload, count: usize) -> Self {
        let timed = |clip: usize| (clip, subject.raw.clips[clip].duration);
        let clips = subject.clips.clips.map(timed);
        let additive = timed(subject.additive);
        let mut reference = vec![Trs::IDENTITY; book.joints()];
        book.sample(subject.additive, 0.0, &mut reference);
        let time = |i: usize, k: usize| {
            let (_, duration) = if k == 3 { additive } else { clips[(i + k) % 3] };
            (hash01(i as u64 * 4 + k as u64) * f64::from(duration)) as f32
        };
        Self {
            workload,
            clips,
            additive,
            reference,
            mask: book.mask(subject.mask_node),
            times: (0..count).map(|i| std::array::from_fn(|k| time(i, k))).collect(),
            palettes: vec![Mat4::IDENTITY; book.slots() * count],
            book,
        }
    }

    /// Advances by `dt` seconds and evaluates every character, on the current rayon pool.
    pub fn frame(&mut self, dt: f32) {
        let Self { book, workload, clips, additive, reference, mask, times, palettes } = self;
        let pose = || vec![Trs::IDENTITY; book.joints()];
        let scratch = || (pose(), pose(), vec![Mat4::IDENTITY; book.joints()]);
        let slots = book.slots().max(1);
        let chunks = palettes.par_chunks_mut(slots * CHUNK);
        let chunks = chunks.zip(times.par_chunks_mut(CHUNK)).enumerate();
        chunks.for_each_init(scratch, |(pose, other, world), (chunk, (palettes, times))| {
            let characters = palettes.chunks_exact_mut(slots).zip(times).enumerate();
            for (i, (palette, times)) in characters {
                for k in 0..workload.actions() {
                    let (clip, duration) = clips[(chunk * CHUNK + i + k) % 3];
                    times[k] = wrap(times[k] + dt, duration);
                    if k == 0 {
                        book.sample(clip, times[k], pose);
                    } else {
                        book.sample(clip, times[k], other);
                        Textbook::blend(pose, other, 1.0 / (k + 1) as f32);
                    }
                }
                if *workload == Workload::C3 {
                    times[3] = wrap(times[3] + dt, additive.1);
                    book.sample(additive.0, times[3], other);
                    Textbook::add(pose, other, reference, mask);
                }
                book.models(pose, world);
                book.palette(world, palette);
            }
        });
    }

    /// All palettes, one after another.
    pub fn palettes(&self) -> &[Mat4] {
        &self.palettes
    }
}

fn wrap(time: f32, duration: f32) -> f32 {
    if duration > 0.0 { time % duration } else { 0.0 }
}
