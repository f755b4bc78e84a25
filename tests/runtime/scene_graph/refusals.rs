//! What is refused, and why.

use super::calls::skeleton;
use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::scene::{OnRemove, SceneError, SceneGraph};
use phalanx::skeleton::Trs;

#[test]
fn refused_calls_say_why() {
    let mut graph = SceneGraph::new();
    let one = Affine3x4::IDENTITY;
    let a = graph.add(None, one).unwrap();
    let b = graph.add(a, one).unwrap();
    let mirror = graph.add_mirror(&skeleton(true)).unwrap();
    let joint = graph.joint(mirror, "joint1").unwrap();
    graph.set_parent(a, joint).unwrap();
    let nan = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
    let flat = Trs { scale: Vec3::new(1.0, 0.0, 1.0), ..Trs::IDENTITY };
    let squashed = graph.add(None, flat).unwrap();
    graph.update();
    let before = format!("{graph:?}");
    let cycle = |node, parent| Err(SceneError::Cycle { node, parent });
    assert_eq!(graph.set_parent(a, a), cycle(a, a));
    assert_eq!(graph.set_parent(a, b), cycle(a, b));
    assert_eq!(graph.set_parent(mirror, b), cycle(mirror, b), "round through the skeleton");
    assert_eq!(
        graph.attach(mirror, mirror, 3, one),
        cycle(mirror, graph.joint(mirror, 3).unwrap())
    );
    let placed = Err(SceneError::Joint { node: joint, joint: 1 });
    assert_eq!(graph.set_parent(joint, b), placed);
    assert_eq!(graph.set_local(joint, one), placed);
    assert_eq!(graph.remove(joint, OnRemove::Remove), placed);
    assert_eq!(graph.set_parent_in_place(joint, None), placed);
    assert!(matches!(graph.set_local(b, nan), Err(SceneError::Transform { .. })));
    assert!(matches!(graph.add(b, nan), Err(SceneError::Transform { .. })));
    assert!(matches!(graph.attach(b, mirror, 0, nan), Err(SceneError::Transform { .. })));
    assert!(matches!(graph.attach(b, mirror, "hand", one), Err(SceneError::JointRef(_))));
    assert!(matches!(graph.attach(b, mirror, 5, one), Err(SceneError::JointRef(_))));
    assert_eq!(graph.set_models(mirror, &[one; 4]), Err(SceneError::Models { have: 4, joints: 5 }));
    let mut five = [one; 5];
    five[4] = nan;
    assert!(matches!(graph.set_models(mirror, &five), Err(SceneError::Transform { .. })));
    let singular = Err(SceneError::Singular { node: squashed });
    assert_eq!(graph.set_parent_in_place(b, squashed), singular);
    assert_eq!(graph.remove(mirror, OnRemove::Reparent(Some(squashed))), singular);
    assert_eq!(graph.remove(mirror, OnRemove::Reparent(Some(b))), cycle(mirror, b));
    // Handles of another scene, though its arrays have the same places.
    let mut other = SceneGraph::new();
    let foreign = other.add(None, one).unwrap();
    let foreign_mirror = other.add_mirror(&skeleton(true)).unwrap();
    let unknown = Err(SceneError::UnknownNode { node: foreign, foreign: true });
    assert_eq!(graph.set_parent(b, foreign), unknown);
    assert_eq!(graph.set_local(foreign, one), unknown);
    let unknown = Err(SceneError::UnknownNode { node: foreign_mirror, foreign: true });
    assert_eq!(graph.attach(b, foreign_mirror, 0, one), unknown);
    assert_eq!(graph.attach(b, a, 0, one), Err(SceneError::NotMirror { node: a }));
    assert_eq!(graph.joint(joint, 0), Err(SceneError::NotMirror { node: joint }));
    assert_eq!(before, format!("{graph:?}"));

    graph.remove(mirror, OnRemove::Reparent(None)).unwrap();
    let unknown = Err(SceneError::UnknownNode { node: mirror, foreign: false });
    assert_eq!(graph.joint(mirror, 0), unknown);
    assert_eq!(graph.parent(a), Ok(None));
    assert_eq!(
        graph.set_parent(b, joint),
        Err(SceneError::UnknownNode { node: joint, foreign: false })
    );
}
