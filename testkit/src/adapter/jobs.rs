//! [`Jobs`]: the public jobs, one after another in the order of a frame.

use super::{Library, text, wide};
use crate::compare::Subject;
use crate::oracle::{Action, Additive, Evaluated, Layer, LoopMode, Missing};
use phalanx::clip::ClipKind;
use phalanx::math::{Affine3x4, Row};
use phalanx::runtime::{BlendJob, LayerJob, LocalToModelJob, PaletteJob};
use phalanx::skeleton::Pose;

pub struct Jobs(pub Library);

impl Jobs {
    fn blend(&self, actions: &[Action]) -> Result<Pose, String> {
        let mut poses = Vec::new();
        for action in actions {
            if action.missing != Missing::Rest {
                return Err("the library cannot skip missing channels".into());
            }
            poses.push(self.0.sample(self.0.clip(action.clip)?, action.time)?);
        }
        let weights = actions.iter().map(|a| a.weight as f32);
        let actions: Vec<(&Pose, f32)> = poses.iter().zip(weights).collect();
        let mut output = self.0.rig.skeleton().rest_pose().clone();
        BlendJob {
            actions: &actions,
            rest: self.0.rig.skeleton().rest_pose(),
            output: &mut output,
        }
        .run()
        .map_err(text)?;
        Ok(output)
    }

    fn add(&self, pose: &mut Pose, additive: &Additive) -> Result<(), String> {
        let clip = self.0.additive_clip(additive)?;
        LayerJob {
            pose,
            layer: &self.0.sample(&clip, additive.time)?,
            kind: ClipKind::Additive,
            weight: additive.weight as f32,
            mask: self.0.mask(&additive.mask)?.as_ref(),
        }
        .run()
        .map_err(text)
    }

    fn evaluate(&self, pose: &Pose) -> Result<Evaluated, String> {
        let rig = &self.0.rig;
        let skeleton = rig.skeleton();
        let mut models = vec![Affine3x4::IDENTITY; skeleton.len()];
        LocalToModelJob {
            skeleton,
            pose,
            locals: &mut vec![[Row::splat(0.0); 12]; skeleton.blocks()],
            output: &mut models,
        }
        .run()
        .map_err(text)?;
        let mut palettes = Vec::new();
        for skin in rig.skins() {
            let mut palette = vec![Affine3x4::IDENTITY; skin.len()];
            PaletteJob { skin, models: &models, output: &mut palette }.run().map_err(text)?;
            palettes.push(palette);
        }
        let palettes: Vec<&[Affine3x4]> = palettes.iter().map(Vec::as_slice).collect();
        let scalars = 0..skeleton.scalars().len();
        let scalars: Vec<f32> = scalars.map(|i| pose.scalar(i)).collect();
        let mut out = self.0.assemble(&models, &palettes, &scalars)?;
        for node in rig.nodes() {
            let lane = |j: u16| usize::from(skeleton.lane_of()[usize::from(j)]);
            let local = node.joint.map_or(node.local, |j| pose.lane(lane(j)));
            out.local.push(Some(wide(&local.to_array())));
        }
        Ok(out)
    }
}

impl Subject for Jobs {
    fn rest(&self) -> Result<Evaluated, String> {
        self.evaluate(self.0.rig.skeleton().rest_pose())
    }

    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String> {
        let t = self.0.clip_time(clip, t, mode)?;
        self.evaluate(&self.0.sample(self.0.clip(clip)?, t)?)
    }

    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String> {
        let mut pose = self.0.rig.skeleton().rest_pose().clone();
        for layer in layers {
            LayerJob {
                pose: &mut pose,
                layer: &self.blend(&layer.actions)?,
                kind: ClipKind::Full,
                weight: layer.weight as f32,
                mask: self.0.mask(&layer.mask)?.as_ref(),
            }
            .run()
            .map_err(text)?;
            for additive in &layer.additive {
                self.add(&mut pose, additive)?;
            }
        }
        self.evaluate(&pose)
    }
}
