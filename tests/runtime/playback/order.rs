//! The order of blending: the actions of a layer count by their age, oldest first, whichever slots they
//! have. Each rotation goes to the hemisphere of the sum of those before it, so of three turns that lie
//! far apart the order decides.

use phalanx::build::{AdditiveReference, BuildOptions, RootMotionOptions, build_additive_raw};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::import::raw::RawChannel;
use phalanx::playback::{ClipId, LayerOptions, Mixer, PlayOptions};
use phalanx::rig::Rig;
use phalanx_testkit::ruler::{built, clip, held, scene, track, turn, with_clips};
use std::sync::Arc;

/// Degrees about x.
const TURNS: [f64; 4] = [0.0, 170.0, 340.0, 100.0];
const WEIGHTS: [f32; 4] = [0.4, 0.25, 0.2, 0.15];

/// Clips that stand at their turns, then clips that only start there.
fn rig() -> Arc<Rig> {
    let still = TURNS.map(|t| turn(&format!("still {t}"), t, t));
    let moving = TURNS.map(|t| turn(&format!("moving {t}"), t, t + 20.0));
    with_clips(still.into_iter().chain(moving).collect())
}

/// The sum of turns about x in this order, in degrees within ±180.
fn sum(turns: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut sin, mut cos) = (0.0, 0.0);
    for (degrees, weight) in turns {
        let (s, c) = (0.5 * degrees.to_radians()).sin_cos();
        let side = if s * sin + c * cos < 0.0 { -weight } else { weight };
        (sin, cos) = (sin + side * s, cos + side * c);
    }
    let degrees = 2.0 * f64::atan2(sin, cos).to_degrees();
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

/// The sum of some of the turns at their weights, and the rest pose last.
fn expected(order: &[usize]) -> f64 {
    let turns = order.iter().map(|&n| (TURNS[n], f64::from(WEIGHTS[n])));
    let left = 1.0 - turns.clone().map(|t| t.1).sum::<f64>();
    sum(turns.chain([(0.0, left)]))
}

/// The turn about x of the first joint in a palette.
fn turned(palette: &[phalanx::math::Affine3x4]) -> f64 {
    let rows = palette[0].rows;
    f64::from(rows[2][1]).atan2(f64::from(rows[1][1])).to_degrees()
}

#[track_caller]
fn near(have: f64, want: f64) {
    let apart = (have - want + 180.0).rem_euclid(360.0) - 180.0;
    assert!(apart.abs() < 2e-3, "{have} is not {want}");
}

/// All orders of the first `n` turns.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |order: Vec<usize>| {
            let others = (0..n).filter(|x| !order.contains(x)).collect::<Vec<_>>();
            others.into_iter().map(move |x| [order.clone(), vec![x]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn the_model_by_hand() {
    // Half angles 0, 85 and 170 degrees of equal weight. Forwards the third turns around to −10:
    // atan((sin 85 − sin 10) / (1 + cos 85 + cos 10)) = 21.652 degrees.
    near(sum([(0.0, 1.0), (170.0, 1.0), (340.0, 1.0)]), 43.304);
    // Backwards the first does, to 180: atan2(sin 170 + sin 85, cos 170 + cos 85 − 1) = 148.347.
    near(sum([(340.0, 1.0), (170.0, 1.0), (0.0, 1.0)]), -63.305);
    assert_eq!(orders(4).len(), 24);
}

#[test]
fn actions_count_by_age() {
    let rig = rig();
    let mut far = 0;
    for order in [orders(3), orders(4)].concat() {
        let want = expected(&order);
        let back: Vec<usize> = order.iter().copied().rev().collect();
        far += usize::from((want - expected(&back)).abs() > 5.0);
        for first in [0, TURNS.len()] {
            let mut mixer = Mixer::new(rig.clone()).unwrap();
            let clips: Vec<ClipId> =
                (0..2 * TURNS.len()).map(|c| mixer.clip_by_index(c).unwrap()).collect();
            let start = |mixer: &mut Mixer, n: usize| {
                let options = held(0.0, WEIGHTS[n]);
                mixer.player().add(0, clips[first + n], &options).unwrap();
            };
            for &n in &order {
                start(&mut mixer, n);
            }
            near(turned(mixer.evaluate()), want);
            near(turned(&mixer.model_matrices()), want);
            // The oldest is stopped and started: it is then the youngest, in the same slot.
            let oldest = clips[first + order[0]];
            mixer.player().stop(0, oldest, 0.0).unwrap();
            start(&mut mixer, order[0]);
            let younger = [&order[1..], &order[..1]].concat();
            near(turned(mixer.evaluate()), expected(&younger));
            near(turned(&mixer.model_matrices()), expected(&younger));
            // Weights that go and come again change no age.
            let clip = clips[first + order[1]];
            mixer.player().set_weight(0, clip, 0.0).unwrap();
            mixer.evaluate();
            let weight = WEIGHTS[order[1]];
            mixer.player().set_weight(0, clip, weight).unwrap();
            near(turned(mixer.evaluate()), expected(&younger));
        }
    }
    assert!(far >= 10, "{far}: the order decides nothing");
}

/// Turns that are added are multiplied, oldest first: the younger one turns within the older one.
#[test]
fn additive_actions_count_by_age() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let about = |name: &str, key: [f32; 4]| {
        let values = track(RawChannel::Rotation, 1.0, &[&key, &key]);
        clip(name, 1.0, vec![values])
    };
    let clips = vec![about("x", [half, 0.0, 0.0, half]), about("y", [0.0, half, 0.0, half])];
    let rig = with_clips(clips.clone());
    let full = LayerOptions::default();
    let additive = LayerOptions { additive: true, ..LayerOptions::default() };
    let mut mixer = Mixer::with_layers(rig.clone(), vec![full, additive]).unwrap();
    let scene = scene(clips);
    let [x, y] = [0, 1].map(|n| {
        let added = build_additive_raw(&rig, (&scene, n), AdditiveReference::Rest).unwrap();
        mixer.add_clip(Arc::new(added)).unwrap()
    });
    let z_goes_to = |mixer: &mut Mixer, to: [f32; 3]| {
        for matrix in [mixer.evaluate()[0], mixer.model_matrices()[0]] {
            let have = matrix.rows.map(|row| row[2]);
            let near = have.iter().zip(to).all(|(a, b)| (a - b).abs() < 1e-5);
            assert!(near, "{have:?} is not {to:?}");
        }
    };
    let start = |mixer: &mut Mixer, clip| {
        mixer.player().add(1, clip, &held(0.0, 1.0)).unwrap();
    };
    start(&mut mixer, x);
    start(&mut mixer, y);
    // About y z goes to x, which stays there about x.
    z_goes_to(&mut mixer, [1.0, 0.0, 0.0]);
    // The first is stopped and started, in the same slot: about x z goes to −y, which stays there about y.
    mixer.player().stop(1, x, 0.0).unwrap();
    start(&mut mixer, x);
    z_goes_to(&mut mixer, [0.0, -1.0, 0.0]);
}

/// Root motion is blended as poses are: turns about y of a whole step, by the same order.
#[test]
fn root_motion_counts_by_age() {
    let clips = TURNS.map(|degrees| {
        let turns = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| {
            let (sin, cos) = (0.5 * (part * degrees).to_radians()).sin_cos();
            [0.0, sin as f32, 0.0, cos as f32]
        });
        let keys = turns.each_ref().map(|key| &key[..]);
        let values = track(RawChannel::Rotation, 1.0, &keys);
        clip(&format!("{degrees}"), 1.0, vec![values])
    });
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions { rotation: true, ..RootMotionOptions::default() }),
        ..BuildOptions::default()
    };
    let rig = built(clips.into(), &options);
    let about_y = |mixer: &mut Mixer| {
        mixer.advance(1.0).unwrap();
        let turn = mixer.root_motion().rotation;
        assert!(turn.x.abs() < 1e-6 && turn.z.abs() < 1e-6);
        2.0 * turn.y.atan2(turn.w).to_degrees()
    };
    for order in [orders(3), orders(4)].concat() {
        let mut mixer = Mixer::new(rig.clone()).unwrap();
        let start = |mixer: &mut Mixer, n: usize| {
            let clip = mixer.clip_by_index(n).unwrap();
            let options = PlayOptions { weight: WEIGHTS[n], ..PlayOptions::default() };
            mixer.player().add(0, clip, &options).unwrap();
        };
        for &n in &order {
            start(&mut mixer, n);
        }
        near(about_y(&mut mixer), expected(&order));
        let oldest = mixer.clip_by_index(order[0]).unwrap();
        mixer.player().stop(0, oldest, 0.0).unwrap();
        start(&mut mixer, order[0]);
        let younger = [&order[1..], &order[..1]].concat();
        near(about_y(&mut mixer), expected(&younger));
    }
}

/// The same for many at once: every instance has an order of its own, and the same clips.
#[test]
fn instances_have_orders_of_their_own() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let orders = orders(4);
    for order in &orders {
        let i = crowd.spawn(id).unwrap();
        for &n in order {
            let clip = crowd.clip_by_index(id, TURNS.len() + n).unwrap();
            let options = held(0.0, WEIGHTS[n]);
            crowd.player(i).unwrap().add(0, clip, &options).unwrap();
        }
    }
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let all: Vec<_> = crowd.instances().collect();
    for (order, &i) in orders.iter().zip(&all) {
        let rows = crowd.palette_range(i).unwrap();
        near(turned(&buffer.rows()[rows]), expected(order));
        let models = crowd.model_matrices(i).unwrap();
        near(turned(&models), expected(order));
    }
}
