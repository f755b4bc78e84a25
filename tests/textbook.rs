//! The textbook pipeline against the reference: a row of the benchmark has to compute the right thing.

mod common;
mod compare;
mod oracle;
#[path = "textbook/mod.rs"]
mod pipeline;

use compare::{Category, Tally};
use glam::{Mat4, Quat, Vec3};
use libtest_mimic::Failed;
use oracle::curve::Interpolation as Curve;
use oracle::scene::Property;
use oracle::{Action, Layer, Scene};
use phalanx::offline::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
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
    let scene = Scene::load(&common::needed(model)?)?;
    let textbook = Textbook::new(&raw(&scene), 0)?;
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

/// What an import would give, by way of the reference's reader.
fn raw(scene: &Scene) -> RawScene {
    let f32s = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let matrix = |m: [f64; 16]| m.map(|x| x as f32);
    let nodes = scene.nodes.iter().map(|node| {
        let local = match node.matrix {
            Some(m) => {
                let m = Mat4::from_cols_array(&matrix(m));
                let (scale, rotation, translation) = m.to_scale_rotation_translation();
                Trs {
                    translation,
                    rotation,
                    scale,
                }
            }
            None => Trs {
                translation: Vec3::from_array(node.rest.t.map(|x| x as f32)),
                rotation: Quat::from_array(node.rest.r.map(|x| x as f32)),
                scale: Vec3::from_array(node.rest.s.map(|x| x as f32)),
            },
        };
        RawNode {
            parent: node.parent,
            local,
            ..RawNode::default()
        }
    });
    let skins = scene.skins.iter().map(|skin| RawSkin {
        name: None,
        joints: skin.joints.clone(),
        inverse_bind: skin.inverse_bind.iter().map(|&m| matrix(m)).collect(),
    });
    let clips = scene.clips.iter().map(|clip| RawClip {
        duration: clip.duration as f32,
        tracks: clip
            .channels
            .iter()
            .map(|channel| RawTrack {
                node: channel.node,
                channel: match channel.path {
                    Property::Translation => RawChannel::Translation,
                    Property::Rotation => RawChannel::Rotation,
                    Property::Scale => RawChannel::Scale,
                    Property::Weights => RawChannel::Weights,
                },
                interpolation: match channel.curve.interpolation {
                    Curve::Linear => Interpolation::Linear,
                    Curve::Step => Interpolation::Step,
                    Curve::CubicSpline => Interpolation::CubicSpline,
                },
                times: f32s(&channel.curve.times),
                values: f32s(&channel.curve.keys),
            })
            .collect(),
        ..RawClip::default()
    });
    RawScene {
        nodes: nodes.collect(),
        skins: skins.collect(),
        clips: clips.collect(),
        ..RawScene::default()
    }
}
