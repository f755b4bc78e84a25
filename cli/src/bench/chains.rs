//! Times one frame of a crowd: `advance` with `evaluate`, `advance` alone, and the textbook pipeline, in
//! turn.

use super::super::error::CliError;
use phalanx::crowd::BoneBuffer;
use phalanx_workload::Workload;
use phalanx_workload::sampling::compare;
use phalanx_workload::subject::Subject;
use phalanx_workload::textbook::Textbook;
use phalanx_workload::tutorial::Tutorial;
use std::hint::black_box;
use std::time::Duration;

/// Duration of a frame, in seconds.
const FRAME: f64 = 1.0 / 60.0;

/// Series compared in a round: the frame, `advance`, and the textbook's frame if there is one.
pub const FRAME_SERIES: usize = 0;
pub const ADVANCE_SERIES: usize = 1;
pub const TEXTBOOK_SERIES: usize = 2;

/// One round of a workload on a pool's threads: samples of each series, per frame.
pub fn round(
    subject: &Subject,
    book: Option<&Textbook>,
    workload: Workload,
    count: usize,
    pool: &rayon::ThreadPool,
    budget: Duration,
) -> Result<Vec<Vec<f64>>, CliError> {
    pool.install(|| {
        let (mut crowd, _) = workload.crowd(subject.rig.clone(), &subject.clips, count)?;
        let mut buffer = BoneBuffer::new();
        buffer.try_reserve(count * subject.rig.palette_len())?;
        let mut tutorial = book.map(|book| Tutorial::new(book, subject, workload, count));
        let series = 2 + usize::from(tutorial.is_some());
        let run = |which: usize, passes: u32| {
            for _ in 0..passes {
                match (which, &mut tutorial) {
                    (FRAME_SERIES, _) => {
                        crowd.advance(FRAME)?;
                        crowd.evaluate(&mut buffer);
                        black_box(&mut buffer);
                    }
                    (TEXTBOOK_SERIES, Some(tutorial)) => {
                        tutorial.frame(FRAME as f32);
                        black_box(tutorial.palettes());
                    }
                    _ => crowd.advance(FRAME)?,
                }
            }
            Ok::<(), CliError>(())
        };
        compare(series, budget, run)
    })
}
