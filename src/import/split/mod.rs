//! Splitting one scene into two that are attached to each other: a rider and a horse.

mod part;

use super::error::{Fault, ImportError};
use super::fault::{ImportFault, index, invalid};
use crate::raw::{RawScene, RawSkin, below_checked};
use crate::words::plural;
use part::Part;

/// The two parts of a scene that was split.
///
/// The model matrix of a branch node in the old scene is `model matrix of attach_node × model matrix in
/// the branch`. Both parts have all clips (same count, names and durations, some perhaps without tracks),
/// all materials, and images at the same indices.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitScene {
    /// The scene without the subtree.
    pub base: RawScene,
    /// The subtree; its root has no parent.
    pub branch: RawScene,
    /// The node of `base` that was the parent of the branch's root.
    pub attach_node: usize,
    /// The branch's root among the nodes of `branch`.
    pub branch_root: usize,
    /// Old index of every skin of `base`.
    pub base_skins: Vec<usize>,
    /// Old index of every skin of `branch`.
    pub branch_skins: Vec<usize>,
    /// Old index of every mesh of `base`.
    pub base_meshes: Vec<usize>,
    /// Old index of every mesh of `branch`.
    pub branch_meshes: Vec<usize>,
}

/// The part that something belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    Branch,
}

fn malformed(what: &str, index: usize) -> ImportFault {
    invalid(format!("{what} {index} does not exist or is its own ancestor"))
}

impl RawScene {
    /// Splits off the subtree of `node` as a separate scene.
    ///
    /// A skin goes to the side of its joints. A skinned mesh follows its skin; if its node is needed on the other side, a new
    /// root node carries the mesh. Tracks go with their nodes, in file order.
    ///
    /// # Errors
    /// If there is no such node, it is a root, a skin has joints on both sides, or an index is out of range.
    pub fn split_at(self, node: usize) -> Result<SplitScene, ImportError> {
        let split = self.halves(node);
        split.map_err(|fault| Fault::from(fault).in_file(&self.name))
    }

    fn halves(&self, node: usize) -> Result<SplitScene, ImportFault> {
        let count = self.nodes.len();
        let Some(asked) = self.nodes.get(node) else { return Err(index("node", node, count)) };
        let Some(parent) = asked.parent else {
            let words = format!("node {node} is a root, there is nothing to split it from");
            return Err(invalid(words));
        };
        self.check_links()?;
        let mut sides = self.subtree(node)?;
        let skin_sides = self.skin_sides(node, &sides)?;
        let twins = self.follow_skins(&mut sides, &skin_sides);
        let part = |side| Part::new(self, side, &sides, &skin_sides, &twins);
        let (base, mut branch) = (part(Side::Base), part(Side::Branch));
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

    /// Checks the indices, since a raw scene may come from any source.
    fn check_links(&self) -> Result<(), ImportFault> {
        let check = |what, index: Option<usize>, count| match index {
            Some(index) if index >= count => Err(malformed(what, index)),
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

    /// The side of every node by the hierarchy alone.
    fn subtree(&self, node: usize) -> Result<Vec<Side>, ImportFault> {
        let inside = below_checked(&self.nodes, &[node]);
        let inside = inside.map_err(|node| malformed("node", node))?;
        let side = |inside| if inside { Side::Branch } else { Side::Base };
        Ok(inside.into_iter().map(side).collect())
    }

    fn skin_sides(&self, node: usize, sides: &[Side]) -> Result<Vec<Side>, ImportFault> {
        let side_of = |(index, skin): (usize, &RawSkin)| {
            let inside = (skin.joints.iter()).filter(|&&j| sides[j] == Side::Branch).count();
            match (inside, skin.joints.len() - inside) {
                (0, _) => Ok(Side::Base),
                (_, 0) => Ok(Side::Branch),
                (inside, outside) => {
                    let inside = plural(inside as u64, "joint");
                    Err(invalid(format!(
                        "skin {index} has {inside} below node {node} and {outside} elsewhere"
                    )))
                }
            }
        };
        self.skins.iter().enumerate().map(side_of).collect()
    }

    /// Moves skinned mesh nodes to the side of their skin. Returns the nodes that must stay on their side, so that a twin on
    /// the other side carries the mesh.
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
            let (Some(_), Some(skin)) = (node.mesh, node.skin) else { continue };
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
}
