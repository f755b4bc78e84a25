//! The scene graph alone: random sequences of calls against a naive model that recurses in f64, and
//! what is refused.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::scene::{Hanging, MirrorId, NodeId, SceneError, SceneGraph};
use phalanx::skeleton::{Joint, Skeleton, Trs};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

type Matrix = [[f64; 4]; 3];

const IDENTITY: Matrix = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
];

fn wide(m: &Affine3x4) -> Matrix {
    m.rows.map(|row| row.map(f64::from))
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = [[0.0; 4]; 3];
    for r in 0..3 {
        for c in 0..4 {
            out[r][c] = (0..3).map(|k| a[r][k] * b[k][c]).sum();
        }
        out[r][3] += a[r][3];
    }
    out
}

/// What a node should be.
#[derive(Clone, Debug)]
struct Naive {
    parent: Option<NodeId>,
    local: Matrix,
    mirror: Option<MirrorId>,
    joint: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct Model(BTreeMap<NodeId, Naive>);

impl Model {
    fn world(&self, node: NodeId) -> Matrix {
        let n = &self.0[&node];
        let above = n.parent.map_or(IDENTITY, |p| self.world(p));
        times(&above, &n.local)
    }

    fn at_or_below(&self, node: NodeId, top: NodeId) -> bool {
        node == top
            || self.0[&node]
                .parent
                .is_some_and(|p| self.at_or_below(p, top))
    }
}

#[derive(Clone, Debug)]
enum Call {
    Add(Option<u8>, Local),
    Mirror(Option<u8>, bool),
    SetParent(u8, Option<u8>),
    InPlace(u8, Option<u8>),
    SetLocal(u8, Local),
    Joints(u8, Local),
    Attach(u8, u8, u8),
    Remove(u8, Option<Option<u8>>),
    Update,
}

#[derive(Clone, Copy, Debug)]
struct Local([f32; 6]);

impl Local {
    fn matrix(self) -> Affine3x4 {
        let [x, y, z, angle, tilt, scale] = self.0;
        Trs {
            translation: Vec3::new(x, y, z),
            rotation: Quat::from_rotation_y(angle) * Quat::from_rotation_x(tilt),
            scale: Vec3::splat(0.7 + 0.6 * scale),
        }
        .into()
    }
}

fn local() -> impl Strategy<Value = Local> {
    let number = || -2.0f32..2.0;
    (
        number(),
        number(),
        number(),
        number(),
        number(),
        0.0f32..1.0,
    )
        .prop_map(|(x, y, z, a, b, s)| Local([x, y, z, a, b, s]))
}

fn call() -> impl Strategy<Value = Call> {
    let place = || any::<u8>();
    let maybe = || proptest::option::of(any::<u8>());
    prop_oneof![
        4 => (maybe(), local()).prop_map(|(p, l)| Call::Add(p, l)),
        1 => (maybe(), any::<bool>()).prop_map(|(p, long)| Call::Mirror(p, long)),
        3 => (place(), maybe()).prop_map(|(n, p)| Call::SetParent(n, p)),
        2 => (place(), maybe()).prop_map(|(n, p)| Call::InPlace(n, p)),
        3 => (place(), local()).prop_map(|(n, l)| Call::SetLocal(n, l)),
        1 => (place(), local()).prop_map(|(n, l)| Call::Joints(n, l)),
        2 => (place(), place(), place()).prop_map(|(n, m, j)| Call::Attach(n, m, j)),
        2 => (place(), proptest::option::of(maybe())).prop_map(|(n, h)| Call::Remove(n, h)),
        2 => Just(Call::Update),
    ]
}

fn skeleton(long: bool) -> Arc<Skeleton> {
    let joints: Vec<Joint> = (0..if long { 5 } else { 2 })
        .map(|j: usize| Joint {
            name: format!("joint{j}"),
            parent: j.checked_sub(1).map(|p| p.min(2)),
            rest: Trs {
                translation: Vec3::new(0.0, 0.3, 0.1 * j as f32),
                ..Trs::IDENTITY
            },
        })
        .collect();
    Arc::new(Skeleton::new(&joints, None, vec![]).unwrap())
}

/// Runs calls on both; every stale handle ever given out stays in `handles`.
struct Run {
    graph: SceneGraph,
    model: Model,
    handles: Vec<NodeId>,
    mirrors: Vec<MirrorId>,
}

impl Run {
    fn pick(&self, n: u8) -> Option<NodeId> {
        let count = self.handles.len();
        (count > 0).then(|| self.handles[usize::from(n) % count])
    }

    /// Whether the call must succeed, by the naive model.
    fn allowed(&self, node: NodeId, parent: Option<NodeId>) -> bool {
        let known = |n: NodeId| self.model.0.contains_key(&n);
        known(node)
            && self.model.0[&node].joint.is_none()
            && parent.is_none_or(|p| known(p) && !self.model.at_or_below(p, node))
    }

    fn add(&mut self, node: NodeId, naive: Naive) {
        assert!(
            self.model.0.insert(node, naive).is_none(),
            "a handle came twice"
        );
        self.handles.push(node);
    }

    fn call(&mut self, call: &Call) {
        let before = format!("{:?}", self.graph);
        let refused = match *call {
            Call::Add(parent, local) => {
                let parent = parent.and_then(|p| self.pick(p));
                let good = parent.is_none_or(|p| self.model.0.contains_key(&p));
                let added = self.graph.add(parent, local.matrix());
                assert_eq!(added.is_ok(), good);
                if let Ok(node) = added {
                    let local = wide(&local.matrix());
                    let naive = Naive {
                        parent,
                        local,
                        mirror: None,
                        joint: None,
                    };
                    self.add(node, naive);
                }
                !good
            }
            Call::Mirror(parent, long) => {
                let skeleton = skeleton(long);
                let mirror = self.graph.add_mirror(&skeleton).unwrap();
                self.mirrors.push(mirror);
                let root = self.graph.root(mirror).unwrap();
                let naive = |parent, local, joint| Naive {
                    parent,
                    local,
                    mirror: Some(mirror),
                    joint,
                };
                self.add(root, naive(None, IDENTITY, None));
                for j in 0..skeleton.len() {
                    let node = self.graph.joint(mirror, j).unwrap();
                    assert_eq!(node.index(), self.graph.first(mirror).unwrap() + j);
                    let above = skeleton.parents()[j];
                    let above = match above {
                        phalanx::skeleton::NO_JOINT => root,
                        above => self.graph.joint(mirror, usize::from(above)).unwrap(),
                    };
                    let local = wide(&skeleton.rest(j).to_affine());
                    self.add(node, naive(Some(above), local, Some(j)));
                }
                if let Some(parent) = parent.and_then(|p| self.pick(p))
                    && self.allowed(root, Some(parent))
                {
                    self.graph.set_parent(root, parent).unwrap();
                    self.model.0.get_mut(&root).unwrap().parent = Some(parent);
                }
                false
            }
            Call::SetParent(node, parent) => {
                let Some(node) = self.pick(node) else { return };
                let parent = parent.and_then(|p| self.pick(p));
                let good = self.allowed(node, parent);
                let done = self.graph.set_parent(node, parent);
                assert_eq!(done.is_ok(), good, "{done:?}");
                if good {
                    self.model.0.get_mut(&node).unwrap().parent = parent;
                }
                !good
            }
            Call::InPlace(node, parent) => {
                let Some(node) = self.pick(node) else { return };
                let parent = parent.and_then(|p| self.pick(p));
                let good = self.allowed(node, parent);
                let done = self.graph.set_parent_in_place(node, parent);
                assert_eq!(done.is_ok(), good, "{done:?}");
                if good {
                    self.moved(node, parent);
                }
                !good
            }
            Call::SetLocal(node, local) => {
                let Some(node) = self.pick(node) else { return };
                let good = self.allowed(node, None);
                let done = self.graph.set_local(node, local.matrix());
                assert_eq!(done.is_ok(), good);
                if good {
                    self.model.0.get_mut(&node).unwrap().local = wide(&local.matrix());
                }
                !good
            }
            Call::Joints(mirror, local) => {
                let count = self.mirrors.len();
                if count == 0 {
                    return;
                }
                let mirror = self.mirrors[usize::from(mirror) % count];
                let root = self.graph.root(mirror);
                let joints = self.graph.skeleton(mirror).map_or(2, |s| s.len());
                let locals = vec![local.matrix(); joints];
                let done = self.graph.set_joint_locals(mirror, &locals);
                assert_eq!(done.is_ok(), root.is_ok());
                for n in self.model.0.values_mut() {
                    if n.mirror == Some(mirror) && n.joint.is_some() {
                        n.local = wide(&local.matrix());
                    }
                }
                done.is_err()
            }
            Call::Attach(node, mirror, joint) => {
                let (Some(node), false) = (self.pick(node), self.mirrors.is_empty()) else {
                    return;
                };
                let mirror = self.mirrors[usize::from(mirror) % self.mirrors.len()];
                let joint = format!("joint{}", joint % 5);
                let target = self.graph.joint(mirror, &joint).ok();
                let good = target.is_some_and(|t| self.allowed(node, Some(t)));
                let offset = Trs {
                    translation: Vec3::X,
                    ..Trs::IDENTITY
                };
                let done = self.graph.attach(node, mirror, &joint, offset);
                assert_eq!(done.is_ok(), good, "{done:?}");
                if good {
                    let n = self.model.0.get_mut(&node).unwrap();
                    n.parent = target;
                    n.local = wide(&offset.into());
                }
                !good
            }
            Call::Remove(node, hanging) => {
                let Some(node) = self.pick(node) else { return };
                self.remove(node, hanging)
            }
            Call::Update => {
                self.graph.update();
                self.compare();
                return;
            }
        };
        if refused {
            assert_eq!(
                before,
                format!("{:?}", self.graph),
                "{call:?} changed something"
            );
        }
    }

    /// A node was hung elsewhere in place: the graph's local transform is taken over if it leaves the
    /// node where the model has it.
    fn moved(&mut self, node: NodeId, parent: Option<NodeId>) {
        let stood = self.model.world(node);
        let local = wide(self.graph.local(node).unwrap());
        let n = self.model.0.get_mut(&node).unwrap();
        (n.parent, n.local) = (parent, local);
        let stands = self.model.world(node);
        assert!(difference(&stood, &stands) < 1e-4, "{stood:?} {stands:?}");
    }

    fn remove(&mut self, node: NodeId, hanging: Option<Option<u8>>) -> bool {
        let own = self.allowed(node, None);
        let gone: Vec<NodeId> = match self.model.0.get(&node) {
            Some(n) if own => match n.mirror {
                Some(_) => self
                    .model
                    .0
                    .iter()
                    .filter(|e| e.1.mirror == n.mirror)
                    .map(|e| *e.0)
                    .collect(),
                None => vec![node],
            },
            _ => vec![],
        };
        let Some(to) = hanging else {
            let done = self.graph.remove(node, Hanging::Remove);
            assert_eq!(done.is_ok(), own, "{done:?}");
            if own {
                let below = self.model.0.keys().copied();
                let below: Vec<NodeId> =
                    below.filter(|&n| self.model.at_or_below(n, node)).collect();
                below.iter().for_each(|n| {
                    self.model.0.remove(n);
                });
            }
            return !own;
        };
        let to = to.and_then(|t| self.pick(t));
        let fits = to.is_none_or(|t| {
            self.model.0.contains_key(&t) && !gone.iter().any(|&g| self.model.at_or_below(t, g))
        });
        let done = self.graph.remove(node, Hanging::Reparent(to));
        assert_eq!(done.is_ok(), own && fits, "{done:?}");
        if done.is_ok() {
            let hung =
                self.model.0.iter().filter(|e| {
                    !gone.contains(e.0) && e.1.parent.is_some_and(|p| gone.contains(&p))
                });
            let hung: Vec<NodeId> = hung.map(|e| *e.0).collect();
            hung.into_iter().for_each(|n| self.moved(n, to));
            gone.iter().for_each(|n| {
                self.model.0.remove(n);
            });
        }
        done.is_err()
    }

    fn compare(&self) {
        assert_eq!(self.graph.len(), self.model.0.len());
        for &node in &self.handles {
            let Some(naive) = self.model.0.get(&node) else {
                let stale = SceneError::UnknownNode { node };
                assert_eq!(self.graph.world(node), Err(stale));
                continue;
            };
            assert_eq!(self.graph.parent(node), Ok(naive.parent));
            let world = self.graph.world(node).unwrap();
            assert_eq!(self.graph.worlds()[node.index()], *world);
            let m = world.matrix3.to_cols_array_2d();
            let t = world.translation;
            let have = [0, 1, 2].map(|r| [m[0][r], m[1][r], m[2][r], [t.x, t.y, t.z][r]]);
            let want = self.model.world(node);
            assert!(
                difference(&have, &want) < 1e-9,
                "{node:?}: {have:?} {want:?}"
            );
        }
    }
}

/// Relative to the largest entry, at least 1.
fn difference(a: &Matrix, b: &Matrix) -> f64 {
    let pairs = || a.iter().flatten().zip(b.iter().flatten());
    let largest = pairs().fold(1.0f64, |m, (a, b)| m.max(a.abs()).max(b.abs()));
    pairs().fold(0.0, |d: f64, (a, b)| d.max((a - b).abs())) / largest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn like_a_naive_model(calls in proptest::collection::vec(call(), 1..80)) {
        let mut run = Run {
            graph: SceneGraph::new(),
            model: Model::default(),
            handles: vec![],
            mirrors: vec![],
        };
        calls.iter().for_each(|c| run.call(c));
        run.call(&Call::Update);
        // What is gone leaves room that is used again.
        let places = run.graph.worlds().len();
        let roots: Vec<NodeId> = run.handles.clone();
        roots.iter().for_each(|&n| drop(run.graph.remove(n, Hanging::Remove)));
        prop_assert!(run.graph.is_empty());
        for _ in 0..places {
            run.graph.add(None, Affine3x4::IDENTITY).unwrap();
        }
        prop_assert_eq!(run.graph.worlds().len(), places);
    }
}

#[test]
fn refused_calls_say_why() {
    let mut graph = SceneGraph::new();
    let one = Affine3x4::IDENTITY;
    let a = graph.add(None, one).unwrap();
    let b = graph.add(a, one).unwrap();
    let mirror = graph.add_mirror(&skeleton(true)).unwrap();
    let joint = graph.joint(mirror, "joint1").unwrap();
    let root = graph.root(mirror).unwrap();
    graph.set_parent(a, joint).unwrap();
    let nan = Affine3x4 {
        rows: [[f32::NAN; 4]; 3],
    };
    let flat = Trs {
        scale: Vec3::new(1.0, 0.0, 1.0),
        ..Trs::IDENTITY
    };
    let squashed = graph.add(None, flat).unwrap();
    graph.update();
    let before = format!("{graph:?}");
    let cycle = |node, parent| Err(SceneError::Cycle { node, parent });
    assert_eq!(graph.set_parent(a, a), cycle(a, a));
    assert_eq!(graph.set_parent(a, b), cycle(a, b));
    assert_eq!(
        graph.set_parent(root, b),
        cycle(root, b),
        "round through the skeleton"
    );
    assert_eq!(
        graph.attach(root, mirror, 3, one),
        cycle(root, graph.joint(mirror, 3).unwrap())
    );
    let placed = Err(SceneError::Joint {
        node: joint,
        joint: 1,
    });
    assert_eq!(graph.set_parent(joint, b), placed);
    assert_eq!(graph.set_local(joint, one), placed);
    assert_eq!(graph.remove(joint, Hanging::Remove), placed);
    assert_eq!(graph.detach(joint), placed);
    assert!(matches!(
        graph.set_local(b, nan),
        Err(SceneError::Transform { .. })
    ));
    assert!(matches!(
        graph.add(b, nan),
        Err(SceneError::Transform { .. })
    ));
    assert!(matches!(
        graph.attach(b, mirror, 0, nan),
        Err(SceneError::Transform { .. })
    ));
    assert!(matches!(
        graph.attach(b, mirror, "hand", one),
        Err(SceneError::JointRef(_))
    ));
    assert!(matches!(
        graph.attach(b, mirror, 5, one),
        Err(SceneError::JointRef(_))
    ));
    assert_eq!(
        graph.set_joint_locals(mirror, &[one; 4]),
        Err(SceneError::Locals { have: 4, joints: 5 })
    );
    let mut five = [one; 5];
    five[4] = nan;
    assert!(matches!(
        graph.set_joint_locals(mirror, &five),
        Err(SceneError::Transform { .. })
    ));
    let singular = Err(SceneError::Singular { node: squashed });
    assert_eq!(graph.set_parent_in_place(b, squashed), singular);
    assert_eq!(
        graph.remove_mirror(mirror, Hanging::Reparent(Some(squashed))),
        singular
    );
    assert_eq!(
        graph.remove_mirror(mirror, Hanging::Reparent(Some(b))),
        cycle(root, b)
    );
    // Handles of another scene, though its arrays have the same places.
    let mut other = SceneGraph::new();
    let foreign = other.add(None, one).unwrap();
    let foreign_mirror = other.add_mirror(&skeleton(true)).unwrap();
    let unknown = Err(SceneError::UnknownNode { node: foreign });
    assert_eq!(graph.set_parent(b, foreign), unknown);
    assert_eq!(graph.set_local(foreign, one), unknown);
    assert!(matches!(
        graph.attach(b, foreign_mirror, 0, one),
        Err(SceneError::UnknownMirror { .. })
    ));
    assert_eq!(before, format!("{graph:?}"));

    graph
        .remove_mirror(mirror, Hanging::Reparent(None))
        .unwrap();
    assert_eq!(
        graph.root(mirror),
        Err(SceneError::UnknownMirror { mirror })
    );
    assert_eq!(graph.parent(a), Ok(None));
    assert_eq!(
        graph.set_parent(b, joint),
        Err(SceneError::UnknownNode { node: joint })
    );
}

#[test]
fn only_what_moved_is_computed_and_told() {
    let mut graph = SceneGraph::new();
    let one = Affine3x4::IDENTITY;
    let nodes: Vec<NodeId> = (0..10).map(|_| graph.add(None, one).unwrap()).collect();
    graph.set_parent(nodes[2], nodes[7]).unwrap();
    graph.set_parent(nodes[3], nodes[2]).unwrap();
    assert_eq!(graph.update(), std::slice::from_ref(&(0..10)));
    assert!(graph.update().is_empty());
    let up = Trs {
        translation: Vec3::Y,
        ..Trs::IDENTITY
    };
    graph.set_local(nodes[7], up).unwrap();
    assert_eq!(graph.update(), [2..4, 7..8]);
    assert_eq!(graph.changed(), [2..4, 7..8]);
    assert_eq!(graph.world(nodes[3]).unwrap().translation.y, 1.0);
    // The same value again moves nothing.
    graph.set_local(nodes[7], up).unwrap();
    assert!(graph.update().is_empty());
    graph.set_local(nodes[9], up).unwrap();
    assert_eq!(graph.update(), std::slice::from_ref(&(9..10)));
    let snapshot = graph.clone();
    graph.remove(nodes[7], Hanging::Remove).unwrap();
    assert!(!graph.contains(nodes[3]) && graph.contains(nodes[9]));
    assert!(snapshot.contains(nodes[3]));
}

#[test]
fn precise_far_from_the_origin() {
    let mut graph = SceneGraph::new();
    let at = |x: f32, y: f32| Trs {
        translation: Vec3::new(x, y, 0.0),
        ..Trs::IDENTITY
    };
    let town = graph.add(None, at(1.0e6, 0.0)).unwrap();
    let house = graph.add(town, at(0.1, 2.3)).unwrap();
    graph.update();
    let near = graph
        .world_from(house, graph.world(town).unwrap().translation)
        .unwrap();
    assert!((near.translation() - Vec3::new(0.1, 2.3, 0.0)).length() < 1e-6);
}
