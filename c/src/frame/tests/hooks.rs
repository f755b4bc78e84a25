//! Callbacks in frames, and the poses that they get.

use super::*;

/// What a callback saw.
#[derive(Default)]
struct Seen {
    crowd: usize,
    calls: Vec<(phx_instance, f64)>,
    /// The pose of the last call.
    pose: usize,
    statuses: Vec<phx_status>,
}

unsafe extern "C" fn probes(user: *mut c_void, who: phx_instance, pose: *mut phx_pose, s: f64) {
    // SAFETY: the test's.
    let mut seen: MutexGuard<Seen> = unsafe { &*user.cast::<Mutex<Seen>>() }.lock().unwrap();
    seen.calls.push((who, s));
    seen.pose = pose.expose_provenance();
    let crowd = std::ptr::with_exposed_provenance_mut::<phx_crowd>(seen.crowd);
    let joint = HEAD as u32;
    let mut info = phx_pose_info::DEFAULT;
    let mut short = phx_pose_info { size: 9, ..info };
    let mut matrix = phx_matrix { rows: [[0.0; 4]; 3] };
    let mut model = matrix;
    let nan = phx_matrix { rows: [[f32::NAN; 4]; 3] };
    let mut trs = phx_trs::from(Trs::IDENTITY);
    let other = std::ptr::dangling_mut::<phx_pose>();
    let handle = seen.pose;
    // SAFETY: pointers of this call.
    seen.statuses = unsafe {
        vec![
            phx_pose_describe(pose, &mut info),
            phx_pose_local(pose, joint, &mut trs, &mut matrix),
            phx_pose_model(pose, joint, &mut model),
            phx_pose_set_model(pose, joint, &model),
            phx_pose_set_local(pose, joint, &matrix),
            phx_pose_describe(pose, &mut short),
            phx_pose_describe(null(), &mut info),
            phx_pose_describe(pose, null_mut()),
            phx_pose_describe(other, &mut info),
            phx_pose_local(pose, 47, &mut trs, null_mut()),
            phx_pose_model(pose, u32::MAX, &mut model),
            phx_pose_model(pose, joint, null_mut()),
            phx_pose_set_local(pose, 47, &matrix),
            phx_pose_set_local(pose, joint - 1, &matrix),
            phx_pose_set_local(pose, joint, &nan),
            phx_pose_set_model(pose, joint, &nan),
            phx_pose_set_local(pose, joint, null()),
            phx_crowd_evaluate(crowd, null(), null_mut(), 0, null_mut()),
            phx_instance_rest_springs(crowd, who),
            phx_instance_target(crowd, who, 0, null_mut(), null_mut()),
            std::thread::spawn(move || {
                let mut info = phx_pose_info::DEFAULT;
                phx_pose_describe(std::ptr::with_exposed_provenance(handle), &mut info)
            })
            .join()
            .unwrap(),
        ]
    };
    assert_eq!((info.joint_count, info.weight), (47, 0.5));
    let local: Affine3x4 = Trs::from(trs).into();
    let difference = |r: usize, c: usize| (local.rows[r][c] - matrix.rows[r][c]).abs();
    assert!((0..12).all(|i| difference(i / 4, i % 4) < 1e-5));
}

#[test]
fn poses_are_those_of_the_callback_and_crowds_are_busy_in_it() {
    let twins = Twins::new(2, Some(2));
    twins.state(|state| {
        let joints = Some(vec![HEAD]);
        let hook = state.crowd.add_modifier(twins.rig, Hook { joints, ..Hook::default() }).unwrap();
        state.crowd.player(twins.ids[1]).unwrap().fade_modifier(hook, 0.5, 0.0).unwrap();
    });
    let seen = Mutex::new(Seen { crowd: twins.c.expose_provenance(), ..Seen::default() });
    let user = (&raw const seen).cast_mut().cast();
    let options = phx_frame_options { hook: Some(probes), user, ..Extensible::DEFAULT };
    let mut memory = vec![0.0f32; 2 * 12 * 100];
    evaluate(&twins, 0, &options, &mut memory);
    twins.state(|state| state.crowd.advance(0.25)).unwrap();
    evaluate(&twins, 2, &options, &mut memory);
    let seen = seen.into_inner().unwrap();
    let who = twins.ids[1].to_bits();
    assert_eq!(seen.calls, [(who, 0.0), (who, 0.25)]);
    let (null_pose, state, size, index, value, busy) = (
        PHX_ERROR_NULL,
        PHX_ERROR_STATE,
        PHX_ERROR_STRUCT_SIZE,
        PHX_ERROR_NOT_FOUND,
        PHX_ERROR_VALUE,
        PHX_ERROR_BUSY,
    );
    let wanted = [
        0, 0, 0, 0, 0, size, null_pose, null_pose, state, index, index, null_pose, index, value,
        value, value, null_pose, busy, busy, busy, state,
    ];
    assert_eq!(seen.statuses, wanted);
    let mut info = phx_pose_info::DEFAULT;
    // SAFETY: the pose has ended, which the call sees.
    let late =
        unsafe { phx_pose_describe(std::ptr::with_exposed_provenance(seen.pose), &mut info) };
    expect(late, PHX_ERROR_STATE);
}
