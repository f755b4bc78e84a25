//! Hundreds of damaged variants of every small model: never a panic, never a hang, never more
//! memory than 64 times the file plus 64 MiB.
//!
//! Models are looked for in `PHALANX_ASSETS`, else in `../shared/assets`; a trial whose model is
//! missing is shown as ignored. One file is made in code and so always runs.

mod bombs;
mod made;
mod mutate;
mod sound;

use libtest_mimic::{Failed, Trial};
use mutate::{Mutator, Random};
use phalanx::import::ImportOptions;
use phalanx::import::import_slice;
use phalanx::import::{MEMORY_BASE, MEMORY_PER_BYTE, read_slice};
use phalanx::mesh::ImageMode;
use phalanx_testkit::alloc;
use phalanx_testkit::exercise;
use phalanx_testkit::trials;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Models of fewer bytes are mutated.
const LARGEST: u64 = 600_000;

/// Variants of each model; `PHALANX_MUTATIONS` asks for more.
const MUTATIONS: u64 = 500;

/// A single variant that takes longer is a hang. The slowest seen took 0.2 s.
const HANG: Duration = Duration::from_secs(60);

const MODELS: &[&str] = &[
    "CesiumMan.glb",
    "Fox.glb",
    "SimpleSkin.gltf",
    "bl_corners.glb",
    "bl_humanoid.glb",
    "bl_morphbones.glb",
    "bl_rider.glb",
    "greenman.glb",
    "greenman_hat.glb",
    "greenman_shield.glb",
    "greenman_sword.glb",
    "mannequin.glb",
    "mannequin_lod1.glb",
    "mannequin_lod2.glb",
];

/// What one variant came to.
struct Outcome {
    accepted: bool,
    /// Largest number of bytes that were live at once.
    peak: u64,
}

/// The path that a file takes through the library; the caller catches panics.
fn import(bytes: &[u8], options: &ImportOptions, split: Option<u64>) -> Outcome {
    alloc::start();
    let result = read_slice(bytes, "variant", None, options);
    let peak = alloc::peak() + bytes.len() as u64;
    let accepted = result.is_ok();
    match result {
        Ok((scene, _)) => {
            sound::check(&scene);
            if let Some(split) = split.filter(|_| !scene.nodes.is_empty()) {
                let node = split as usize % scene.nodes.len();
                if let Ok(parts) = scene.split_at(node) {
                    sound::check(&parts.base);
                    sound::check(&parts.branch);
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
    let (built, peak_of_build) = build(bytes, options);
    Outcome { accepted: accepted && built, peak: peak.max(peak_of_build) }
}

/// Imports to rigs, and plays whatever clips there are. Returns whether there were rigs, and the most bytes that the import had live at once.
fn build(bytes: &[u8], options: &ImportOptions) -> (bool, u64) {
    alloc::start();
    let result = import_slice(bytes, "variant", None, options);
    let peak = alloc::peak() + bytes.len() as u64;
    let imported = match result {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return (false, peak);
        }
    };
    for rig in imported.rigs {
        exercise::play(Arc::new(rig), |error| panic!("a clip of the rig: {error}"));
    }
    (true, peak)
}

/// Ends the process when a case does not end.
fn watch(name: String) -> mpsc::Sender<u64> {
    let (sender, cases) = mpsc::channel();
    std::thread::spawn(move || {
        let mut last = 0;
        loop {
            match cases.recv_timeout(HANG) {
                Ok(case) => last = case,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("{name}, variant {last}: no end after {HANG:?}");
                    std::process::abort();
                }
            }
        }
    });
    sender
}

fn run(name: &str, bytes: &[u8], options: &ImportOptions) -> Result<(), Failed> {
    let clean = import(bytes, options, Some(1));
    if !clean.accepted {
        return Err(format!("{name} itself is refused").into());
    }
    let mutator = Mutator::new(bytes);
    let watch = watch(name.to_owned());
    let (mut accepted, mut worst) = (0u64, 0.0f64);
    let mutations = std::env::var("PHALANX_MUTATIONS").ok();
    let mutations = mutations.and_then(|n| n.parse().ok()).unwrap_or(MUTATIONS);
    for case in 0..mutations {
        watch.send(case).map_err(|error| error.to_string())?;
        let mut random = Random::new(name, case);
        let variant = mutator.variant(case, &mut random);
        // Pictures take most of the time: they are decoded in every sixteenth variant.
        let options = ImportOptions {
            lenient: case % 2 == 1,
            trim: case % 4 > 1,
            images: if case % 16 == 5 { options.images } else { ImageMode::Skip },
            ..options.clone()
        };
        let split = (case % 8 == 3).then(|| random.next());
        let run = || import(&variant, &options, split);
        let outcome = catch_unwind(AssertUnwindSafe(run))
            .map_err(|_| format!("{name}, variant {case}: panicked"))?;
        let limit = MEMORY_BASE + MEMORY_PER_BYTE * variant.len() as u64;
        if outcome.peak > limit {
            let peak = outcome.peak;
            return Err(format!("{name}, variant {case}: {peak} bytes, limit {limit}").into());
        }
        accepted += u64::from(outcome.accepted);
        worst = worst.max(outcome.peak as f64 / limit as f64);
    }
    println!(
        "{name}: {mutations} variants, {accepted} accepted, at most {:.1} % of the memory allowed",
        worst * 100.0
    );
    Ok(())
}

/// Doubles a pattern from 1,024 repetitions until it is refused, has 524,288 or grows no more.
fn explode(name: &str, make: fn(usize) -> Vec<u8>) -> Result<(), Failed> {
    let (mut accepted, mut worst, mut length) = (0, 0.0f64, 0);
    for n in (10..20).map(|k| 1 << k) {
        let bytes = make(n);
        if bytes.len() == length {
            break;
        }
        length = bytes.len();
        let outcome = import(&bytes, &ImportOptions::default(), None);
        let limit = MEMORY_BASE + MEMORY_PER_BYTE * bytes.len() as u64;
        worst = worst.max(outcome.peak as f64 / limit as f64);
        if outcome.peak > limit {
            let peak = outcome.peak;
            return Err(format!("{name} × {n}: {peak} bytes, limit {limit}").into());
        }
        if !outcome.accepted {
            break;
        }
        accepted = n;
    }
    println!(
        "{name}: accepted {accepted} times, at most {:.1} % of the memory allowed",
        worst * 100.0
    );
    Ok(())
}

/// `PHALANX_STORE=1 cargo test --test format hostile::made_in_code` writes the files made in code as seeds of the
/// fuzz target `import_gltf`.
fn store() -> std::io::Result<()> {
    use base64::Engine;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/import_gltf");
    std::fs::create_dir_all(&folder)?;
    let little = made::little();
    let uri = base64::engine::general_purpose::STANDARD.encode(&little.bin);
    let uri = format!("data:application/octet-stream;base64,{uri}");
    std::fs::write(folder.join("little.gltf"), little.gltf(&uri))?;
    std::fs::write(folder.join("little.glb"), little.glb())?;
    // Integers as floats, a key twice, a member that is null.
    let loose = String::from_utf8(little.gltf(&uri)).map_err(std::io::Error::other)?;
    let loose = loose
        .replace("5126,", "5126.0,")
        .replace("\"count\":3", "\"count\":0.3e1")
        .replace("\"name\":\"a\"", "\"name\":\"b\",\"name\":\"a\",\"mesh\":null");
    std::fs::write(folder.join("loose.gltf"), loose)?;
    std::fs::write(folder.join("everything.glb"), made::everything())
}

pub fn trials() -> Vec<Trial> {
    let options = ImportOptions::default();
    let mut trials = vec![Trial::test("hostile::made_in_code", {
        let options = options.clone();
        move || {
            if std::env::var_os("PHALANX_STORE").is_some() {
                store()?;
            }
            run("made in code", &made::everything(), &options)?;
            run("little", &made::little().glb(), &options)
        }
    })];
    for &(name, make) in bombs::BOMBS {
        let trial = Trial::test(format!("hostile::bomb::{name}"), move || explode(name, make));
        trials.push(trial);
    }
    for &model in MODELS {
        let path = trials::asset_folders().swap_remove(0).join(model);
        let size = std::fs::metadata(&path).map(|m| m.len()).ok();
        // A model that is required and missing fails when it is read.
        let fits = size.map_or_else(trials::assets_required, |size| size < LARGEST);
        if size.is_none() {
            println!("{model} is missing: set PHALANX_ASSETS to the folder of the models");
        }
        let options = options.clone();
        let trial = Trial::test(format!("hostile::{model}"), move || {
            let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
            run(model, &bytes, &options)
        });
        trials.push(trial.with_ignored_flag(!fits));
    }
    trials
}
