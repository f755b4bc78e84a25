//! Any sequence of calls on a crowd with several layers: must not panic, a call that fails changes nothing,
//! and the events and palettes of every frame are valid.
#![no_main]

#[path = "support/calls.rs"]
mod calls;
#[path = "support/level.rs"]
mod level;

use calls::{Call, ik, look, matrix, motions, play, springs, target};
use glam::{Quat, Vec3};
use libfuzzer_sys::fuzz_target;
use phalanx::clip::Marker;
use phalanx::crowd::{
    BoneBuffer, Crowd, Feet, Ground, Hook, InstanceId, LayerOptions, ModifierId, PoseSpace,
    PoseStage,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{BlendSpace, BlendSpaceId, Fill, MAX_EVENTS_PER_ACTION, Mixer, Playable};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, Trs};
use std::sync::{Arc, OnceLock};

static RIG: OnceLock<Arc<Rig>> = OnceLock::new();

/// The built-in character, with markers added at both ends of its first clip.
fn rig() -> Arc<Rig> {
    let rig = RIG.get_or_init(|| {
        let mut rig = mannequin().expect("the built-in character loads");
        let end = rig.clips()[0].duration();
        let markers = [0.0, 0.0, 0.3 * end, end].map(|t| Marker::new("m", t));
        rig.set_markers(0, markers.to_vec()).expect("markers within the clip");
        Arc::new(rig)
    });
    rig.clone()
}

fuzz_target!(|calls: Vec<Call>| {
    level::choose(calls.len());
    let rig = rig();
    let mask = JointMask::subtree(rig.skeleton(), "Spine").ok();
    let upper = LayerOptions { mask, fill: Fill::Below, ..LayerOptions::default() };
    let layers = vec![LayerOptions::default(), upper, LayerOptions::default()];
    let mut mixer =
        Mixer::with_layers(rig.clone(), layers.clone()).expect("a mixer of a valid rig");
    let clips = (0..11).filter_map(|c| mixer.clip_by_index(c));
    let mixed: Vec<Playable> = clips.map(Playable::Clip).collect();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig, layers).expect("an empty crowd accepts a rig");
    let mut instances: Vec<InstanceId> = Vec::new();
    let mut spaces: Vec<BlendSpaceId> = Vec::new();
    let mut modifiers: Vec<ModifierId> = Vec::new();
    let mut buffer = BoneBuffer::new();
    let mut saved = None;
    for call in calls.into_iter().take(200) {
        let pick = |n: u8| instances.get(usize::from(n) % instances.len().max(1)).copied();
        let clip = |crowd: &Crowd, n: u8| crowd.clip_by_index(id, usize::from(n) % 11);
        let modifier = |n: u8| modifiers.get(usize::from(n) % modifiers.len().max(1)).copied();
        let before = crowd.snapshot();
        let refused = match call {
            Call::Spawn if instances.len() < 64 => match crowd.spawn(id) {
                Ok(i) => {
                    instances.push(i);
                    false
                }
                Err(_) => true,
            },
            Call::Spawn => false,
            Call::Despawn(i) => pick(i).is_some_and(|i| crowd.despawn(i).is_err()),
            Call::Play(i, layer, motion, call) => {
                let motions = motions(&crowd, id, &spaces);
                match (pick(i), motions.is_empty()) {
                    (Some(i), false) => match crowd.player(i) {
                        Ok(player) => {
                            play(player, usize::from(layer % 4), &motions, motion, call).is_err()
                        }
                        Err(_) => true,
                    },
                    _ => false,
                }
            }
            Call::Visible(i, v) => pick(i).is_some_and(|i| crowd.set_visible(i, v).is_err()),
            Call::Advance(dt) => {
                let refused = crowd.advance(dt).is_err();
                let most = instances.len() * 3 * 4 * 3 * (MAX_EVENTS_PER_ACTION + 1);
                assert!(crowd.events().len() <= most);
                assert!(crowd.events().iter().all(|e| e.time >= 0.0 && e.weight.is_finite()));
                refused
            }
            Call::Evaluate => {
                crowd.evaluate(&mut buffer);
                let finite = buffer.rows().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::Unload(c) => match clip(&crowd, c) {
                Some(c) => crowd.unload_clip(c).is_err(),
                None => false,
            },
            Call::Space(a, b, value) => match (clip(&crowd, a), clip(&crowd, b)) {
                (Some(a), Some(b)) => match crowd.add_blend_space(id, &[(0.0, a), (value, b)]) {
                    Ok(space) => {
                        spaces.push(space);
                        false
                    }
                    Err(_) => true,
                },
                _ => false,
            },
            Call::Plane(clips, at, speeds, seconds) => {
                let clips: Vec<_> = clips.iter().filter_map(|&n| clip(&crowd, n)).collect();
                let space = match (at, speeds) {
                    (Some(at), _) => {
                        let points: Vec<_> = at.into_iter().zip(clips).collect();
                        BlendSpace::plane(&points)
                    }
                    (None, true) => BlendSpace::by_speed(&clips),
                    (None, false) => BlendSpace::by_velocity(&clips),
                };
                let feet = Feet::new(1, &[0, 0].map(|_| 1));
                let space = if speeds { space.measured_by(feet) } else { space };
                match crowd.add_blend_space(id, space.following(seconds)) {
                    Ok(space) => {
                        spaces.push(space);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::Parameters(i, layer, n, value) => {
                let some = &instances[usize::from(i) % (instances.len() + 1)..];
                let space = spaces.get(usize::from(n) % spaces.len().max(1)).copied();
                space.is_some_and(|space| {
                    crowd.set_parameters(some, usize::from(layer % 4), &[space], &[value]).is_err()
                })
            }
            Call::Playing(n) => {
                let motions = motions(&crowd, id, &spaces);
                let motion = motions.get(usize::from(n) % motions.len().max(1));
                let playing = motion.and_then(|&m| crowd.instances_playing(m).ok());
                assert!(playing.is_none_or(|playing| playing.count() <= instances.len()));
                false
            }
            Call::RemoveSpace(n) => {
                let n = usize::from(n) % spaces.len().max(1);
                let space = spaces.get(n).copied();
                space.is_some_and(|s| crowd.remove_blend_space(s).is_err())
            }
            Call::Snapshot => {
                saved = Some(crowd.snapshot());
                false
            }
            Call::Restore => saved.as_ref().is_some_and(|s| crowd.restore(s).is_err()),
            Call::Mixer(layer, motion, call) => {
                let _ = play(mixer.player(), usize::from(layer % 4), &mixed, motion, call);
                false
            }
            Call::Update(dt) => {
                let _ = mixer.advance(dt);
                assert!(mixer.events().len() <= 3 * 4 * 2 * MAX_EVENTS_PER_ACTION);
                let finite = mixer.evaluate().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::AddIk(with) => {
                let added = crowd.add_modifier(id, ik(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::AddLook(with) => {
                let added = crowd.add_modifier(id, look(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::AddSprings(with) => {
                let added = crowd.add_modifier(id, springs(with));
                added.map(|modifier| modifiers.push(modifier)).is_err()
            }
            Call::Teleport(i, m) => pick(i).is_some_and(|i| crowd.teleport(i, matrix(m)).is_err()),
            Call::AddFeet(joints, reach, tilt) => {
                let [pelvis, left, right] = joints.unwrap_or([1, 5, 9]).map(usize::from);
                let mut feet = Feet { reach, tilt, ..Feet::new(pelvis, &[left, right]) };
                feet.feet[0].markers = Some(["left".into(), "right".into()]);
                match crowd.add_modifier(id, feet) {
                    Ok(modifier) => {
                        modifiers.push(modifier);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::Grounds(n, i, numbers, weight) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => {
                    let ground =
                        |n: &[f32]| Ground { height: n[0], normal: Vec3::new(n[1], n[2], n[3]) };
                    let grounds = [ground(&numbers[..4]), ground(&numbers[4..])];
                    let mut at = [Vec3::ZERO; 2];
                    if crowd.foot_positions(m, &[i], &mut at).is_ok() {
                        assert!(at.iter().all(|at| !at.is_nan()));
                    }
                    crowd.set_grounds(m, &[i], &grounds, &[weight]).is_err()
                }
                _ => false,
            },
            Call::RemoveModifier(n) => {
                let known = modifier(n);
                known.is_some_and(|m| crowd.remove_modifier(m).is_err())
            }
            Call::Target(n, i, aim, weight) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => {
                    crowd.set_targets(m, &[i], &[target(aim)], &[weight]).is_err()
                }
                _ => false,
            },
            Call::FadeModifier(n, i, weight, seconds) => match (modifier(n), pick(i)) {
                (Some(m), Some(i)) => match crowd.player(i) {
                    Ok(mut player) => player.fade_modifier(m, weight, seconds).is_err(),
                    Err(_) => true,
                },
                _ => false,
            },
            Call::Override(i, joint, m, weight, space) => match pick(i).map(|i| crowd.player(i)) {
                Some(Ok(mut player)) => {
                    let joint = usize::from(joint);
                    let rotation = Quat::from_xyzw(m[0], m[1], m[2], m[3]);
                    let mut set = |space| {
                        player.set_override_weighted(joint, matrix(m), space, weight).is_err()
                    };
                    match space % 4 {
                        0 => set(PoseSpace::Local),
                        1 => player.set_model_rotation(joint, rotation, weight).is_err(),
                        2 => set(PoseSpace::Model),
                        _ => set(PoseSpace::World),
                    }
                }
                Some(Err(_)) => true,
                None => false,
            },
            Call::ClearOverrides(i) => {
                if let Some(Ok(mut player)) = pick(i).map(|i| crowd.player(i)) {
                    player.clear_overrides();
                }
                false
            }
            Call::World(i, m) => pick(i).is_some_and(|i| crowd.set_world(i, matrix(m)).is_err()),
            Call::Poses(i, joint, before) => pick(i).is_some_and(|i| {
                let stage = if before { PoseStage::Before } else { PoseStage::After };
                let joints = [usize::from(joint)];
                let (mut locals, mut models) = ([Trs::IDENTITY], [Affine3x4::IDENTITY]);
                let read = crowd.local_poses(id, &joints, &[i], stage, &mut locals).is_err();
                let read =
                    crowd.model_poses(id, &joints, &[i], stage, &mut models).is_err() || read;
                assert!(
                    models[0].is_finite() && locals[0].to_array().iter().all(|v| v.is_finite())
                );
                read
            }),
            Call::AddHook(joint, reach) => {
                let joints = joint.map(|joint| vec![usize::from(joint)]);
                match crowd.add_modifier(id, Hook { joints, reach }) {
                    Ok(modifier) => {
                        modifiers.push(modifier);
                        false
                    }
                    Err(_) => true,
                }
            }
            Call::EvaluateWith(joint, m, in_model) => {
                let joint = usize::from(joint);
                crowd.evaluate_with(&mut buffer, &|_, pose, seconds| {
                    assert!(seconds >= 0.0);
                    let before = pose.model(joint);
                    let set = match in_model {
                        true => pose.set_model(joint, matrix(m)),
                        false => pose.set_local(joint, matrix(m)),
                    };
                    assert!(set.is_ok() || pose.model(joint) == before);
                });
                let finite = buffer.rows().iter().all(|r| r.is_finite());
                assert!(finite, "the built-in character's palette is finite");
                false
            }
            Call::SetPose(i, v, space, weight) => pick(i).is_some_and(|i| {
                let spaces = [PoseSpace::Local, PoseSpace::Model, PoseSpace::World];
                let space = spaces[usize::from(space % 3)];
                let joint = Trs {
                    translation: Vec3::new(v[0], v[1], v[2]),
                    rotation: Quat::from_xyzw(v[3], v[4], v[5], v[6]),
                    scale: Vec3::new(v[7], v[8], v[9]),
                };
                let joints = crowd.rig(id).map_or(0, |rig| rig.skeleton().len());
                let poses = vec![joint; joints];
                crowd.set_poses(id, &[i], &poses, space, weight.as_slice()).is_err()
            }),
            Call::FadePose(i, weight, seconds) => {
                pick(i).is_some_and(|i| crowd.fade_poses(&[i], weight, seconds).is_err())
            }
            Call::ClearPose(i) => pick(i).is_some_and(|i| crowd.clear_poses(&[i]).is_err()),
            Call::Ask(i, joint) => {
                if let Some(i) = pick(i) {
                    let _ = crowd.bounds(i);
                    let _ = crowd.model_matrix(i, usize::from(joint));
                    let _ = crowd.palette_range(i);
                }
                false
            }
        };
        if refused {
            assert!(crowd.snapshot() == before, "a call that fails changes nothing");
        }
    }
});
