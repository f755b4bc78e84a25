//! Frames against `Crowd::evaluate`, row by row and bit by bit.

mod hooks;

use super::*;
use crate::border::Extensible;
use crate::modifiers::*;
use phalanx::crowd::*;
use phalanx::glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::ptr::null;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard};

/// A crowd of the library and its twin in C: the same ids, clips and times.
pub(crate) struct Twins {
    pub rust: Crowd,
    pub c: *mut phx_crowd,
    pub rig: RigId,
    pub ids: Vec<InstanceId>,
}

impl Twins {
    pub fn new(count: usize, threads: Option<usize>) -> Self {
        let (rust, rig, ids) = crowd(count);
        let pool = threads
            .map(|n| Arc::new(rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()));
        let state = CrowdState::new(crowd(count).0, pool);
        Self { rust, c: new(state), rig, ids }
    }

    /// Makes a call of Rust on both.
    pub fn both<E: std::fmt::Debug>(&mut self, call: impl Fn(&mut Crowd) -> Result<(), E>) {
        call(&mut self.rust).unwrap();
        self.state(|state| call(&mut state.crowd)).unwrap();
    }

    pub fn state<R>(&self, call: impl FnOnce(&mut CrowdState) -> R) -> R {
        // SAFETY: the handle of `new`.
        call(&mut unsafe { lend(self.c) }.unwrap())
    }

    pub fn bits(&self) -> Vec<phx_instance> {
        self.ids.iter().map(|id| id.to_bits()).collect()
    }

    pub fn joint(&self, name: &str) -> u32 {
        self.rust.rig(self.rig).unwrap().skeleton().joint(name).unwrap() as u32
    }

    /// All model matrices of both crowds are equal.
    pub fn assert_equal(&mut self, what: &str) {
        let ids = self.ids.clone();
        let models = |crowd: &mut Crowd| -> Vec<_> {
            ids.iter().map(|&id| crowd.model_matrices(id).unwrap()).collect()
        };
        let rust = models(&mut self.rust);
        assert!(rust == self.state(|state| models(&mut state.crowd)), "{what}");
    }
}

impl Drop for Twins {
    fn drop(&mut self) {
        // SAFETY: the handle of `new`.
        unsafe { free(self.c) }.unwrap();
    }
}

fn crowd(count: usize) -> (Crowd, RigId, Vec<InstanceId>) {
    let mut crowd = Crowd::with_tag(7).unwrap();
    static RIG: LazyLock<Arc<Rig>> =
        LazyLock::new(|| Arc::new(phalanx::import::mannequin().unwrap()));
    let rig = crowd.add_rig(RIG.clone()).unwrap();
    let mut ids = Vec::new();
    crowd.spawn_many(rig, count, &mut ids).unwrap();
    for (n, &id) in ids.iter().enumerate() {
        let clip = crowd.clip_by_index(rig, n % 3).unwrap();
        let time = 0.03 * n as f64;
        crowd.play(id, clip, &PlayOptions { time, ..PlayOptions::default() }).unwrap();
    }
    (crowd, rig, ids)
}

/// What a call returned, with its message if that is not what was to come.
#[track_caller]
pub(crate) fn expect(status: phx_status, wanted: phx_status) {
    assert_eq!(status, wanted, "{}", said());
}

fn nod(pose: Trs, seconds: f64) -> Trs {
    let rotation = pose.rotation * Quat::from_rotation_x(0.3 + seconds as f32);
    Trs { rotation, translation: pose.translation + Vec3::Y * 0.01, ..pose }
}

const HEAD: usize = 10;

unsafe extern "C" fn nods(_: *mut c_void, _: phx_instance, pose: *mut phx_pose, seconds: f64) {
    let mut local = phx_trs::from(Trs::IDENTITY);
    // SAFETY: pointers of this call.
    unsafe {
        expect(phx_pose_local(pose, HEAD as u32, &mut local, null_mut()), PHX_OK);
        let local = phx_matrix::from(Affine3x4::from(nod(local.into(), seconds)));
        expect(phx_pose_set_local(pose, HEAD as u32, &local), PHX_OK);
    }
}

fn options(hook: bool, keep: bool) -> phx_frame_options {
    let hook: phx_hook_call = hook.then_some(nods as _);
    phx_frame_options { keep: keep.into(), hook, ..Extensible::DEFAULT }
}

/// The rows of a frame in a format, as numbers; rows that nobody writes are identities.
fn numbers(rows: &[Affine3x4], format: phx_row_format) -> Vec<u32> {
    let of = |m: &Affine3x4| match format {
        PHX_ROWS_3X4 => m.rows.as_flattened().to_vec(),
        _ => (0..16)
            .map(|i| [m.rows.as_flattened(), &[0.0, 0.0, 0.0, 1.0]].concat()[i % 4 * 4 + i / 4])
            .collect(),
    };
    rows.iter().flat_map(of).map(f32::to_bits).collect()
}

fn evaluate(
    twins: &Twins,
    parts: u32,
    options: &phx_frame_options,
    memory: &mut Vec<f32>,
) -> phx_frame_stats {
    let options = phx_frame_options { parts, ..*options };
    let (mut stats, mut frame) = (phx_frame_stats::DEFAULT, null_mut());
    let (at, bytes) = (memory.as_mut_ptr().cast(), memory.len() * 4);
    // SAFETY: pointers of this function.
    unsafe {
        if parts == 0 {
            expect(phx_crowd_evaluate(twins.c, &options, at, bytes, &mut stats), PHX_OK);
            return stats;
        }
        expect(phx_frame_begin(twins.c, &options, at, bytes, &mut stats, &mut frame), PHX_OK);
        assert!(stats.parts >= 1 && stats.parts <= parts);
        let handle = frame.expose_provenance();
        std::thread::scope(|threads| {
            // The last one is left to the end.
            for part in 0..stats.parts - 1 {
                threads.spawn(move || {
                    let frame = std::ptr::with_exposed_provenance_mut(handle);
                    expect(phx_frame_part(frame, part), PHX_OK);
                });
            }
        });
        expect(phx_frame_end(frame), PHX_OK);
    }
    stats
}

#[test]
fn rows_are_bit_for_bit_those_of_the_library() {
    for case in 0..8 {
        let [tiered, keep, hooked] = [case & 1 == 1, case & 2 == 2, case & 4 == 4];
        // By format, parts and pool.
        let ways = [PHX_ROWS_3X4, PHX_COLUMNS_4X4].into_iter().flat_map(|format| {
            [(format, 0, None), (format, 0, Some(3)), (format, 1, None), (format, 4, Some(2))]
        });
        let mut expected: Vec<(Vec<Affine3x4>, FrameStats)> = Vec::new();
        for (format, parts, threads) in ways {
            let mut twins = Twins::new(70, threads);
            let (rig, ids) = (twins.rig, twins.ids.clone());
            twins.both(|crowd| {
                let hook = crowd.add_modifier(rig, Hook::default())?;
                for id in ids.iter().step_by(3) {
                    crowd.player(*id)?.fade_modifier(hook, 1.0, 0.0)?;
                }
                if tiered {
                    let near = Tier { height: 60.0, ..Tier::default() };
                    let far = Tier { rate: 4, interpolate: true, ..Tier::default() };
                    crowd.set_tiers(Some(Tiers { tiers: vec![near, far], ..Tiers::default() }))?;
                    let heights: Vec<f32> = (0..70).map(|n| 2.0 * n as f32).collect();
                    crowd.set_importances(rig, &heights)?;
                }
                Ok::<_, CrowdError>(())
            });
            let (mut kept, mut memory) = (BoneBuffer::new(), Vec::new());
            for frame in 0..4 {
                twins.both(|crowd| {
                    crowd.advance(1.0 / 60.0)?;
                    crowd.set_scheduled(ids[frame], false)
                });
                if expected.len() == frame {
                    let bones = &mut kept;
                    if !keep {
                        *bones = BoneBuffer::new();
                    }
                    let stats = match hooked {
                        true => twins.rust.evaluate_with(bones, &|_, pose, seconds| {
                            let local = pose.local(HEAD).unwrap();
                            pose.set_local(HEAD, nod(local, seconds)).unwrap();
                        }),
                        false => twins.rust.evaluate(bones),
                    };
                    expected.push((bones.rows().to_vec(), stats));
                }
                let (rows, wanted) = &expected[frame];
                let identity = numbers(&[Affine3x4::IDENTITY], format);
                if !keep {
                    memory.clear();
                }
                while memory.len() < rows.len() * identity.len() {
                    memory.extend(identity.iter().copied().map(f32::from_bits));
                }
                memory.truncate(rows.len() * identity.len());
                let options = phx_frame_options { format, ..options(hooked, keep) };
                let stats = evaluate(&twins, parts, &options, &mut memory);
                let what = format!("{case} {format} {parts} {threads:?} frame {frame}");
                let got: Vec<u32> = memory.iter().map(|v| v.to_bits()).collect();
                assert!(got == numbers(rows, format), "{what}");
                assert_eq!(
                    (stats.instances, stats.carried, stats.rows, stats.bytes),
                    (
                        wanted.instances as u64,
                        wanted.carried as u64,
                        rows.len() as u64,
                        (memory.len() * 4) as u64
                    ),
                    "{what}"
                );
                assert!(!keep || frame == 0 || stats.carried > 0, "{what}");
            }
        }
        assert_eq!(expected.len(), 4);
    }
}

#[test]
fn palettes_are_aligned_and_padding_is_not_written() {
    let mut twins = Twins::new(3, None);
    let options = phx_frame_options { align: 64, ..Extensible::DEFAULT };
    for format in [PHX_ROWS_3X4, PHX_COLUMNS_4X4] {
        let options = phx_frame_options { format, ..options };
        let layout = RowLayout { align: 64, ..RowLayout::default() };
        let mut schedule = twins.rust.schedule(&layout);
        let mut rows = vec![Affine3x4 { rows: [[f32::NAN; 4]; 3] }; schedule.rows()];
        schedule.write(&mut rows[..]);
        let numbers = if format == PHX_ROWS_3X4 { 12 } else { 16 };
        let mut memory = vec![f32::NAN; rows.len() * numbers];
        evaluate(&twins, 0, &options, &mut memory);
        let ranges = twins.ids.iter().map(|&id| twins.rust.palette_range(id).unwrap());
        let mut written = vec![false; rows.len()];
        for range in ranges {
            assert_eq!(range.start % 64, 0);
            written[range.clone()].fill(true);
            let got: Vec<u32> = memory[range.start * numbers..range.end * numbers]
                .iter()
                .map(|v| v.to_bits())
                .collect();
            assert!(got == self::numbers(&rows[range], format));
        }
        assert!(written.contains(&false));
        let chunks = memory.chunks_exact(numbers).zip(written);
        assert!(chunks.into_iter().all(|(row, written)| written || row.iter().all(|v| v.is_nan())));
    }
}

#[test]
fn frames_are_refused_and_write_nothing() {
    let twins = Twins::new(2, None);
    let default = phx_frame_options::DEFAULT;
    let mut memory = vec![f32::NAN; 10_000];
    let (at, all) = (memory.as_mut_ptr().cast::<c_void>(), memory.len() * 4);
    let needed = evaluate(&twins, 0, &default, &mut vec![0.0; 10_000]).bytes as usize;
    assert_eq!(needed, 2 * 48 * twins.rust.rig(twins.rig).unwrap().palette_len());
    let mark = phx_frame_stats { parts: 77, ..Extensible::DEFAULT };
    let refused = [
        (default, at, needed - 1, PHX_ERROR_SHORT, true),
        (default, null_mut(), 0, PHX_ERROR_SHORT, true),
        (default, null_mut(), all, PHX_ERROR_NULL, false),
        (default, at.wrapping_byte_add(2), all - 2, PHX_ERROR_VALUE, false),
        (phx_frame_options { format: 2, ..default }, at, all, PHX_ERROR_VALUE, false),
        (phx_frame_options { align: MAX_ALIGN + 1, ..default }, at, all, PHX_ERROR_VALUE, false),
        (phx_frame_options { format: 1, ..default }, at, needed, PHX_ERROR_SHORT, true),
        (phx_frame_options { size: 8, ..default }, at, all, PHX_ERROR_STRUCT_SIZE, false),
    ];
    // SAFETY: pointers of this test.
    unsafe {
        for (number, (options, at, bytes, status, told)) in refused.into_iter().enumerate() {
            let (mut stats, mut frame) = (mark, std::ptr::dangling_mut::<phx_frame>());
            let untouched = frame;
            let call = phx_crowd_evaluate(twins.c, &options, at, bytes, &mut stats);
            assert_eq!(call, status, "{number}: {}", said());
            assert_eq!(stats != mark, told, "{number}");
            assert!(
                !told
                    || stats.bytes as usize
                        == needed / 48 * if options.format == 1 { 64 } else { 48 }
            );
            stats = mark;
            let call = phx_frame_begin(twins.c, &options, at, bytes, &mut stats, &mut frame);
            assert_eq!((call, stats != mark), (status, told), "{number}: {}", said());
            assert_eq!(frame, untouched);
        }
        expect(phx_frame_begin(twins.c, null(), at, all, null_mut(), null_mut()), PHX_ERROR_NULL);
        expect(phx_crowd_evaluate(null_mut(), null(), at, all, null_mut()), PHX_ERROR_NULL);
        assert!(memory.iter().all(|v| v.is_nan()));
        // A frame that was refused leaves none to keep: all is written.
        let keep = phx_frame_options { keep: 1, ..default };
        twins.state(|state| state.crowd.set_scheduled_many(&twins.ids, &[false])).unwrap();
        evaluate(&twins, 0, &keep, &mut memory);
        assert!(memory[..needed / 4].iter().all(|v| v.is_finite()));
        assert_eq!(evaluate(&twins, 0, &keep, &mut memory).carried, 2);
        expect(phx_crowd_evaluate(twins.c, &keep, at, needed - 1, null_mut()), PHX_ERROR_SHORT);
        assert_eq!(evaluate(&twins, 1, &keep, &mut memory).carried, 0);
        // The size itself, and without counts.
        expect(phx_crowd_evaluate(twins.c, null(), at, needed, null_mut()), PHX_OK);
        let none = Twins::new(0, None);
        expect(phx_crowd_evaluate(none.c, null(), null_mut(), 0, null_mut()), PHX_OK);
        let mut frame = null_mut();
        expect(phx_frame_begin(none.c, null(), null_mut(), 0, null_mut(), &mut frame), PHX_OK);
        expect(phx_frame_part(frame, 0), PHX_ERROR_NOT_FOUND);
        expect(phx_frame_end(frame), PHX_OK);
        let freed = none.c;
        drop(none);
        expect(phx_crowd_evaluate(freed, null(), at, all, null_mut()), PHX_ERROR_HANDLE);
        expect(phx_frame_end(null_mut()), PHX_OK);
    }
}

/// A frame in parts per frame of a game: their handles take no more memory with time.
#[test]
fn ended_frames_serve_again_after_many_others() {
    let twins = Twins::new(1, None);
    let mut memory = vec![0.0f32; 12 * 100];
    let mut handles = Vec::new();
    for _ in 0..300 {
        let mut frame = null_mut();
        // SAFETY: pointers of this test.
        unsafe {
            let at = memory.as_mut_ptr().cast();
            let begun =
                phx_frame_begin(twins.c, null(), at, memory.len() * 4, null_mut(), &mut frame);
            expect(begun, PHX_OK);
            expect(phx_frame_end(frame), PHX_OK);
            for &old in handles.iter().rev().take(32) {
                expect(phx_frame_part(old, 0), PHX_ERROR_HANDLE);
            }
        }
        handles.push(frame);
    }
    handles.sort();
    handles.dedup();
    // Other tests have frames, too.
    assert!(handles.len() < 150, "{}", handles.len());
}

#[test]
fn a_frame_in_parts_has_the_crowd_until_its_end() {
    let twins = Twins::new(70, None);
    let mut memory = vec![0.0f32; 70 * 12 * 100];
    let (at, all) = (memory.as_mut_ptr().cast::<c_void>(), memory.len() * 4);
    let options = phx_frame_options { parts: 4, keep: 1, ..Extensible::DEFAULT };
    let (mut frame, mut stats) = (null_mut(), phx_frame_stats::DEFAULT);
    let crowd = twins.c;
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_frame_begin(crowd, &options, at, all, &mut stats, &mut frame), PHX_OK);
        assert_eq!(stats.parts, 4);
        expect(phx_frame_part(frame, 2), PHX_OK);
        expect(phx_frame_part(frame, 2), PHX_ERROR_STATE);
        expect(phx_frame_part(frame, 4), PHX_ERROR_NOT_FOUND);
        expect(phx_crowd_evaluate(crowd, null(), at, all, null_mut()), PHX_ERROR_BUSY);
        let mut second = null_mut();
        let begin = phx_frame_begin(crowd, null(), at, all, null_mut(), &mut second);
        expect(begin, PHX_ERROR_BUSY);
        let who = twins.ids[0].to_bits();
        expect(phx_instance_target(crowd, who, 0, null_mut(), null_mut()), PHX_ERROR_BUSY);
        assert_eq!(free(crowd).unwrap_err().status(), PHX_ERROR_BUSY);
        expect(phx_frame_end(frame), PHX_OK);
        expect(phx_frame_end(frame), PHX_ERROR_HANDLE);
        expect(phx_frame_part(frame, 0), PHX_ERROR_HANDLE);
        expect(phx_frame_part(null_mut(), 0), PHX_ERROR_NULL);

        // A part that fails: the crowd is free, and no memory has the frame.
        expect(phx_frame_begin(crowd, &options, at, all, null_mut(), &mut frame), PHX_OK);
        lend(frame).unwrap().parts[1] = Mutex::new(Some(Box::new(|| panic!("on purpose"))));
        expect(phx_frame_part(frame, 1), PHX_ERROR_INTERNAL);
        expect(phx_frame_end(frame), PHX_OK);
        assert!(twins.state(|state| state.frame.is_none()));
        expect(phx_frame_begin(crowd, &options, at, all, null_mut(), &mut frame), PHX_OK);
        lend(frame).unwrap().parts[1] = Mutex::new(Some(Box::new(|| panic!("on purpose"))));
        expect(phx_frame_end(frame), PHX_ERROR_INTERNAL);
        expect(phx_frame_end(frame), PHX_ERROR_HANDLE);
        assert!(twins.state(|state| state.frame.is_none()));
        let stats = evaluate(&twins, 1, &options, &mut memory);
        assert_eq!((stats.instances, stats.carried), (70, 0));
    }
}

type Wait = Mutex<(Sender<()>, Receiver<()>)>;

unsafe extern "C" fn waits(user: *mut c_void, _: phx_instance, _: *mut phx_pose, _: f64) {
    // SAFETY: the test's.
    let (inside, go) = &*unsafe { &*user.cast::<Wait>() }.lock().unwrap();
    inside.send(()).unwrap();
    go.recv().unwrap();
}

#[test]
fn a_frame_does_not_end_while_a_part_runs() {
    let twins = Twins::new(1, None);
    twins.state(|state| {
        let hook = state.crowd.add_modifier(twins.rig, Hook::default()).unwrap();
        state.crowd.player(twins.ids[0]).unwrap().fade_modifier(hook, 1.0, 0.0).unwrap();
    });
    let ((inside, is_inside), (go, goes)) = (channel(), channel());
    let wait: Wait = Mutex::new((inside, goes));
    let user = (&raw const wait).cast_mut().cast();
    let options = phx_frame_options { hook: Some(waits), user, ..Extensible::DEFAULT };
    let mut memory = vec![0.0f32; 12 * 100];
    let (at, all, mut frame) = (memory.as_mut_ptr().cast(), memory.len() * 4, null_mut());
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_frame_begin(twins.c, &options, at, all, null_mut(), &mut frame), PHX_OK);
        let handle = frame.expose_provenance();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let frame = std::ptr::with_exposed_provenance_mut(handle);
                expect(phx_frame_part(frame, 0), PHX_OK);
            });
            is_inside.recv().unwrap();
            expect(phx_frame_end(frame), PHX_ERROR_BUSY);
            expect(phx_frame_part(frame, 0), PHX_ERROR_STATE);
            go.send(()).unwrap();
        });
        expect(phx_frame_end(frame), PHX_OK);
    }
}
