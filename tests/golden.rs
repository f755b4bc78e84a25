//! Every golden sample of every file through the library's runtime path, at the tolerances of the golden
//! poses' README; and, because a golden file stores a choice of times, nodes and vertices, all of them at
//! more times against the oracle.

mod adapter;
mod common;
mod compare;
mod oracle;
mod raw;

use adapter::Library;
use compare::{Subject, Tallies, Tally, readme_tolerance, whole};
use libtest_mimic::{Failed, Trial};
use oracle::{LoopMode, Scene};

fn main() {
    let tallies = Tallies::default();
    let mut trials = Vec::new();
    for (golden, model) in compare::golden_names() {
        let needs = [golden.clone(), model.clone()];
        let needs = needs.each_ref().map(String::as_str);
        let (g, m, t) = (golden.clone(), model.clone(), tallies.clone());
        let name = format!("golden_{model}");
        trials.push(common::trial(name, &needs, move || {
            against_golden(&g, &m, &t)
        }));
        trials.push(against_oracle_trial(model.clone(), &tallies));
    }
    for model in ["mannequin_lod1.glb", "mannequin_lod2.glb"] {
        trials.push(against_oracle_trial(model.into(), &tallies));
    }
    common::run_and(trials, || tallies.print());
}

fn against_golden(golden: &str, model: &str, tallies: &Tallies) -> Result<(), Failed> {
    let library = Library::open(&common::needed(model)?)?;
    let mut tally = Tally::new(format!("{model} golden"), readme_tolerance);
    compare::check(golden, &library, &mut tally)?;
    Ok(tallies.add(tally)?)
}

fn against_oracle_trial(model: String, tallies: &Tallies) -> Trial {
    let tallies = tallies.clone();
    let needs = model.clone();
    common::trial(format!("oracle_{model}"), &[&needs], move || {
        against_oracle(&model, &tallies)
    })
}

/// Parts of a clip's duration, and times beyond it and before it for the loop modes.
const FRACTIONS: [f64; 6] = [0.0, 0.1371, 0.381966, 0.618034, 0.9137, 1.0];
const BEYOND: [f64; 4] = [-0.2718, 1.0, 2.3141, 57.721];

fn against_oracle(model: &str, tallies: &Tallies) -> Result<(), Failed> {
    let path = common::needed(model)?;
    let (scene, library) = (Scene::load(&path)?, Library::open(&path)?);
    let mut tally = Tally::new(format!("{model} oracle"), readme_tolerance);
    let rest = (Subject::rest(&scene)?, Subject::rest(&library)?);
    whole("rest", &rest.0, &rest.1, &mut tally);
    for (clip, played) in scene.clips.iter().enumerate() {
        let once = FRACTIONS.map(|f| (f, LoopMode::Once));
        let repeat = BEYOND.map(|f| (f, LoopMode::Repeat));
        let turning = BEYOND.map(|f| (f, LoopMode::PingPong));
        for (fraction, mode) in once.into_iter().chain(repeat).chain(turning) {
            let t = (played.duration * fraction) as f32;
            let place = format!("clip {clip} at {t} {mode:?}");
            let expected = scene.clip(clip, t.into(), mode)?;
            let actual = library.clip(clip, t.into(), mode)?;
            whole(&place, &expected, &actual, &mut tally);
        }
    }
    Ok(tallies.add(tally)?)
}
