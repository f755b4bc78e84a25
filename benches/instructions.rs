//! The kernels at the AVX2 level, to be counted by valgrind: `.ci/instructions` runs this program once per
//! kernel and model. By itself it runs each kernel once, so that it is known to work.
//!
//! Arguments: `KERNEL MODEL`, or `--list` for all kernels.

mod common;

use phalanx::bake::{BakeSettings, bake_all};
use phalanx::crowd::BoneBuffer;
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::simd::SimdLevel;
use phalanx_testkit::trials;
use phalanx_workload::Workload;
use phalanx_workload::stages::{Jobs, Stage};
use phalanx_workload::subject::{Choice, Subject};
use std::error::Error;
use std::hint::black_box;
use std::io::Cursor;
use std::process::ExitCode;

/// Frames that are counted: four seconds, so that every clip's keys are passed.
const PASSES: u32 = 240;
/// Frames before them: buffers grow and plans are made.
const WARM_UP: u32 = 10;

/// What the kernels are called that run on clips of 16 bits.
const PACKED: &str = "-packed";

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
    let packed = Workload::ALL.iter().map(|w| format!("{w:?}{PACKED}"));
    let sample = format!("{}{PACKED}", Stage::Sample.name());
    chains.chain(stages).chain(packed).chain([sample]).collect()
}

fn model(name: &str) -> Result<Subject, String> {
    let path = match name {
        "mannequin" => None,
        _ => {
            let file = format!("{name}.glb");
            Some(trials::asset(&file).ok_or_else(|| format!("{file} is not there"))?)
        }
    };
    Subject::load(path.as_deref(), &Choice::default()).map_err(|e| e.to_string())
}

/// The same with its clips baked, by way of a file.
fn packed(subject: Subject) -> Result<Subject, Box<dyn Error>> {
    let skeleton = subject.rig.skeleton();
    let settings = BakeSettings::default();
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), skeleton)?;
    writer.add_rig(&subject.rig)?;
    for clip in bake_all(subject.rig.clips(), skeleton, &settings, &|_| {}) {
        let (clip, _) = clip?;
        writer.add_clip(&clip, clip.name(), ClipForm::Rows)?;
    }
    let file = writer.finish(&Provenance::default())?.into_inner();
    let rig = Library::from_bytes(&file)?.rig(RigOptions::default())?;
    Ok(Subject::of_rig(
        subject.name,
        subject.raw,
        rig,
        &Choice::default(),
    )?)
}

/// Runs a kernel on a model, or on its baked clips.
fn run_on(kernel: &str, model: Subject) -> Result<(), String> {
    match kernel.strip_suffix(PACKED) {
        Some(kernel) => run(kernel, &packed(model).map_err(|e| e.to_string())?),
        None => run(kernel, &model),
    }
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
            run_on(kernel, model(name)?)?;
            println!("passes {PASSES}");
            Ok(())
        }
        // What cargo passes to benchmarks, and filters, count for nothing here.
        _ => {
            let Ok(()) = pin() else {
                println!("this machine has no AVX2: nothing to count");
                return Ok(());
            };
            for kernel in kernels() {
                run_on(&kernel, model("mannequin")?)?;
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
