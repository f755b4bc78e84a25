//! [`Posed`]: one pose as `phalanx pose` evaluates it, with one layer of actions and no masks.

use super::{Library, text, wide, wide_matrix};
use crate::compare::Subject;
use crate::oracle::{Evaluated, Layer, LoopMode, Missing};
use phalanx::playback::{PoseAction, evaluate_pose};

pub struct Posed(pub Library);

impl Posed {
    fn evaluate(&self, actions: &[PoseAction]) -> Result<Evaluated, String> {
        let rig = &self.0.rig;
        let pose = evaluate_pose(rig, actions).map_err(text)?;
        let mut out = Evaluated {
            local: (pose.locals.iter().map(|l| Some(wide(&l.to_array())))).collect(),
            world: (pose.worlds.iter().map(|w| Some(wide_matrix(w)))).collect(),
            ..Evaluated::default()
        };
        for palette in &pose.palettes[..rig.file_skins().len()] {
            out.palettes.push(palette.iter().map(wide_matrix).collect());
        }
        for (node, _) in rig.nodes().iter().enumerate().filter(|(_, n)| !n.morphs.is_empty()) {
            let weights = pose.morph_weights(rig, node);
            let weights = weights.into_iter().map(f64::from).collect();
            out.morph.insert(node, weights);
        }
        for (mesh, posed) in rig.meshes().iter().zip(pose.vertices(rig).map_err(text)?) {
            for (primitive, positions) in posed.iter().enumerate() {
                let positions = positions.iter().map(wide).collect();
                out.positions.insert((mesh.node, primitive), positions);
            }
        }
        Ok(out)
    }
}

impl Subject for Posed {
    fn rest(&self) -> Result<Evaluated, String> {
        self.evaluate(&[])
    }

    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String> {
        self.evaluate(&[PoseAction {
            clip,
            time: self.0.clip_time(clip, t, mode)? as f32,
            weight: 1.0,
        }])
    }

    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String> {
        let [layer] = layers else {
            return Err("a pose has one layer".into());
        };
        let plain = layer.mask.is_none() && layer.additive.is_empty() && layer.weight == 1.0;
        let skips = layer.actions.iter().any(|a| a.missing != Missing::Rest);
        if !plain || skips {
            return Err("a pose has one plain layer".into());
        }
        let actions = layer.actions.iter().map(|a| PoseAction {
            clip: a.clip,
            time: a.time as f32,
            weight: a.weight as f32,
        });
        self.evaluate(&actions.collect::<Vec<_>>())
    }
}
