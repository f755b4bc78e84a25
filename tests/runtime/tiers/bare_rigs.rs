//! Rigs that draw nothing: their joints say where an instance is, and how large.

use super::{DT, camera, every};
use glam::Mat4;
use phalanx::crowd::{BoneBuffer, Crowd, LayerOptions, PlayOptions, Tier, Tiers};
use phalanx::format::Library;
use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
use phalanx::rig::{Rig, RigParts};
use std::sync::Arc;

/// Meshes of a rig are drawn by others: their joints say where an instance is, and how large.
#[test]
fn rigs_without_meshes_are_ranked_by_their_joints() {
    let mut raw = phalanx_testkit::chain::raw();
    raw.meshes.clear();
    raw.nodes.iter_mut().for_each(|node| node.mesh = None);
    let bare = Arc::new(phalanx::build::build_rig(raw, &Default::default()).unwrap());
    let file = Library::from_bytes(&phalanx_testkit::made::library(&bare)).unwrap();
    let read = Arc::new(file.rig(&Default::default()).unwrap());
    let tier = |height| Tier { height, ..Tier::default() };
    let tiers = |rig: &Arc<Rig>| {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone()).unwrap();
        let clip = crowd.clip_by_index(id, 0).unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(id, 60, &mut all).unwrap();
        let options = [PlayOptions::default()];
        crowd.play_many(&all[..40], 0, &[clip], &options).unwrap();
        for (n, &i) in all.iter().enumerate() {
            // From before the camera to far away; every third one behind it or beside it.
            let far = 3.0 * (n + 1) as f32;
            let place = [[0.0, -1.0, -far], [0.0, -1.0, far], [9.0 * far, 0.0, -far]];
            let place = place[if n % 3 == 2 { n / 3 % 3 } else { 0 }];
            crowd.set_world(i, super::at(place)).unwrap();
        }
        let all_tiers = vec![tier(400.0), tier(100.0), tier(30.0)];
        crowd.set_tiers(Some(Tiers { tiers: all_tiers, ..Tiers::default() })).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut BoneBuffer::new());
        assert!(all.iter().all(|&i| {
            let drawn = rig.slot_bounds().iter().any(|b| !b.is_empty());
            crowd.bounding_sphere(i).unwrap().is_some() == drawn
        }));
        all.iter().map(|&i| crowd.tier(i)).collect::<Vec<_>>()
    };
    let meshed = tiers(&phalanx_testkit::chain::rig());
    let wanted: Vec<usize> = [0, 1, 2, 3]
        .iter()
        .map(|t| meshed.iter().filter(|m| m.unwrap_or(3) == *t).count())
        .collect();
    assert!(wanted.iter().all(|&count| count > 0), "{wanted:?}");
    for rig in [&bare, &read] {
        let found = tiers(rig);
        // The vertices of the chain are near its joints, and the spheres a quarter of its length larger.
        let differ = found.iter().zip(&meshed).filter(|(a, b)| a != b).count();
        assert!(differ <= 3, "{found:?} {meshed:?}");
        for (n, tier) in found.iter().enumerate().filter(|(n, _)| n % 3 == 2) {
            if n / 3 % 3 > 0 {
                assert_eq!(*tier, None, "{n}: behind or beside");
            }
        }
    }
}

/// Joints that travel, blends, additive differences and overrides: whose joint is in the picture is in a tier.
#[test]
fn joints_in_the_picture_are_in_a_tier() {
    let mut raw = phalanx_testkit::chain::raw();
    raw.meshes.clear();
    raw.nodes.iter_mut().for_each(|node| node.mesh = None);
    let way = raw.clips[2].duration;
    raw.clips[2].tracks.push(RawTrack {
        node: 0,
        channel: RawChannel::Translation,
        interpolation: Interpolation::Linear,
        times: vec![0.0, way],
        values: vec![0.0, 0.1, 0.0, 15.0, 0.1, 0.0],
    });
    // A second root, and a joint that moves by itself.
    for n in 0..2 {
        raw.nodes.push(phalanx::import::raw::RawNode {
            name: Some(format!("other{n}")),
            ..Default::default()
        });
    }
    for two_roots in [false, true] {
        let mut raw = raw.clone();
        if two_roots {
            let joints = raw.nodes.len();
            raw.clips[1].tracks.push(RawTrack {
                node: joints - 1,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: vec![0.0, 0.7],
                values: vec![0.0, 0.0, 0.0, 0.0, 0.0, 6.0],
            });
        } else {
            raw.nodes.truncate(20);
        }
        let rig = Arc::new(phalanx::build::build_rig(raw, &Default::default()).unwrap());
        let mut crowd = Crowd::new();
        let layers = vec![LayerOptions::default(); 2];
        let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
        let clips = [0, 1, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
        let mut all = Vec::new();
        crowd.spawn_many(id, 150, &mut all).unwrap();
        crowd.set_tiers(Some(every(1, false))).unwrap();
        let mut dice = phalanx_testkit::lively::Dice(5);
        for &i in &all {
            let place = [0, 1, 2].map(|_| dice.below(60) as f32 - 30.0);
            let turn = glam::Affine3A::from_rotation_y(dice.below(63) as f32 * 0.1);
            let world = glam::Affine3A::from_translation(place.into()) * turn;
            crowd.set_world(i, world).unwrap();
        }
        let mut bones = BoneBuffer::new();
        let (mut seen, mut out) = (0, 0);
        for frame in 0..40 {
            for _ in 0..20 {
                let i = dice.among(&all);
                let options = PlayOptions {
                    time: dice.below(100) as f64 * 0.02,
                    fade_in: dice.among(&[0.0, 0.3]),
                    weight: dice.among(&[0.5, 1.0]),
                    ..PlayOptions::default()
                };
                let clip = dice.among(&clips);
                match dice.below(6) {
                    0..3 => crowd.player(i).unwrap().play(dice.below(2), clip, &options).unwrap(),
                    3 => crowd.player(i).unwrap().stop_all(0.1).unwrap(),
                    4 => {
                        let to = [0.0, dice.below(5) as f32, 0.0];
                        crowd
                            .player(i)
                            .unwrap()
                            .set_override(dice.below(20), super::at(to))
                            .unwrap();
                    }
                    _ => crowd.player(i).unwrap().clear_overrides(),
                }
            }
            let view = camera(frame as f32 * 0.3);
            let clip = Mat4::from_cols_array_2d(&view.clip_from_world);
            crowd.set_views(&[view]).unwrap();
            crowd.advance(0.05).unwrap();
            crowd.evaluate(&mut bones);
            for &i in &all {
                let world = *crowd.world(i).unwrap();
                let joint_is_inside = |joint: usize| {
                    let model = crowd.model_matrix(i, joint).unwrap().translation();
                    let p = clip * world.transform_point3(model).extend(1.0);
                    p.w > 0.0 && p.x.abs() < p.w && p.y.abs() < p.w
                };
                match crowd.tier(i) {
                    Some(_) => seen += 1,
                    None => {
                        out += 1;
                        assert!(!(0..rig.skeleton().len()).any(joint_is_inside), "{frame}");
                    }
                }
            }
        }
        assert!(seen > 300 && out > 300, "{seen} {out}");
    }
}

/// Meshes around the joints: every vertex of the built-in character that is in the picture has a tier there, though the
/// rig of the crowd has only the joints.
#[test]
fn what_is_drawn_around_joints_is_in_a_tier() {
    let full = phalanx::import::mannequin().unwrap();
    let bare = Rig::new(RigParts { meshes: Vec::new(), ..full.parts() });
    let (full, bare) = (Arc::new(full), Arc::new(bare.unwrap()));
    let mut crowds = [&full, &bare].map(|rig| {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone()).unwrap();
        let clips = (0..rig.clips().len()).map(|c| crowd.clip_by_index(id, c).unwrap());
        let clips: Vec<_> = clips.collect();
        let mut all = Vec::new();
        crowd.spawn_many(id, 24 * clips.len(), &mut all).unwrap();
        for (n, &i) in all.iter().enumerate() {
            let clip = clips[n % clips.len()];
            let options = PlayOptions { time: 0.07 * n as f64, ..PlayOptions::default() };
            crowd.play(i, clip, &options).unwrap();
            // Around the sides of the picture.
            let angle = 0.3 + 0.9 * phalanx_workload::hash01(n as u64) as f32;
            let place = [5.0 * angle.sin(), -1.0, -5.0 * angle.cos()];
            crowd.set_world(i, super::at(place)).unwrap();
        }
        crowd.set_tiers(Some(every(1, false))).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        (crowd, all)
    });
    let view = Mat4::from_cols_array_2d(&camera(0.0).clip_from_world);
    let mut bones = BoneBuffer::new();
    for (crowd, _) in &mut crowds {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    let [(meshed, all), (joints, same)] = &crowds;
    let (mut inside, mut out) = (0, 0);
    for (&i, &j) in all.iter().zip(same) {
        let bounds = meshed.bounds(i).unwrap();
        let center = meshed.world(i).unwrap().translation() + bounds.center();
        let p = view * center.extend(1.0);
        inside += usize::from(p.x.abs() < p.w);
        if joints.tier(j).is_some() {
            continue;
        }
        out += 1;
        // The sphere of the meshes is outside, too, or at least all of the box that they fill.
        let world = *meshed.world(i).unwrap();
        let corner = |k: usize| {
            let side = |axis: usize| [bounds.min[axis], bounds.max[axis]][k >> axis & 1];
            let p = view * world.transform_point3([side(0), side(1), side(2)].into()).extend(1.0);
            p.x > p.w
        };
        assert!((0..8).all(corner), "an instance at {world:?}");
    }
    assert!(inside > 10 && out > 10, "{inside} {out}");
}

/// One joint that does not move, and a rig without joints: a point of the size of 1.
#[test]
fn a_rig_of_one_still_joint_is_a_point() {
    for joints in [0, 1] {
        let raw = phalanx::import::raw::RawScene {
            nodes: vec![Default::default(); joints],
            skins: vec![phalanx::import::raw::RawSkin {
                joints: (0..joints).collect(),
                inverse_bind: vec![phalanx::math::Affine3x4::IDENTITY.to_cols_array(); joints],
                ..Default::default()
            }],
            ..Default::default()
        };
        let Ok(rig) = phalanx::build::build_rig(raw, &Default::default()) else {
            assert_eq!(joints, 0);
            continue;
        };
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(Arc::new(rig)).unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(id, 3, &mut all).unwrap();
        for (&i, z) in all.iter().zip([-10.0, 10.0, -1e4]) {
            crowd.set_world(i, super::at([0.0, 0.0, z])).unwrap();
        }
        let tier = |height| Tier { height, ..Tier::default() };
        // 1 m at 10 m, less a quarter, fills a tenth of a picture of 1 rad.
        let tiers = vec![tier(100.0), tier(85.0), tier(1.0)];
        crowd.set_tiers(Some(Tiers { tiers, ..Tiers::default() })).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut BoneBuffer::new());
        let found: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
        assert_eq!(found, [Some(1), None, None], "{joints}");
    }
}
