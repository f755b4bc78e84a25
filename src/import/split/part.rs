//! One side of a split: its nodes, and everything renumbered to them.

use super::Side;
use crate::raw::{RawChannel, RawClip, RawNode, RawScene, RawSkin, below};

/// One side during its construction.
pub(super) struct Part {
    pub scene: RawScene,
    /// New index of every old node, if it is on this side.
    place: Vec<Option<usize>>,
    /// New index of a twin of every old node, if it has one on this side.
    twin: Vec<Option<usize>>,
    /// Old indices of the part's skins.
    pub skins: Vec<usize>,
    /// Old indices of the part's meshes.
    pub meshes: Vec<usize>,
}

impl Part {
    /// Assigns nodes, skins and meshes to the side, with their new indices, and copies their data.
    pub fn new(
        whole: &RawScene,
        side: Side,
        sides: &[Side],
        skin_sides: &[Side],
        twins: &[bool],
    ) -> Self {
        let (mut place, mut twin) = (vec![None; sides.len()], vec![None; sides.len()]);
        let here = (0..sides.len()).filter(|&i| sides[i] == side);
        let mut count = 0;
        for node in here {
            place[node] = Some(count);
            count += 1;
        }
        for node in (0..sides.len()).filter(|&i| twins[i] && sides[i] != side) {
            twin[node] = Some(count);
            count += 1;
        }
        // A mesh goes to the sides where it is drawn; one that is not drawn stays in the base.
        let mut drawn = vec![[false; 2]; whole.meshes.len()];
        for (i, node) in whole.nodes.iter().enumerate() {
            if let Some(mesh) = node.mesh {
                let branch = (sides[i] == Side::Branch) != twins[i];
                drawn[mesh][usize::from(branch)] = true;
            }
        }
        let keep = |&mesh: &usize| match side {
            Side::Base => drawn[mesh][0] || !drawn[mesh][1],
            Side::Branch => drawn[mesh][1],
        };
        let mut part = Part {
            scene: RawScene {
                name: whole.name.clone(),
                materials: whole.materials.clone(),
                default_scene: whole.default_scene,
                humanoid: (whole.humanoid.iter())
                    .filter_map(|&(bone, node)| Some((bone, (*place.get(node)?)?)))
                    .collect(),
                springs: whole.springs.mapped(|node| *place.get(node)?, |_| ()),
                // User channels belong to no node, so they stay in the base.
                channels: match side {
                    Side::Base => whole.channels.clone(),
                    Side::Branch => Vec::new(),
                },
                ..RawScene::default()
            },
            place,
            twin,
            skins: (0..skin_sides.len()).filter(|&i| skin_sides[i] == side).collect(),
            meshes: (0..whole.meshes.len()).filter(keep).collect(),
        };
        part.nodes(whole, side, sides, twins);
        part.skins(whole);
        part.scenes(whole, side, sides, twins);
        part.clips(whole, side, sides, twins);
        part
    }

    fn nodes(&mut self, whole: &RawScene, side: Side, sides: &[Side], twins: &[bool]) {
        let skin = |old: Option<usize>| old.and_then(|old| self.skins.binary_search(&old).ok());
        let mesh = |old: Option<usize>| old.and_then(|old| self.meshes.binary_search(&old).ok());
        let mut nodes = Vec::new();
        for (i, node) in whole.nodes.iter().enumerate() {
            if sides[i] != side {
                continue;
            }
            let mut node = RawNode {
                parent: node.parent.and_then(|p| self.place[p]),
                mesh: mesh(node.mesh),
                skin: skin(node.skin),
                ..node.clone()
            };
            if twins[i] {
                (node.mesh, node.skin) = (None, None);
                node.weights.clear();
            }
            nodes.push(node);
        }
        for (i, node) in whole.nodes.iter().enumerate() {
            if self.twin[i].is_some() {
                nodes.push(RawNode {
                    parent: None,
                    mesh: mesh(node.mesh),
                    skin: skin(node.skin),
                    ..node.clone()
                });
            }
        }
        self.scene.nodes = nodes;
    }

    fn skins(&mut self, whole: &RawScene) {
        let moved = |&old: &usize| RawSkin {
            joints: (whole.skins[old].joints.iter())
                .filter_map(|&joint| self.place[joint])
                .collect(),
            ..whole.skins[old].clone()
        };
        self.scene.skins = self.skins.iter().map(moved).collect();
        let meshes = self.meshes.iter().map(|&old| whole.meshes[old].clone());
        self.scene.meshes = meshes.collect();
        let mut used = vec![false; whole.images.len()];
        for primitive in self.scene.meshes.iter().flat_map(|m| &m.primitives) {
            let material = primitive.material.and_then(|m| whole.materials.get(m));
            for (_, texture) in material.iter().flat_map(|m| m.textures()) {
                if let Some(used) = used.get_mut(texture.image) {
                    *used = true;
                }
            }
        }
        let images = whole.images.iter().zip(used);
        self.scene.images =
            images.map(|(image, used)| image.as_ref().filter(|_| used).cloned()).collect();
    }

    /// A scene shows in a part what it showed before: its roots in that part, and the new roots that were below one of its
    /// roots.
    fn scenes(&mut self, whole: &RawScene, side: Side, sides: &[Side], twins: &[bool]) {
        for roots in &whole.scenes {
            let shown = below(&whole.nodes, roots);
            let mut here: Vec<usize> = roots.iter().filter_map(|&r| self.place[r]).collect();
            let mut listed = vec![false; self.scene.nodes.len()];
            here.iter().for_each(|&new| listed[new] = true);
            for (i, node) in whole.nodes.iter().enumerate() {
                let cut = node.parent.is_some_and(|p| sides[p] != side);
                let new_root = match (self.place[i], self.twin[i]) {
                    (Some(place), _) if cut => Some(place),
                    (None, Some(twin)) if twins[i] => Some(twin),
                    _ => None,
                };
                if let Some(new) = new_root.filter(|&new| shown[i] && !listed[new]) {
                    listed[new] = true;
                    here.push(new);
                }
            }
            self.scene.scenes.push(here);
        }
    }

    fn clips(&mut self, whole: &RawScene, side: Side, sides: &[Side], twins: &[bool]) {
        for clip in &whole.clips {
            let mut tracks = Vec::new();
            for track in &clip.tracks {
                // Weights go with the mesh, other channels with the node.
                let away = twins[track.node] && track.channel == RawChannel::Weights;
                let place = if away { self.twin[track.node] } else { self.place[track.node] };
                if (sides[track.node] == side) != away
                    && let Some(node) = place
                {
                    let mut track = track.clone();
                    track.node = node;
                    tracks.push(track);
                }
            }
            self.scene.clips.push(RawClip {
                name: clip.name.clone(),
                duration: clip.duration,
                tracks,
                user_tracks: match side {
                    Side::Base => clip.user_tracks.clone(),
                    Side::Branch => Vec::new(),
                },
                extras: clip.extras.clone(),
                markers: clip.markers.clone(),
                trimmed: clip.trimmed,
            });
        }
    }
}
