//! Test models, and trials that are reported as ignored (or fail, if models are required) when a model is
//! missing.
//!
//! In a test binary with `harness = false`:
//! `trials::run(vec![trials::trial("name", &["pab.glb"], || { … Ok(()) })])`.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

thread_local! {
    static TRIAL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Name of the trial running on this thread, as set by [`trial`] or [`begin`].
pub fn current_trial() -> String {
    TRIAL.with_borrow(String::clone)
}

/// Sets the name of the trial running on this thread.
pub fn begin(name: &str) {
    TRIAL.set(name.to_owned());
}

/// Folders that may contain test models, in order of preference: only `PHALANX_ASSETS` if it is set;
/// otherwise `../shared/assets` and `assets`, relative to the workspace root.
pub fn asset_folders() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::var_os("PHALANX_ASSETS") {
        Some(folder) if !folder.is_empty() => vec![folder.into()],
        _ => vec![workspace.join("../shared/assets"), workspace.join("assets")],
    }
}

/// Path of a test model or another file in the asset folders (`golden/pab.json`), if it exists.
pub fn asset(name: &str) -> Option<PathBuf> {
    let mut candidates = asset_folders().into_iter().map(|folder| folder.join(name));
    candidates.find(|path| path.is_file())
}

/// Path of a model that a test of the standard harness needs. `None`, with a line that says so, if it is missing.
///
/// # Panics
/// If it is missing and assets are required.
pub fn model(name: &str) -> Option<PathBuf> {
    let found = asset(name);
    if found.is_none() {
        assert!(!assets_required(), "{}", missing(&[name]));
        println!("not checked: {}", missing(&[name]));
    }
    found
}

/// Path of a file that the trial has listed in its `needs`.
pub fn needed(name: &str) -> Result<PathBuf, Failed> {
    asset(name).ok_or_else(|| missing(&[name]).into())
}

/// True if a missing model is a failure: `PHALANX_REQUIRE_ASSETS=1` or `CI=true`.
pub fn assets_required() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    is("PHALANX_REQUIRE_ASSETS", "1") || is("CI", "true")
}

/// A trial that needs files from the asset folders. If one is missing, the trial is ignored with the reason,
/// or fails if assets are required.
pub fn trial(
    name: impl Into<String>,
    needs: &[&str],
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let absent: Vec<&str> = needs.iter().copied().filter(|file| asset(file).is_none()).collect();
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

/// Runs a test on a thread that has ended before the process exits: graphics drivers keep data per thread, and
/// the harness does not wait for its own threads.
///
/// # Panics
/// If the test does.
pub fn on_ended_thread(test: fn()) {
    if let Err(panic) = std::thread::spawn(test).join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs the trials with the command line's arguments, then `report` if any ran, and exits.
pub fn run_and(trials: Vec<Trial>, report: impl FnOnce()) -> ! {
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.num_passed + conclusion.num_failed > 0 {
        report();
    }
    conclusion.exit()
}

/// Runs the trials with the command line's arguments, and exits.
pub fn run(trials: Vec<Trial>) -> ! {
    run_and(trials, || ())
}

fn missing(files: &[&str]) -> String {
    format!("missing {} (set PHALANX_ASSETS to the folder of test models)", files.join(", "))
}
