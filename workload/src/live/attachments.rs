//! Attachments: a sword in the hand of every character.

use super::crowds::Playing;
use super::scene::{Around, LiveError, find_joint};
use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::scene::{NodeId, SceneGraph};
use phalanx::skeleton::Trs;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;

/// The place of a sword relative to the hand, in metres.
const OFFSET: Vec3 = Vec3::new(0.0, 0.1, 0.0);

/// A crowd in a scene graph: every character has a mirror, of one hand or of all joints, with a node attached to that
/// hand.
#[derive(Debug)]
pub struct Swords {
    playing: Playing,
    scene: SceneGraph,
    swords: Vec<NodeId>,
}

impl Swords {
    /// Gives every character a sword. The mirrors have nodes for the hand alone, or with `full` for all joints.
    ///
    /// # Errors
    /// If the scene graph is full.
    pub fn new(mut playing: Playing, full: bool) -> Result<Self, LiveError> {
        let mut scene = SceneGraph::new();
        let mut swords = Vec::with_capacity(playing.instances.len());
        let offset = Trs { translation: OFFSET, ..Trs::IDENTITY };
        for &instance in &playing.instances {
            let skeleton = playing.crowd.rig(instance.rig())?.skeleton().clone();
            let hand = find_joint(&skeleton, &["righthand", "hand"]);
            let mirror = match full {
                true => playing.crowd.mirror(instance, &mut scene, None)?,
                false => {
                    let joints = [hand];
                    playing.crowd.mirror(instance, &mut scene, Some(&joints))?
                }
            };
            let sword = scene.add(None, Affine3x4::IDENTITY)?;
            scene.attach(sword, mirror, hand, offset)?;
            swords.push(sword);
        }
        Ok(Self { playing, scene, swords })
    }
}

impl Around for Swords {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn update(&mut self) -> Result<(), LiveError> {
        black_box(self.playing.crowd.update_scene(&mut self.scene));
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.playing.buffer.hash());
        for &sword in &self.swords {
            let world = self.scene.world(sword).map(|world| world.translation);
            for number in world.unwrap_or_default().to_array() {
                hash.write_u64(number.to_bits());
            }
        }
        hash.finish()
    }
}
