//! States and poses are read as in the library.

use super::*;

#[test]
fn states_are_those_of_the_library() {
    let mut pair = Pair::new();
    let Ids { who, walk, space, .. } = pair.ids.clone();
    let (who, c, cw, cs) = (who[1], who[1].to_bits(), walk.to_bits(), space_bits(space));
    let odd = odd().1;
    let tier = Tier { rate: 4, interpolate: true, ..Tier::default() };
    let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
    let world = [[1.0, 0.0, 0.0, 4.0], [0.0, 1.0, 0.0, 5.0], [0.0, 0.0, 1.0, 6.0]];
    let prepare = |crowd: &mut Crowd| {
        crowd.set_tiers(Some(tiers.clone())).unwrap();
        crowd.set_world(who, phalanx::math::Affine3x4 { rows: world }).unwrap();
        let rest = crowd.rig(who.rig()).unwrap().skeleton().clone();
        let pose: Vec<_> = (0..rest.len()).map(|joint| rest.rest(joint)).collect();
        let mut player = crowd.player(who).unwrap();
        player.set_character_speed(0.75).unwrap();
        player.set_pose(&pose, PoseSpace::Local).unwrap();
        player.fade_pose(0.5, 0.0).unwrap();
        player.play(0, walk, &odd).unwrap();
        player.add(0, space, &odd).unwrap();
        player.set_paused(0, space, true).unwrap();
        player.fade_layer(0, 0.5, 1.0).unwrap();
        player.set_layer_speed(0, 2.0).unwrap();
    };
    prepare(&mut pair.twin);
    // SAFETY: a handle.
    prepare(&mut unsafe { lend(pair.handle) }.unwrap().crowd);
    (0..6).for_each(|_| pair.advance(1.0 / 60.0));
    // SAFETY: structs of numbers; pointers of this test.
    unsafe {
        let mut info: phx_instance_info = zeroed();
        assert_eq!(phx_instance_describe(pair.handle, c, &mut info), PHX_ERROR_STRUCT_SIZE);
        assert_eq!((info.size, info.rig), (0, 0), "nothing is written");
        info.size = size_of::<phx_instance_info>();
        assert_eq!(phx_instance_describe(pair.handle, c, &mut info), PHX_OK);
        assert_eq!((info.size, info.rig), (size_of_val(&info), who.rig().to_bits()));
        assert_eq!((info.index, info.layer_count, info.visible, info.scheduled), (1, 2, 1, 1));
        assert_eq!((info.speed, info.pose_weight, info.world.rows), (0.75, 0.5, world));
        assert_eq!((info.tier, pair.twin.tier(who)), (0, Some(0)));
        let shown = pair.twin.shown(who).unwrap();
        let rows = [&shown.from, &shown.to].map(|rows| (rows.start as u32, rows.len() as u32));
        let phx_shown { from, to, row_count, factor, .. } = info.shown;
        assert_eq!([(from, row_count), (to, row_count)], rows);
        assert!(from != to && factor == shown.factor && 0.0 < factor && factor < 1.0);
        let phx_shown { in_picture, detail, shared, stayed, .. } = info.shown;
        assert_eq!((in_picture, detail), (1, PHX_NONE));
        assert_eq!((shared != 0, stayed != 0), (shown.shared, shown.stayed));

        let mut action: phx_action_state = zeroed();
        assert_eq!(phx_instance_action(pair.handle, c, 0, cw, &mut action), PHX_ERROR_STRUCT_SIZE);
        for (playable, bits) in [(Playable::Clip(walk), cw), (Playable::Space(space), cs)] {
            action = phx_action_state { size: size_of_val(&action), ..zeroed() };
            assert_eq!(phx_instance_action(pair.handle, c, 0, bits, &mut action), PHX_OK);
            let a = pair.twin.playing(who).unwrap().action(0, playable).unwrap();
            assert!(a.time > 0.3 || a.paused, "it has gone on");
            assert_eq!((action.playable, action.time, action.loops), (bits, a.time, a.loops));
            assert_eq!((action.fade_left, action.weight), (a.fade_left, a.weight));
            assert_eq!((action.target, action.speed), (0.75, 1.5));
            assert_eq!((action.loop_mode, action.repetitions), (PHX_LOOP_PING_PONG, 3));
            assert_eq!((action.at_end, action.end_seconds), (PHX_END_FADE_OUT, 0.25));
            let parameter = (action.has_parameter != 0).then(|| Parameter::from(action.parameter));
            assert_eq!(parameter, a.parameter);
            let flags = [action.paused, action.fading_out, action.finished].map(|flag| flag != 0);
            assert_eq!(flags, [a.paused, a.fading_out, a.finished]);
            assert_eq!(a.paused, bits == cs);
        }
        let absent = pair.ids.jog.to_bits();
        for (layer, playable, status) in
            [(0, absent, PHX_ERROR_NOT_FOUND), (2, cw, PHX_ERROR_NOT_FOUND), (0, 0, PHX_ERROR_ID)]
        {
            action.loops = 99.0;
            let got = phx_instance_action(pair.handle, c, layer, playable, &mut action);
            assert_eq!((got, action.loops), (status, 99.0));
        }

        let mut playing = [1_u64; 3];
        let out = playing.as_mut_ptr();
        let mut count = 0;
        let list = |layer, out, capacity, count: *mut usize| {
            phx_instance_actions(pair.handle, c, layer, out, capacity, count)
        };
        assert_eq!((list(0, out, 1, &mut count), count), (PHX_ERROR_SHORT, 2));
        assert_eq!(playing, [1; 3], "nothing is written");
        count = 0;
        assert_eq!((list(0, null_mut(), 0, &mut count), count), (PHX_OK, 2));
        assert_eq!((list(0, out, 3, &mut count), count), (PHX_OK, 2));
        assert_eq!(playing, [cw, cs, 1]);
        assert_eq!((list(1, out, 3, &mut count), count), (PHX_OK, 0));
        assert_eq!(list(0, null_mut(), 3, &mut count), PHX_ERROR_NULL);
        assert_eq!(list(0, out, 3, null_mut()), PHX_ERROR_NULL);
        assert_eq!(list(2, out, 3, &mut count), PHX_ERROR_NOT_FOUND);

        let mut layer: phx_layer_state = zeroed();
        assert_eq!(phx_instance_layer(pair.handle, c, 0, &mut layer), PHX_ERROR_STRUCT_SIZE);
        layer.size = size_of::<phx_layer_state>();
        assert_eq!(phx_instance_layer(pair.handle, c, 0, &mut layer), PHX_OK);
        let twin = pair.twin.playing(who).unwrap();
        assert_eq!((layer.target, layer.fade_left), twin.layer_fade(0).unwrap());
        assert_eq!(layer.weight, twin.layer_weight(0).unwrap());
        assert!(layer.fade_left > 0.0 && layer.target == 0.5 && layer.weight > 0.5);
        assert_eq!((layer.speed, layer.action_count), (2.0, 2));
        assert_eq!(phx_instance_layer(pair.handle, c, 2, &mut layer), PHX_ERROR_NOT_FOUND);

        // Hidden, and without a pose of the host.
        let hidden = pair.ids.who[0];
        lend(pair.handle).unwrap().crowd.set_visible(hidden, false).unwrap();
        lend(pair.handle).unwrap().crowd.set_scheduled(hidden, false).unwrap();
        pair.advance(0.0);
        assert_eq!(phx_instance_describe(pair.handle, hidden.to_bits(), &mut info), PHX_OK);
        assert_eq!((info.visible, info.scheduled, info.pose_weight), (0, 0, -1.0));
        assert_eq!((info.tier, info.shown), (PHX_NONE, phx_instance_info::DEFAULT.shown));
    }
}

#[test]
fn poses_are_those_of_the_library() {
    let mut pair = Pair::new();
    let Ids { who, walk, talker, .. } = pair.ids.clone();
    let (who, c, talking) = (who[0], who[0].to_bits(), talker.to_bits());
    pair.both(
        "play",
        // SAFETY: a handle.
        |h| unsafe { phx_instance_play(h, c, 0, walk.to_bits(), null()) },
        |t| t.player(who)?.play(0, walk, &PlayOptions::default()),
    );
    pair.advance(0.3);
    let empty = phx_matrix { rows: [[9.0; 4]; 3] };
    // SAFETY: structs of numbers; pointers of this test.
    unsafe {
        let mut bounds: phx_bounds = zeroed();
        assert_eq!(phx_instance_bounds(pair.handle, c, &mut bounds), PHX_ERROR_STRUCT_SIZE);
        bounds.size = size_of::<phx_bounds>();
        assert_eq!(phx_instance_bounds(pair.handle, c, &mut bounds), PHX_OK);
        let sphere = pair.twin.bounding_sphere(who).unwrap().unwrap();
        assert_eq!((bounds.center, bounds.radius), (sphere.center, sphere.radius));
        assert_eq!(bounds.r#box, pair.twin.bounds(who).unwrap().into());
        assert!(bounds.r#box.min[1] < 0.1 && bounds.r#box.max[1] > 1.5, "it is 1.76 m high");

        let models = pair.twin.model_matrices(who).unwrap();
        let mut matrix = empty;
        let hand = 10;
        assert_eq!(phx_instance_model_matrix(pair.handle, c, hand, &mut matrix), PHX_OK);
        assert_eq!(matrix, models[hand as usize].into());
        assert_eq!(phx_instance_model_matrix(pair.handle, c, hand, null_mut()), PHX_ERROR_NULL);
        matrix = empty;
        assert_eq!(phx_instance_model_matrix(pair.handle, c, 47, &mut matrix), PHX_ERROR_NOT_FOUND);
        assert_eq!(matrix, empty);

        let mut all = vec![empty; models.len() + 1];
        let read = |all: &mut [phx_matrix], count| {
            phx_instance_model_matrices(pair.handle, c, all.as_mut_ptr(), count)
        };
        assert_eq!(read(&mut all, 46), PHX_ERROR_SHORT);
        assert!(all.iter().all(|&matrix| matrix == empty));
        assert_eq!(read(&mut all, models.len() + 1), PHX_OK);
        let expected = models.iter().map(|&model| model.into()).chain([empty]);
        assert!(all.iter().copied().eq(expected));
        assert_eq!(phx_instance_model_matrices(pair.handle, c, null_mut(), 47), PHX_ERROR_NULL);

        let mut four = [9.0; 4];
        let read =
            |who, channel, out: *mut f32| phx_instance_channel(pair.handle, who, channel, out);
        assert_eq!(read(talking, 0, four.as_mut_ptr()), PHX_OK);
        assert_eq!(four, [0.25, 0.0, 0.0, 0.0]);
        assert_eq!(read(talking, 1, four.as_mut_ptr()), PHX_OK);
        assert_eq!(four, [0.0, 0.6, 0.0, 0.8]);
        four = [9.0; 4];
        assert_eq!(read(talking, 2, four.as_mut_ptr()), PHX_ERROR_NOT_FOUND);
        assert_eq!(read(c, 0, four.as_mut_ptr()), PHX_ERROR_NOT_FOUND);
        assert_eq!(read(talking, 0, null_mut()), PHX_ERROR_NULL);
        assert_eq!(four, [9.0; 4]);

        let (mut scalars, mut count) = ([9.0; 6], 0);
        let out = scalars.as_mut_ptr();
        let read = |who, out, capacity, count: *mut usize| {
            phx_instance_scalars(pair.handle, who, out, capacity, count)
        };
        assert_eq!((read(talking, out, 4, &mut count), count), (PHX_ERROR_SHORT, 5));
        assert_eq!(scalars, [9.0; 6]);
        count = 0;
        assert_eq!((read(talking, null_mut(), 0, &mut count), count), (PHX_OK, 5));
        for _ in 0..2 {
            assert_eq!((read(talking, out, 6, &mut count), count), (PHX_OK, 5));
            assert_eq!(scalars, [0.25, 0.0, 0.6, 0.0, 0.8, 9.0]);
        }
        assert_eq!((read(c, out, 6, &mut count), count), (PHX_OK, 0));
        assert_eq!(read(talking, out, 6, null_mut()), PHX_ERROR_NULL);
    }
}
