//! Raw data, the input of the builders: plain arrays in file order, not packed and not resampled; and the report of
//! what was changed on the way.
//!
//! Importers and bakers write it, builders read it. It is public as `import::raw`.

mod report;
mod up_axis;

use crate::clip::{Channel, Marker};
use crate::mesh::{ImageData, Material, Mesh};
use crate::skeleton::{HumanBone, SpringBones, Trs, UserChannel};
pub use report::{ReportEntry, Severity};
pub use up_axis::UpAxis;

/// A file of one or more characters, before rigs are built from it.
///
/// All indices are positions in the vectors here. `nodes` may be in any order; `parent` links form
/// a forest (importers reject cycles and nodes with two parents).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawScene {
    /// File name or another label for messages.
    pub name: String,
    /// All nodes of the file.
    pub nodes: Vec<RawNode>,
    /// Skins in file order.
    pub skins: Vec<RawSkin>,
    /// Animations in file order.
    pub clips: Vec<RawClip>,
    /// Meshes in file order.
    pub meshes: Vec<Mesh>,
    /// Materials in file order.
    pub materials: Vec<Material>,
    /// Images in file order; `None` if no material uses the image, images were not requested, or it could not be decoded (see
    /// the report).
    pub images: Vec<Option<ImageData>>,
    /// User channels: named values besides the joints, which clips animate by [`RawClip::user_tracks`].
    pub channels: Vec<UserChannel>,
    /// Root nodes of every scene.
    pub scenes: Vec<Vec<usize>>,
    /// The scene to show: the file's default, or its first; `None` if it has none, and all nodes are shown.
    pub default_scene: Option<usize>,
    /// The nodes that are bones of a humanoid, if the file says so (`VRMC_vrm`, `VRM`, `VRMC_vrm_animation`). Of a bone or a
    /// node that occurs twice, the first counts.
    pub humanoid: Vec<(HumanBone, usize)>,
    /// The springs, if the file has any (`VRMC_springBone`, `VRM`), with indices of nodes in place of joints.
    pub springs: SpringBones,
}

/// A node of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawNode {
    /// Index in the file (differs from the position here after a split).
    pub source: usize,
    /// The name in the file, if any.
    pub name: Option<String>,
    /// Parent node, if any.
    pub parent: Option<usize>,
    /// Local transform; for a node with a matrix, its decomposition.
    pub local: Trs,
    /// The 16 column-major floats, if the file has a matrix.
    pub matrix: Option<[f32; 16]>,
    /// Mesh drawn at this node; `None` for nodes outside the default scene, which are not drawn.
    pub mesh: Option<usize>,
    /// Skin of that mesh.
    pub skin: Option<usize>,
    /// Default morph weights (the node's, or the mesh's, or zeros); empty without a mesh or morph targets.
    pub weights: Vec<f32>,
}

/// A skin: nodes and their inverse bind matrices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawSkin {
    /// The name in the file, if any.
    pub name: Option<String>,
    /// The node of each slot.
    pub joints: Vec<usize>,
    /// The column-major inverse bind matrix of each slot (identity if the file has none).
    pub inverse_bind: Vec<[f32; 16]>,
}

/// An animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawClip {
    /// The name in the file, if any.
    pub name: Option<String>,
    /// Duration in seconds: the largest key time of all samplers that the animation's channels use, read or not.
    pub duration: f32,
    /// Tracks in file order.
    pub tracks: Vec<RawTrack>,
    /// Tracks of user channels, at most one for each: `node` is the index in [`RawScene::channels`], `channel` is not read,
    /// and a value has as many floats as the channel's type. Linear quaternions are slerped.
    pub user_tracks: Vec<RawTrack>,
    /// The animation's `extras` as JSON text, if any.
    pub extras: Option<String>,
    /// Named times, in any order.
    pub markers: Vec<Marker>,
    /// Seconds that [`RawScene::trim_clips`] cut from the beginning; 0 if none. Below 0 if the clip began below 0 s: its keys
    /// are then later than in the file by this time.
    pub trimmed: f32,
}

/// The property that a track animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RawChannel {
    /// Translation, 3 floats per key.
    Translation,
    /// Rotation, a quaternion xyzw per key.
    Rotation,
    /// Scale, 3 floats per key.
    Scale,
    /// Morph weights, one float per target and key.
    Weights,
}

impl RawChannel {
    /// The channel of clips in which the property is stored.
    pub(crate) fn to_channel(self) -> Channel {
        match self {
            Self::Translation => Channel::Translation,
            Self::Rotation => Channel::Rotation,
            Self::Scale => Channel::Scale,
            Self::Weights => Channel::Scalar,
        }
    }

    /// The property that a channel of clips stores.
    pub(crate) fn from_channel(channel: Channel) -> Self {
        match channel {
            Channel::Translation => Self::Translation,
            Channel::Rotation => Self::Rotation,
            Channel::Scale => Self::Scale,
            Channel::Scalar => Self::Weights,
        }
    }
}

/// The channel's name in glTF.
impl std::fmt::Display for RawChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
            Self::Scale => "scale",
            Self::Weights => "weights",
        })
    }
}

/// Interpolation between keys (glTF 2.0, appendix C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Lerp, or slerp for rotations.
    Linear,
    /// The previous key's value.
    Step,
    /// Hermite splines; each key holds in-tangent, value, out-tangent.
    CubicSpline,
}

/// One animated property of one node.
///
/// `times` are finite, not negative and strictly increasing. `values` are finite and hold `times.len() × components`
/// floats, three times as many for cubic splines. The builder normalises linear and stepped rotations. It keeps the
/// lengths of a spline's keys, which are part of its shape; the importer of glTF normalises them.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTrack {
    /// The animated node.
    pub node: usize,
    /// The animated property of the node.
    pub channel: RawChannel,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times in seconds.
    pub times: Vec<f32>,
    /// Values, all floats of a key together.
    pub values: Vec<f32>,
}

/// One entry per node: true if it is one of `roots` or below one. The nodes must be a forest.
pub(crate) fn below(nodes: &[RawNode], roots: &[usize]) -> Vec<bool> {
    below_checked(nodes, roots).unwrap_or_else(|_| vec![false; nodes.len()])
}

/// The same as [`below`], or a node that is its own ancestor.
pub(crate) fn below_checked(nodes: &[RawNode], roots: &[usize]) -> Result<Vec<bool>, usize> {
    let mut known: Vec<Option<bool>> = vec![None; nodes.len()];
    for &root in roots {
        known[root] = Some(true);
    }
    let mut trail = Vec::new();
    for start in 0..nodes.len() {
        let (mut next, mut answer) = (Some(start), false);
        while let Some(node) = next {
            if let Some(found) = known[node] {
                answer = found;
                break;
            }
            if trail.len() > nodes.len() {
                return Err(node);
            }
            trail.push(node);
            next = nodes[node].parent;
        }
        for node in trail.drain(..) {
            known[node] = Some(answer);
        }
    }
    Ok(known.into_iter().map(|known| known == Some(true)).collect())
}
