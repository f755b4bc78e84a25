//! Root motion: what is taken out of clips, against the oracle and against rigid motions of its own in
//! f64, over wraps, directions and a thousand loops.

mod common;
mod oracle;

use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use libtest_mimic::{Failed, Trial};
use oracle::Scene;
use phalanx::clip::{ClipError, ClipKind, ClipParts, RootMotion, RootMotionParts};
use phalanx::math::Rigid;
use phalanx::offline::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::offline::{
    BuildError, BuildOptions, ImportOptions, RootJoint, RootMotionError, RootMotionOptions, UpAxis,
    build_rig, import_path, mannequin_with,
};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// A test without models.
type Plain = fn() -> Result<(), Failed>;

fn main() {
    let mut trials = Vec::new();
    // How many clips travel without and with turns: those of the other files stay where they are.
    for (file, travelling) in [
        ("mannequin.glb", [1, 2]),
        ("pab.glb", [4, 4]),
        ("robot.glb", [1, 1]),
        ("greenman.glb", [0, 0]),
        ("Fox.glb", [0, 0]),
    ] {
        for rotation in [false, true] {
            let turns = if rotation { "taken out" } else { "left in" };
            let name = format!("{file}: motion and what stays in place, turns {turns}");
            let travelling = travelling[usize::from(rotation)];
            let test = move || whole(file, rotation, travelling);
            trials.push(common::trial(name, &[file], test));
        }
    }
    let plain: [(&str, Plain); 7] = [
        ("the mannequin walks at its stated speed", walk_speed),
        ("the mannequin turns a quarter", turn_left),
        ("deltas compose over wraps and directions", deltas_compose),
        ("a thousand loops do not drift", drift),
        ("steps, splines and scaled parents", made_scenes),
        ("what is refused", refusals),
        ("hashes and sizes", hashes),
    ];
    trials.extend(plain.map(|(name, test)| Trial::test(name, test)));
    common::run(trials)
}

fn options(rotation: bool) -> ImportOptions {
    ImportOptions {
        root_motion: Some(RootMotionOptions {
            rotation,
            ..RootMotionOptions::default()
        }),
        ..ImportOptions::default()
    }
}

fn matrix(motion: &Rigid) -> DMat4 {
    DMat4::from_rotation_translation(motion.rotation, motion.translation)
}

/// Motion × model matrix in place, of every joint at or below the root joint, is what the oracle reads
/// from the file.
fn whole(file: &str, rotation: bool, travelling: usize) -> Result<(), Failed> {
    let path = common::needed(file)?;
    let scene = Scene::load(&path)?;
    let rig = import_path(&path, &options(rotation))?.rigs.swap_remove(0);
    let mut moving = 0;
    for (index, clip) in rig.clips().iter().enumerate() {
        let Some(motion) = clip.root_motion() else {
            continue;
        };
        moving += 1;
        let is_root = |n: &phalanx::rig::RigNode| n.joint.map(usize::from) == Some(motion.joint());
        let root = rig.nodes().iter().position(is_root).ok_or("no root node")?;
        for step in 0..=60 {
            let time = (clip.duration() * step as f32 / 60.0).min(clip.duration());
            let posed = place(&rig, index, time)?;
            let expected = scene.evaluate(&scene.pose(index, f64::from(time)));
            let moved = matrix(&motion.at(f64::from(time)));
            for (n, world) in posed.iter().enumerate() {
                if !scene.is_at_or_below(n, root) {
                    continue;
                }
                let expected = expected.world[n].ok_or("no world matrix")?;
                let actual = (moved * *world).to_cols_array();
                let size = expected.iter().fold(1.0f64, |a, v| a.max(v.abs()));
                // Where turns are taken out, what is left bends between keys.
                let tolerance = if rotation { 1e-4 } else { 2e-5 };
                for (a, e) in actual.iter().zip(&expected) {
                    if (a - e).abs() > tolerance * size {
                        return Err(format!("clip {index} at {time}, node {n}: {a} {e}").into());
                    }
                }
            }
        }
        // The joint stays where its first frame has it, but for height and what a spline leaves.
        let start = place(&rig, index, 0.0)?[root].w_axis;
        for step in 0..=20 {
            let time = clip.duration() * step as f32 / 20.0;
            let apart = place(&rig, index, time)?[root].w_axis - start;
            let size = start.abs().max_element().max(1.0);
            // A turn about the start's own axis leaves a curve between keys.
            let tolerance = if rotation { 1e-3 } else { 1e-6 } * size;
            if apart.x.abs().max(apart.z.abs()) > tolerance {
                return Err(format!("clip {index} at {time}: not in place: {apart}").into());
            }
        }
    }
    if moving != travelling {
        return Err(format!("{moving} clips travel, not {travelling}").into());
    }
    Ok(())
}

/// World matrices of all nodes.
fn place(rig: &Rig, clip: usize, time: f32) -> Result<Vec<DMat4>, Failed> {
    let weight = 1.0;
    let posed = evaluate_pose(rig, &[PoseAction { clip, time, weight }])?;
    let worlds = posed.worlds.iter();
    Ok(worlds
        .map(|w| DMat4::from_cols_array(&w.to_cols_array().map(f64::from)))
        .collect())
}

fn clip_motion<'a>(rig: &'a Rig, name: &str) -> Result<(&'a RootMotion, f64), Failed> {
    let clip = rig.clips().iter().find(|c| c.name() == name);
    let clip = clip.ok_or_else(|| format!("no clip {name}"))?;
    let motion = clip.root_motion().ok_or("no root motion")?;
    Ok((motion, f64::from(clip.duration())))
}

/// `assets/mannequin.md`: 1.4 m/s along +Z.
fn walk_speed() -> Result<(), Failed> {
    let rig = mannequin_with(&options(false))?;
    let (motion, duration) = clip_motion(&rig, "Walk_RootMotion")?;
    let stride = motion.delta(0.0, 0.0, 1);
    let speed = stride.translation / duration;
    assert!(
        (speed - DVec3::new(0.0, 0.0, 1.4)).length() < 1e-4,
        "{speed}"
    );
    assert_eq!(stride.rotation, DQuat::IDENTITY);
    assert_eq!(rig.skeleton().names()[motion.joint()], "Root");
    // In place it is the walk that has no root motion.
    let index = |name: &str| rig.clips().iter().position(|c| c.name() == name);
    let (walk, travels) = (index("Walk"), index("Walk_RootMotion"));
    for step in 0..=40 {
        let time = step as f32 / 40.0;
        let pose = |clip: Option<usize>| place(&rig, clip.unwrap_or(usize::MAX), time);
        for (a, b) in pose(walk)?.iter().zip(&pose(travels)?) {
            assert!(a.abs_diff_eq(*b, 2e-6), "{time}");
        }
    }
    // Up is an axis of its own when files are turned.
    let turned = mannequin_with(&ImportOptions {
        up_axis: UpAxis::Z,
        ..options(true)
    })?;
    let (motion, duration) = clip_motion(&turned, "Walk_RootMotion")?;
    let speed = motion.whole().translation / duration;
    assert!(
        (speed - DVec3::new(0.0, -1.4, 0.0)).length() < 1e-4,
        "{speed}"
    );
    let (motion, _) = clip_motion(&turned, "TurnLeft")?;
    let axis = motion.whole().rotation.to_scaled_axis();
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!((axis - DVec3::Z * quarter).length() < 1e-4, "{axis}");
    Ok(())
}

fn turn_left() -> Result<(), Failed> {
    let rig = mannequin_with(&options(true))?;
    let (motion, _) = clip_motion(&rig, "TurnLeft")?;
    let turn = motion.whole();
    let quarter = DVec3::Y * std::f64::consts::FRAC_PI_2;
    let axis = turn.rotation.to_scaled_axis();
    assert!((axis - quarter).length() < 1e-4, "{axis}");
    assert!(turn.translation.length() < 1e-6);
    // Without turns there is nothing to take out of it.
    let rig = mannequin_with(&options(false))?;
    assert!(clip_motion(&rig, "TurnLeft").is_err());
    Ok(())
}

/// A clip that walks a part of a circle, with keys at uneven times: radius, angle in all, seconds.
struct Arc {
    radius: f64,
    angle: f64,
    seconds: f64,
}

const ARC: Arc = Arc {
    radius: 2.0,
    angle: 0.7,
    seconds: 1.25,
};

impl Arc {
    const KEYS: usize = 48;

    fn time(k: usize) -> f32 {
        let u = k as f64 / (Self::KEYS - 1) as f64;
        (ARC.seconds * u * (0.8 + 0.2 * u)) as f32
    }

    /// Where the joint is at a key: on the circle, looking along it, bobbing.
    fn place(&self, time: f64) -> DMat4 {
        let a = self.angle * time / self.seconds;
        let at = DVec3::new(
            self.radius * (1.0 - a.cos()),
            1.0 + 0.05 * (9.0 * a).sin(),
            self.radius * a.sin(),
        );
        DMat4::from_rotation_translation(DQuat::from_rotation_y(a), at)
    }

    fn scene(&self, above: Option<Trs>) -> RawScene {
        let times: Vec<f32> = (0..Self::KEYS).map(Self::time).collect();
        let down = above.map_or(DMat4::IDENTITY, |t| {
            DMat4::from_scale_rotation_translation(
                t.scale.as_dvec3(),
                t.rotation.as_dquat(),
                t.translation.as_dvec3(),
            )
            .inverse()
        });
        let (mut moves, mut turns) = (Vec::new(), Vec::new());
        for &t in &times {
            let (_, r, p) = (down * self.place(f64::from(t))).to_scale_rotation_translation();
            moves.extend(p.as_vec3().to_array());
            turns.extend(r.as_quat().to_array());
        }
        let mut nodes = vec![RawNode {
            name: Some("walker".into()),
            ..RawNode::default()
        }];
        if let Some(local) = above {
            nodes.insert(
                0,
                RawNode {
                    name: Some("armature".into()),
                    local,
                    ..RawNode::default()
                },
            );
            nodes[1].parent = Some(0);
        }
        let node = nodes.len() - 1;
        let track = |channel, values| RawTrack {
            node,
            channel,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
        };
        RawScene {
            nodes,
            clips: vec![RawClip {
                name: Some("arc".into()),
                duration: ARC.seconds as f32,
                tracks: vec![
                    track(RawChannel::Translation, moves),
                    track(RawChannel::Rotation, turns),
                ],
                ..RawClip::default()
            }],
            ..RawScene::default()
        }
    }
}

fn build(raw: RawScene, wanted: RootMotionOptions) -> Result<Rig, BuildError> {
    let mut options = BuildOptions::default();
    options.root_motion = Some(wanted);
    build_rig(raw, &options)
}

fn with_turns() -> RootMotionOptions {
    RootMotionOptions {
        rotation: true,
        ..RootMotionOptions::default()
    }
}

fn apart(a: &DMat4, b: &DMat4) -> f64 {
    let (a, b) = (a.to_cols_array(), b.to_cols_array());
    a.iter().zip(&b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Unbounded time as clip time and loops.
fn unroll(time: f64, duration: f64) -> (f64, i64) {
    let loops = (time / duration).floor();
    (time - loops * duration, loops as i64)
}

fn deltas_compose() -> Result<(), Failed> {
    let rig = build(ARC.scene(None), with_turns())?;
    let (motion, duration) = clip_motion(&rig, "arc")?;
    // The oracle: the loop's own matrix as often as needed, then the place within the loop.
    let lap = ARC.place(0.0).inverse() * ARC.place(duration);
    let at = |time: f64| {
        let (within, loops) = unroll(time, duration);
        let step = if loops < 0 { lap.inverse() } else { lap };
        let laps = (0..loops.abs()).fold(DMat4::IDENTITY, |m, _| m * step);
        // Height stays in the pose.
        let mut m = ARC.place(0.0).inverse() * ARC.place(within);
        m.w_axis.y = 0.0;
        let mut laps = laps;
        laps.w_axis.y = 0.0;
        (laps, m)
    };
    for (from, to) in [
        (0.0, 0.3),
        (0.3, 0.1),
        (0.2, 1.24),
        (1.2, 1.3),
        (1.3, 1.2),
        (0.5, 9.77),
        (9.77, 0.5),
        (-3.3, 4.1),
        (4.1, -3.3),
        (1.25, 2.5),
        (0.7, 0.7),
    ] {
        let ((a, la), (b, lb)) = (unroll(from, duration), unroll(to, duration));
        let actual = motion.delta(a, b, lb - la);
        // Times on keys would be exact; between them the chord of 48 keys leaves 1e-5.
        let ((l0, m0), (l1, m1)) = (at(from), at(to));
        let expected = (l0 * m0).inverse() * (l1 * m1);
        let error = apart(&matrix(&actual), &expected);
        assert!(error < 2e-4, "{from} to {to}: {error:e}");
        // In pieces, to rounding: whatever lies between.
        let middle = 0.37 * from + 0.63 * to;
        let (c, lc) = unroll(middle, duration);
        let pieces = motion
            .delta(a, c, lc - la)
            .then(&motion.delta(c, b, lb - lc));
        let error = apart(&matrix(&actual), &matrix(&pieces));
        assert!(error < 1e-12, "{from} to {to} in pieces: {error:e}");
    }
    // A step of any size returns at once, with numbers.
    for wraps in [i64::MAX, i64::MIN, 1 << 40] {
        let far = motion.delta(0.1, 0.2, wraps);
        assert!(far.translation.is_finite() && far.rotation.is_finite());
        // The arc closes on itself: its distance from the start stays that of a circle.
        assert!(far.translation.length() < 2.1 * ARC.radius, "{far:?}");
    }
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -5.0, 1e300] {
        assert!(motion.at(time).translation.is_finite());
    }
    Ok(())
}

/// A thousand loops in uneven frames, added up in f64 from deltas rounded to f32 as a crowd hands them
/// out: below 1e-3 of the way (and of the circle).
fn drift() -> Result<(), Failed> {
    let mannequin = mannequin_with(&options(false))?;
    let arc = build(ARC.scene(None), with_turns())?;
    for (rig, name, lap) in [
        (
            &mannequin,
            "Walk_RootMotion",
            DMat4::from_translation(DVec3::new(0.0, 0.0, 1.4)),
        ),
        (&arc, "arc", {
            let mut lap = ARC.place(0.0).inverse() * ARC.place(ARC.seconds);
            lap.w_axis.y = 0.0;
            lap
        }),
    ] {
        let (motion, duration) = clip_motion(rig, name)?;
        let mut sum = DMat4::IDENTITY;
        let (mut time, mut frame) = (0.0f64, 0u64);
        while time < 1000.0 * duration {
            frame += 1;
            let step = 1.0 / 60.0 + 0.004 * ((frame * 7919 % 1000) as f64 / 1000.0 - 0.5);
            let next = (time + step).min(1000.0 * duration);
            let ((a, la), (b, lb)) = (unroll(time, duration), unroll(next, duration));
            let delta = motion.delta(a, b, lb - la);
            let rounded = DMat4::from_rotation_translation(
                delta.rotation.as_quat().as_dquat().normalize(),
                delta.translation.as_vec3().as_dvec3(),
            );
            sum *= rounded;
            time = next;
        }
        let expected = (0..1000).fold(DMat4::IDENTITY, |m, _| m * lap);
        let way = 1000.0 * lap.w_axis.truncate().length();
        let error = (sum.w_axis - expected.w_axis).truncate().length();
        println!("{name}: {frame} frames, {error:.3e} m off after {way:.0} m");
        // 1e-3 is asked for; the rounding of 60,000 deltas was observed to leave 2e-8.
        assert!(error < 1e-6 * way, "{error} {way}");
    }
    Ok(())
}

/// Keys that hold, splines, and joints below a parent that turns and scales (centimetres, Z up).
fn made_scenes() -> Result<(), Failed> {
    let above = Trs {
        translation: Vec3::new(0.3, 0.0, -0.2),
        rotation: Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        scale: Vec3::splat(0.01),
    };
    let rig = build(ARC.scene(Some(above)), with_turns())?;
    let (motion, duration) = clip_motion(&rig, "arc")?;
    assert_eq!(motion.joint(), 1);
    for k in 0..=100 {
        let time = duration * f64::from(k) / 100.0;
        let world = place(&rig, 0, time as f32)?[1];
        let actual = matrix(&motion.at(f64::from(time as f32))) * world;
        let expected = ARC.place(f64::from(time as f32)).w_axis - actual.w_axis;
        // The chords between 48 keys of the bobbing leave 1.1e-4.
        assert!(expected.length() < 2e-4, "{time}: {expected}");
    }

    let one = |interpolation, times: &[f32], values: &[[f32; 3]]| RawScene {
        nodes: vec![RawNode::default()],
        clips: vec![RawClip {
            duration: 2.0,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Translation,
                interpolation,
                times: times.to_vec(),
                values: values.concat(),
            }],
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    let rig = build(
        one(
            Interpolation::Step,
            &[0.0, 1.0, 2.0],
            &[[0.0, 1.0, 0.0], [0.0, 2.0, 3.0], [0.0, 1.0, 7.0]],
        ),
        RootMotionOptions::default(),
    )?;
    let motion = rig.clips()[0].root_motion().ok_or("steps travel")?;
    for (time, z) in [
        (0.0, 0.0),
        (0.999, 0.0),
        (1.0, 3.0),
        (1.999, 3.0),
        (2.0, 7.0),
    ] {
        assert_eq!(
            motion.at(time).translation,
            DVec3::new(0.0, 0.0, z),
            "{time}"
        );
        let y = place(&rig, 0, time as f32)?[0].w_axis.y;
        assert_eq!(y, if (1.0..2.0).contains(&time) { 2.0 } else { 1.0 });
    }

    // A spline: in-tangent, value, out-tangent. z(u) by Hermite's formula of its own.
    let spline = one(
        Interpolation::CubicSpline,
        &[0.0, 2.0],
        &[
            [0.0; 3],
            [0.0, 0.5, 0.0],
            [0.0, 2.0, 8.0],
            [0.0, -1.0, -4.0],
            [0.0, 0.5, 5.0],
            [0.0; 3],
        ],
    );
    let rig = build(spline, RootMotionOptions::default())?;
    let motion = rig.clips()[0].root_motion().ok_or("splines travel")?;
    for k in 0..=200 {
        let time = f64::from(k) / 100.0;
        let u = time / 2.0;
        let hermite = |p0: f64, m0: f64, p1: f64, m1: f64| {
            (2.0 * u.powi(3) - 3.0 * u * u + 1.0) * p0
                + (u.powi(3) - 2.0 * u * u + u) * m0 * 2.0
                + (3.0 * u * u - 2.0 * u.powi(3)) * p1
                + (u.powi(3) - u * u) * m1 * 2.0
        };
        let z = motion.at(time).translation.z;
        // The model has no size here, so the cuts are the finest: 256 parts.
        assert!((z - hermite(0.0, 8.0, 5.0, -4.0)).abs() < 2e-4, "{time}");
        let world = place(&rig, 0, time as f32)?[0].w_axis;
        assert!(
            (world.y - hermite(0.5, 2.0, 0.5, -1.0)).abs() < 1e-6,
            "{time}"
        );
        assert!(world.z.abs() < 1e-6, "{time}");
    }
    Ok(())
}

fn refusals() -> Result<(), Failed> {
    let wanted = |joint: RootJoint| RootMotionOptions {
        joint,
        ..with_turns()
    };
    let named = |name: &str| wanted(RootJoint::Named(name.into()));
    let fault = |raw: RawScene, wanted| match build(raw, wanted) {
        Err(BuildError::RootMotion(fault)) => Ok(fault),
        Err(other) => Err(Failed::from(other.to_string())),
        Ok(_) => Err(Failed::from("was built")),
    };
    let armature = || ARC.scene(Some(Trs::IDENTITY));
    for wanted in [named("nobody"), wanted(RootJoint::Index(2))] {
        let fault = fault(armature(), wanted)?;
        assert!(
            matches!(fault, RootMotionError::UnknownJoint { .. }),
            "{fault}"
        );
    }
    let mut doubled = armature();
    doubled.nodes.push(RawNode {
        parent: Some(1),
        ..doubled.nodes[1].clone()
    });
    let mut track = doubled.clips[0].tracks[1].clone();
    track.node = 2;
    doubled.clips[0].tracks.push(track);
    let ambiguous = fault(doubled.clone(), named("walker"))?;
    assert!(
        matches!(ambiguous, RootMotionError::Ambiguous { count: 2, .. }),
        "{ambiguous}"
    );
    for joint in [named("armature/walker"), wanted(RootJoint::Index(1))] {
        assert!(
            build(doubled.clone(), joint)?.clips()[0]
                .root_motion()
                .is_some()
        );
    }
    let mut moving = armature();
    let mut track = moving.clips[0].tracks[0].clone();
    track.node = 0;
    moving.clips[0].tracks.push(track);
    let above = fault(moving.clone(), named("walker"))?;
    assert!(
        matches!(above, RootMotionError::MovingAncestor { .. }),
        "{above}"
    );
    // Left to itself it takes the joint that stands first.
    let rig = build(moving, with_turns())?;
    assert_eq!(rig.clips()[0].root_motion().map(RootMotion::joint), Some(0));
    for scale in [Vec3::new(1.0, 2.0, 1.0), Vec3::ZERO] {
        let above = Trs {
            scale,
            ..Trs::IDENTITY
        };
        let mut raw = armature();
        raw.nodes[0].local = above;
        let scale = fault(raw, named("walker"))?;
        assert!(matches!(scale, RootMotionError::Scale { .. }), "{scale}");
    }

    // Parts that are no root motion.
    let rig = build(ARC.scene(None), with_turns())?;
    let good = RootMotionParts {
        joint: 0,
        times: vec![0.0, 1.0],
        translations: vec![[0.0; 3], [0.0, 0.0, 1.0]],
        rotations: Vec::new(),
    };
    let make = |kind, parts: RootMotionParts| {
        let parts = ClipParts {
            duration: 1.0,
            kind,
            root_motion: Some(parts),
            ..ClipParts::default()
        };
        phalanx::clip::Clip::new(parts, rig.skeleton())
    };
    assert!(make(ClipKind::Full, good.clone()).is_ok());
    let bad: [fn(&mut RootMotionParts); 8] = [
        |p| p.joint = 1,
        |p| p.times.clear(),
        |p| p.times[1] = 0.0,
        |p| p.times[1] = f32::NAN,
        |p| p.translations[1][2] = f32::INFINITY,
        |p| p.translations.truncate(1),
        |p| p.rotations.push([0.0, 0.0, 0.0, 1.0]),
        |p| p.rotations = vec![[0.0; 4]; 2],
    ];
    for (i, spoil) in bad.iter().enumerate() {
        let mut parts = good.clone();
        spoil(&mut parts);
        let refused = make(ClipKind::Full, parts);
        assert!(matches!(refused, Err(ClipError::RootMotion { .. })), "{i}");
    }
    let refused = make(ClipKind::Additive, good);
    assert!(matches!(refused, Err(ClipError::RootMotion { .. })));
    Ok(())
}

fn hashes() -> Result<(), Failed> {
    let hash = |angle: f64| -> Result<(u64, u64, usize), Failed> {
        let arc = Arc { angle, ..ARC };
        let rig = build(arc.scene(None), with_turns())?;
        let plain = build_rig(arc.scene(None), &BuildOptions::default())?;
        let (with, without) = (&rig.clips()[0], &plain.clips()[0]);
        assert_eq!(with.structure_hash(), without.structure_hash());
        Ok((with.content_hash(), without.content_hash(), with.bytes()))
    };
    let (with, without, bytes) = hash(0.7)?;
    assert_ne!(with, without);
    assert_ne!(with, hash(0.7000001)?.0);
    assert_eq!(with, hash(0.7)?.0);
    assert!(bytes >= Arc::KEYS * 8 * size_of::<f32>());
    Ok(())
}
