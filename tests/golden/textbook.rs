//! The textbook pipeline against the reference: a row of the benchmark has to compute the right thing.

use glam::Mat4;
use libtest_mimic::{Failed, Trial};
use phalanx::import::ImportOptions;
use phalanx::import::read_path;
use phalanx::skeleton::Trs;
use phalanx_testkit::compare::{Category, Tally};
use phalanx_testkit::oracle::{Action, Additive, Layer, Reference, Scene};
use phalanx_testkit::trials;
use phalanx_workload::textbook::Textbook;

pub fn trials() -> Vec<Trial> {
    let models = ["pab.glb", "mannequin.glb", "CesiumMan.glb", "robot.glb"];
    let trials = models.map(|model| {
        trials::trial(format!("textbook_agrees_on_{model}"), &[model], move || agrees(model))
    });
    trials.into()
}

/// f32 all the way: what a straightforward evaluation reaches, see the golden poses' README.
fn tolerance(_: Category) -> f64 {
    2e-6
}

fn agrees(model: &str) -> Result<(), Failed> {
    let path = trials::needed(model)?;
    let scene = Scene::load(&path)?;
    let (raw, _) = read_path(&path, &ImportOptions::default())?;
    let textbook = Textbook::new(&raw)?;
    let mut tally = Tally::new(model, tolerance);
    let mut pose = vec![Trs::IDENTITY; textbook.joints()];
    let mut other = pose.clone();
    let mut world = vec![Mat4::IDENTITY; textbook.joints()];
    let mut palette = vec![Mat4::IDENTITY; textbook.slots()];
    let clips = scene.clips.len();
    // Half of the character below one joint, so that the mask matters.
    let node = raw.skins[0].joints[textbook.slots().min(raw.skins[0].joints.len()) / 3];
    let mask = textbook.mask(Some(node));
    let below = |n: usize| std::iter::successors(Some(n), |&n| raw.nodes[n].parent);
    let oracle_mask: Vec<f64> =
        (0..raw.nodes.len()).map(|n| f64::from(u8::from(below(n).any(|n| n == node)))).collect();
    let mut reference = pose.clone();
    for clip in 0..clips {
        for step in 0..=20 {
            let t = scene.clips[clip].duration as f32 * step as f32 / 20.0;
            let weight = step as f32 / 20.0;
            let second = (clip + 1) % clips;
            for kind in ["one clip", "two clips", "additive"] {
                textbook.sample(clip, t, &mut pose);
                textbook.sample(second, t, &mut other);
                let mut layer = Layer::of(vec![Action::new(clip, t.into(), 1.0)]);
                match kind {
                    "two clips" => {
                        Textbook::blend(&mut pose, &other, weight);
                        layer.actions[0].weight = 1.0 - f64::from(weight);
                        layer.actions.push(Action::new(second, t.into(), weight.into()));
                    }
                    "additive" => {
                        textbook.sample(second, 0.0, &mut reference);
                        Textbook::add(&mut pose, &other, &reference, &mask);
                        layer.additive.push(Additive {
                            clip: second,
                            time: t.into(),
                            reference: Reference::Time(0.0),
                            weight: 1.0,
                            mask: Some(oracle_mask.clone()),
                        });
                    }
                    _ => {}
                }
                textbook.models(&pose, &mut world);
                textbook.palette(&world, &mut palette);
                let expected = scene.evaluate(&scene.mix(&[layer]));
                let slots = expected.palettes[0].len();
                let actual: Vec<f64> =
                    palette[..slots].iter().flat_map(Mat4::to_cols_array).map(f64::from).collect();
                let place = format!("clip {clip} at {t}, {kind}");
                let expected = expected.palettes[0].as_flattened();
                tally.array(Category::Palette, &place, expected, &actual);
            }
        }
    }
    Ok(tally.verdict()?)
}
