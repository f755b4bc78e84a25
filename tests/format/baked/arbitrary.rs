//! Arbitrary clips through the disk form.

use super::codec::same;
use super::made;
use libtest_mimic::Failed;
use phalanx::clip::{
    Block, BlockKind, Channel, Clip, ClipKind, ClipParts, Encoding, RootMotionParts,
};
use phalanx::format::codec::{decode, encode};
use phalanx::math::{LANES, Row};
use phalanx::skeleton::Skeleton;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Numbers of all kinds: round ones, lattices, noise, the ends of the range, minus zero.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.0),
        (-1000i32..1000).prop_map(|k| k as f32 * 0.000_061_035_156),
        -1.0f32..1.0,
        any::<u32>().prop_map(|bits| {
            let v = f32::from_bits(bits);
            if v.is_finite() { v } else { f32::MIN_POSITIVE / 8.0 }
        }),
    ]
}

#[derive(Clone, Debug)]
struct Made {
    kind: usize,
    lanes: u8,
    hold: u16,
    timeline: usize,
    /// How values go on from key to key.
    smooth: bool,
    seeds: Vec<f32>,
    integers: Vec<u16>,
    step: f32,
}

fn block() -> impl Strategy<Value = Made> {
    let numbers = prop::collection::vec(number(), 1..40);
    let integers = prop::collection::vec(prop_oneof![0u16..40, any::<u16>()], 1..40);
    let step = prop_oneof![Just(0.0f32), Just(-0.25), 1e-6f32..1e-3];
    let shape = (0usize..5, 1u8..=16, any::<u16>(), 0usize..3);
    (shape, any::<bool>(), numbers, integers, step).prop_map(
        |((kind, lanes, hold, timeline), smooth, seeds, integers, step)| Made {
            kind,
            lanes,
            hold: if hold % 3 == 0 { hold } else { 0 },
            timeline,
            smooth,
            seeds,
            integers,
            step,
        },
    )
}

fn timeline() -> impl Strategy<Value = Vec<f32>> {
    let even = (2usize..40, 1u32..120)
        .prop_map(|(n, rate)| (0..n).map(|k| k as f32 / rate as f32).collect());
    let any = prop::collection::btree_set(0u32..100_000, 2..30)
        .prop_map(|set| set.into_iter().map(|k| k as f32 * 0.0001 - 0.5).collect());
    let sparse = prop::collection::btree_set(0u32..90, 2..30)
        .prop_map(|set| set.into_iter().map(|k| k as f32 / 30.0).collect());
    prop_oneof![even, any, sparse]
}

fn parts() -> impl Strategy<Value = ClipParts> {
    let timelines = prop::collection::vec(timeline(), 3);
    let blocks = prop::collection::vec(block(), 0..4);
    let motion = prop::option::of((timeline(), any::<bool>(), number(), 0u16..9));
    (timelines, blocks, any::<bool>(), 0.0f32..20.0, motion).prop_map(
        |(timelines, blocks, additive, duration, motion)| {
            let mut parts = ClipParts {
                name: "made".into(),
                duration,
                kind: [ClipKind::Full, ClipKind::Additive][usize::from(additive)],
                tracks: [[blocks.len(), 70_000]; 4],
                timelines,
                ..ClipParts::default()
            };
            // One block of a channel: the made skeleton has one.
            let channels = [Channel::Rotation, Channel::Translation, Channel::Scale];
            let mut chosen: Vec<_> = channels.into_iter().zip(&blocks).collect();
            chosen.sort_by_key(|(channel, _)| *channel);
            for (channel, made) in chosen {
                put(&mut parts, channel, made);
            }
            if !parts.packed.is_empty() {
                let end = parts.packed.len() + LANES;
                parts.packed.resize(end, 0);
            }
            if let Some((times, turns, v, joint)) = motion.filter(|_| !additive) {
                let v = v.clamp(-1e6, 1e6);
                let places = times.iter().map(|t| [v * t, -v, 0.25]);
                let rotations = times.iter().map(|t| [0.0, t.sin(), 0.0, t.cos()]);
                parts.root_motion = Some(RootMotionParts {
                    joint,
                    translations: places.collect(),
                    rotations: if turns { rotations.collect() } else { Vec::new() },
                    times,
                });
            }
            parts
        },
    )
}

fn put(parts: &mut ClipParts, channel: Channel, made: &Made) {
    let kinds = [
        BlockKind::Constant,
        BlockKind::Linear,
        BlockKind::Slerp,
        BlockKind::Cubic,
        BlockKind::Linear,
    ];
    let kind = kinds[made.kind];
    let keys = match kind {
        BlockKind::Constant => 1,
        _ => parts.timelines[made.timeline].len(),
    };
    let width = match channel {
        Channel::Rotation => 4,
        _ => 3,
    };
    let mut encoding = Encoding::Float;
    let first_row = parts.rows.len() as u32;
    let seed = |i: usize| made.seeds[i % made.seeds.len()];
    // Clips refuse rotations far from unit length, and numbers that leave f32 down a chain of joints.
    let within = |component: usize, value: f32| match channel {
        Channel::Rotation if component == 3 => 1.0,
        Channel::Rotation => value.clamp(-0.4, 0.4),
        Channel::Scale => value.clamp(-8.0, 8.0),
        _ => value.clamp(-1e12, 1e12),
    };
    let largest_step = match channel {
        Channel::Rotation => 1e-6,
        Channel::Scale => 1e-4,
        _ => 1.0,
    };
    if made.kind == 4 {
        let first = parts.packed.len() as u32;
        let lanes = usize::from(made.lanes);
        encoding = Encoding::Packed { first, lanes: made.lanes };
        for row in 0..width {
            parts
                .rows
                .push(Row(std::array::from_fn(|l| within(row, seed(row + l)).clamp(-1e11, 1e11))));
        }
        let step = |l: usize| {
            if l < lanes && l % 3 != 1 { made.step.clamp(-largest_step, largest_step) } else { 0.0 }
        };
        parts.rows.push(Row(std::array::from_fn(step)));
        let integers = (0..keys * width * lanes).map(|i| made.integers[i % made.integers.len()]);
        parts.packed.extend(integers);
    } else {
        let count = if kind == BlockKind::Cubic { 3 * keys * width } else { keys * width };
        for row in 0..count {
            let value = |l: usize| {
                let value = match made.smooth {
                    true => {
                        seed(row % width + 5 * l).clamp(-1e6, 1e6) + (row / width) as f32 * 0.001
                    }
                    false => seed(row * 3 + l),
                };
                within(row % width, value)
            };
            parts.rows.push(Row(std::array::from_fn(value)));
        }
    }
    parts.channels[channel as usize].push(Block {
        block: 0,
        kind,
        encoding,
        hold: made.hold,
        moving: 0,
        timeline: made.timeline as u32,
        first_row,
    });
}

fn round_trip(parts: ClipParts, skeleton: &Skeleton) -> Result<(), TestCaseError> {
    let Ok(clip) = Clip::new(parts, skeleton) else {
        return Err(TestCaseError::reject("no clip"));
    };
    let bytes = encode(&clip, skeleton).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let back = decode(&bytes, skeleton, "made".into(), Vec::new());
    same(&back.map_err(|e| TestCaseError::fail(e.to_string()))?, &clip);
    Ok(())
}

pub fn clips() -> Result<(), Failed> {
    let rig = made::rig();
    let config = Config { cases: 1500, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    runner.run(&parts(), |parts| round_trip(parts, rig.skeleton()))?;
    Ok(())
}
