//! Whether palette rows mirror the triangles of a mesh, and which clips can change that.

use phalanx::clip::{Channel, Clip, ClipKind};
use phalanx::math::{Affine3x4, LANES};
use phalanx::mesh::Influences;
use phalanx::rig::Rig;
use phalanx::skeleton::NO_JOINT;

use super::scene::mirrors;

/// Whether the palette rows of a mesh mirror its triangles, which decides their front side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Winding {
    /// No row mirrors: front faces are counter-clockwise, as in the mesh.
    Kept,
    /// All rows mirror: front faces are clockwise.
    Turned,
    /// Each row may mirror at any time. The rows of each vertex are checked when it is drawn. This is correct in
    /// all cases, but back faces are shaded before they are discarded. A triangle between mirrored and plain
    /// vertices has no front: both sides are drawn, lit by the normal of the triangle.
    #[default]
    ByRows,
}

/// For every palette row of a rig: whether it mirrors at rest; `None` if a clip can change that.
#[derive(Clone, Debug)]
pub(super) struct Sides(Vec<Option<bool>>);

impl Sides {
    /// `rest` are the palette rows at rest, `clips` all clips that will be played.
    pub fn new<'a>(
        rig: &Rig,
        rest: &[Affine3x4],
        clips: impl IntoIterator<Item = &'a Clip>,
    ) -> Self {
        let skeleton = rig.skeleton();
        let mut changing: Vec<bool> = (0..skeleton.len())
            // Any change from a scale of zero may be a change of sign.
            .map(|joint| skeleton.rest(joint).scale.to_array().contains(&0.0))
            .collect();
        for clip in clips {
            mark(rig, clip, &mut changing);
        }
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            // Parents precede their children; a root has no parent.
            changing[joint] |= changing.get(usize::from(parent)).is_some_and(|&c| c);
        }
        let joints = rig.skins().iter().flat_map(|skin| skin.joints());
        let changes = joints.map(|&joint| changing.get(usize::from(joint)) == Some(&true));
        let sides = rest.iter().zip(changes);
        Self(sides.map(|(row, changes)| (!changes).then(|| mirrors(row))).collect())
    }

    /// The winding of a primitive whose slot 0 is row `first`.
    pub fn winding(&self, first: usize, influences: &Influences) -> Winding {
        let pairs = influences.joints.iter().zip(&influences.weights);
        let mut rows = pairs
            .filter(|&(_, &weight)| weight != 0.0)
            .map(|(&slot, _)| self.0.get(first + usize::from(slot)).copied().flatten());
        let Some(side) = rows.next() else {
            return Winding::Kept;
        };
        match side.filter(|_| rows.all(|row| row == side)) {
            Some(false) => Winding::Kept,
            Some(true) => Winding::Turned,
            None => Winding::ByRows,
        }
    }
}

/// Marks the joints whose scale a clip can take through zero, in any blend with clips that cannot.
fn mark(rig: &Rig, clip: &Clip, changing: &mut [bool]) {
    let skeleton = rig.skeleton();
    for (block, b) in clip.blocks(Channel::Scale).iter().enumerate() {
        for lane in 0..LANES {
            let joint = skeleton.joint_of().get(usize::from(b.block) * LANES + lane);
            let Some(&joint) = joint.filter(|&&joint| joint != NO_JOINT) else {
                continue;
            };
            let rest = skeleton.rest(usize::from(joint)).scale.to_array();
            let Some(reach) = clip.value_range(Channel::Scale, block, lane) else {
                continue;
            };
            let crosses = reach.iter().zip(rest).any(|([least, most], rest)| match clip.kind() {
                ClipKind::Full => *least < 0.0 && rest > 0.0 || *most > 0.0 && rest < 0.0,
                // Factors 1 + w · (value − 1), with weights from −1 to 1.
                ClipKind::Additive => *least <= 0.0 || *most >= 2.0,
            });
            if let Some(changing) = changing.get_mut(usize::from(joint)) {
                *changing |= crosses;
            }
        }
    }
}
