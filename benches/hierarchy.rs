//! The alternative way to evaluate a hierarchy: one character per lane, instead of one joint's matrix per
//! register row. Measures a lower bound for it (local matrices are already stored by character; nothing is
//! sampled, blended or composed) beside whole frames of C1. Prints its own table; `--quick` and `--test`
//! shorten it.

mod common;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd};
use phalanx::clip::Channel;
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::simd::SimdLevel;
use phalanx_workload::sampling::{ROUNDS, Samples, compare};
use phalanx_workload::{Workload, hash01};
use std::hint::black_box;
use std::time::Duration;

/// Number of joints of `pab.glb`, the model measured.
const JOINTS: usize = 67;
/// Index of the root's matrix among the model matrices.
const ROOT: u16 = JOINTS as u16;
const NO_PARENT: u16 = u16::MAX;

type Palette = [[f32; 12]; JOINTS];

/// Transposes 4×4 within 128-bit blocks: lane 4q + r moves to block q of the r-th result.
trait Road: Simd {
    fn transpose(self, rows: [Self::f32s; 4]) -> [Self::f32s; 4];
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Road;
    use fearless_simd::prelude::*;
    use fearless_simd::{Avx2, Avx512, f32x8, f32x16};

    macro_rules! road {
        ($token:ident, $vector:ident, $name:ident, $raw:ident: $($op:ident),*) => {
            road!(@ $token, $vector, $name, $raw, $($op),*);

            impl Road for $token {
                #[inline(always)]
                fn transpose(self, [a, b, c, d]: [Self::f32s; 4]) -> [Self::f32s; 4] {
                    $name(self, a, b, c, d)
                }
            }
        };
        (@ $token:ident, $vector:ident, $name:ident, $raw:ident,
            $low:ident, $high:ident, $low2:ident, $high2:ident, $to:ident, $from:ident) => {
            fearless_simd::kernel!(
                #[inline(always)]
                fn $name(
                    token: $token,
                    a: $vector<$token>,
                    b: $vector<$token>,
                    c: $vector<$token>,
                    d: $vector<$token>,
                ) -> [$vector<$token>; 4] {
                    use core::arch::x86_64::*;
                    let (a, b, c, d): ($raw, $raw, $raw, $raw) =
                        (a.into(), b.into(), c.into(), d.into());
                    let (ab, ab_high) = ($to($low(a, b)), $to($high(a, b)));
                    let (cd, cd_high) = ($to($low(c, d)), $to($high(c, d)));
                    [
                        $from($low2(ab, cd)).simd_into(token),
                        $from($high2(ab, cd)).simd_into(token),
                        $from($low2(ab_high, cd_high)).simd_into(token),
                        $from($high2(ab_high, cd_high)).simd_into(token),
                    ]
                }
            );
        };
    }
    road!(Avx2, f32x8, transpose256, __m256: _mm256_unpacklo_ps, _mm256_unpackhi_ps,
        _mm256_unpacklo_pd, _mm256_unpackhi_pd, _mm256_castps_pd, _mm256_castpd_ps);
    road!(Avx512, f32x16, transpose512, __m512: _mm512_unpacklo_ps, _mm512_unpackhi_ps,
        _mm512_unpacklo_pd, _mm512_unpackhi_pd, _mm512_castps_pd, _mm512_castpd_ps);
}

/// Step for one joint: whether it is animated, and the nearest animated joint above it (or at it).
#[derive(Clone, Copy)]
struct Step {
    moves: bool,
    above: u16,
}

/// One character per lane, with matrices stored by element: 12 registers each.
struct Chunk {
    locals: Vec<f32>,
    models: Vec<f32>,
}

/// Computes the animated joints' model matrices, then all palette rows, transposed and stored.
#[inline(always)]
fn pass<S: Road>(
    simd: S,
    steps: &[Step],
    binds: &[[f32; 12]],
    chunk: &mut Chunk,
    out: &mut [Palette],
) {
    let n = S::f32s::LEN;
    assert!(out.len() == n && steps.len() == JOINTS && binds.len() == JOINTS);
    let load = |from: &[f32], joint: usize| -> [S::f32s; 12] {
        let at = &from[joint * 12 * n..(joint + 1) * 12 * n];
        std::array::from_fn(
            #[inline(always)]
            |i| S::f32s::from_slice(simd, &at[i * n..(i + 1) * n]),
        )
    };
    for (joint, (step, bind)) in steps.iter().zip(binds).enumerate() {
        let mut model = match step.above {
            NO_PARENT => continue,
            above => load(&chunk.models, usize::from(above)),
        };
        if step.moves {
            let local = load(&chunk.locals, joint);
            model = product::<S>(
                model,
                #[inline(always)]
                |i| local[i],
            );
            let at = &mut chunk.models[joint * 12 * n..(joint + 1) * 12 * n];
            for (i, v) in model.iter().enumerate() {
                v.store_slice(&mut at[i * n..(i + 1) * n]);
            }
        }
        let rows = product::<S>(
            model,
            #[inline(always)]
            |i| S::f32s::splat(simd, bind[i]),
        );
        for r in 0..3 {
            let parts =
                simd.transpose([rows[4 * r], rows[4 * r + 1], rows[4 * r + 2], rows[4 * r + 3]]);
            for (i, part) in parts.iter().enumerate() {
                let floats = part.as_slice();
                for q in 0..n / 4 {
                    out[4 * q + i][joint][4 * r..4 * r + 4]
                        .copy_from_slice(&floats[4 * q..4 * q + 4]);
                }
            }
        }
    }
}

/// Product of two row-major 3×4 matrices.
#[inline(always)]
fn product<S: Simd>(a: [S::f32s; 12], b: impl Fn(usize) -> S::f32s) -> [S::f32s; 12] {
    std::array::from_fn(
        #[inline(always)]
        |i| {
            let (row, column) = (i / 4 * 4, i % 4);
            let sum = a[row + 1].mul_add(b(4 + column), a[row] * b(column));
            let sum = a[row + 2].mul_add(b(8 + column), sum);
            if column == 3 { sum + a[row + 3] } else { sum }
        },
    )
}

/// A crowd, and the same number of characters in chunks of one register's lanes.
struct Roads {
    crowd: Crowd,
    buffer: BoneBuffer,
    steps: Vec<Step>,
    binds: Vec<[f32; 12]>,
    /// A worker's buffers for the current characters.
    chunk: Chunk,
    palettes: Vec<Palette>,
}

impl Roads {
    fn frame(&mut self, lanes: Level) {
        match lanes {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(token) => self.chunks(token),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(token) => self.chunks(token),
            _ => {}
        }
        black_box(&mut self.palettes);
    }

    fn chunks<S: Road>(&mut self, simd: S) {
        let palettes = self.palettes.chunks_exact_mut(S::f32s::LEN);
        let chunk = &mut self.chunk;
        for out in palettes {
            simd.vectorize(
                #[inline(always)]
                || pass(simd, &self.steps, &self.binds, chunk, out),
            );
        }
    }

    /// Checks the first chunk against the same products in f64.
    fn check(&self, lanes: usize) {
        let at = |from: &[f32], joint: usize, c: usize| -> [f64; 12] {
            std::array::from_fn(|i| f64::from(from[(joint * 12 + i) * lanes + c]))
        };
        let mul = |a: [f64; 12], b: [f64; 12]| -> [f64; 12] {
            std::array::from_fn(|i| {
                let (r, c) = (i / 4 * 4, i % 4);
                let sum: f64 = (0..3).map(|k| a[r + k] * b[4 * k + c]).sum();
                if c == 3 { sum + a[r + 3] } else { sum }
            })
        };
        for c in 0..lanes {
            let mut models = vec![[0.0; 12]; JOINTS];
            for (joint, step) in self.steps.iter().enumerate() {
                let above = match step.above {
                    NO_PARENT => continue,
                    ROOT => at(&self.chunk.models, JOINTS, c),
                    above => models[usize::from(above)],
                };
                models[joint] = match step.moves {
                    true => mul(above, at(&self.chunk.locals, joint, c)),
                    false => above,
                };
                let expected = mul(models[joint], self.binds[joint].map(f64::from));
                for (a, b) in self.palettes[c][joint].iter().zip(expected) {
                    assert!((f64::from(*a) - b).abs() < 1e-3, "character {c}, joint {joint}");
                }
            }
        }
    }
}

fn main() {
    let asked = |name: &str| std::env::args().any(|a| a == name);
    let budget = match () {
        () if asked("--test") => Duration::from_micros(10),
        () if asked("--quick") => Duration::from_millis(100),
        () => Duration::from_millis(500),
    };
    let subject = common::subject();
    let skeleton = subject.rig.skeleton();
    if skeleton.len() != JOINTS {
        println!("skipped: pab.glb is not among the test models");
        return;
    }
    let clip = &subject.rig.clips()[subject.clips.clips[0]];
    let mut moves = [false; JOINTS];
    for b in [Channel::Translation, Channel::Rotation].iter().flat_map(|&c| clip.blocks(c)) {
        for lane in (0..16).filter(|l| b.moving >> l & 1 == 1) {
            let joint = skeleton.joint_of()[usize::from(b.block) * 16 + lane];
            if let Some(moves) = moves.get_mut(usize::from(joint)) {
                *moves = true;
            }
        }
    }
    // For an animated joint, the nearest animated ancestor; for the others, the nearest animated joint above.
    let mut nearest = [NO_PARENT; JOINTS];
    let mut steps = Vec::with_capacity(JOINTS);
    for (joint, &moves) in moves.iter().enumerate() {
        let parent = usize::from(skeleton.parents()[joint]);
        let above = nearest.get(parent).copied().unwrap_or(NO_PARENT);
        nearest[joint] = if moves { joint as u16 } else { above };
        let above = if moves && above == NO_PARENT { ROOT } else { above };
        steps.push(Step { moves, above });
    }
    println!("{} of {JOINTS} joints move", moves.iter().filter(|m| **m).count());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("a thread can be started");
    for level in SimdLevel::supported().filter(|level| *level >= SimdLevel::Avx2) {
        level.set().expect("the level is supported");
        let best = Level::new();
        let (lanes, token) = match level {
            SimdLevel::Avx2 => (8, best.as_avx2().map(Level::Avx2)),
            _ => (16, best.as_avx512().map(Level::Avx512)),
        };
        let token = token.expect("the level is supported");
        for count in [16, 992, 10_000] {
            let mut seed = 0;
            let mut element = |i: usize| {
                seed += 1;
                // Near the identity, so that products keep their magnitude.
                let near = if matches!(i, 0 | 5 | 10) { 0.95 } else { 0.0 };
                near + 0.05 * hash01(seed) as f32
            };
            let by_lane = |element: &mut dyn FnMut(usize) -> f32| -> Vec<f32> {
                (0..(JOINTS + 1) * 12 * lanes).map(|at| element(at / lanes % 12)).collect()
            };
            let chunk = Chunk { locals: by_lane(&mut element), models: by_lane(&mut element) };
            let crowd = Workload::C1.crowd(subject.rig.clone(), &subject.clips, count);
            let mut roads = Roads {
                crowd: crowd.expect("the crowd accepts its rig").0,
                buffer: BoneBuffer::new(),
                steps: steps.clone(),
                binds: (0..JOINTS).map(|_| std::array::from_fn(&mut element)).collect(),
                chunk,
                palettes: vec![[[0.0; 12]; JOINTS]; count],
            };
            let mut samples = vec![Samples::default(); 2];
            for _ in 0..ROUNDS {
                let run = |which: usize, frames: u32| {
                    for _ in 0..frames {
                        if which == 0 {
                            roads.crowd.advance(1.0 / 60.0)?;
                            roads.crowd.evaluate(&mut roads.buffer);
                            black_box(&mut roads.buffer);
                        } else {
                            roads.frame(token);
                        }
                    }
                    Ok::<_, phalanx::crowd::CrowdError>(())
                };
                let round = pool.install(|| compare(2, budget / ROUNDS, run));
                for (samples, more) in samples.iter_mut().zip(round.expect("a valid time step")) {
                    samples.0.push(more);
                }
            }
            roads.check(lanes);
            let each = samples.iter().map(|s| s.summary().median / count as f64);
            let [frame, lane]: [f64; 2] = each.collect::<Vec<_>>().try_into().expect("two");
            println!(
                "{level}, {count:5} characters: whole frame of C1 {frame:6.1} ns, hierarchy alone by lanes \
                 {lane:6.1} ns"
            );
        }
    }
}
