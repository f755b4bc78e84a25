//! Springs.

use super::*;
use phalanx::skeleton::{SpringChain, SpringCollider, SpringJoint};

#[test]
fn springs_swing() {
    let mut twins = Twins::new(2, Some(2));
    let [upper, lower, hand] = ["LeftArm", "LeftForeArm", "LeftHand"].map(|n| twins.joint(n));
    let head = twins.joint("Head");
    let joint = |joint, has_tail| phx_spring_joint {
        joint,
        has_tail,
        tail: [0.0, 0.1, 0.0],
        radius: 0.02,
        stiffness: 0.8,
        gravity: [0.0, -0.5, 0.0],
        drag: 0.3,
    };
    let joints = [joint(upper, 0), joint(lower, 0), joint(hand, 1)];
    let all = [0, 1, 2];
    let chain = phx_spring_chain {
        joints: joints.as_ptr(),
        joint_count: 3,
        colliders: all.as_ptr(),
        collider_count: 3,
        center: head,
    };
    let collider =
        |shape, b| phx_spring_collider { joint: head, shape, a: [0.0, 0.1, 0.0], b, radius: 0.1 };
    let colliders = [
        collider(PHX_COLLIDER_OUTSIDE, [0.0; 3]),
        collider(PHX_COLLIDER_INSIDE, [0.0, 0.2, 0.0]),
        collider(PHX_COLLIDER_PLANE, [0.0, 2.0, 0.0]),
    ];
    let springs = phx_springs {
        chains: &chain,
        chain_count: 1,
        colliders: colliders.as_ptr(),
        collider_count: 3,
        teleport: 3.0,
        ..Extensible::DEFAULT
    };
    let unknown = [collider(3, [0.0; 3]); 3];
    refuse(
        &twins,
        phx_crowd_add_springs,
        &[
            (Extensible::DEFAULT, PHX_ERROR_VALUE),
            (phx_springs { colliders: unknown.as_ptr(), ..springs }, PHX_ERROR_VALUE),
            (phx_springs { collider_count: 2, ..springs }, PHX_ERROR_VALUE),
            (phx_springs { teleport: f32::NAN, ..springs }, PHX_ERROR_VALUE),
            (phx_springs { chains: null(), ..springs }, PHX_ERROR_NULL),
        ],
    );
    let rust = |at: u32, tail| SpringJoint {
        tail,
        radius: 0.02,
        stiffness: 0.8,
        gravity: Vec3::new(0.0, -0.5, 0.0),
        drag: 0.3,
        ..SpringJoint::new(at as usize)
    };
    let tail = Some(Vec3::new(0.0, 0.1, 0.0));
    let shapes = colliders.map(|c| {
        use phalanx::skeleton::ColliderShape::*;
        let ends = [c.a, c.b].map(Vec3::from_array);
        match c.shape {
            PHX_COLLIDER_PLANE => Plane { point: ends[0], normal: ends[1] },
            shape => Capsule { ends, radius: 0.1, inside: shape == PHX_COLLIDER_INSIDE },
        }
    });
    let rust = SpringBones {
        chains: vec![SpringChain {
            joints: vec![rust(upper, None), rust(lower, None), rust(hand, tail)],
            colliders: vec![0, 1, 2],
            center: Some(head as usize),
        }],
        colliders: shapes.map(|shape| SpringCollider { joint: head as usize, shape }).into(),
        teleport: 3.0,
    };
    let id = add(&mut twins, phx_crowd_add_springs, &springs, rust);
    let own = twins.rust.rig(twins.rig).unwrap().springs().clone();
    assert!(own.is_empty() && twins.rust.add_modifier(twins.rig, own).is_err());
    let ids = twins.ids.clone();
    for (n, who) in twins.bits().into_iter().enumerate() {
        // SAFETY: the handle of the twins.
        unsafe { expect(phx_instance_fade_modifier(twins.c, who, id.to_bits(), 1.0, 0.0), PHX_OK) };
        twins.rust.player(ids[n]).unwrap().fade_modifier(id, 1.0, 0.0).unwrap();
    }
    for frame in 0..6 {
        twins.both(|crowd| {
            crowd.advance(1.0 / 30.0)?;
            crowd.evaluate(&mut BoneBuffer::new());
            Ok::<_, CrowdError>(())
        });
        twins.assert_equal("springs");
        if frame == 3 {
            let who = ids[1].to_bits();
            // SAFETY: handles and ids.
            unsafe {
                expect(phx_instance_rest_springs(twins.c, who), PHX_OK);
                expect(phx_instance_rest_springs(twins.c, 0), PHX_ERROR_ID);
                expect(phx_instance_rest_springs(null_mut(), who), PHX_ERROR_NULL);
            }
            let swinging = twins.rust.model_matrices(ids[1]).unwrap();
            twins.rust.player(ids[1]).unwrap().rest_springs();
            assert!(swinging != twins.rust.model_matrices(ids[1]).unwrap());
            twins.assert_equal("rested");
        }
    }
    // The rig's own: it has none, which is refused.
    // SAFETY: pointers of this test.
    unsafe {
        let add = phx_crowd_add_springs(twins.c, twins.rig.to_bits(), null(), &mut 0);
        expect(add, PHX_ERROR_VALUE);
    }
}
