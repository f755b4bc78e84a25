//! Blends, layers, masks and additive layers through the library against the oracle, at the tolerances of
//! the golden poses: what no golden file covers.

use libtest_mimic::Trial;
use phalanx_testkit::adapter::{Crowded, Jobs, Library};
use phalanx_testkit::compare::{Subject, Tallies, Tally, readme_tolerance, whole};
use phalanx_testkit::oracle::{Action, Additive, Layer, Reference, Scene};
use phalanx_testkit::trials;

/// What a case plays: a name for messages, and layers.
type Case = (String, Vec<Layer>);

/// Cases of one model, made from what the oracle read of it.
type Cases = fn(&Scene) -> Result<Vec<Case>, String>;

const CASES: [(&str, &str, Cases); 13] = [
    ("pab", "two_actions", two_actions),
    ("pab", "three_actions", three_actions),
    ("pab", "weights_below_one", weights_below_one),
    ("pab", "weights_above_one", weights_above_one),
    ("pab", "masked_layers", masked_layers),
    ("pab", "additive", additive),
    ("pab", "additive_among_layers", additive_among_layers),
    ("mannequin", "wave_while_walking", wave_while_walking),
    ("bl_morphbones", "pairs", all_pairs),
    ("bl_corners", "pairs", all_pairs),
    ("bl_rider", "pairs", all_pairs),
    ("bl_morphbones", "added_pairs", added_pairs),
    ("bl_corners", "added_pairs", added_pairs),
];

fn main() {
    let tallies = Tallies::default();
    let mut trials = Vec::new();
    for case in CASES {
        trials.push(trial(case, "jobs", Jobs, &tallies));
        trials.push(trial(case, "crowd", Crowded, &tallies));
    }
    // A crowd's weights end at 1.
    let huge: (_, _, Cases) = ("pab", "huge_weights", huge_weights);
    trials.push(trial(huge, "jobs", Jobs, &tallies));
    trials::run_and(trials, || tallies.print());
}

fn trial<S: Subject + 'static>(
    (model, name, cases): (&str, &str, Cases),
    path: &str,
    subject: fn(Library) -> S,
    tallies: &Tallies,
) -> Trial {
    let (file, tallies) = (format!("{model}.glb"), tallies.clone());
    let name = format!("{model} {path} {name}");
    trials::trial(name.clone(), &[&file.clone()], move || {
        let path = trials::needed(&file)?;
        let (scene, subject) = (Scene::load(&path)?, subject(Library::open(&path)?));
        let mut tally = Tally::new(name, readme_tolerance);
        for (place, layers) in cases(&scene)? {
            let expected = Subject::mix(&scene, &layers)?;
            let actual = subject.mix(&layers)?;
            whole(&place, &subject, &expected, &actual, &mut tally);
        }
        if tally.values() == 0 {
            return Err("no cases".into());
        }
        Ok(tallies.add(tally)?)
    })
}

/// Phases that are compared: both ends, and places that fall on no key.
const PHASES: [f64; 7] = [0.0, 0.0731, 0.2113, 0.381966, 0.618034, 0.8477, 1.0];

/// An action of a named clip at a phase of it; the time is one that f32 holds.
fn at(scene: &Scene, name: &str, phase: f64, weight: f64) -> Result<Action, String> {
    let clip = scene.clip_named(name).ok_or(format!("no clip {name}"))?;
    let time = (scene.clips[clip].duration * phase) as f32;
    // Weights, too, are what f32 holds: their rounding is not what is compared.
    Ok(Action::new(clip, time.into(), f64::from(weight as f32)))
}

/// One layer per list of (clip, weight), all at the same phase.
fn mixed(scene: &Scene, phase: f64, parts: &[(&str, f64)]) -> Result<Case, String> {
    let actions = parts.iter().map(|(name, w)| at(scene, name, phase, *w));
    let layer = Layer::of(actions.collect::<Result<_, _>>()?);
    Ok((format!("{parts:?} at phase {phase}"), vec![layer]))
}

/// 1 at the joint of that name and below it, 0 elsewhere.
fn subtree(scene: &Scene, name: &str) -> Result<Vec<f64>, String> {
    let joint = scene.node_named(name).ok_or(format!("no node {name}"))?;
    let below = |n| f64::from(u8::from(scene.is_at_or_below(n, joint)));
    Ok((0..scene.nodes.len()).map(below).collect())
}

/// Growing from 0.25 at the joint of that name by 0.25 per step down to 1; 0 elsewhere.
fn feathered(scene: &Scene, name: &str) -> Result<Vec<f64>, String> {
    let mask = subtree(scene, name)?;
    let depth = |n| {
        let chain = std::iter::successors(Some(n), |&n: &usize| scene.nodes[n].parent);
        chain.filter(|&n| mask[n] > 0.0).count()
    };
    Ok((0..mask.len()).map(|n| (depth(n) as f64 * 0.25).min(1.0)).collect())
}

fn two_actions(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (a, b) in [("walk", "jog"), ("jog", "run"), ("run", "walk"), ("atlas", "run")] {
        for phase in PHASES {
            for eighth in 0..=8 {
                let w = f64::from(eighth) / 8.0;
                cases.push(mixed(scene, phase, &[(a, 1.0 - w), (b, w)])?);
            }
        }
    }
    Ok(cases)
}

/// Weights of three actions in fifths that sum to `sum`.
fn fifths(sum: f64) -> impl Iterator<Item = [f64; 3]> {
    (0..=5u8).flat_map(move |a| {
        (0..=5 - a).map(move |b| [a, b, 5 - a - b].map(|w| f64::from(w) / 5.0 * sum))
    })
}

fn weighted(scene: &Scene, sums: &[f64]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for phase in PHASES {
        for [walk, jog, run] in sums.iter().flat_map(|&sum| fifths(sum)) {
            let parts = [("walk", walk), ("jog", jog), ("run", run)];
            cases.push(mixed(scene, phase, &parts)?);
        }
    }
    Ok(cases)
}

fn three_actions(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = weighted(scene, &[1.0])?;
    // Times that do not go together, and an order that matters for the hemispheres.
    for k in 0..24 {
        let phase = |i: f64| (f64::from(k) * 0.618034 + i * 0.37).fract();
        let actions = vec![
            at(scene, "run", phase(0.0), 0.5)?,
            at(scene, "atlas", phase(1.0), 0.3)?,
            at(scene, "walk", phase(2.0), 0.2)?,
        ];
        cases.push((format!("unsynchronised {k}"), vec![Layer::of(actions)]));
    }
    Ok(cases)
}

fn weights_below_one(scene: &Scene) -> Result<Vec<Case>, String> {
    weighted(scene, &[0.0, 0.05, 0.5, 0.95])
}

/// Single weights of at most 1, together more.
fn weights_above_one(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = weighted(scene, &[1.25, 2.5, 5.0])?;
    for action in cases.iter_mut().flat_map(|(_, layers)| &mut layers[0].actions) {
        action.weight = action.weight.min(1.0);
    }
    Ok(cases)
}

fn huge_weights(scene: &Scene) -> Result<Vec<Case>, String> {
    weighted(scene, &[30.0, 1e5])
}

fn masked_layers(scene: &Scene) -> Result<Vec<Case>, String> {
    let masks = [
        ("no mask", None),
        ("subtree", Some(subtree(scene, "Spine1")?)),
        ("feathered", Some(feathered(scene, "Spine")?)),
    ];
    let mut cases = Vec::new();
    for phase in PHASES {
        for (name, mask) in &masks {
            for weight in [0.0, 0.25, 0.5, 0.875, 1.0] {
                let (_, mut layers) = mixed(scene, phase, &[("walk", 0.5), ("jog", 0.5)])?;
                let (_, above) = mixed(scene, phase, &[("atlas", 0.75)])?;
                let (_, top) = mixed(scene, phase, &[("run", 1.0), ("jog", 0.5)])?;
                layers.extend(above.into_iter().chain(top));
                for layer in &mut layers[1..] {
                    layer.mask = mask.clone();
                    layer.weight = weight;
                }
                cases.push((format!("{name}, weight {weight}, phase {phase}"), layers));
            }
        }
    }
    Ok(cases)
}

/// atlas as the difference to its first frame, on Spine1 and below.
fn atlas(scene: &Scene, phase: f64, weight: f64) -> Result<Additive, String> {
    let action = at(scene, "atlas", phase, 1.0)?;
    Ok(Additive {
        clip: action.clip,
        time: action.time,
        reference: Reference::Time(0.0),
        weight,
        mask: Some(subtree(scene, "Spine1")?),
    })
}

fn additive(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for phase in PHASES {
        for weight in [-1.0, -0.625, -0.25, 0.0, 0.125, 0.5, 0.75, 1.0] {
            for masked in [true, false] {
                let (_, mut layers) = mixed(scene, phase, &[("walk", 1.0)])?;
                let mut added = atlas(scene, phase, weight)?;
                if !masked {
                    added.mask = None;
                }
                layers[0].additive.push(added);
                let name = format!("weight {weight}, masked {masked}, phase {phase}");
                cases.push((name, layers));
            }
        }
    }
    Ok(cases)
}

/// Two additive layers between two layers; the upper layer goes over what they added.
fn additive_among_layers(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for phase in PHASES {
        for weight in [0.25, 0.75] {
            let (_, mut layers) = mixed(scene, phase, &[("walk", 0.25), ("run", 0.5)])?;
            let mut feather = atlas(scene, 1.0 - phase, 0.5)?;
            feather.mask = Some(feathered(scene, "Spine")?);
            layers[0].additive = vec![atlas(scene, phase, weight)?, feather];
            let (_, mut above) = mixed(scene, phase, &[("jog", 1.0)])?;
            above[0].weight = weight;
            above[0].mask = Some(feathered(scene, "Hips")?);
            above[0].additive = vec![atlas(scene, 0.5 * phase, -weight)?];
            layers.extend(above);
            cases.push((format!("weight {weight}, phase {phase}"), layers));
        }
    }
    Ok(cases)
}

fn wave_while_walking(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for phase in PHASES {
        let (_, mut layers) = mixed(scene, phase, &[("Walk", 0.5), ("Run", 0.5)])?;
        let (_, mut wave) = mixed(scene, phase, &[("Wave", 1.0)])?;
        wave[0].mask = Some(subtree(scene, "RightShoulder")?);
        layers.extend(wave);
        cases.push((format!("phase {phase}"), layers));
    }
    Ok(cases)
}

/// Every pair of clips of a file: morph weights, mirrored and moving scale, clips that lack channels. Away
/// from the clips' ends, since `EmptySpin` of bl_corners starts exactly half a turn from its rest pose,
/// where there is no short way.
fn all_pairs(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let clips = scene.clips.len();
    for (a, b) in (0..clips).flat_map(|a| (0..clips).map(move |b| (a, b))) {
        for &phase in &PHASES[1..PHASES.len() - 1] {
            for (wa, wb) in [(0.5, 0.5), (0.125, 0.25), (1.0, 0.75)] {
                let time = |c: usize, p: f64| f64::from((scene.clips[c].duration * p) as f32);
                let actions = vec![
                    Action::new(a, time(a, phase), wa),
                    Action::new(b, time(b, 1.0 - phase), wb),
                ];
                let name = format!("clips {a} and {b}, weights {wa} and {wb}, phase {phase}");
                cases.push((name, vec![Layer::of(actions)]));
            }
        }
    }
    Ok(cases)
}

/// Every clip of a file added to every other, as the difference to a frame within it: morph weights, and
/// scale that moves.
fn added_pairs(scene: &Scene) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let clips = scene.clips.len();
    for (a, b) in (0..clips).flat_map(|a| (0..clips).map(move |b| (a, b))) {
        for &phase in &PHASES[1..PHASES.len() - 1] {
            for weight in [-0.75, 0.5, 1.0] {
                let time = |c: usize, p: f64| f64::from((scene.clips[c].duration * p) as f32);
                let mut layer = Layer::of(vec![Action::new(a, time(a, phase), 1.0)]);
                layer.additive.push(Additive {
                    clip: b,
                    time: time(b, 1.0 - phase),
                    reference: Reference::Time(time(b, 0.3)),
                    weight,
                    mask: None,
                });
                let name = format!("clip {b} on {a}, weight {weight}, phase {phase}");
                cases.push((name, vec![layer]));
            }
        }
    }
    Ok(cases)
}
