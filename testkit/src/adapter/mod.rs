//! The library as a subject of comparison in three ways: a single pose as the command line evaluates it
//! ([`Posed`]), the public jobs in sequence ([`Jobs`]), and an instance of a crowd ([`Crowded`]).

mod crowded;
mod jobs;
mod posed;

pub use crowded::Crowded;
pub use jobs::Jobs;
pub use posed::Posed;

use crate::oracle::{Additive, Evaluated, LoopMode, Reference};
use crate::sample::sample;
use phalanx::build::{BuildOptions, build_additive_raw, build_rig};
use phalanx::clip::Clip;
use phalanx::import::ImportOptions;
use phalanx::import::raw::RawScene;
use phalanx::import::read_path;
use phalanx::math::Affine3x4;
use phalanx::playback;
use phalanx::rig::Rig;
use phalanx::runtime::SkinningJob;
use phalanx::skeleton::{JointMask, Pose};
use std::path::Path;
use std::sync::Arc;

/// A rig, and the raw scene from which additive clips are built.
#[derive(Clone)]
pub struct Library {
    raw: Arc<RawScene>,
    rig: Arc<Rig>,
}

/// The library's errors as text.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn wide<const N: usize>(narrow: &[f32; N]) -> [f64; N] {
    narrow.map(f64::from)
}

fn wide_matrix(matrix: &Affine3x4) -> [f64; 16] {
    wide(&matrix.to_cols_array())
}

fn loop_mode(mode: LoopMode) -> playback::LoopMode {
    match mode {
        LoopMode::Once => playback::LoopMode::Once,
        LoopMode::Repeat => playback::LoopMode::Repeat,
        LoopMode::PingPong => playback::LoopMode::PingPong,
    }
}

impl Library {
    pub fn open(path: &Path) -> Result<Self, String> {
        let (raw, _) = read_path(path, &ImportOptions::default()).map_err(text)?;
        let rig = build_rig(raw.clone(), &BuildOptions::default()).map_err(text)?;
        Ok(Self { raw: Arc::new(raw), rig: Arc::new(rig) })
    }

    fn clip(&self, clip: usize) -> Result<&Arc<Clip>, String> {
        self.rig.clips().get(clip).ok_or(format!("no clip {clip}"))
    }

    /// The time within a clip, according to the library's loop modes.
    fn clip_time(&self, clip: usize, t: f64, mode: LoopMode) -> Result<f64, String> {
        let duration = self.clip(clip)?.duration();
        Ok(loop_mode(mode).clip_time(t, duration.into()))
    }

    fn sample(&self, clip: &Clip, time: f64) -> Result<Pose, String> {
        sample(clip, self.rig.skeleton(), time as f32).map_err(text)
    }

    fn additive_clip(&self, additive: &Additive) -> Result<Clip, String> {
        let reference = match additive.reference {
            Reference::Time(t) => self.sample(self.clip(additive.clip)?, t)?,
            Reference::Rest => self.rig.skeleton().rest_pose().clone(),
        };
        build_additive_raw(&self.rig, (&*self.raw, additive.clip), &reference).map_err(text)
    }

    /// The library's mask for weights given per node.
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

    /// Collects the comparable results from the joints' model matrices, the palettes of all skins and the
    /// scalars. Local transforms are left out.
    fn assemble(
        &self,
        models: &[Affine3x4],
        palettes: &[&[Affine3x4]],
        scalars: &[f32],
    ) -> Result<Evaluated, String> {
        let rig = &self.rig;
        let mut out = Evaluated::default();
        for node in 0..rig.nodes().len() {
            out.world.push(Some(wide_matrix(&self.world(node, models))));
        }
        for skin in &palettes[..rig.file_skins().len()] {
            out.palettes.push(skin.iter().map(wide_matrix).collect());
        }
        for (node, n) in rig.nodes().iter().enumerate().filter(|(_, n)| !n.morphs.is_empty()) {
            let weights = scalars[n.morphs.clone()].iter().map(|&w| w.into());
            out.morph.insert(node, weights.collect());
        }
        for mesh in rig.meshes() {
            let palette = palettes[mesh.skin];
            let morphs = &rig.nodes()[mesh.node].morphs;
            for (p, primitive) in mesh.mesh.primitives.iter().enumerate() {
                let mut positions = vec![[0.0; 3]; primitive.positions.len()];
                SkinningJob {
                    primitive,
                    palette,
                    rigid: match mesh.rigid_slot {
                        Some(slot) => palette[usize::from(slot)],
                        None => Affine3x4::IDENTITY,
                    },
                    morph_weights: &scalars[morphs.clone()],
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

    /// World matrix of a node: its joint's model matrix, or its parent's world matrix times its local one.
    fn world(&self, node: usize, models: &[Affine3x4]) -> Affine3x4 {
        let n = &self.rig.nodes()[node];
        if let Some(joint) = n.joint {
            return models[usize::from(joint)];
        }
        let local = match &n.matrix {
            Some(m) => Affine3x4::from_cols_array(m),
            None => n.local.into(),
        };
        match n.parent {
            Some(parent) => self.world(parent, models) * local,
            None => local,
        }
    }
}
