//! The kernels at the AVX2 level, for counting instructions with valgrind: `.ci/instructions` runs this
//! program once per kernel and model. Run directly, it executes each kernel once, to check that it works.
//!
//! Arguments: `KERNEL MODEL`, or `--list` for the names of all kernels.

mod common;

use phalanx::bake::{BakeOptions, bake};
use phalanx::crowd::BoneBuffer;
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::simd::SimdLevel;
use phalanx_testkit::trials;
use phalanx_workload::Workload;
use phalanx_workload::live::{self, Case, Kind, LiveError, Models};
use phalanx_workload::stages::{Jobs, Stage};
use phalanx_workload::subject::{Subject, SubjectOptions};
use std::error::Error;
use std::hint::black_box;
use std::io::Cursor;
use std::process::ExitCode;

/// Number of counted frames: four seconds, so that every clip's keys are passed.
const PASSES: u32 = 240;
/// Frames run before counting, while buffers grow and plans are built.
const WARM_UP: u32 = 10;

/// A frame of churn, [`CHURNING`] characters and [`LIBRARY`] clips: advance and evaluate.
const CHURN: &str = "churn";
/// A frame of a character with a sword: evaluate and update_scene.
const SWORD: &str = "sword";
/// Characters of the kernel `churn`: in every frame one of them begins a crossfade.
const CHURNING: usize = 50;
/// Clips of the kernel `churn`.
const LIBRARY: usize = 30;

/// Suffix of the kernels that run on clips with 16-bit keys.
const PACKED: &str = "-packed";

/// The counted function: valgrind counts only inside it, by its name.
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
                crowd.advance(1.0 / 60.0).expect("a valid time step");
                black_box(crowd.evaluate(&mut buffer));
            }
        };
        frames(WARM_UP);
        counted_region(&mut || frames(PASSES));
        return Ok(());
    }
    if [CHURN, SWORD].contains(&kernel) {
        return live(kernel, subject).map_err(|e| text(&e));
    }
    let stage = Stage::ALL.into_iter().find(|s| s.name() == kernel);
    let stage = stage.ok_or_else(|| format!("unknown kernel {kernel}"))?;
    let mut jobs = Jobs::new(subject).map_err(|e| text(&e))?;
    jobs.passes(stage, WARM_UP).map_err(|e| text(&e))?;
    let mut result = Ok(());
    counted_region(&mut || result = jobs.passes(stage, PASSES));
    result.map_err(|e| text(&e))
}

/// Frames of a living crowd. What is not counted lies outside of the counted region: the host's own calls, and
/// `advance` of the character with a sword.
fn live(kernel: &str, subject: &Subject) -> Result<(), LiveError> {
    let mut models = Models::new(&subject.rig, &subject.clips);
    let case = match kernel {
        CHURN => Case { clips: LIBRARY, ..Case::new(Kind::Churn, CHURNING) },
        _ => Case::new(Kind::Swords, 1),
    };
    let mut scene = case.scene(&mut models)?;
    for _ in 0..live::WARM_UP {
        scene.frame()?;
    }
    for _ in 0..PASSES {
        scene.requests()?;
        let mut result = Ok(());
        if kernel == CHURN {
            counted_region(&mut || result = scene.advance().and_then(|()| scene.evaluate()));
        } else {
            scene.advance()?;
            counted_region(&mut || result = scene.evaluate().and_then(|()| scene.update()));
        }
        result?;
    }
    Ok(())
}

/// Characters of a kernel.
fn characters(kernel: &str) -> u32 {
    if kernel == CHURN { CHURNING as u32 } else { 1 }
}

fn kernels() -> Vec<String> {
    let chains = Workload::ALL.iter().map(|w| format!("{w:?}"));
    let stages = Stage::ALL.iter().map(|s| s.name().to_owned());
    let packed = Workload::ALL.iter().map(|w| format!("{w:?}{PACKED}"));
    let sample = format!("{}{PACKED}", Stage::Sample.name());
    let live = [CHURN, SWORD].map(str::to_owned);
    let all = chains.chain(stages).chain(packed).chain([sample]);
    all.chain(live).collect()
}

fn model(name: &str) -> Result<Subject, String> {
    let path = match name {
        "mannequin" => None,
        _ => {
            let file = format!("{name}.glb");
            Some(
                trials::asset(&file)
                    .ok_or_else(|| format!("{file} is not among the test models"))?,
            )
        }
    };
    Subject::load(path.as_deref(), &SubjectOptions::default()).map_err(|e| e.to_string())
}

/// The subject with its clips baked, by way of a .phx file.
fn packed(subject: Subject) -> Result<Subject, Box<dyn Error>> {
    let skeleton = subject.rig.skeleton();
    let settings = BakeOptions::default();
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), skeleton)?;
    writer.add_rig(&subject.rig)?;
    for clip in subject.rig.clips() {
        let (clip, _) = bake(clip, skeleton, &settings)?;
        writer.add_clip(&clip, clip.name(), ClipForm::Rows)?;
    }
    let file = writer.finish(&Provenance::default())?.into_inner();
    let rig = Library::from_bytes(&file)?.rig(&RigOptions::default())?;
    Ok(Subject::of_rig(subject.name, subject.raw, rig, &SubjectOptions::default())?)
}

/// Runs a kernel on a model, or on its baked clips.
fn run_on(kernel: &str, model: Subject) -> Result<(), String> {
    match kernel.strip_suffix(PACKED) {
        Some(kernel) => run(kernel, &packed(model).map_err(|e| e.to_string())?),
        None => run(kernel, &model),
    }
}

fn all(arguments: &[String]) -> Result<(), String> {
    // A single thread, so that no other thread's instructions are counted.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
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
            println!("passes {}", PASSES * characters(kernel));
            Ok(())
        }
        // Anything else, such as cargo's own arguments and filters, is ignored.
        _ => {
            let Ok(()) = pin() else {
                println!("skipped: this machine does not support AVX2");
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
