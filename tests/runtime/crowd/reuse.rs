//! A slot that was freed and is taken again is as good as new, whatever was set on it before.

use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, LayerOptions, PlayOptions, RigId};
use phalanx::math::Affine3x4;
use phalanx_testkit::ruler::{ROWS, held, rest, ruler, shift, stands};

const LAYERS: usize = 2;

/// Two instances, of which the first is changed by `wear`, removed, and spawned again.
fn again(wear: impl FnOnce(&mut Crowd, InstanceId)) -> (Crowd, RigId, InstanceId) {
    let mut crowd = Crowd::new();
    let layers = vec![LayerOptions::default(); LAYERS];
    let rig = crowd.add_rig_with_layers(ruler(), layers).unwrap();
    let first = crowd.spawn(rig).unwrap();
    let second = crowd.spawn(rig).unwrap();
    wear(&mut crowd, first);
    crowd.despawn(first).unwrap();
    let new = crowd.spawn(rig).unwrap();
    // It stands where the first one stood.
    assert_eq!(crowd.instances().collect::<Vec<_>>(), [new, second]);
    (crowd, rig, new)
}

/// 0.25 s of "x" on a layer are 0.25 m, at speed 1.
fn runs_at_speed_1(mut crowd: Crowd, rig: RigId, i: InstanceId) {
    let x = crowd.clip_named(rig, "x").unwrap();
    let mut buffer = BoneBuffer::new();
    for layer in 0..LAYERS {
        let mut player = crowd.player(i).unwrap();
        player.play(layer, x, &PlayOptions::default()).unwrap();
        crowd.advance(0.25).unwrap();
        let state = crowd.playing(i).unwrap().action(layer, x).unwrap();
        assert_eq!((state.time, state.weight), (0.25, 1.0), "layer {layer}");
        crowd.evaluate(&mut buffer);
        let rows = crowd.palette_range(i).unwrap();
        stands(&buffer.rows()[rows], [0.25, 0.0, 0.0]);
        crowd.player(i).unwrap().stop_layer(layer, 0.0).unwrap();
    }
}

#[test]
fn it_has_speed_1() {
    let (crowd, rig, i) =
        again(|crowd, i| crowd.player(i).unwrap().set_character_speed(3.0).unwrap());
    runs_at_speed_1(crowd, rig, i);
}

#[test]
fn its_layers_have_speed_1() {
    for layer in 0..LAYERS {
        let (crowd, rig, i) = again(|crowd, i| {
            let mut player = crowd.player(i).unwrap();
            player.set_layer_speed(layer, -2.0).unwrap();
        });
        runs_at_speed_1(crowd, rig, i);
    }
}

/// The layers' weights are 1 and stay so, and what plays on one counts in full.
fn layers_count_in_full(mut crowd: Crowd, rig: RigId, i: InstanceId) {
    let x = crowd.clip_named(rig, "x").unwrap();
    let mut buffer = BoneBuffer::new();
    for layer in 0..LAYERS {
        let mut player = crowd.player(i).unwrap();
        assert_eq!(player.playing().layer_weight(layer), Ok(1.0));
        // Where an action starts, the layer's fade is looked at, too.
        player.play(layer, x, &held(0.5, 1.0)).unwrap();
        for _ in 0..3 {
            crowd.advance(0.5).unwrap();
            let weight = crowd.playing(i).unwrap().layer_weight(layer);
            assert_eq!(weight, Ok(1.0), "layer {layer}");
        }
        crowd.evaluate(&mut buffer);
        stands(buffer.rows(), [0.5, 0.0, 0.0]);
        crowd.player(i).unwrap().stop_layer(layer, 0.0).unwrap();
    }
}

#[test]
fn its_layers_have_weight_1() {
    for layer in 0..LAYERS {
        let (crowd, rig, i) = again(|crowd, i| {
            let mut player = crowd.player(i).unwrap();
            player.set_layer_weight(layer, 0.25).unwrap();
        });
        layers_count_in_full(crowd, rig, i);
    }
}

#[test]
fn its_layers_do_not_fade() {
    for layer in 0..LAYERS {
        let (crowd, rig, i) = again(|crowd, i| {
            let mut player = crowd.player(i).unwrap();
            player.fade_layer(layer, 0.0, 2.0).unwrap();
            crowd.advance(0.5).unwrap();
        });
        layers_count_in_full(crowd, rig, i);
    }
}

#[test]
fn it_is_visible() {
    let (mut crowd, ..) = again(|crowd, i| crowd.set_visible(i, false).unwrap());
    let mut buffer = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut buffer).instances, 2);
}

#[test]
fn it_is_at_the_origin() {
    let (crowd, _, i) = again(|crowd, i| crowd.set_world(i, shift(7.0)).unwrap());
    assert_eq!(crowd.world(i), Ok(&Affine3x4::IDENTITY));
}

#[test]
fn it_is_scheduled() {
    let (mut crowd, ..) = again(|crowd, i| crowd.set_scheduled(i, false).unwrap());
    let mut buffer = BoneBuffer::new();
    for _ in 0..3 {
        let stats = crowd.evaluate(&mut buffer);
        assert_eq!((stats.instances, stats.carried), (2, 0));
    }
}

/// Worlds that root motion moves are kept twice: in f32 and in f64.
#[test]
fn root_motion_starts_at_the_origin() {
    let rig = super::walker::rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    crowd.apply_root_motion(id, true).unwrap();
    let walk = crowd.clip_named(id, "x").unwrap();
    let gone = crowd.spawn(id).unwrap();
    crowd.set_world(gone, shift(7.0)).unwrap();
    crowd.play(gone, walk, &PlayOptions::default()).unwrap();
    crowd.advance(0.5).unwrap();
    assert_eq!(crowd.world(gone).unwrap().rows[0][3], 7.5);
    crowd.despawn(gone).unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, walk, &PlayOptions::default()).unwrap();
    crowd.advance(0.25).unwrap();
    assert_eq!(crowd.world(i), Ok(&shift(0.25)));
}

/// What is gone has no rows, plays nothing and holds no clip.
#[test]
fn nothing_is_left_of_the_one_before() {
    let mut buffer = BoneBuffer::new();
    let mut gone = None;
    let (mut crowd, rig, i) = again(|crowd, i| {
        let rig = i.rig();
        let [x, y] = ["x", "y"].map(|name| crowd.clip_named(rig, name).unwrap());
        let mut player = crowd.player(i).unwrap();
        player.play(0, x, &held(0.5, 1.0)).unwrap();
        player.play(1, y, &held(0.5, 0.5)).unwrap();
        player.set_paused(1, y, true).unwrap();
        crowd.player(i).unwrap().set_override("tip", shift(3.0)).unwrap();
        crowd.advance(0.1).unwrap();
        crowd.evaluate(&mut buffer);
        crowd.evaluate(&mut buffer);
        gone = Some(i);
    });
    assert_eq!(crowd.palette_range(i), None);
    assert_eq!(crowd.shown(i).filter(|s| s.stayed).map(|s| s.from), None);
    assert_eq!(crowd.playing(i).unwrap().clips().count(), 0);
    assert_eq!(crowd.playing(i).unwrap().overrides().count(), 0);
    let stats = crowd.evaluate(&mut buffer);
    assert_eq!((stats.instances, stats.rows), (2, 2 * ROWS));
    assert_eq!(crowd.shown(i).filter(|s| s.stayed).map(|s| s.from), None);
    assert_eq!(buffer.rows()[..ROWS], rest());
    assert!(crowd.despawn(gone.unwrap()).is_err());
    for name in ["x", "y"] {
        let clip = crowd.clip_named(rig, name).unwrap();
        assert!(crowd.unload_clip(clip).is_ok(), "{name}");
    }
}

/// A slot that is free holds nothing either.
#[test]
fn what_a_despawned_instance_played_can_be_unloaded() {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(ruler()).unwrap();
    let [x, y] = ["x", "y"].map(|name| crowd.clip_named(rig, name).unwrap());
    let space = crowd.add_blend_space(rig, &[(0.0, x), (1.0, y)]).unwrap();
    let i = crowd.spawn(rig).unwrap();
    crowd.play(i, space, &held(0.5, 1.0)).unwrap();
    assert!(crowd.remove_blend_space(space).is_err());
    crowd.despawn(i).unwrap();
    crowd.remove_blend_space(space).unwrap();
    assert!(crowd.unload_clip(x).is_ok());
    assert!(crowd.unload_clip(y).is_ok());
    // Nor do its events go on.
    crowd.advance(5.0).unwrap();
    assert!(crowd.events().is_empty());
}
