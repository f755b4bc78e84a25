//! The parts of a file that matter for animation, in f64: nodes, skins, clips, meshes; and poses of all
//! nodes.

use super::curve::{Curve, Interpolation};
use super::file::{File, index, list, numbers};
use super::math::{IDENTITY, Mat4, Quat, Vec3, normalize};
use serde_json::Value;
use std::path::Path;

pub struct Scene {
    pub nodes: Vec<Node>,
    pub skins: Vec<Skin>,
    pub clips: Vec<Clip>,
    pub meshes: Vec<Mesh>,
}

pub struct Node {
    pub name: Option<String>,
    pub parent: Option<usize>,
    pub rest: NodePose,
    pub matrix: Option<Mat4>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
}

/// Local transform and morph weights of a node. The transform is unused for a node with a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePose {
    pub t: Vec3,
    pub r: Quat,
    pub s: Vec3,
    pub weights: Vec<f64>,
}

/// Poses of all nodes, in file order.
pub type Pose = Vec<NodePose>;

pub struct Skin {
    pub name: Option<String>,
    pub joints: Vec<usize>,
    pub inverse_bind: Vec<Mat4>,
}

pub struct Clip {
    pub name: Option<String>,
    pub duration: f64,
    pub channels: Vec<Channel>,
}

pub struct Channel {
    pub node: usize,
    pub path: Property,
    pub curve: Curve,
}

/// The four animated properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Property {
    Translation,
    Rotation,
    Scale,
    Weights,
}

pub struct Mesh {
    pub primitives: Vec<Primitive>,
}

pub struct Primitive {
    pub positions: Vec<Vec3>,
    /// Position displacements per target; empty for a target without positions.
    pub targets: Vec<Vec<Vec3>>,
    /// Joints and weights per vertex, all sets concatenated; empty for rigid primitives.
    pub influences: Vec<Vec<(usize, f64)>>,
}

/// A clip's values for a node at one time; `None` where it has no channel.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    pub t: Option<Vec3>,
    pub r: Option<Quat>,
    pub s: Option<Vec3>,
    pub weights: Option<Vec<f64>>,
}

impl Scene {
    pub fn load(path: &Path) -> Result<Self, String> {
        Self::read(&File::open(path)?)
    }

    /// A scene from the text of a .gltf whose buffers are data URIs.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(&File::parse(text.as_bytes(), Path::new(""))?)
    }

    fn read(file: &File) -> Result<Self, String> {
        let json = &file.json;
        let all = |key: &str| list(json, key);
        let meshes = all("meshes").iter().map(|m| mesh(file, m)).collect::<Result<Vec<_>, _>>()?;
        let mut nodes: Vec<Node> = all("nodes").iter().map(|n| node(n, all("meshes"))).collect();
        for (parent, value) in all("nodes").iter().enumerate() {
            for child in list(value, "children").iter().filter_map(Value::as_u64) {
                nodes[child as usize].parent = Some(parent);
            }
        }
        let skins = all("skins").iter().map(|s| skin(file, s)).collect::<Result<_, _>>()?;
        let clips = all("animations").iter().map(|a| clip(file, a)).collect::<Result<_, _>>()?;
        Ok(Self { nodes, skins, clips, meshes })
    }

    /// The pose without animation.
    pub fn rest(&self) -> Pose {
        self.nodes.iter().map(|n| n.rest.clone()).collect()
    }

    /// Values of clip `clip` for every node at `t` seconds (not wrapped).
    pub fn sample(&self, clip: usize, t: f64) -> Vec<Sampled> {
        let mut out = vec![Sampled::default(); self.nodes.len()];
        for channel in &self.clips[clip].channels {
            let (node, curve) = (&mut out[channel.node], &channel.curve);
            let three = || curve.scalars(t).try_into().ok();
            match channel.path {
                Property::Translation => node.t = three(),
                Property::Rotation => node.r = Some(curve.rotation(t)),
                Property::Scale => node.s = three(),
                Property::Weights => node.weights = Some(curve.scalars(t)),
            }
        }
        out
    }

    /// The pose of one clip at `t` seconds; properties it does not animate are at rest.
    pub fn pose(&self, clip: usize, t: f64) -> Pose {
        let sampled = self.sample(clip, t);
        self.nodes.iter().zip(sampled).map(|(node, sampled)| sampled.or(&node.rest)).collect()
    }

    /// Index of the first clip with this name.
    pub fn clip_named(&self, name: &str) -> Option<usize> {
        self.clips.iter().position(|c| c.name.as_deref() == Some(name))
    }

    /// Index of the first node with this name.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|n| n.name.as_deref() == Some(name))
    }

    /// True if `node` is `ancestor` or a descendant of it.
    pub fn is_at_or_below(&self, node: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(node), |&n| self.nodes[n].parent).any(|n| n == ancestor)
    }
}

impl Sampled {
    /// The sample, with `rest` where the clip has no channel.
    pub fn or(self, rest: &NodePose) -> NodePose {
        NodePose {
            t: self.t.unwrap_or(rest.t),
            r: self.r.unwrap_or(rest.r),
            s: self.s.unwrap_or(rest.s),
            weights: self.weights.unwrap_or_else(|| rest.weights.clone()),
        }
    }
}

fn name(value: &Value) -> Option<String> {
    value["name"].as_str().map(str::to_owned)
}

fn node(value: &Value, meshes: &[Value]) -> Node {
    let mesh = index(value, "mesh");
    let targets =
        mesh.and_then(|m| meshes[m]["primitives"].get(0)).map_or(0, |p| list(p, "targets").len());
    // The node's own weights, else the mesh's, else zeros (3.7.2.2).
    let weights = [Some(value), mesh.map(|m| &meshes[m])]
        .into_iter()
        .flatten()
        .map(|v| list(v, "weights"))
        .find(|w| !w.is_empty())
        .map_or(vec![0.0; targets], |w| w.iter().filter_map(Value::as_f64).collect());
    Node {
        name: name(value),
        parent: None,
        rest: NodePose {
            t: numbers(value, "translation").unwrap_or([0.0; 3]),
            r: normalize(numbers(value, "rotation").unwrap_or([0.0, 0.0, 0.0, 1.0])),
            s: numbers(value, "scale").unwrap_or([1.0; 3]),
            weights,
        },
        matrix: numbers(value, "matrix"),
        mesh,
        skin: index(value, "skin"),
    }
}

fn skin(file: &File, value: &Value) -> Result<Skin, String> {
    let joints: Vec<usize> =
        list(value, "joints").iter().filter_map(|j| j.as_u64().map(|j| j as usize)).collect();
    let inverse_bind = match index(value, "inverseBindMatrices") {
        Some(accessor) => file.accessor(accessor)?.rows()?,
        None => vec![IDENTITY; joints.len()],
    };
    if inverse_bind.len() < joints.len() {
        return Err(format!("{} matrices for {} joints", inverse_bind.len(), joints.len()));
    }
    Ok(Skin { name: name(value), joints, inverse_bind })
}

fn clip(file: &File, value: &Value) -> Result<Clip, String> {
    let samplers = list(value, "samplers");
    let mut duration = 0.0f64;
    for sampler in samplers {
        let input = index(sampler, "input").ok_or("sampler without input")?;
        duration = file.accessor(input)?.values.iter().fold(duration, |a, &b| a.max(b));
    }
    let mut channels = Vec::new();
    for channel in list(value, "channels") {
        let Some(node) = index(&channel["target"], "node") else {
            continue;
        };
        let path = match channel["target"]["path"].as_str() {
            Some("translation") => Property::Translation,
            Some("rotation") => Property::Rotation,
            Some("scale") => Property::Scale,
            Some("weights") => Property::Weights,
            _ => continue,
        };
        let sampler =
            index(channel, "sampler").and_then(|s| samplers.get(s)).ok_or("no such sampler")?;
        channels.push(Channel { node, path, curve: curve(file, sampler)? });
    }
    Ok(Clip { name: name(value), duration, channels })
}

fn curve(file: &File, sampler: &Value) -> Result<Curve, String> {
    let interpolation = match sampler["interpolation"].as_str() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => return Err(format!("interpolation {other}")),
    };
    let table = |key: &str| file.accessor(index(sampler, key).ok_or(format!("no {key}"))?);
    let (times, keys) = (table("input")?.values, table("output")?.values);
    let parts = match interpolation {
        Interpolation::CubicSpline => 3,
        _ => 1,
    };
    if times.is_empty() || keys.len() % (times.len() * parts) != 0 {
        return Err(format!("{} numbers for {} key times", keys.len(), times.len()));
    }
    let width = keys.len() / (times.len() * parts);
    Ok(Curve { interpolation, times, keys, width })
}

fn mesh(file: &File, value: &Value) -> Result<Mesh, String> {
    let primitives =
        list(value, "primitives").iter().map(|p| primitive(file, p)).collect::<Result<_, _>>()?;
    Ok(Mesh { primitives })
}

fn primitive(file: &File, value: &Value) -> Result<Primitive, String> {
    let attributes = &value["attributes"];
    let rows = |place: &Value, key: &str| match index(place, key) {
        Some(accessor) => file.accessor(accessor)?.rows(),
        None => Ok(Vec::new()),
    };
    let positions = rows(attributes, "POSITION")?;
    let targets = list(value, "targets")
        .iter()
        .map(|target| rows(target, "POSITION"))
        .collect::<Result<_, String>>()?;
    let mut influences = Vec::new();
    for set in 0.. {
        let (joints, weights) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
        let (Some(joints), Some(weights)) =
            (index(attributes, &joints), index(attributes, &weights))
        else {
            break;
        };
        influences.resize(positions.len(), Vec::new());
        let (joints, weights) = (file.accessor(joints)?, file.accessor(weights)?);
        for (vertex, (joints, weights)) in joints.elements().zip(weights.elements()).enumerate() {
            let pairs = joints.iter().zip(weights).map(|(&j, &w)| (j as usize, w));
            influences[vertex].extend(pairs);
        }
    }
    Ok(Primitive { positions, targets, influences })
}
