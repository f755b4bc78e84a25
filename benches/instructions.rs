//! The kernels at the AVX2 level, to be counted by valgrind: `.ci/instructions` runs this program once per
//! kernel and model. By itself it runs each kernel once, so that it is known to work.
//!
//! Arguments: `KERNEL MODEL`, or `--list` for all kernels.

mod common;

use common::stages::{Jobs, Stage};
use common::subject::{Choice, Subject};
use phalanx::crowd::{BoneBuffer, Workload};
use phalanx::math::SimdLevel;
use std::hint::black_box;
use std::process::ExitCode;

/// Frames that are counted: four seconds, so that every clip's keys are passed.
const PASSES: u32 = 240;
/// Frames before them: buffers grow and plans are made.
const WARM_UP: u32 = 10;

/// What is counted: valgrind is told to count inside this function alone, by its name.
#[inline(never)]
fn counted_region(work: &mut dyn FnMut()) {
    work();
}

fn run(kernel: &str, subject: &Subject) -> Result<(), String> {
    let text = |e: &dyn std::error::Error| e.to_string();
    if let Some(workload) = Workload::ALL.iter().find(|w| format!("{w:?}") == kernel) {
        let crowd = workload.crowd(subject.rig.clone(), &subject.clips, 1);
        let (mut crowd, _) = crowd.map_err(|e| text(&e))?;
        let mut buffer = BoneBuffer::new();
        let mut frames = |count: u32| {
            for _ in 0..count {
                crowd.advance(1.0 / 60.0).expect("a short step");
                black_box(crowd.evaluate(&mut buffer));
            }
        };
        frames(WARM_UP);
        counted_region(&mut || frames(PASSES));
        return Ok(());
    }
    let stage = Stage::ALL.into_iter().find(|s| s.name() == kernel);
    let stage = stage.ok_or_else(|| format!("there is no kernel {kernel}"))?;
    let mut jobs = Jobs::new(subject).map_err(|e| text(&e))?;
    jobs.passes(stage, WARM_UP).map_err(|e| text(&e))?;
    let mut result = Ok(());
    counted_region(&mut || result = jobs.passes(stage, PASSES));
    result.map_err(|e| text(&e))
}

fn kernels() -> Vec<String> {
    let chains = Workload::ALL.iter().map(|w| format!("{w:?}"));
    let stages = Stage::ALL.iter().map(|s| s.name().to_owned());
    chains.chain(stages).collect()
}

fn model(name: &str) -> Result<Subject, String> {
    let path = match name {
        "mannequin" => None,
        _ => {
            let file = format!("{name}.glb");
            Some(common::asset(&file).ok_or_else(|| format!("{file} is not there"))?)
        }
    };
    Subject::load(path.as_deref(), &Choice::default()).map_err(|e| e.to_string())
}

fn all(arguments: &[String]) -> Result<(), String> {
    // No other thread runs whose instructions could be counted.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build();
    let _pool = pool.map_err(|e| e.to_string())?;
    let pin = || SimdLevel::Avx2.set().map_err(|e| e.to_string());
    match arguments {
        [list] if list == "--list" => {
            println!("{}", kernels().join("\n"));
            Ok(())
        }
        [kernel, name] if !kernel.starts_with('-') && !name.starts_with('-') => {
            pin()?;
            run(kernel, &model(name)?)?;
            println!("passes {PASSES}");
            Ok(())
        }
        // What cargo passes to benchmarks, and filters, count for nothing here.
        _ => {
            let Ok(()) = pin() else {
                println!("this machine has no AVX2: nothing to count");
                return Ok(());
            };
            let subject = model("mannequin")?;
            for kernel in kernels() {
                run(&kernel, &subject)?;
                println!("{kernel} runs; .ci/instructions counts it");
            }
            Ok(())
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match all(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}
