//! How far shown joints are from where full rate has them, with the clips of the built-in character.

use super::{DT, apart, every, one, palettes};
use glam::{Affine3A, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, RATES, Shown, Tier, Tiers};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where the joints of all slots are in the bind pose, in mesh space.
fn bind_places(rig: &Rig) -> Vec<Vec3> {
    let place = |inverse: &Affine3x4| Affine3A::from(*inverse).inverse().translation.into();
    let skins = rig.skins().iter();
    skins.flat_map(|s| s.inverse_bind().iter().map(place)).collect()
}

/// The joints of palettes, in metres of model space.
fn joints(palettes: &[Vec<Affine3x4>], bind: &[Vec3]) -> Vec<Vec<Vec3>> {
    let of = |rows: &Vec<Affine3x4>| {
        assert_eq!(rows.len(), bind.len());
        let all = rows.iter().zip(bind);
        all.map(|(row, &p)| row.transform_point3(p)).collect()
    };
    palettes.iter().map(of).collect()
}

/// A crowd of the built-in character in a frame.
struct Stage {
    crowd: Crowd,
    all: Vec<InstanceId>,
    bones: BoneBuffer,
}

impl Stage {
    /// So many instances of each clip, spread over its phases.
    fn new(rig: &Arc<Rig>, clips: &[&str], phases: usize, tiers: Option<Tiers>) -> Self {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone()).unwrap();
        let mut all = Vec::new();
        for name in clips {
            let clip = crowd.clip_named(id, name).unwrap();
            let seconds = f64::from(crowd.clip(clip).unwrap().duration());
            for n in 0..phases {
                let options = PlayOptions {
                    time: seconds * n as f64 / phases as f64,
                    ..PlayOptions::default()
                };
                let i = crowd.spawn(id).unwrap();
                crowd.play(i, clip, &options).unwrap();
                all.push(i);
            }
        }
        crowd.set_tiers(tiers).unwrap();
        Self { crowd, all, bones: BoneBuffer::new() }
    }

    fn frame(&mut self) {
        self.crowd.advance(DT).unwrap();
        self.crowd.evaluate(&mut self.bones);
    }

    fn palettes(&self) -> Vec<Vec<Affine3x4>> {
        palettes(&self.crowd, &self.bones, &self.all)
    }

    fn pair(&self, n: usize) -> Shown {
        self.crowd.shown(self.all[n]).unwrap()
    }
}

/// The clips of the table of errors.
const TABLE: [&str; 4] = ["Walk", "Jog", "Run", "Attack"];
/// Instances of each, and frames: those that the table was made with.
const PHASES: usize = 16;
const FRAMES: usize = 240;

/// The palettes of so many frames at full rate.
fn full_rate(rig: &Arc<Rig>, frames: usize) -> Vec<Vec<Vec<Affine3x4>>> {
    let mut full = Stage::new(rig, &TABLE, PHASES, None);
    (0..frames)
        .map(|_| {
            full.frame();
            full.palettes()
        })
        .collect()
}

/// The largest errors that docs/performance/tiers.md states for a clip, in millimetres, by rate from 2 on.
fn stated(clip: &str, interpolate: bool) -> Vec<f32> {
    let page = include_str!("../../../docs/performance/tiers.md");
    let mut rows = page.lines();
    let first = rows.find(|row| row.starts_with(&format!("| {clip} | held |")));
    let row = if interpolate { rows.next() } else { first };
    let cells = row.unwrap().split('|').skip(3);
    let largest = cells.filter_map(|cell| cell.split_whitespace().next());
    largest.map(|mm| mm.parse().unwrap()).collect()
}

/// The largest error of each clip in metres.
#[derive(Default)]
struct Worst([f32; TABLE.len()]);

impl Worst {
    fn look(&mut self, shown: &[Vec<Vec3>], full: &[Vec<Vec3>]) {
        for (n, (shown, full)) in shown.iter().zip(full).enumerate() {
            let worst = &mut self.0[n / PHASES];
            let apart = shown.iter().zip(full).map(|(a, b)| a.distance(*b));
            *worst = apart.fold(*worst, f32::max);
        }
    }

    /// Errors are those of the page, to its last digit, or smaller; and there are some.
    fn is_as_stated(&self, rate: u8, interpolate: bool) {
        for (&worst, clip) in self.0.iter().zip(TABLE) {
            let column = RATES[1..].iter().position(|&r| r == rate).unwrap();
            let most = stated(clip, interpolate)[column];
            let worst = 1000.0 * worst;
            assert!(
                worst <= most + 0.051 && worst > 0.5 * most,
                "{clip} at rate {rate}, interpolated: {interpolate}: {worst} mm of {most}"
            );
        }
    }
}

/// An interpolated instance has the poses that full rate has at its last update and at its next one. Its largest error is
/// the stated one.
#[test]
fn interpolated_poses_lie_between_updates() {
    let rig = Arc::new(mannequin().unwrap());
    let bind = bind_places(&rig);
    let full = full_rate(&rig, FRAMES + 16);
    let places: Vec<_> = full.iter().map(|f| joints(f, &bind)).collect();
    for rate in &RATES[1..] {
        let (mut stage, rate) =
            (Stage::new(&rig, &TABLE, PHASES, Some(every(*rate, true))), usize::from(*rate));
        let mut worst = Worst::default();
        let mut phases = vec![0; rate];
        for (frame, places) in places.iter().enumerate().take(FRAMES) {
            stage.frame();
            worst.look(&joints(&stage.palettes(), &bind), places);
            // The first updates of those that are new in the picture come sooner.
            for n in (0..stage.all.len()).filter(|_| frame >= rate) {
                let pair = stage.pair(n);
                let since = (pair.factor * rate as f32).round() as usize;
                let factor = since as f32 / rate as f32;
                assert!((pair.factor - factor).abs() < 1e-4, "{pair:?}");
                let rows = stage.bones.rows();
                let (last, next) = (frame - since, frame - since + rate);
                let at = || format!("rate {rate}, frame {frame}, instance {n}");
                assert!(rows[pair.from] == full[last][n], "{}", at());
                let ahead = apart(&rows[pair.to], &full[next][n]);
                assert!(ahead < 1e-4, "{}: {ahead}", at());
                phases[since] += 1;
            }
        }
        worst.is_as_stated(rate as u8, true);
        // All of them, equally often.
        let each = (FRAMES - rate) * stage.all.len() / rate;
        assert!(phases.iter().all(|&n| n == each), "{phases:?}");
    }
}

/// Held rows are those of the last update, which was so many frames ago as frames have passed since. Their largest error
/// is the stated one.
#[test]
fn held_poses_are_those_of_the_last_update() {
    let rig = Arc::new(mannequin().unwrap());
    let bind = bind_places(&rig);
    let full = full_rate(&rig, FRAMES);
    for &rate in &RATES[1..] {
        let mut stage = Stage::new(&rig, &TABLE, PHASES, Some(every(rate, false)));
        let mut worst = Worst::default();
        let mut updates = vec![0; stage.all.len()];
        for frame in 0..FRAMES {
            stage.frame();
            let shown = stage.palettes();
            worst.look(&joints(&shown, &bind), &joints(&full[frame], &bind));
            let mut new = 0;
            for (n, shown) in shown.iter().enumerate() {
                if *shown == full[frame][n] {
                    updates[n] = frame;
                    new += 1;
                    continue;
                }
                let last = updates[n];
                let at = || format!("rate {rate}, frame {frame}, instance {n}");
                assert!(*shown == full[last][n], "{}", at());
                assert!(frame - last < usize::from(rate), "{}", at());
            }
            if frame > 0 {
                assert_eq!(new, stage.all.len() / usize::from(rate));
            }
        }
        worst.is_as_stated(rate, false);
    }
}

/// The frame in which all instances begin a fade, and the first one after it.
const FADE: usize = 50;
const FADED: usize = FADE + 14;

/// So many frames of a stage, in one of which every instance begins to fade to the clip of its neighbour. `look` is
/// called after each.
fn fading(stage: &mut Stage, frames: usize, mut look: impl FnMut(usize, &Stage)) {
    let clip = |crowd: &Crowd, i| {
        let mut actions = crowd.playing(i).unwrap().actions(0).unwrap();
        actions.next().unwrap().0
    };
    for frame in 0..frames {
        if frame == FADE {
            // It ends within a step.
            let seconds = ((FADED - FADE) as f64 + 0.5) * DT;
            let Stage { crowd, all, .. } = &mut *stage;
            let clips: Vec<_> = all.iter().map(|&i| clip(crowd, i)).collect();
            let next = |n: usize| clips[(n + PHASES) % clips.len()];
            for (n, &i) in all.iter().enumerate() {
                let options = PlayOptions::default();
                crowd.fade_to(i, next(n), seconds as f32, &options).unwrap();
            }
        }
        stage.frame();
        look(frame, stage);
    }
}

/// The frames of all clips of the built-in character at full rate, with the fade.
struct Fading {
    rig: Arc<Rig>,
    bind: Vec<Vec3>,
    palettes: Vec<Vec<Vec<Affine3x4>>>,
    joints: Vec<Vec<Vec<Vec3>>>,
}

impl Fading {
    const FRAMES: usize = 80;

    fn new() -> Self {
        let rig = Arc::new(mannequin().unwrap());
        let bind = bind_places(&rig);
        let mut palettes = Vec::new();
        let mut plain = Self::stage(&rig, None);
        // One frame more: where joints move to.
        fading(&mut plain, Self::FRAMES + 1, |_, stage| {
            palettes.push(stage.palettes());
        });
        Self { joints: palettes.iter().map(|p| joints(p, &bind)).collect(), rig, bind, palettes }
    }

    /// All clips.
    fn stage(rig: &Arc<Rig>, tiers: Option<Tiers>) -> Stage {
        let clips: Vec<&str> = rig.clips().iter().map(|c| c.name()).collect();
        Stage::new(rig, &clips, PHASES, tiers)
    }

    /// How far a joint moves from the frame before to this one.
    fn moved(&self, frame: usize, (n, joint): (usize, usize)) -> f32 {
        let [before, now] = [frame - 1, frame].map(|frame| self.joints[frame][n][joint]);
        before.distance(now)
    }

    /// How far a joint of a shared palette may be from full rate. At a lower rate an instance shows a phase for some
    /// frames: what moves in half of them is added.
    fn allowed(&self, tier: &Tier, frame: usize, joint: (usize, usize)) -> f32 {
        let moves = match tier.rate {
            1 => 0.0,
            2 => self.moved(frame.max(1), joint) + self.moved(frame + 1, joint),
            rate => panic!("no default tier has rate {rate}"),
        };
        tier.shared_error.unwrap() + moves
    }

    /// Runs every default tier that shares palettes. `look` is called after each frame with the joints that are shown,
    /// now and in the frame before.
    fn run(&self, mut look: impl FnMut(&Tier, usize, &Stage, [&[Vec<Vec3>]; 2])) {
        for tier in Tiers::default().tiers {
            if tier.shared_error.is_none() {
                continue;
            }
            let mut stage = Self::stage(&self.rig, Some(one(tier.clone())));
            let mut last = Vec::new();
            fading(&mut stage, Self::FRAMES, |frame, stage| {
                let now = joints(&stage.palettes(), &self.bind);
                look(&tier, frame, stage, [&now, &last]);
                last = now;
            });
        }
    }
}

/// In the default tiers, a shared palette has every joint of every clip within the tier's error of full rate.
#[test]
fn shared_joints_are_within_the_error() {
    let full = Fading::new();
    // By tier, the largest error as a share of what the tier allows.
    let mut worst = BTreeMap::new();
    full.run(|tier, frame, stage, [shown, _]| {
        let error = tier.shared_error.unwrap();
        let worst = worst.entry((1e6 * error) as u32).or_insert(0.0f32);
        for (n, shown) in shown.iter().enumerate() {
            let shared = stage.crowd.shown(stage.all[n]).is_some_and(|s| s.shared);
            let at = || format!("{} mm, frame {frame}, instance {n}", 1e3 * error);
            assert_eq!(shared, !(FADE..FADED).contains(&frame), "{}", at());
            for (joint, place) in shown.iter().enumerate().filter(|_| shared) {
                let apart = place.distance(full.joints[frame][n][joint]);
                let most = full.allowed(tier, frame, (n, joint));
                assert!(apart <= most, "{}: {apart} of {most}", at());
                *worst = worst.max(apart / error);
            }
        }
    });
    assert_eq!(worst.len(), 5);
    assert!(worst.values().all(|&share| share > 0.25), "{worst:?}");
}

/// An instance that begins a fade has the pose of full rate at once, and no joint jumps by more than the error beside
/// what it moves. Neither does one when the fade ends and the palette is shared again.
#[test]
fn fades_begin_and_end_without_a_jump() {
    let full = Fading::new();
    let mut jumps = 0;
    full.run(|tier, frame, stage, [shown, last]| {
        let palettes = stage.palettes();
        for (n, shown) in shown.iter().enumerate() {
            let at = || format!("{tier:?}, frame {frame}, instance {n}");
            let alone = (FADE..FADED).contains(&frame) && tier.rate == 1;
            if frame == FADE || alone {
                assert!(palettes[n] == full.palettes[frame][n], "{}", at());
            }
            // The frame with the shared palette, beside the one in which it is another. The end of a fade at a lower rate
            // is interpolated.
            let shared = match frame {
                FADE => FADE - 1,
                FADED if tier.rate == 1 => FADED,
                _ => continue,
            };
            for (joint, place) in shown.iter().enumerate() {
                let joint_of = (n, joint);
                let most = full.allowed(tier, shared, joint_of) + full.moved(frame, joint_of);
                let jump = place.distance(last[n][joint]);
                assert!(jump <= most + 1e-6, "{}: {jump} of {most}", at());
                jumps += usize::from(jump > 0.0);
            }
        }
    });
    assert!(jumps > 10_000, "{jumps}");
}
