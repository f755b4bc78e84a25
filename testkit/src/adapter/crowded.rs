//! [`Crowded`]: an instance of a crowd, among others, evaluated into the bone buffer.

use super::{Library, loop_mode, text};
use crate::compare::Subject;
use crate::oracle::{Evaluated, Layer, LoopMode, Missing};
use phalanx::crowd::{BoneBuffer, ClipId, Crowd, InstanceId, LayerOptions, PlayOptions, RigId};
use phalanx::math::Affine3x4;
use phalanx::playback;
use std::sync::Arc;

pub struct Crowded(pub Library);

/// A crowd of three instances; the test uses the middle one.
struct Stage {
    crowd: Crowd,
    rig: RigId,
    instance: InstanceId,
}

/// Options of an action with speed 0.
fn held(time: f64, mode: playback::LoopMode, weight: f64) -> PlayOptions {
    PlayOptions {
        speed: 0.0,
        loop_mode: mode,
        time,
        weight: weight as f32,
        ..PlayOptions::default()
    }
}

impl Crowded {
    fn stage(&self, layers: Vec<LayerOptions>) -> Result<Stage, String> {
        let mut crowd = Crowd::new();
        let rig = Arc::clone(&self.0.rig);
        let rig = crowd.add_rig_with_layers(rig, layers).map_err(text)?;
        let before = crowd.spawn(rig).map_err(text)?;
        let instance = crowd.spawn(rig).map_err(text)?;
        let after = crowd.spawn(rig).map_err(text)?;
        if let Some(clip) = crowd.clip_by_index(rig, 0) {
            for other in [before, after] {
                let options = held(0.1, playback::LoopMode::Repeat, 1.0);
                crowd.play(other, clip, &options).map_err(text)?;
            }
        }
        Ok(Stage { crowd, rig, instance })
    }

    fn evaluate(&self, stage: &mut Stage) -> Result<Evaluated, String> {
        let rig = &self.0.rig;
        let Stage { crowd, instance, .. } = stage;
        let mut buffer = BoneBuffer::new();
        crowd.evaluate(&mut buffer);
        let range = crowd.palette_range(*instance).ok_or("no palette")?;
        let rows = buffer.rows().get(range).ok_or("no such rows")?;
        let mut palettes = Vec::new();
        for (skin, s) in rig.skins().iter().enumerate() {
            let first = rig.palette_offset(skin);
            palettes.push(rows.get(first..first + s.len()).ok_or("the palette is too short")?);
        }
        let joints = 0..rig.skeleton().len();
        let models = joints.map(|j| crowd.model_matrix(*instance, j));
        let models: Vec<Affine3x4> = models.collect::<Result<_, _>>().map_err(text)?;
        let mut scalars = Vec::new();
        crowd.scalars(*instance, &mut scalars).map_err(text)?;
        self.0.assemble(&models, &palettes, &scalars)
    }
}

impl Subject for Crowded {
    fn has_locals(&self) -> bool {
        false
    }

    fn rest(&self) -> Result<Evaluated, String> {
        self.evaluate(&mut self.stage(vec![LayerOptions::default()])?)
    }

    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String> {
        let mut stage = self.stage(vec![LayerOptions::default()])?;
        let clip = stage.crowd.clip_by_index(stage.rig, clip);
        let options = held(t, loop_mode(mode), 1.0);
        let clip = clip.ok_or("no such clip")?;
        let played = stage.crowd.play(stage.instance, clip, &options);
        played.map_err(text)?;
        self.evaluate(&mut stage)
    }

    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String> {
        let mut options = Vec::new();
        for layer in layers {
            options.push(LayerOptions {
                additive: false,
                mask: self.0.mask(&layer.mask)?,
                ..LayerOptions::default()
            });
            for additive in &layer.additive {
                options.push(LayerOptions {
                    additive: true,
                    mask: self.0.mask(&additive.mask)?,
                    ..LayerOptions::default()
                });
            }
        }
        let mut stage = self.stage(options)?;
        let (rig, instance) = (stage.rig, stage.instance);
        let crowd = &mut stage.crowd;
        let mut place = 0;
        for layer in layers {
            set_layer_weight(crowd, instance, place, layer.weight)?;
            for (n, action) in layer.actions.iter().enumerate() {
                if action.missing != Missing::Rest {
                    return Err("the library cannot skip missing channels".into());
                }
                let mut clip = crowd.clip_by_index(rig, action.clip).ok_or("no such clip")?;
                // A layer plays a clip once, under one handle.
                if layer.actions[..n].iter().any(|a| a.clip == action.clip) {
                    let again = crowd.clip(clip).map_err(text)?.clone();
                    clip = crowd.add_clip(rig, again).map_err(text)?;
                }
                let options = held(action.time, playback::LoopMode::Once, action.weight);
                add(crowd, instance, place, clip, &options)?;
            }
            place += 1;
            for additive in &layer.additive {
                let clip = Arc::new(self.0.additive_clip(additive)?);
                let clip = crowd.add_clip(rig, clip).map_err(text)?;
                set_layer_weight(crowd, instance, place, additive.weight)?;
                let options = held(additive.time, playback::LoopMode::Once, 1.0);
                add(crowd, instance, place, clip, &options)?;
                place += 1;
            }
        }
        self.evaluate(&mut stage)
    }
}

fn set_layer_weight(
    crowd: &mut Crowd,
    instance: InstanceId,
    layer: usize,
    weight: f64,
) -> Result<(), String> {
    let mut player = crowd.player(instance).map_err(text)?;
    player.set_layer_weight(layer, weight as f32).map_err(text)
}

fn add(
    crowd: &mut Crowd,
    instance: InstanceId,
    layer: usize,
    clip: ClipId,
    options: &PlayOptions,
) -> Result<(), String> {
    let mut player = crowd.player(instance).map_err(text)?;
    player.add(layer, clip, options).map_err(text)
}
