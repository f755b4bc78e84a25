//! Overrides, poses and watched joints.

use super::*;

#[test]
fn overrides_and_poses_replace_the_animation() {
    let mut twins = Twins::new(3, Some(2));
    let (c, rig, ids) = (twins.c, twins.rig.to_bits(), twins.bits());
    let [neck, head] = ["Neck", "Head"].map(|name| twins.joint(name));
    let matrix = |x: f32| {
        Affine3x4::from(Trs {
            translation: Vec3::new(x, 1.4, 0.1),
            rotation: Quat::from_rotation_y(x),
            ..Trs::IDENTITY
        })
    };
    let nan = phx_matrix { rows: [[f32::NAN; 4]; 3] };
    let set = |who, joint, matrix: &phx_matrix, space, weight| {
        // SAFETY: pointers of this test.
        unsafe { phx_instance_set_override(c, who, joint, matrix, space, weight) }
    };
    let one: phx_matrix = matrix(0.2).into();
    let refused = [
        (ids[0], head, &nan, PHX_SPACE_MODEL, 1.0, PHX_ERROR_VALUE),
        (ids[0], 47, &one, PHX_SPACE_MODEL, 1.0, PHX_ERROR_NOT_FOUND),
        (ids[0], head, &one, 3, 1.0, PHX_ERROR_VALUE),
        (ids[0], head, &one, PHX_SPACE_MODEL, 1.1, PHX_ERROR_VALUE),
        (0, head, &one, PHX_SPACE_MODEL, 1.0, PHX_ERROR_ID),
    ];
    for (who, joint, matrix, space, weight, status) in refused {
        expect(set(who, joint, matrix, space, weight), status);
    }
    twins.assert_equal("nothing was set");
    expect(set(ids[0], head, &one, PHX_SPACE_WORLD, 0.5), PHX_OK);
    expect(set(ids[0], neck, &one, PHX_SPACE_LOCAL, 1.0), PHX_OK);
    expect(set(ids[1], neck, &one, PHX_SPACE_MODEL, 1.0), PHX_OK);
    let all = twins.ids.clone();
    let mut player = twins.rust.player(all[0]).unwrap();
    let (h, n) = (head as usize, neck as usize);
    player.set_override_weighted(h, matrix(0.2), PoseSpace::World, 0.5).unwrap();
    player.set_override(n, matrix(0.2)).unwrap();
    let mut player = twins.rust.player(all[1]).unwrap();
    player.set_override_weighted(n, matrix(0.2), PoseSpace::Model, 1.0).unwrap();
    twins.assert_equal("overrides");

    let joints = [neck, head];
    let matrices: [phx_matrix; 6] = std::array::from_fn(|i| matrix(0.1 * i as f32).into());
    let many = |joints: &[u32], count, matrices: &[phx_matrix], weights: &[f32]| {
        // SAFETY: pointers of this test.
        unsafe {
            phx_instances_set_overrides(
                c,
                rig,
                joints.as_ptr(),
                joints.len(),
                ids.as_ptr(),
                count,
                matrices.as_ptr(),
                matrices.len(),
                PHX_SPACE_MODEL,
                weights.as_ptr(),
                weights.len(),
            )
        }
    };
    expect(many(&[head, neck], 3, &matrices, &[1.0]), PHX_ERROR_VALUE);
    expect(many(&[neck, 99], 3, &matrices, &[1.0]), PHX_ERROR_NOT_FOUND);
    expect(many(&joints, 3, &matrices[1..], &[1.0]), PHX_ERROR_VALUE);
    expect(many(&joints, 3, &[nan; 6], &[1.0]), PHX_ERROR_VALUE);
    expect(many(&joints, 3, &matrices, &[1.0, 0.5]), PHX_ERROR_VALUE);
    twins.assert_equal("refused overrides");
    expect(many(&joints, 3, &matrices, &[1.0, 0.5, 0.25]), PHX_OK);
    let rows = convert_rows(&matrices);
    let (weights, space) = ([1.0, 0.5, 0.25], PoseSpace::Model);
    twins.rust.set_overrides(twins.rig, &[n, h], &all, &rows, space, &weights).unwrap();
    twins.assert_equal("many overrides");

    // SAFETY: handles and ids.
    unsafe {
        expect(phx_instance_clear_override(c, ids[0], 47), PHX_ERROR_NOT_FOUND);
        expect(phx_instance_clear_override(c, 0, PHX_NONE), PHX_ERROR_ID);
        expect(phx_instance_clear_override(c, ids[0], head), PHX_OK);
        expect(phx_instance_clear_override(c, ids[1], PHX_NONE), PHX_OK);
    }
    twins.rust.player(all[0]).unwrap().clear_override(h).unwrap();
    twins.rust.player(all[1]).unwrap().clear_overrides();
    twins.assert_equal("cleared overrides");

    let skeleton = twins.rust.rig(twins.rig).unwrap().skeleton().clone();
    let pose = |shift: f32| {
        (0..skeleton.len()).map(move |_| Trs { translation: Vec3::splat(shift), ..Trs::IDENTITY })
    };
    let poses: Vec<Trs> = pose(0.1).chain(pose(0.2)).collect();
    let given: Vec<phx_trs> = poses.iter().map(|&pose| pose.into()).collect();
    let many = |ids: &[u64], count: usize, space, weights: &[f32]| {
        let (at, n) = (ids.as_ptr(), ids.len());
        let (of, w) = (weights.as_ptr(), weights.len());
        // SAFETY: pointers of this test.
        unsafe { phx_instances_set_poses(c, rig, at, n, given.as_ptr(), count, space, of, w) }
    };
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_instances_fade_poses(c, ids.as_ptr(), 2, 1.0, 0.0), PHX_ERROR_STATE);
        expect(many(&ids[..2], given.len() - 1, PHX_SPACE_WORLD, &[1.0]), PHX_ERROR_VALUE);
        expect(many(&ids[..2], given.len(), 4, &[1.0]), PHX_ERROR_VALUE);
        expect(many(&ids[..2], given.len(), PHX_SPACE_WORLD, &[f32::NAN]), PHX_ERROR_VALUE);
        expect(many(&[ids[0], 0], given.len(), PHX_SPACE_WORLD, &[1.0]), PHX_ERROR_ID);
        expect(phx_instances_fade_poses(c, ids.as_ptr(), 2, 1.0, 0.0), PHX_ERROR_STATE);
        expect(many(&ids[..2], given.len(), PHX_SPACE_WORLD, &[0.5, 0.25]), PHX_OK);
        expect(phx_instances_fade_poses(c, ids.as_ptr(), 1, 1.0, 0.5), PHX_OK);
        expect(phx_instances_fade_poses(c, ids.as_ptr(), 1, 2.0, 0.5), PHX_ERROR_VALUE);
    }
    twins.rust.set_poses(twins.rig, &all[..2], &poses, PoseSpace::World, &[0.5, 0.25]).unwrap();
    twins.rust.fade_poses(&all[..1], 1.0, 0.5).unwrap();
    twins.both(|crowd| crowd.advance(0.2));
    twins.assert_equal("poses");
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_instances_clear_poses(c, [ids[0], 0].as_ptr(), 2), PHX_ERROR_ID);
        expect(phx_instances_clear_poses(c, null(), 1), PHX_ERROR_NULL);
        expect(phx_instances_clear_poses(c, ids.as_ptr(), 2), PHX_OK);
    }
    twins.rust.clear_poses(&all[..2]).unwrap();
    twins.assert_equal("cleared poses");
}

fn convert_rows(matrices: &[phx_matrix]) -> Vec<Affine3x4> {
    matrices.iter().map(|&m| m.into()).collect()
}

#[test]
fn poses_of_joints_are_read_by_arrays() {
    let twins = Twins::new(3, Some(2));
    let (c, rig, ids) = (twins.c, twins.rig.to_bits(), twins.bits());
    let joints = [twins.joint("Head"), twins.joint("Hips")];
    let known = joints.map(|joint| joint as usize);
    let mut trs = [phx_trs::from(Trs { translation: Vec3::splat(9.0), ..Trs::IDENTITY }); 7];
    let mut models = [phx_matrix { rows: [[9.0; 4]; 3] }; 7];
    let (no_trs, no_models) = (trs, models);
    // Handles, joints, instances, stage, room, and what is returned.
    let foreign = [ids[0], ids[0] ^ 1 << 20];
    let refused: [(_, &[u32], &[u64], _, _, _); 7] = [
        (c, &joints, &ids, 1, 5, PHX_ERROR_SHORT),
        (c, &joints, &ids, 2, 6, PHX_ERROR_VALUE),
        (c, &[99], &ids, 1, 6, PHX_ERROR_NOT_FOUND),
        (c, &joints, &foreign, 1, 6, PHX_ERROR_ID),
        (c, &joints, &[0], 1, 6, PHX_ERROR_ID),
        (null_mut(), &joints, &ids, 1, 6, PHX_ERROR_NULL),
        (c, &joints, &ids, 0, 7, PHX_OK),
    ];
    for (number, (c, of, who, stage, room, status)) in refused.into_iter().enumerate() {
        let (j, jn, at, n) = (of.as_ptr(), of.len(), who.as_ptr(), who.len());
        // SAFETY: pointers of this test.
        unsafe {
            let local =
                phx_instances_local_poses(c, rig, j, jn, at, n, stage, trs.as_mut_ptr(), room);
            assert_eq!(local, status, "{number}: {}", said());
            let out = models.as_mut_ptr();
            let model = phx_instances_model_poses(c, rig, j, jn, at, n, stage, out, room);
            assert_eq!(model, status, "{number}: {}", said());
        }
        assert_eq!(trs == no_trs && models == no_models, status != PHX_OK, "{number}");
    }
    let mut locals = [Trs::IDENTITY; 6];
    let mut matrices = [Affine3x4::IDENTITY; 6];
    let (all, stage) = (&twins.ids, PoseStage::Before);
    twins.rust.local_poses(twins.rig, &known, all, stage, &mut locals).unwrap();
    twins.rust.model_poses(twins.rig, &known, all, stage, &mut matrices).unwrap();
    assert_eq!(trs[..6], locals.map(phx_trs::from));
    assert_eq!(models[..6], matrices.map(phx_matrix::from));
    assert_eq!((trs[6], models[6]), (no_trs[6], no_models[6]));
}

#[test]
fn watched_joints_are_views_of_the_last_frame() {
    let mut twins = Twins::new(2, None);
    let (c, rig, who) = (twins.c, twins.rig.to_bits(), twins.ids[1].to_bits());
    let joints = [twins.joint("Head"), twins.joint("Hips")];
    let known = joints.map(|joint| joint as usize);
    let read = |stage, out: &mut phx_watched| {
        // SAFETY: pointers of this test.
        unsafe { phx_instance_watched(c, who, stage, out) }
    };
    let mut watched = phx_watched::DEFAULT;
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_crowd_watch(c, rig, joints.as_ptr(), 2, 2), PHX_ERROR_VALUE);
        expect(phx_crowd_watch(c, rig, [99].as_ptr(), 1, 1), PHX_ERROR_NOT_FOUND);
        expect(phx_crowd_watch(c, 0, joints.as_ptr(), 2, 1), PHX_ERROR_ID);
        expect(phx_crowd_watch(c, rig, null(), 2, 1), PHX_ERROR_NULL);
        expect(phx_crowd_watch(c, rig, joints.as_ptr(), 2, PHX_STAGE_AFTER), PHX_OK);
        expect(read(PHX_STAGE_AFTER, &mut watched), PHX_OK);
        assert_eq!((watched.age, watched.count), (PHX_NEVER, 0));
    }
    twins.rust.watch(twins.rig, &known, PoseStage::After).unwrap();
    twins.both(|crowd| {
        crowd.evaluate(&mut BoneBuffer::new());
        Ok::<_, CrowdError>(())
    });
    expect(read(PHX_STAGE_AFTER, &mut watched), PHX_OK);
    let rust = twins.rust.watched(twins.ids[1], PoseStage::After).unwrap();
    assert_eq!((watched.count, watched.age, watched.current), (2, 0, 1));
    // SAFETY: views that stay until the crowd changes.
    unsafe {
        assert_eq!(std::slice::from_raw_parts(watched.joints, 2), rust.joints);
        let models = std::slice::from_raw_parts(watched.models, 2);
        assert_eq!(convert_rows(models), rust.models);
        let mut short = phx_watched { size: 3, ..watched };
        expect(read(PHX_STAGE_AFTER, &mut short), PHX_ERROR_STRUCT_SIZE);
        expect(read(2, &mut watched), PHX_ERROR_VALUE);
        expect(phx_instance_watched(c, 0, 1, &mut watched), PHX_ERROR_ID);
        expect(phx_instance_watched(c, who, 1, null_mut()), PHX_ERROR_NULL);
        expect(phx_crowd_unwatch(c, rig, joints.as_ptr(), 1, PHX_STAGE_AFTER), PHX_OK);
        expect(phx_crowd_unwatch(c, rig, joints.as_ptr(), 1, 2), PHX_ERROR_VALUE);
    }
    twins.both(|crowd| {
        crowd.advance(0.1)?;
        crowd.evaluate(&mut BoneBuffer::new());
        Ok::<_, CrowdError>(())
    });
    expect(read(PHX_STAGE_AFTER, &mut watched), PHX_OK);
    assert_eq!(watched.count, 1);
    twins.state(|state| state.crowd.advance(0.1)).unwrap();
    expect(read(PHX_STAGE_AFTER, &mut watched), PHX_OK);
    assert_eq!(watched.current, 0);
}
