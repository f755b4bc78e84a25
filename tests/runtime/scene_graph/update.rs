//! What an update computes, and how precisely.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::scene::{NodeId, OnRemove, SceneGraph};
use phalanx::skeleton::Trs;
use std::ops::Range;

#[test]
fn only_what_moved_is_computed_and_reported() {
    let mut graph = SceneGraph::new();
    let one = Affine3x4::IDENTITY;
    let nodes: Vec<NodeId> = (0..10).map(|_| graph.add(None, one).unwrap()).collect();
    graph.set_parent(nodes[2], nodes[7]).unwrap();
    graph.set_parent(nodes[3], nodes[2]).unwrap();
    assert_eq!(updated(&mut graph), std::slice::from_ref(&(0..10)));
    assert!(updated(&mut graph).is_empty());
    let up = Trs { translation: Vec3::Y, ..Trs::IDENTITY };
    graph.set_local(nodes[7], up).unwrap();
    assert_eq!(updated(&mut graph), [2..4, 7..8]);
    assert_eq!(graph.world(nodes[3]).unwrap().translation.y, 1.0);
    // The same value again moves nothing.
    graph.set_local(nodes[7], up).unwrap();
    assert!(updated(&mut graph).is_empty());
    graph.set_local(nodes[9], up).unwrap();
    assert_eq!(updated(&mut graph), std::slice::from_ref(&(9..10)));
    let snapshot = graph.clone();
    graph.remove(nodes[7], OnRemove::Remove).unwrap();
    assert!(graph.world(nodes[3]).is_err() && graph.world(nodes[9]).is_ok());
    assert!(snapshot.world(nodes[3]).is_ok());
}

/// The nodes that an update moves.
fn updated(graph: &mut SceneGraph) -> &[Range<usize>] {
    graph.update();
    graph.changed()
}

#[test]
fn precise_far_from_the_origin() {
    let mut graph = SceneGraph::new();
    let at = |x: f32, y: f32| Trs { translation: Vec3::new(x, y, 0.0), ..Trs::IDENTITY };
    let town = graph.add(None, at(1.0e6, 0.0)).unwrap();
    let house = graph.add(town, at(0.1, 2.3)).unwrap();
    graph.update();
    let [house, town] = [house, town].map(|node| graph.world(node).unwrap().translation);
    assert!(((house - town).as_vec3() - Vec3::new(0.1, 2.3, 0.0)).length() < 1e-6);
    let turn = Quat::from_rotation_z(0.5);
    let sign = graph.add(None, Trs { rotation: turn, ..at(7.0, 8.0) });
    graph.update();
    let columns = graph.world_arrays()[sign.unwrap().index()];
    let (sin, cos) = 0.5f64.sin_cos();
    let expected = [cos, sin, 0.0, -sin, cos, 0.0, 0.0, 0.0, 1.0, 7.0, 8.0, 0.0];
    assert!(columns.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
}
