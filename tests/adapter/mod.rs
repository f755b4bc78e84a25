//! The library as a subject of comparison: files become rigs, and the public jobs evaluate them one after
//! another, in the order of a frame.

use crate::compare::Subject;
use crate::oracle::{Action, Additive, Evaluated, Layer, LoopMode, Missing, Reference, Scene};
use crate::raw;
use phalanx::clip::{Clip, Cursor};
use phalanx::math::Affine3x4;
use phalanx::offline::raw::RawScene;
use phalanx::offline::{BuildOptions, build_additive, build_rig};
use phalanx::rig::Rig;
use phalanx::runtime::{
    AdditiveJob, BlendJob, LayerJob, LocalMatrices, LocalToModelJob, PaletteJob, SampleJob,
    SkinningJob,
};
use phalanx::skeleton::{JointMask, Pose};
use std::path::Path;

/// A rig, and the raw data that additive clips are made of.
pub struct Library {
    raw: RawScene,
    rig: Rig,
}

/// Errors of the library as text.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Library {
    pub fn open(path: &Path) -> Result<Self, String> {
        let raw = raw::scene(&Scene::load(path)?);
        let rig = build_rig(raw.clone(), &BuildOptions::default()).map_err(text)?;
        Ok(Self { raw, rig })
    }

    fn sample(&self, clip: &Clip, time: f64) -> Result<Pose, String> {
        let mut output = self.rig.skeleton().new_pose();
        SampleJob {
            skeleton: self.rig.skeleton(),
            clip,
            time: time as f32,
            hints: &mut vec![0; clip.hint_count()],
            cursors: &mut vec![Cursor::default(); clip.timelines().len()],
            output: &mut output,
        }
        .run()
        .map_err(text)?;
        Ok(output)
    }

    fn clip_at(&self, clip: usize, time: f64) -> Result<Pose, String> {
        let clip = self
            .rig
            .clips()
            .get(clip)
            .ok_or(format!("no clip {clip}"))?;
        self.sample(clip, time)
    }

    fn mask(&self, mask: &Option<Vec<f64>>) -> Result<Option<JointMask>, String> {
        let Some(mask) = mask else { return Ok(None) };
        let mut weights = vec![0.0; self.rig.skeleton().len()];
        for node in self.rig.nodes() {
            if let Some(joint) = node.joint {
                weights[usize::from(joint)] = mask[node.source] as f32;
            }
        }
        let mask = JointMask::from_weights(self.rig.skeleton(), &weights);
        mask.map(Some).map_err(text)
    }

    fn blend(&self, actions: &[Action]) -> Result<Pose, String> {
        let mut poses = Vec::new();
        for action in actions {
            if action.missing != Missing::Rest {
                return Err("missing channels are not skipped".into());
            }
            poses.push(self.clip_at(action.clip, action.time)?);
        }
        let weights = actions.iter().map(|a| a.weight as f32);
        let actions: Vec<(&Pose, f32)> = poses.iter().zip(weights).collect();
        let mut output = self.rig.skeleton().new_pose();
        BlendJob {
            actions: &actions,
            rest: self.rig.skeleton().rest_pose(),
            output: &mut output,
        }
        .run()
        .map_err(text)?;
        Ok(output)
    }

    fn add(&self, pose: &mut Pose, additive: &Additive) -> Result<(), String> {
        let reference = match additive.reference {
            Reference::Time(t) => self.clip_at(additive.clip, t)?,
            Reference::Rest => self.rig.skeleton().rest_pose().clone(),
        };
        let clip = build_additive(&self.raw, additive.clip, &self.rig, &reference).map_err(text)?;
        AdditiveJob {
            pose,
            delta: &self.sample(&clip, additive.time)?,
            weight: additive.weight as f32,
            mask: self.mask(&additive.mask)?.as_ref(),
        }
        .run()
        .map_err(text)
    }

    fn evaluate(&self, pose: &Pose) -> Result<Evaluated, String> {
        let rig = &self.rig;
        let mut models = vec![Affine3x4::IDENTITY; rig.skeleton().len()];
        LocalToModelJob {
            skeleton: rig.skeleton(),
            pose,
            locals: &mut LocalMatrices::new(rig.skeleton()),
            output: &mut models,
        }
        .run()
        .map_err(text)?;
        let mut palettes = Vec::new();
        for skin in rig.skins() {
            let mut palette = vec![Affine3x4::IDENTITY; skin.len()];
            PaletteJob {
                skin,
                models: &models,
                output: &mut palette,
            }
            .run()
            .map_err(text)?;
            palettes.push(palette);
        }
        let mut out = Evaluated::default();
        let mut worlds: Vec<Option<Affine3x4>> = vec![None; rig.nodes().len()];
        for n in 0..worlds.len() {
            let world = self.world(n, &models);
            worlds[n] = Some(world);
            out.world.push(Some(wide(&world.to_cols_array())));
            let lane = |j: u16| usize::from(rig.skeleton().lane_of()[usize::from(j)]);
            let local = match rig.nodes()[n].joint {
                Some(joint) => pose.lane(lane(joint)),
                None => rig.nodes()[n].local,
            };
            out.local.push(Some(wide(&local.to_array())));
        }
        for skin in &palettes[..rig.file_skins().len()] {
            let matrices = skin.iter().map(|m| wide(&m.to_cols_array()));
            out.palettes.push(matrices.collect());
        }
        for morph in rig.morphs() {
            let weights = morph.scalars.clone().map(|i| f64::from(pose.scalar(i)));
            out.morph.insert(morph.node, weights.collect());
        }
        for mesh in rig.meshes() {
            let weights = out.morph.get(&mesh.node).cloned().unwrap_or_default();
            let weights: Vec<f32> = weights.iter().map(|&w| w as f32).collect();
            for (p, primitive) in mesh.mesh.primitives.iter().enumerate() {
                let mut positions = vec![[0.0; 3]; primitive.positions.len()];
                SkinningJob {
                    primitive,
                    palette: &palettes[mesh.skin],
                    rigid: match mesh.rigid_slot {
                        Some(slot) => palettes[mesh.skin][usize::from(slot)],
                        None => worlds[mesh.node].unwrap_or_default(),
                    },
                    morph_weights: &weights,
                    positions: &mut positions,
                    normals: &mut [],
                    tangents: &mut [],
                }
                .run()
                .map_err(text)?;
                let positions = positions.iter().map(wide).collect();
                out.positions.insert((mesh.node, p), positions);
            }
        }
        Ok(out)
    }

    /// The world matrix of a node: its joint's, or its parent's times its own.
    fn world(&self, node: usize, models: &[Affine3x4]) -> Affine3x4 {
        let n = &self.rig.nodes()[node];
        if let Some(joint) = n.joint {
            return models[usize::from(joint)];
        }
        let local = match &n.matrix {
            Some(m) => Affine3x4::from_cols_array(m),
            None => n.local.to_affine(),
        };
        match n.parent {
            Some(parent) => self.world(parent, models).mul(&local),
            None => local,
        }
    }
}

fn wide<const N: usize>(narrow: &[f32; N]) -> [f64; N] {
    narrow.map(f64::from)
}

impl Subject for Library {
    fn rest(&self) -> Result<Evaluated, String> {
        self.evaluate(self.rig.skeleton().rest_pose())
    }

    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String> {
        let duration = self.rig.clips().get(clip).map_or(0.0, |c| c.duration());
        let t = mode.apply(t, duration.into());
        self.evaluate(&self.clip_at(clip, t)?)
    }

    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String> {
        let mut pose = self.rig.skeleton().new_pose();
        for layer in layers {
            LayerJob {
                pose: &mut pose,
                above: &self.blend(&layer.actions)?,
                weight: layer.weight as f32,
                mask: self.mask(&layer.mask)?.as_ref(),
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
