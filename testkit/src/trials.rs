//! Shared by the test binaries: where the test models are, and trials that are reported as ignored
//! (or fail, where models are required) when one of them is missing.
//!
//! Use: `mod common;` in a test binary with `harness = false`, then
//! `common::run(vec![common::trial("name", &["pab.glb"], || { … Ok(()) })])`.

// Every test binary includes the whole module and uses its own part of it.
#![allow(dead_code)]

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

thread_local! {
    static TRIAL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The trial that this thread runs, as [`trial`] or [`begin`] named it.
pub fn current_trial() -> String {
    TRIAL.with_borrow(String::clone)
}

/// Names the trial that this thread runs from here on.
pub fn begin(name: &str) {
    TRIAL.set(name.to_owned());
}

/// Folders that may hold test models, best first: `PHALANX_ASSETS` if it is set, and no other then;
/// else `../shared/assets` beside the package, then the package's own `assets`.
pub fn asset_folders() -> Vec<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("PHALANX_ASSETS") {
        Some(folder) if !folder.is_empty() => vec![folder.into()],
        _ => vec![package.join("../shared/assets"), package.join("assets")],
    }
}

/// Path of a test model or another file below the asset folders (`golden/pab.json`), if it is there.
pub fn asset(name: &str) -> Option<PathBuf> {
    let mut candidates = asset_folders().into_iter().map(|folder| folder.join(name));
    candidates.find(|path| path.is_file())
}

/// The path of a file that the trial has listed in its `needs`.
pub fn needed(name: &str) -> Result<PathBuf, Failed> {
    asset(name).ok_or_else(|| missing(&[name]).into())
}

/// Whether a missing model is a failure: `PHALANX_REQUIRE_ASSETS=1` or `CI=true`.
pub fn assets_required() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    is("PHALANX_REQUIRE_ASSETS", "1") || is("CI", "true")
}

/// A trial that needs files below the asset folders. If one is missing it is ignored with the reason
/// printed; it fails if assets are required.
pub fn trial(
    name: impl Into<String>,
    needs: &[&str],
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let absent: Vec<&str> = needs
        .iter()
        .copied()
        .filter(|file| asset(file).is_none())
        .collect();
    let reason = (!absent.is_empty()).then(|| missing(&absent));
    let name = name.into();
    Trial::ignorable_test(name.clone(), move || match reason {
        None => {
            begin(&name);
            test().map(|()| Completion::Completed)
        }
        Some(reason) if assets_required() => Err(reason.into()),
        Some(reason) => Ok(Completion::ignored_with(reason)),
    })
}

/// Runs the trials with the arguments of the command line; then, if any ran, `report`; then exits.
pub fn run_and(trials: Vec<Trial>, report: impl FnOnce()) -> ! {
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.num_passed + conclusion.num_failed > 0 {
        report();
    }
    conclusion.exit()
}

/// Runs the trials with the arguments of the command line and exits.
pub fn run(trials: Vec<Trial>) -> ! {
    run_and(trials, || ())
}

fn missing(files: &[&str]) -> String {
    format!(
        "missing {} (set PHALANX_ASSETS to the folder of test models)",
        files.join(", ")
    )
}
