//! Scene graph and crowd together, against the f64 oracle: objects attached to joints, riders on mounts, overrides.

use glam::{Affine3A, Quat, Vec3};
use libtest_mimic::{Failed, Trial};
use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, PlayOptions, RigId, Unknown};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::import::{ImportOptions, Imported, import_path};
use phalanx::math::Affine3x4;
use phalanx::playback::LoopMode;
use phalanx::rig::Rig;
use phalanx::scene::{NodeId, OnRemove, SceneError, SceneGraph};
use phalanx::skeleton::{LookupError, Trs};
use phalanx_testkit::oracle;
use phalanx_testkit::oracle::Scene;
use phalanx_testkit::oracle::math::{IDENTITY, Mat4, from_trs, mul};
use phalanx_testkit::trials;
use std::sync::Arc;

type Tested = Result<(), Failed>;

/// What DESIGN allows, relative to max(1, distance to the instance's root).
const TOLERANCE: f64 = 1e-5;

pub fn trials() -> Vec<Trial> {
    let mannequin: &[&str] = &["mannequin.glb"];
    let rider: &[&str] = &["bl_rider.glb"];
    vec![
        trials::trial("props_on_joints", mannequin, props_on_joints),
        trials::trial("overrides_move_palette_and_below", mannequin, overrides),
        trials::trial("mirrors_come_and_go", mannequin, mirrors_come_and_go),
        trials::trial("refused_calls", mannequin, refused_calls),
        trials::trial("rider_as_one_rig", rider, rider_as_one_rig),
        trials::trial("rider_on_a_horse", rider, rider_on_a_horse),
        trials::trial("doubled_names", &[], doubled_names),
    ]
}

fn import(file: &str, split: &[&str]) -> Result<Imported, Failed> {
    let options = ImportOptions {
        split: split.iter().map(|s| s.to_string()).collect(),
        ..ImportOptions::default()
    };
    Ok(import_path(&trials::needed(file)?, &options)?)
}

fn only(file: &str) -> Result<(Arc<Rig>, Scene), Failed> {
    let rig = import(file, &[])?.rigs.swap_remove(0);
    Ok((Arc::new(rig), Scene::load(&trials::needed(file)?)?))
}

fn play(crowd: &mut Crowd, i: InstanceId, clip: usize, time: f64) -> Result<(), Failed> {
    let clip = crowd.clip_by_index(i.rig(), clip).ok_or("no clip")?;
    let options = PlayOptions { time, loop_mode: LoopMode::Once, ..PlayOptions::default() };
    Ok(crowd.player(i)?.restart(0, clip, &options)?)
}

fn wide(m: &Affine3x4) -> Mat4 {
    m.to_cols_array().map(f64::from)
}

fn node_worlds(scene: &Scene, clip: usize, time: f64) -> Result<Vec<Mat4>, Failed> {
    let pose = scene.pose(clip, f64::from(time as f32));
    Ok(worlds_of(scene, &pose))
}

fn worlds_of(scene: &Scene, pose: &oracle::Pose) -> Vec<Mat4> {
    let worlds = scene.evaluate(pose).world;
    worlds.into_iter().map(|w| w.unwrap_or(IDENTITY)).collect()
}

/// The joint that a node of the file is.
fn joint_of(rig: &Rig, name: &str) -> Result<usize, Failed> {
    Ok(rig.skeleton().joint(name)?)
}

fn source_of(rig: &Rig, joint: usize) -> Result<usize, Failed> {
    let node = rig.nodes().iter().find(|n| n.joint == Some(joint as u16));
    Ok(node.ok_or("a joint that no node is")?.source)
}

/// Compares a node's world matrix with the oracle's, `root` being where the instance stands.
fn close(graph: &SceneGraph, node: NodeId, want: &Mat4, root: &Mat4) -> Tested {
    let world = graph.world(node)?;
    let m = world.matrix3.to_cols_array();
    let t = world.translation.to_array();
    let at = |m: &Mat4| [m[12], m[13], m[14]];
    let (want_at, root_at) = (at(want), at(root));
    let away = (0..3).map(|i| (want_at[i] - root_at[i]).powi(2)).sum::<f64>();
    let allowed = TOLERANCE * away.sqrt().max(1.0);
    for column in 0..4 {
        for row in 0..3 {
            let have = if column < 3 { m[column * 3 + row] } else { t[row] };
            let error = (have - want[column * 4 + row]).abs();
            if error.is_nan() || error > allowed {
                return Err(format!("{node:?}: {error:e} at column {column}, row {row}").into());
            }
        }
    }
    Ok(())
}

fn offset() -> (Affine3x4, Mat4) {
    let (t, r) = (Vec3::new(0.07, 0.02, -0.3), Quat::from_rotation_z(0.4).normalize());
    let trs = Trs { translation: t, rotation: r, scale: Vec3::splat(1.25) };
    let m = from_trs(t.to_array().map(f64::from), r.to_array().map(f64::from), [1.25; 3]);
    (trs.into(), m)
}

fn props_on_joints() -> Tested {
    let (rig, file) = only("mannequin.glb")?;
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let mut graph = SceneGraph::new();
    let turned = Affine3A::from_rotation_translation(Quat::from_rotation_y(0.7), Vec3::X * 3.0);
    let far = Affine3A::from_rotation_translation(
        Quat::from_rotation_y(-2.0),
        Vec3::new(120_000.0, 40.0, -80_000.0),
    );
    let (local, local64) = offset();
    let mut compared = 0;
    for world in [Affine3A::IDENTITY, turned, far] {
        let i = crowd.spawn(id)?;
        crowd.set_world(i, world)?;
        let mirror = crowd.mirror(i, &mut graph, None)?;
        assert_eq!(crowd.mirror(i, &mut graph, None), Ok(mirror));
        let mut props = Vec::new();
        for joint in ["LeftHand", "Hips/Spine/Spine1/Chest/Neck/Head", "RightToe"] {
            let prop = graph.add(None, Affine3x4::IDENTITY)?;
            let tip = graph.add(prop, local)?;
            graph.attach(prop, mirror, joint, local)?;
            props.push((joint_of(&rig, joint)?, prop, tip));
        }
        let root = wide(&world.into());
        for clip in 0..rig.clips().len() {
            for part in [0.0, 0.173, 0.6, 1.0] {
                let time = f64::from(rig.clips()[clip].duration()) * part;
                play(&mut crowd, i, clip, time)?;
                assert!(crowd.update_scene(&mut graph).mirrored > 0);
                let worlds = node_worlds(&file, clip, time)?;
                for joint in 0..rig.skeleton().len() {
                    let want = mul(&root, &worlds[source_of(&rig, joint)?]);
                    close(&graph, graph.joint(mirror, joint)?, &want, &root)?;
                }
                for &(joint, prop, tip) in &props {
                    let joint = mul(&root, &worlds[source_of(&rig, joint)?]);
                    let hung = mul(&joint, &local64);
                    close(&graph, prop, &hung, &root)?;
                    close(&graph, tip, &mul(&hung, &local64), &root)?;
                    compared += 1;
                }
            }
        }
    }
    // A frame in which nothing moves changes nothing.
    crowd.update_scene(&mut graph);
    assert!(graph.changed().is_empty(), "{:?}", graph.changed());
    assert!(compared > 300);
    Ok(())
}

fn rider_as_one_rig() -> Tested {
    let (rig, file) = only("bl_rider.glb")?;
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let i = crowd.spawn(id)?;
    let mut graph = SceneGraph::new();
    let mirror = crowd.mirror(i, &mut graph, None)?;
    let (local, local64) = offset();
    let prop = graph.add(None, local)?;
    graph.attach(prop, mirror, "rhand_r", local)?;
    for (clip, time) in [(0, 0.0), (0, 0.31), (1, 0.77)] {
        play(&mut crowd, i, clip, time)?;
        crowd.update_scene(&mut graph);
        let worlds = node_worlds(&file, clip, time)?;
        let hand = file.node_named("rhand_r").ok_or("no hand")?;
        close(&graph, prop, &mul(&worlds[hand], &local64), &IDENTITY)?;
    }
    Ok(())
}

fn rider_on_a_horse() -> Tested {
    let file = Scene::load(&trials::needed("bl_rider.glb")?)?;
    let parts = import("bl_rider.glb", &["RiderRig"])?;
    let link = parts.links[0];
    let rigs: Vec<Arc<Rig>> = parts.rigs.into_iter().map(Arc::new).collect();
    let saddle = link.node.and_then(|n| rigs[link.parent].nodes()[n].joint);
    let saddle = usize::from(saddle.ok_or("the saddle is no joint")?);
    let mut crowd = Crowd::new();
    // The rider comes first everywhere, so that a wrong order would show as a lag.
    let rider_id = crowd.add_rig(rigs[link.child].clone())?;
    let horse_id = crowd.add_rig(rigs[link.parent].clone())?;
    let rider = crowd.spawn(rider_id)?;
    let horse = crowd.spawn(horse_id)?;
    let mut graph = SceneGraph::new();
    let rider_mirror = crowd.mirror(rider, &mut graph, None)?;
    let horse_mirror = crowd.mirror(horse, &mut graph, None)?;
    graph.attach(rider_mirror, horse_mirror, saddle, Affine3x4::IDENTITY)?;
    // The horse itself stands on something that moves.
    let ship = graph.add(None, Affine3x4::IDENTITY)?;
    let (local, local64) = offset();
    graph.set_parent(horse_mirror, ship)?;
    graph.set_local(horse_mirror, local)?;
    let sword = graph.add(None, Affine3x4::IDENTITY)?;
    graph.attach(sword, rider_mirror, "rhand_r", local)?;
    let mut compared = 0;
    for (frame, (clip, time)) in [(0, 0.0), (0, 0.31), (1, 0.5), (1, 0.9)].into_iter().enumerate() {
        let drift = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(frame as f32),
            Vec3::new(500.0 * frame as f32, 1.0, 0.25),
        );
        graph.set_local(ship, drift)?;
        play(&mut crowd, rider, clip, time)?;
        play(&mut crowd, horse, clip, time)?;
        assert_eq!(crowd.update_scene(&mut graph).mirrored, 2);
        let worlds = node_worlds(&file, clip, time)?;
        let stands = mul(&wide(&drift.into()), &local64);
        for (mirror, id) in [(rider_mirror, rider_id), (horse_mirror, horse_id)] {
            let rig = crowd.rig(id)?.clone();
            for joint in 0..rig.skeleton().len() {
                let want = mul(&stands, &worlds[source_of(&rig, joint)?]);
                close(&graph, graph.joint(mirror, joint)?, &want, &stands)?;
                compared += 1;
            }
        }
        let hand = file.node_named("rhand_r").ok_or("no hand")?;
        let held = mul(&mul(&stands, &worlds[hand]), &local64);
        close(&graph, sword, &held, &stands)?;
        // The crowd draws the rider where the scene has it, in the same frame.
        let placed = Affine3x4::from(*graph.world(rider_mirror)?);
        assert_eq!(*crowd.world(rider)?, placed);
    }
    assert!(compared >= 4 * 23);
    // The rider is detached from the horse: it keeps its world transform, and follows `set_world` from then on.
    let stood = *crowd.world(rider)?;
    graph.set_parent_in_place(rider_mirror, None)?;
    crowd.update_scene(&mut graph);
    assert_eq!(*crowd.world(rider)?, stood);
    crowd.set_world(rider, Affine3A::from_translation(Vec3::Z))?;
    crowd.update_scene(&mut graph);
    assert_eq!(graph.world(rider_mirror)?.translation.z, 1.0);
    assert_eq!(
        graph.set_local(rider_mirror, local),
        Err(SceneError::Follows { node: rider_mirror })
    );
    Ok(())
}

fn overrides() -> Tested {
    let (rig, file) = only("mannequin.glb")?;
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let (a, b, c) = (crowd.spawn(id)?, crowd.spawn(id)?, crowd.spawn(id)?);
    let (clip, time) = (1, 0.37);
    for i in [a, b, c] {
        play(&mut crowd, i, clip, time)?;
    }
    let mut plain = BoneBuffer::new();
    crowd.evaluate(&mut plain);
    let start = crowd.snapshot();

    let mut graph = SceneGraph::new();
    let mirror = crowd.mirror(b, &mut graph, None)?;
    let sword = graph.add(None, Affine3x4::IDENTITY)?;
    graph.attach(sword, mirror, "LeftHand", Affine3x4::IDENTITY)?;
    let rotation = Quat::from_rotation_x(1.2);
    let local = Trs {
        translation: Vec3::new(0.02, 0.11, -0.03),
        rotation,
        scale: Vec3::new(1.0, 1.5, 0.75),
    };
    let elbow = graph.joint(mirror, "LeftForeArm")?;
    let (instance, joint) = crowd.mirrored_joint(&graph, elbow)?;
    assert_eq!((instance, joint), (b, joint_of(&rig, "LeftForeArm")?));
    crowd.player(instance)?.set_override(joint, local)?;
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    crowd.update_scene(&mut graph);

    // The oracle with the node's transform replaced.
    let mut pose = file.pose(clip, f64::from(time as f32));
    let node = file.node_named("LeftForeArm").ok_or("no elbow")?;
    pose[node].t = local.translation.to_array().map(f64::from);
    pose[node].r = oracle::math::normalize(rotation.to_array().map(f64::from));
    pose[node].s = local.scale.to_array().map(f64::from);
    let want = file.evaluate(&pose);
    let rows = &buffer.rows()[crowd.palette_range(b).ok_or("no palette")?];
    for (slot, (have, want)) in rows.iter().zip(&want.palettes[0]).enumerate() {
        let errors = wide(have).into_iter().zip(want).map(|(h, w)| (h - w).abs());
        let error = errors.fold(0.0, f64::max);
        assert!(error < TOLERANCE, "slot {slot}: {error:e}");
    }
    let worlds = worlds_of(&file, &pose);
    for joint in 0..rig.skeleton().len() {
        let want = &worlds[source_of(&rig, joint)?];
        close(&graph, graph.joint(mirror, joint)?, want, &IDENTITY)?;
    }
    let hand = file.node_named("LeftHand").ok_or("no hand")?;
    close(&graph, sword, &worlds[hand], &IDENTITY)?;
    let model = crowd.model_matrix(b, joint_of(&rig, "LeftHand")?)?;
    let error = wide(&model).into_iter().zip(worlds[hand]).map(|(h, w)| (h - w).abs());
    assert!(error.fold(0.0, f64::max) < TOLERANCE);

    // The bits of other instances do not change; those of this one are the old ones once the override is cleared.
    for i in [a, c] {
        let range = crowd.palette_range(i).ok_or("no palette")?;
        assert_eq!(buffer.rows()[range.clone()], plain.rows()[range]);
    }
    let raised = crowd.snapshot();
    assert!(raised != start);
    let hash = buffer.hash();
    crowd.player(b)?.clear_override("LeftForeArm")?;
    crowd.evaluate(&mut buffer);
    assert_eq!(buffer.hash(), plain.hash());
    crowd.update_scene(&mut graph);
    let worlds = node_worlds(&file, clip, time)?;
    close(&graph, sword, &worlds[hand], &IDENTITY)?;
    crowd.restore(&raised)?;
    crowd.evaluate(&mut buffer);
    assert_eq!(buffer.hash(), hash);
    assert_eq!(crowd.playing(b)?.overrides().count(), 1);
    // An instance that reuses the index has none.
    crowd.despawn(b)?;
    let d = crowd.spawn(id)?;
    assert_eq!(crowd.playing(d)?.overrides().count(), 0);
    Ok(())
}

fn mirrors_come_and_go() -> Tested {
    let (rig, _) = only("mannequin.glb")?;
    let mut crowd = Crowd::new();
    let id: RigId = crowd.add_rig(rig.clone())?;
    let mut graph = SceneGraph::new();
    let count = rig.skeleton().len() + 1;
    let spawn = |crowd: &mut Crowd, graph: &mut SceneGraph| -> Result<_, Failed> {
        let i = crowd.spawn(id)?;
        play(crowd, i, 3, 0.2)?;
        crowd.set_world(i, Affine3A::from_translation(Vec3::X * 4.0))?;
        let mirror = crowd.mirror(i, graph, None)?;
        let sword = graph.add(None, Affine3x4::IDENTITY)?;
        graph.attach(sword, mirror, "RightHand", offset().0)?;
        crowd.update_scene(graph);
        Ok((i, mirror, sword))
    };
    // The attached node is removed, too.
    let (i, mirror, sword) = spawn(&mut crowd, &mut graph)?;
    assert_eq!(graph.node_count(), count + 1);
    crowd.unmirror(i, &mut graph, OnRemove::Remove)?;
    crowd.despawn(i)?;
    assert_eq!(graph.node_count(), 0);
    assert!(graph.world(sword).is_err() && graph.world(mirror).is_err());
    assert_eq!(crowd.update_scene(&mut graph).mirrored, 0);
    // The attached node keeps its world transform.
    let ground = graph.add(None, Affine3A::from_translation(Vec3::Z * -2.0))?;
    let (i, _, sword) = spawn(&mut crowd, &mut graph)?;
    let stood = *graph.world(sword)?;
    crowd.unmirror(i, &mut graph, OnRemove::Reparent(Some(ground)))?;
    graph.update();
    assert_eq!(graph.parent(sword)?, Some(ground));
    assert!(graph.world(sword)?.abs_diff_eq(stood, 1e-5));
    assert_eq!((graph.node_count(), crowd.update_scene(&mut graph).mirrored), (2, 0));
    assert!(crowd.world(i).is_ok(), "the instance goes on");
    // Kept though it was despawned, the nodes stand still; with a snapshot they move again.
    let (i, mirror, sword) = spawn(&mut crowd, &mut graph)?;
    let alive = crowd.snapshot();
    crowd.despawn(i)?;
    crowd.advance(0.1)?;
    assert_eq!(crowd.update_scene_with(&mut graph, None).mirrored, 0);
    assert!(graph.world(sword).is_ok() && graph.world(mirror).is_ok());
    crowd.restore(&alive)?;
    crowd.advance(0.1)?;
    assert_eq!(crowd.update_scene(&mut graph).mirrored, 1);
    assert!(!graph.changed().is_empty());
    // Removed from the scene, it is mirrored no more.
    graph.remove(mirror, OnRemove::Remove)?;
    assert_eq!(crowd.update_scene(&mut graph).mirrored, 0);
    assert_eq!(crowd.mirror_of(i, &graph), None);
    Ok(())
}

fn refused_calls() -> Tested {
    let (rig, _) = only("mannequin.glb")?;
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig)?;
    let (i, gone) = (crowd.spawn(id)?, crowd.spawn(id)?);
    crowd.despawn(gone)?;
    let (mut graph, mut other) = (SceneGraph::new(), SceneGraph::new());
    let mirror = crowd.mirror(i, &mut graph, None)?;
    let own = other.add_mirror(crowd.rig(id)?.skeleton())?;
    let one = Affine3x4::IDENTITY;
    let plain = graph.add(None, one)?;
    let stale = |refused: &CrowdError| {
        let CrowdError::UnknownInstance { instance, why, .. } = refused else {
            return false;
        };
        *instance == gone && *why == Unknown::Gone
    };
    let nan = Affine3x4 { rows: [[f32::INFINITY; 4]; 3] };
    let (before, nodes) = (crowd.snapshot(), format!("{graph:?}{other:?}"));
    assert!(crowd.mirror(gone, &mut graph, None).is_err_and(|e| stale(&e)));
    assert!(crowd.player(gone).is_err_and(|e| stale(&e)));
    assert!(matches!(
        crowd.player(i)?.set_override("Head", nan),
        Err(CrowdError::Override { value, .. }) if value == f64::INFINITY
    ));
    assert!(matches!(
        crowd.player(i)?.set_override("Tail", one),
        Err(CrowdError::Lookup(LookupError::NoJoint { .. }))
    ));
    assert!(crowd.player(i)?.clear_override(47).is_err());
    let no_mirror =
        |e: CrowdError| matches!(e, CrowdError::NoMirror { instance, .. } if instance == i);
    let refused = crowd.unmirror(i, &mut other, OnRemove::Remove);
    assert!(refused.is_err_and(no_mirror));
    // A mirror that is not this crowd's, and nodes that are no joints.
    let foreign = other.joint(own, "Head")?;
    let not = |node| Err(CrowdError::NotMirrored { node });
    assert_eq!(crowd.mirrored_joint(&other, foreign), not(foreign));
    assert_eq!(crowd.mirrored_joint(&graph, plain), not(plain));
    assert_eq!(crowd.mirrored_joint(&graph, mirror), not(mirror));
    assert!(crowd.mirrored_joint(&graph, foreign).is_err());
    // The scene refuses.
    let below = OnRemove::Reparent(Some(mirror));
    assert!(crowd.unmirror(i, &mut graph, below).is_err());
    assert!(crowd.snapshot() == before);
    assert_eq!(format!("{graph:?}{other:?}"), nodes);
    Ok(())
}

fn doubled_names() -> Tested {
    let names = [("hips", None), ("left", Some(0)), ("hand", Some(1)), ("right", Some(0))];
    let nodes = names.into_iter().chain([("hand", Some(3))]).enumerate();
    let nodes = nodes.map(|(source, (name, parent))| RawNode {
        source,
        name: Some(name.into()),
        parent,
        local: Trs { translation: Vec3::new(source as f32, 0.0, 0.0), ..Trs::IDENTITY },
        ..RawNode::default()
    });
    let raw = RawScene {
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..5).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 5],
        }],
        ..RawScene::default()
    };
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(Arc::new(build_rig(raw, &Default::default())?))?;
    let i = crowd.spawn(id)?;
    let mut graph = SceneGraph::new();
    let mirror = crowd.mirror(i, &mut graph, None)?;
    let prop = graph.add(None, Affine3x4::IDENTITY)?;
    let unclear = graph.attach(prop, mirror, "hand", Affine3x4::IDENTITY);
    let several = LookupError::SeveralJoints {
        name: "hand".into(),
        count: 2,
        paths: ["hips/left/hand".into(), "hips/right/hand".into()],
        joints: [2, 4],
    };
    assert_eq!(unclear, Err(SceneError::JointRef(several)));
    for (path, x) in [("left/hand", 3.0), ("hips/right/hand", 7.0)] {
        graph.attach(prop, mirror, path, Affine3x4::IDENTITY)?;
        crowd.update_scene(&mut graph);
        assert_eq!(graph.world(prop)?.translation.x, x, "{path}");
    }
    Ok(())
}
