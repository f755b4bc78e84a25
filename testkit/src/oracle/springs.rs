//! Springs in f64, one joint after another, by VRM 1.0's `VRMC_springBone` ("Update procedure") and the appendix of
//! `VRMC_springBone_extended_collider`; read from the JSON of VRM 1.0 or of VRM 0.x.

use super::scene::{Pose, Scene};
use glam::{DMat3, DMat4, DQuat, DVec3};
use serde_json::Value;

/// A body that tails do not pass, in the space of a node.
#[derive(Clone, Debug)]
pub enum Shape {
    Sphere { at: DVec3, radius: f64, inside: bool },
    Capsule { at: DVec3, tail: DVec3, radius: f64, inside: bool },
    Plane { at: DVec3, normal: DVec3 },
}

/// A node that swings.
#[derive(Clone, Debug)]
pub struct Joint {
    pub node: usize,
    /// The tail in the space of the node.
    pub tail: DVec3,
    pub radius: f64,
    pub stiffness: f64,
    pub gravity: DVec3,
    pub drag: f64,
    pub center: Option<usize>,
    /// Nodes and shapes.
    pub colliders: Vec<(usize, Shape)>,
}

/// Joints, those above before those below, and their tails in the space of the centre or of the world.
#[derive(Clone, Debug, Default)]
pub struct Springs {
    pub joints: Vec<Joint>,
    pub now: Vec<DVec3>,
    pub before: Vec<DVec3>,
}

fn vector(v: &Value, default: DVec3) -> DVec3 {
    match v {
        Value::Array(v) => {
            DVec3::from_slice(&v.iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>())
        }
        Value::Object(v) => {
            DVec3::new(v["x"].as_f64().unwrap(), v["y"].as_f64().unwrap(), v["z"].as_f64().unwrap())
        }
        _ => default,
    }
}

fn indices(v: &Value) -> Vec<usize> {
    let all = v.as_array().into_iter().flatten();
    all.map(|v| v.as_u64().unwrap() as usize).collect()
}

/// The local matrix of a node.
fn local(scene: &Scene, pose: &Pose, node: usize) -> DMat4 {
    let _ = scene;
    let p = &pose[node];
    let (t, r, s) = (DVec3::from(p.t), DQuat::from_array(p.r), DVec3::from(p.s));
    DMat4::from_scale_rotation_translation(s, r, t)
}

/// The place of a node in the space of one above it.
fn place(scene: &Scene, above: usize, node: usize) -> DVec3 {
    let (mut at, mut place) = (node, DVec3::ZERO);
    while at != above {
        place = local(scene, &scene.rest(), at).transform_point3(place);
        at = scene.nodes[at].parent.expect("a node below the other");
    }
    place
}

impl Springs {
    /// The springs of VRM 1.0.
    pub fn newest(scene: &Scene, json: &Value) -> Self {
        let shape = |v: &Value| {
            let at = |v: &Value, key: &str| vector(&v[key], DVec3::ZERO);
            let inside = |v: &Value| v["inside"].as_bool().unwrap_or(false);
            let radius = |v: &Value| v["radius"].as_f64().unwrap_or(0.0);
            if let Some(v) = v.get("sphere") {
                Shape::Sphere { at: at(v, "offset"), radius: radius(v), inside: inside(v) }
            } else if let Some(v) = v.get("capsule") {
                let (at, tail) = (at(v, "offset"), at(v, "tail"));
                Shape::Capsule { at, tail, radius: radius(v), inside: inside(v) }
            } else {
                let v = &v["plane"];
                Shape::Plane { at: at(v, "offset"), normal: vector(&v["normal"], DVec3::Z) }
            }
        };
        let colliders: Vec<(usize, Shape)> = json["colliders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| {
                let extended = &c["extensions"]["VRMC_springBone_extended_collider"]["shape"];
                let stated = if extended.is_null() { &c["shape"] } else { extended };
                (c["node"].as_u64().unwrap() as usize, shape(stated))
            })
            .collect();
        let groups: Vec<Vec<usize>> = json["colliderGroups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|g| indices(&g["colliders"]))
            .collect();
        let mut out = Self::default();
        for spring in json["springs"].as_array().unwrap() {
            let joints = spring["joints"].as_array().unwrap();
            let mut of: Vec<usize> = Vec::new();
            for collider in
                indices(&spring["colliderGroups"]).iter().flat_map(|&g| groups[g].clone())
            {
                if !of.contains(&collider) {
                    of.push(collider);
                }
            }
            for pair in joints.windows(2) {
                let number = |key: &str, default: f64| pair[0][key].as_f64().unwrap_or(default);
                let [node, next] =
                    [&pair[0], &pair[1]].map(|j| j["node"].as_u64().unwrap() as usize);
                out.joints.push(Joint {
                    node,
                    tail: place(scene, node, next),
                    radius: number("hitRadius", 0.0),
                    stiffness: number("stiffness", 1.0),
                    gravity: vector(&pair[0]["gravityDir"], DVec3::NEG_Y)
                        * number("gravityPower", 0.0),
                    drag: number("dragForce", 0.5),
                    center: spring["center"].as_u64().map(|n| n as usize),
                    colliders: of.iter().map(|&c| colliders[c].clone()).collect(),
                });
            }
        }
        out.ordered(scene)
    }

    /// The springs of VRM 0.x: all nodes below the bones of a group; the tail of a node is its first child, that of a last
    /// node 7 cm on. Vectors are Unity's.
    pub fn oldest(scene: &Scene, json: &Value) -> Self {
        let unity = |v: &Value| vector(v, DVec3::ZERO) * DVec3::new(1.0, 1.0, -1.0);
        let mut out = Self::default();
        for group in json["boneGroups"].as_array().unwrap() {
            let mut colliders = Vec::new();
            for of in indices(&group["colliderGroups"]) {
                let of = &json["colliderGroups"][of];
                for sphere in of["colliders"].as_array().unwrap() {
                    let (at, radius) =
                        (unity(&sphere["offset"]), sphere["radius"].as_f64().unwrap());
                    let shape = Shape::Sphere { at, radius, inside: false };
                    colliders.push((of["node"].as_u64().unwrap() as usize, shape));
                }
            }
            let number = |key: &str| group[key].as_f64().unwrap();
            let center = group["center"].as_i64().filter(|&n| n >= 0).map(|n| n as usize);
            for node in 0..scene.nodes.len() {
                let bones = indices(&group["bones"]);
                if !bones.iter().any(|&bone| scene.is_at_or_below(node, bone)) {
                    continue;
                }
                let child = (0..scene.nodes.len()).find(|&n| scene.nodes[n].parent == Some(node));
                let rest = &scene.rest()[node];
                let on = DVec3::from(rest.t).normalize() * 0.07;
                out.joints.push(Joint {
                    node,
                    tail: child.map_or(DQuat::from_array(rest.r).inverse() * on, |c| {
                        place(scene, node, c)
                    }),
                    radius: number("hitRadius"),
                    stiffness: number("stiffiness"),
                    gravity: unity(&group["gravityDir"]) * number("gravityPower"),
                    drag: number("dragForce"),
                    center,
                    colliders: colliders.clone(),
                });
            }
        }
        out.ordered(scene)
    }

    fn ordered(mut self, scene: &Scene) -> Self {
        let depth =
            |node: usize| std::iter::successors(Some(node), |&n| scene.nodes[n].parent).count();
        self.joints.sort_by_key(|joint| depth(joint.node));
        (self.now, self.before) =
            (vec![DVec3::ZERO; self.joints.len()], vec![DVec3::ZERO; self.joints.len()]);
        self
    }

    /// Puts the tails to rest.
    pub fn rest(&mut self, scene: &Scene, pose: &Pose, world: &DMat4) {
        let worlds = worlds(scene, pose, world);
        for (n, joint) in self.joints.iter().enumerate() {
            let tail = worlds[joint.node].transform_point3(joint.tail);
            self.now[n] = joint.space(&worlds).inverse().transform_point3(tail);
        }
        self.before = self.now.clone();
    }

    /// A step of `dt` seconds, of which a share is shown: the tails are between the last step and this one. Returns the
    /// world matrices, and the springs after the whole step.
    pub fn step(
        &self,
        scene: &Scene,
        (pose, world): (&Pose, &DMat4),
        (dt, share, weight): (f64, f64, f64),
    ) -> (Vec<DMat4>, Self) {
        let (mut pose, mut after) = (pose.clone(), self.clone());
        for (n, joint) in self.joints.iter().enumerate() {
            let all = worlds(scene, &pose, world);
            let (at, space) = (all[joint.node], joint.space(&all));
            let [now, before] =
                [self.now[n], self.before[n]].map(|tail| space.transform_point3(tail));
            let head = at.transform_point3(DVec3::ZERO);
            let rest = at.transform_point3(joint.tail) - head;
            let (length, scale) = (rest.length(), rest.length() / joint.tail.length());
            let constrain = |tail: DVec3| head + (tail - head).normalize() * length;
            let inertia = (now - before) * (1.0 - joint.drag);
            let stiffness = rest.normalize() * joint.stiffness * dt;
            let mut next = constrain(now + inertia + stiffness + joint.gravity * dt);
            for (node, shape) in &joint.colliders {
                let (distance, direction) =
                    shape.collision(&all[*node], next, joint.radius * scale);
                if distance < 0.0 {
                    next = constrain(next - direction * distance);
                }
            }
            after.now[n] = space.inverse().transform_point3(next);
            after.before[n] = space.inverse().transform_point3(now);
            // The joint turns in the space that it has at rest.
            let shown = constrain(now.lerp(next, share));
            let to = at.inverse().transform_point3(shown).normalize();
            let turn = arc(joint.tail.normalize(), to);
            let turn = (DQuat::IDENTITY * (1.0 - weight) + turn * weight).normalize();
            pose[joint.node].r = (DQuat::from_array(pose[joint.node].r) * turn).to_array();
        }
        (worlds(scene, &pose, world), after)
    }
}

/// The shortest rotation between unit vectors.
fn arc(from: DVec3, to: DVec3) -> DQuat {
    let w = 1.0 + from.dot(to);
    match w > 1e-12 {
        true => {
            DQuat::from_xyzw(from.cross(to).x, from.cross(to).y, from.cross(to).z, w).normalize()
        }
        false => DQuat::from_axis_angle(from.any_orthonormal_vector(), std::f64::consts::PI),
    }
}

impl Joint {
    fn space(&self, worlds: &[DMat4]) -> DMat4 {
        self.center.map_or(DMat4::IDENTITY, |center| worlds[center])
    }
}

impl Shape {
    fn collision(&self, node: &DMat4, tail: DVec3, radius: f64) -> (f64, DVec3) {
        let axes = DMat3::from_mat4(*node);
        let scale = axes.x_axis.length().max(axes.y_axis.length()).max(axes.z_axis.length());
        let round = |delta: DVec3, own: f64, inside: bool| match inside {
            true => (own * scale - radius - delta.length(), -delta.normalize()),
            false => (delta.length() - own * scale - radius, delta.normalize()),
        };
        match self {
            Self::Sphere { at, radius, inside } => {
                round(tail - node.transform_point3(*at), *radius, *inside)
            }
            Self::Capsule { at, tail: end, radius, inside } => {
                let at = node.transform_point3(*at);
                let way = node.transform_point3(*end) - at;
                let mut delta = tail - at;
                let dot = way.dot(delta);
                if dot > way.length_squared() {
                    delta -= way;
                } else if dot > 0.0 {
                    delta -= way * (dot / way.length_squared());
                }
                round(delta, *radius, *inside)
            }
            Self::Plane { at, normal } => {
                let normal = (axes.inverse().transpose() * *normal).normalize();
                ((tail - node.transform_point3(*at)).dot(normal) - radius, normal)
            }
        }
    }
}

/// The world matrices of all nodes below a world transform.
pub fn worlds(scene: &Scene, pose: &Pose, world: &DMat4) -> Vec<DMat4> {
    let up = |n: usize| std::iter::successors(Some(n), |&n| scene.nodes[n].parent);
    let all = (0..scene.nodes.len()).map(|n| {
        let locals = up(n).map(|n| local(scene, pose, n));
        let model = locals.fold(DMat4::IDENTITY, |below, local| local * below);
        *world * model
    });
    all.collect()
}
