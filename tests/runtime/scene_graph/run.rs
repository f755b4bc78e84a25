//! The same calls on a scene graph and on its naive model.

use super::calls::{Call, call, skeleton};
use super::model::{IDENTITY, Model, Naive, difference, wide};
use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::scene::{NodeId, OnRemove, SceneError, SceneGraph};
use phalanx::skeleton::Trs;
use proptest::prelude::*;

/// Runs calls on both; every stale handle ever given out stays in `handles`.
struct Run {
    graph: SceneGraph,
    model: Model,
    handles: Vec<NodeId>,
    mirrors: Vec<NodeId>,
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
        assert!(self.model.0.insert(node, naive).is_none(), "a handle came twice");
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
                    let naive = Naive { parent, local, mirror: None, joint: None };
                    self.add(node, naive);
                }
                !good
            }
            Call::Mirror(parent, long) => {
                let skeleton = skeleton(long);
                let mirror = self.graph.add_mirror(&skeleton).unwrap();
                self.mirrors.push(mirror);
                let naive =
                    |parent, local, joint| Naive { parent, local, mirror: Some(mirror), joint };
                self.add(mirror, naive(None, IDENTITY, None));
                for j in 0..skeleton.len() {
                    let node = self.graph.joint(mirror, j).unwrap();
                    assert_eq!(node.index(), mirror.index() + 1 + j);
                    let local = wide(&skeleton.rest_models()[j].into());
                    self.add(node, naive(Some(mirror), local, Some(j)));
                }
                if let Some(parent) = parent.and_then(|p| self.pick(p))
                    && self.allowed(mirror, Some(parent))
                {
                    self.graph.set_parent(mirror, parent).unwrap();
                    self.model.0.get_mut(&mirror).unwrap().parent = Some(parent);
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
                let own = |n: &&Naive| n.mirror == Some(mirror) && n.joint.is_some();
                let joints = self.model.0.values().filter(own).count();
                let done = self.graph.set_models(mirror, &vec![local.matrix(); joints]);
                assert_eq!(done.is_ok(), self.model.0.contains_key(&mirror));
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
                let offset = Trs { translation: Vec3::X, ..Trs::IDENTITY };
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
            assert_eq!(before, format!("{:?}", self.graph), "{call:?} changed something");
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
                Some(_) => {
                    self.model.0.iter().filter(|e| e.1.mirror == n.mirror).map(|e| *e.0).collect()
                }
                None => vec![node],
            },
            _ => vec![],
        };
        let Some(to) = hanging else {
            let done = self.graph.remove(node, OnRemove::Remove);
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
        let done = self.graph.remove(node, OnRemove::Reparent(to));
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
        assert_eq!(self.graph.node_count(), self.model.0.len());
        for &node in &self.handles {
            let Some(naive) = self.model.0.get(&node) else {
                let foreign = false;
                let stale = SceneError::UnknownNode { node, foreign };
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
            assert!(difference(&have, &want) < 1e-9, "{node:?}: {have:?} {want:?}");
        }
    }
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
        roots.iter().for_each(|&n| drop(run.graph.remove(n, OnRemove::Remove)));
        prop_assert!(run.graph.node_count() == 0);
        for _ in 0..places {
            run.graph.add(None, Affine3x4::IDENTITY).unwrap();
        }
        prop_assert_eq!(run.graph.worlds().len(), places);
    }
}
