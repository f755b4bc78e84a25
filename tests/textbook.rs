//! The textbook pipeline against the reference: a row of the benchmark has to compute the right thing.

mod common;
mod compare;
mod oracle;
#[path = "textbook/mod.rs"]
mod pipeline;

use compare::{Category, Tally};
use glam::Mat4;
use libtest_mimic::Failed;
use oracle::{Action, Layer, Scene};
use phalanx::offline::ImportOptions;
use phalanx::offline::gltf::read_path;
use phalanx::skeleton::Trs;
use pipeline::Textbook;

fn main() {
    let models = ["pab.glb", "mannequin.glb", "CesiumMan.glb", "robot.glb"];
    let trials = models.map(|model| {
        common::trial(format!("textbook_agrees_on_{model}"), &[model], move || {
            agrees(model)
        })
    });
    common::run(trials.into());
}

/// f32 all the way: what a straightforward evaluation reaches, see the golden poses' README.
fn tolerance(_: Category) -> f64 {
    2e-6
}

fn agrees(model: &str) -> Result<(), Failed> {
    let path = common::needed(model)?;
    let scene = Scene::load(&path)?;
    let (raw, _) = read_path(&path, &ImportOptions::default())?;
    let textbook = Textbook::new(&raw, 0)?;
    let mut tally = Tally::new(model, tolerance);
    let mut pose = vec![Trs::IDENTITY; textbook.joints()];
    let mut other = pose.clone();
    let mut world = vec![Mat4::IDENTITY; textbook.joints()];
    let mut palette = vec![Mat4::IDENTITY; textbook.slots()];
    let clips = scene.clips.len();
    for clip in 0..clips {
        for step in 0..=20 {
            let t = scene.clips[clip].duration as f32 * step as f32 / 20.0;
            let weight = step as f32 / 20.0;
            let second = (clip + 1) % clips;
            for blended in [false, true] {
                textbook.sample(clip, t, &mut pose);
                let mut actions = vec![Action::new(clip, t.into(), 1.0)];
                if blended {
                    textbook.sample(second, t, &mut other);
                    Textbook::blend(&mut pose, &other, weight);
                    actions[0].weight = 1.0 - f64::from(weight);
                    actions.push(Action::new(second, t.into(), weight.into()));
                }
                textbook.palette(&pose, &mut world, &mut palette);
                let expected = scene.evaluate(&scene.mix(&[Layer::of(actions)]));
                let actual: Vec<f64> = palette
                    .iter()
                    .flat_map(Mat4::to_cols_array)
                    .map(f64::from)
                    .collect();
                let place = format!("clip {clip} at {t}, blended: {blended}");
                let expected = expected.palettes[0].as_flattened();
                tally.array(Category::Palette, &place, expected, &actual);
            }
        }
    }
    Ok(tally.verdict()?)
}
