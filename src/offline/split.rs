//! One forest into two scenes that hang on each other: a rider from a horse.

use super::raw::{RawChannel, RawClip, RawNode, RawScene, RawSkin};

/// Two scenes that were one.
///
/// A node of the branch stands where `base model matrix of attach_node × branch model matrix` says.
/// Both parts have all clips (same count, names and durations, some perhaps without tracks), all
/// materials, and images at the same positions.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitScene {
    /// What stays.
    pub base: RawScene,
    /// The subtree, its root without a parent.
    pub branch: RawScene,
    /// Node of `base` that was the parent of the branch's root.
    pub attach_node: usize,
    /// The branch's root among the nodes of `branch`.
    pub branch_root: usize,
    /// Position in the scene before of every skin of `base`.
    pub base_skins: Vec<usize>,
    /// Position in the scene before of every skin of `branch`.
    pub branch_skins: Vec<usize>,
    /// Position in the scene before of every mesh of `base`.
    pub base_meshes: Vec<usize>,
    /// Position in the scene before of every mesh of `branch`.
    pub branch_meshes: Vec<usize>,
}

/// Why a scene cannot be split at a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// There is no such node.
    #[error("{scene}: node {node} does not exist, there are {count}")]
    NoSuchNode {
        /// The scene's name.
        scene: String,
        /// The node asked for.
        node: usize,
        /// Nodes there are.
        count: usize,
    },
    /// The node hangs on nothing.
    #[error("{scene}: node {node} is a root, there is nothing to split it from")]
    Root {
        /// The scene's name.
        scene: String,
        /// The node asked for.
        node: usize,
    },
    /// A skin has joints on both sides.
    #[error("{scene}: skin {skin} has {inside} joints below node {node} and {outside} elsewhere")]
    SkinStraddles {
        /// The scene's name.
        scene: String,
        /// The skin.
        skin: usize,
        /// The node asked for.
        node: usize,
        /// Joints in the subtree.
        inside: usize,
        /// Joints elsewhere.
        outside: usize,
    },
    /// The scene refers to a node, skin or mesh that it does not have, or its parents form a circle.
    #[error("{scene}: {what} {index} does not exist or is its own ancestor")]
    Malformed {
        /// The scene's name.
        scene: String,
        /// What is referred to.
        what: &'static str,
        /// The index.
        index: usize,
    },
}

/// Which part something goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    Branch,
}

impl RawScene {
    /// Position of the node that was `source` in the file.
    pub fn position_of_source(&self, source: usize) -> Option<usize> {
        self.nodes.iter().position(|n| n.source == source)
    }

    /// Makes the subtree of `node` a scene of its own.
    ///
    /// Skins go where all their joints are; a skinned mesh follows its skin (alone, as a root, if
    /// its node is needed where it was); tracks go with their nodes, in file order.
    /// Errors: no such node, a root, a skin with joints on both sides, links that lead nowhere.
    pub fn split_at(self, node: usize) -> Result<SplitScene, SplitError> {
        let count = self.nodes.len();
        let scene = self.name.clone();
        let Some(asked) = self.nodes.get(node) else {
            return Err(SplitError::NoSuchNode { scene, node, count });
        };
        let Some(parent) = asked.parent else {
            return Err(SplitError::Root { scene, node });
        };
        self.check_links()?;
        let mut sides = self.subtree(node)?;
        let skin_sides = self.skin_sides(node, &sides)?;
        let twins = self.follow_skins(&mut sides, &skin_sides);
        let base = self.part(Side::Base, &sides, &skin_sides, &twins);
        let mut branch = self.part(Side::Branch, &sides, &skin_sides, &twins);
        let place = |side: Side, node: usize| {
            let before = sides.iter().take(node).filter(|&&s| s == side);
            before.count()
        };
        let branch_root = place(Side::Branch, node);
        if let Some(root) = branch.scene.nodes.get_mut(branch_root) {
            root.parent = None;
        }
        Ok(SplitScene {
            attach_node: place(Side::Base, parent),
            branch_root,
            base: base.scene,
            branch: branch.scene,
            base_skins: base.skins,
            branch_skins: branch.skins,
            base_meshes: base.meshes,
            branch_meshes: branch.meshes,
        })
    }

    /// Raw scenes may come from anywhere: refuses links that lead out of their arrays.
    fn check_links(&self) -> Result<(), SplitError> {
        let check = |what, index: Option<usize>, count| match index {
            Some(index) if index >= count => Err(SplitError::Malformed {
                scene: self.name.clone(),
                what,
                index,
            }),
            _ => Ok(()),
        };
        let count = self.nodes.len();
        for node in &self.nodes {
            check("parent node", node.parent, count)?;
            check("skin", node.skin, self.skins.len())?;
            check("mesh", node.mesh, self.meshes.len())?;
        }
        for joint in self.skins.iter().flat_map(|s| &s.joints) {
            check("joint node", Some(*joint), count)?;
        }
        for track in self.clips.iter().flat_map(|c| &c.tracks) {
            check("animated node", Some(track.node), count)?;
        }
        for root in self.scenes.iter().flatten() {
            check("root node", Some(*root), count)?;
        }
        Ok(())
    }

    /// The side of every node by its place in the forest alone.
    fn subtree(&self, node: usize) -> Result<Vec<Side>, SplitError> {
        let mut sides: Vec<Option<Side>> = vec![None; self.nodes.len()];
        let mut trail = Vec::new();
        for start in 0..self.nodes.len() {
            let (mut at, mut side) = (Some(start), Side::Base);
            while let Some(i) = at {
                if let Some(known) = sides[i] {
                    side = known;
                    break;
                }
                if trail.len() > self.nodes.len() {
                    return Err(SplitError::Malformed {
                        scene: self.name.clone(),
                        what: "node",
                        index: i,
                    });
                }
                trail.push(i);
                if i == node {
                    side = Side::Branch;
                    break;
                }
                at = self.nodes[i].parent;
            }
            for i in trail.drain(..) {
                sides[i] = Some(side);
            }
        }
        Ok(sides.into_iter().map(|s| s.unwrap_or(Side::Base)).collect())
    }

    fn skin_sides(&self, node: usize, sides: &[Side]) -> Result<Vec<Side>, SplitError> {
        let side_of = |(index, skin): (usize, &RawSkin)| {
            let inside = (skin.joints.iter())
                .filter(|&&j| sides[j] == Side::Branch)
                .count();
            match (inside, skin.joints.len() - inside) {
                (0, _) => Ok(Side::Base),
                (_, 0) => Ok(Side::Branch),
                (inside, outside) => Err(SplitError::SkinStraddles {
                    scene: self.name.clone(),
                    skin: index,
                    node,
                    inside,
                    outside,
                }),
            }
        };
        self.skins.iter().enumerate().map(side_of).collect()
    }

    /// Moves skinned mesh nodes to the side of their skin; returns the nodes that must stay where
    /// they are and so get a twin on the other side to carry the mesh.
    fn follow_skins(&self, sides: &mut [Side], skin_sides: &[Side]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|n| n.parent) {
            needed[parent] = true;
        }
        for &joint in self.skins.iter().flat_map(|s| &s.joints) {
            needed[joint] = true;
        }
        let mut twins = vec![false; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let (Some(_), Some(skin)) = (node.mesh, node.skin) else {
                continue;
            };
            let side = skin_sides[skin];
            if sides[index] != side {
                if needed[index] {
                    twins[index] = true;
                } else {
                    sides[index] = side;
                }
            }
        }
        twins
    }

    fn part(&self, side: Side, sides: &[Side], skin_sides: &[Side], twins: &[bool]) -> Part {
        let mut part = Part::new(self, side, sides, skin_sides, twins);
        part.nodes(self, side, sides, twins);
        part.skins(self);
        part.scenes(self, side, sides, twins);
        part.clips(self, side, sides, twins);
        part
    }
}

/// One side while it is put together.
struct Part {
    scene: RawScene,
    /// New position of every old node, if it is on this side.
    place: Vec<Option<usize>>,
    /// New position of a twin of every old node, if it has one on this side.
    twin: Vec<Option<usize>>,
    skins: Vec<usize>,
    meshes: Vec<usize>,
}

impl Part {
    fn new(
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
        // A mesh goes where it is drawn; one that nothing draws stays in the base.
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
        Part {
            scene: RawScene {
                name: whole.name.clone(),
                materials: whole.materials.clone(),
                default_scene: whole.default_scene,
                ..RawScene::default()
            },
            place,
            twin,
            skins: (0..skin_sides.len())
                .filter(|&i| skin_sides[i] == side)
                .collect(),
            meshes: (0..whole.meshes.len()).filter(keep).collect(),
        }
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
            if let Some(image) = material.and_then(|m| m.base_color_image)
                && let Some(used) = used.get_mut(image)
            {
                *used = true;
            }
        }
        let images = whole.images.iter().zip(used);
        self.scene.images = images
            .map(|(image, used)| image.as_ref().filter(|_| used).cloned())
            .collect();
    }

    /// A scene shows in a part what it showed before: its roots there, and the nodes that became
    /// roots below a root of it.
    fn scenes(&mut self, whole: &RawScene, side: Side, sides: &[Side], twins: &[bool]) {
        for roots in &whole.scenes {
            let shown = shown(whole, roots);
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
                // Weights go with the mesh, the rest with the node.
                let away = twins[track.node] && track.channel == RawChannel::Weights;
                let place = match away {
                    true => self.twin[track.node],
                    false => self.place[track.node],
                };
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
                extras: clip.extras.clone(),
            });
        }
    }
}

/// Which nodes stand at or below one of `roots`.
fn shown(whole: &RawScene, roots: &[usize]) -> Vec<bool> {
    let mut known: Vec<Option<bool>> = vec![None; whole.nodes.len()];
    for &root in roots {
        known[root] = Some(true);
    }
    let mut trail = Vec::new();
    for start in 0..whole.nodes.len() {
        let (mut at, mut answer) = (Some(start), false);
        while let Some(i) = at {
            if let Some(known) = known[i] {
                answer = known;
                break;
            }
            trail.push(i);
            at = whole.nodes[i].parent;
        }
        for i in trail.drain(..) {
            known[i] = Some(answer);
        }
    }
    known.into_iter().map(|k| k.unwrap_or(false)).collect()
}
