//! Every golden sample of every file through the library's runtime path, at the tolerances of the golden
//! poses' README: once as a pose (`phalanx pose`), once as an instance of a crowd. And, because a golden
//! file stores a choice of times, nodes and vertices, all of them at more times against the oracle.

use libtest_mimic::{Failed, Trial};
use phalanx_testkit::adapter::{Crowded, Library, Posed};
use phalanx_testkit::compare;
use phalanx_testkit::compare::{Subject, Tallies, Tally, readme_tolerance, whole};
use phalanx_testkit::oracle::{LoopMode, Scene};
use phalanx_testkit::trials;

pub fn trials(tallies: &Tallies) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (golden, model) in compare::golden_names() {
        trials.push(against_golden(&golden, &model, "pose", Posed, tallies));
        trials.push(against_golden(&golden, &model, "crowd", Crowded, tallies));
        trials.push(against_oracle(&model, "pose", Posed, tallies));
        trials.push(against_oracle(&model, "crowd", Crowded, tallies));
    }
    for model in ["mannequin_lod1.glb", "mannequin_lod2.glb"] {
        trials.push(against_oracle(model, "pose", Posed, tallies));
    }
    trials
}

fn against_golden<S: Subject + 'static>(
    golden: &str,
    model: &str,
    path: &str,
    subject: fn(Library) -> S,
    tallies: &Tallies,
) -> Trial {
    let name = format!("{model} {path} golden");
    let (golden, model, tallies) = (golden.to_owned(), model.to_owned(), tallies.clone());
    let needs = [golden.clone(), model.clone()];
    let needs = needs.each_ref().map(String::as_str);
    trials::trial(name.clone(), &needs, move || {
        let subject = subject(Library::open(&trials::needed(&model)?)?);
        let mut tally = Tally::new(name, readme_tolerance);
        compare::check(&golden, &subject, &mut tally)?;
        Ok(tallies.add(tally)?)
    })
}

fn against_oracle<S: Subject + 'static>(
    model: &str,
    path: &str,
    subject: fn(Library) -> S,
    tallies: &Tallies,
) -> Trial {
    let name = format!("{model} {path} oracle");
    let (model, tallies) = (model.to_owned(), tallies.clone());
    trials::trial(name.clone(), &[&model.clone()], move || {
        let path = trials::needed(&model)?;
        let (scene, subject) = (Scene::load(&path)?, subject(Library::open(&path)?));
        let mut tally = Tally::new(name, readme_tolerance);
        all_clips(&scene, &subject, &mut tally)?;
        Ok(tallies.add(tally)?)
    })
}

/// Parts of a clip's duration, and times beyond it and before it for the loop modes.
const FRACTIONS: [f64; 6] = [0.0, 0.1371, 0.381966, 0.618034, 0.9137, 1.0];
const BEYOND: [f64; 4] = [-0.2718, 1.0, 2.3141, 57.721];

fn all_clips(scene: &Scene, subject: &impl Subject, tally: &mut Tally) -> Result<(), Failed> {
    let (expected, actual) = (Subject::rest(scene)?, subject.rest()?);
    whole("rest", subject, &expected, &actual, tally);
    for (clip, played) in scene.clips.iter().enumerate() {
        let once = FRACTIONS.map(|f| (f, LoopMode::Once));
        let repeat = BEYOND.map(|f| (f, LoopMode::Repeat));
        let turning = BEYOND.map(|f| (f, LoopMode::PingPong));
        for (fraction, mode) in once.into_iter().chain(repeat).chain(turning) {
            let t = (played.duration * fraction) as f32;
            let place = format!("clip {clip} at {t} {mode:?}");
            let expected = scene.clip(clip, t.into(), mode)?;
            let actual = subject.clip(clip, t.into(), mode)?;
            whole(&place, subject, &expected, &actual, tally);
        }
    }
    Ok(())
}
