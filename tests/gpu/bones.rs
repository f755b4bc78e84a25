//! Rows on the device: fresh, carried over or of the frame before, through pages of any size.

use crate::models::chain;
use crate::support::{Truth, bones, crowd_of, open, paged};
use phalanx::crowd::{
    BoneBuffer, Crowd, Hook, InstanceId, PlayOptions, PoseMut, PoseSpace, Tier, TierDetail, Tiers,
};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx::skeleton::Trs;
use phalanx_testkit::chain::rig_of_clips;
use phalanx_workload::hash01;
use std::collections::HashMap;
use std::sync::Arc;

/// Instances of two rigs are hidden, shown, spawned, despawned and scheduled at random: on every backend, in one page
/// or in many, mapped or written, rows of scheduled ones equal a crowd with no history, the others last frame's rows.
pub fn rows_equal_the_heap() {
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            for mapped in [true, false] {
                let mut bones = GpuBoneBuffer::new(
                    &gpu,
                    backend,
                    &GpuBoneOptions { mapped, ..GpuBoneOptions::default() },
                )
                .unwrap();
                let carried = play(&gpu, &mut bones, 24);
                assert!(carried > 200, "{backend}: {carried} carried");
            }
        }
    }
}

/// Instances run in the order of their clips, so that a worker writes to its pages in turns.
pub fn rows_of_many_clips_equal_the_heap() {
    let (mut crowd, all, _) = crowd_of(&[rig_of_clips(30)], 160);
    let mut heap = BoneBuffer::new();
    crowd.evaluate(&mut heap);
    let ranges = |crowd: &Crowd| -> Vec<_> {
        let of = |&i: &InstanceId| crowd.palette_range(i).unwrap();
        all.iter().map(of).collect()
    };
    let expected = ranges(&crowd);
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            for mapped in [true, false] {
                let options = GpuBoneOptions { mapped, ..GpuBoneOptions::default() };
                let mut bones = GpuBoneBuffer::new(&gpu, backend, &options).unwrap();
                bones.evaluate(&mut crowd, &gpu).unwrap();
                let rows = bones.read(&gpu).unwrap();
                for (n, (range, expected)) in ranges(&crowd).iter().zip(&expected).enumerate() {
                    let (rows, expected) = (&rows[range.clone()], &heap.rows()[expected.clone()]);
                    assert_eq!(rows, expected, "{backend}, mapped {mapped}: character {n}");
                }
            }
        }
    }
}

fn play(gpu: &Gpu, bones: &mut GpuBoneBuffer, frames: u64) -> usize {
    let rigs = [chain(20), chain(33)];
    let (mut crowd, mut all, ids) = crowd_of(&rigs, 20);
    let mut known: HashMap<_, Vec<Affine3x4>> = HashMap::new();
    let mut carried = 0;
    for frame in 0..frames {
        let roll = |salt: u64, i: usize| hash01(frame * 7919 + salt * 104_729 + i as u64);
        crowd.advance(1.0 / 30.0).unwrap();
        let mut scheduled = HashMap::new();
        for (i, &id) in all.iter().enumerate() {
            if roll(1, i) < 0.1 {
                crowd.set_visible(id, roll(2, i) < 0.7).unwrap();
            }
            let wanted = frame == 0 || roll(3, i) < 0.5;
            crowd.set_scheduled(id, wanted).unwrap();
            scheduled.insert(id, wanted);
        }
        if frame % 3 == 2 {
            crowd.despawn(all.remove(frame as usize % 17)).unwrap();
            all.push(crowd.spawn(ids[frame as usize % 2]).unwrap());
        }
        let state = crowd.snapshot();
        let upload = bones.evaluate(&mut crowd, gpu).unwrap();
        carried += upload.frame.carried;
        assert!(bones.heap().is_none());
        let rows = bones.read(gpu).unwrap();
        let mut truth = Truth::new(&rigs, &[60, 60]);
        let truth = truth.of(&state);
        let (mut now, mut places) = (HashMap::new(), HashMap::new());
        for &id in &all {
            let range = crowd.palette_range(id);
            let expected = truth.palette(id);
            assert_eq!(range.is_some(), expected.is_some(), "frame {frame}, {id:?}");
            let (Some(range), Some(expected)) = (range, expected) else {
                continue;
            };
            let rows = &rows[range.clone()];
            match known.get(&id) {
                Some(before) if scheduled.get(&id) == Some(&false) => {
                    assert_eq!(rows, before, "carried, frame {frame}, {id:?}");
                }
                _ => assert_eq!(rows, expected, "fresh, frame {frame}, {id:?}"),
            }
            let place = bones.locate(&range).unwrap();
            assert_eq!(place.row as usize % bones.backend().align(), 0);
            assert!(bones.page(gpu, place.page).is_some());
            let last = bones.locate(&(range.end - 1..range.end)).unwrap();
            assert_eq!(last.page, place.page, "an instance lies in two pages");
            assert_eq!(last.row - place.row, range.len() as u32 - 1);
            let taken = places.insert((place.page, place.row), range.start);
            assert!(taken.is_none_or(|start| start == range.start), "two palettes in one place");
            now.insert(id, rows.to_vec());
        }
        known = now;
    }
    carried
}

pub fn one_copy_per_frame_and_page() {
    // Pages of 100 rows hold five chains of 20; 16 chains take four pages.
    let gpu = paged(4800);
    let mut bones = bones(&gpu, PaletteBackend::Storage);
    let (mut crowd, all, _) = crowd_of(&[chain(20)], 16);
    for _ in 0..8 {
        crowd.advance(0.02).unwrap();
        let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
        assert_eq!((upload.copies, upload.pages, upload.mapped), (4, 4, true));
        assert_eq!(upload.bytes, 16 * 20 * 48);
        gpu.wait().unwrap();
    }
    // Half of them rest: the others lie in two pages, and nothing else is copied.
    let generation = bones.generation();
    for &id in &all[8..] {
        crowd.set_scheduled(id, false).unwrap();
    }
    for _ in 0..4 {
        crowd.advance(0.02).unwrap();
        let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
        assert_eq!((upload.bytes, upload.carried), (8 * 20 * 48, 0));
        assert_eq!((upload.copies, upload.frame.carried), (2, 8));
        gpu.wait().unwrap();
    }
    assert_eq!(bones.generation(), generation);
}

/// From one instance to thousands: pages are rarely recreated, no frame waits, and all rows arrive.
pub fn growth() {
    let gpu = open();
    for backend in PaletteBackend::ALL {
        let mut bones = bones(&gpu, backend);
        let rigs = [chain(67)];
        let (mut crowd, mut all, ids) = crowd_of(&rigs, 1);
        for frame in 0..60 {
            for _ in 0..all.len() / 7 + 1 {
                all.push(crowd.spawn(ids[0]).unwrap());
            }
            crowd.advance(0.01).unwrap();
            let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
            assert_eq!(upload.frame.instances, all.len(), "frame {frame}");
        }
        assert!(all.len() > 1500);
        // Half as much room again each time: 1.5 to the power of 19 is more than 1,500.
        assert!(bones.generation() <= 20, "recreated {} times", bones.generation());
        let rows = bones.read(&gpu).unwrap();
        let mut truth = Truth::new(&rigs, &[all.len()]);
        let truth = truth.of(&crowd.snapshot());
        for &id in &all {
            let range = crowd.palette_range(id).unwrap();
            assert_eq!(Some(&rows[range]), truth.palette(id));
        }
    }
}

pub fn the_frame_before_is_kept() {
    let gpu = open();
    for backend in PaletteBackend::ALL {
        let options = GpuBoneOptions { previous: true, ..GpuBoneOptions::default() };
        let mut bones = GpuBoneBuffer::new(&gpu, backend, &options).unwrap();
        let rigs = [chain(20)];
        let (mut crowd, all, _) = crowd_of(&rigs, 9);
        bones.evaluate(&mut crowd, &gpu).unwrap();
        assert!(bones.previous_page(&gpu, 0).is_none(), "there was none before");
        assert!(bones.page(&gpu, 0).is_some());
        for frame in 0..4 {
            let before: Vec<_> = all.iter().map(|&i| crowd.palette_range(i)).collect();
            crowd.advance(0.02).unwrap();
            crowd.set_visible(all[frame], false).unwrap();
            if frame == 2 {
                crowd.set_visible(all[0], true).unwrap();
            }
            let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
            // What the last frame has changed: the first one wrote all nine.
            let changed = [9, 8, 7, 7][frame] * 20_u64.next_multiple_of(backend.align() as u64);
            assert_eq!(upload.carried, changed * 48, "frame {frame}");
            assert!(bones.previous_page(&gpu, 0).is_some());
            for (n, (&id, before)) in all.iter().zip(before).enumerate() {
                // Who is shown has the rows of before, and one that has come has none of then.
                let now = before.filter(|_| n != frame);
                assert_eq!(
                    crowd.shown(id).filter(|s| s.stayed).map(|s| s.from),
                    now,
                    "frame {frame}"
                );
                if let Some(rows) = now {
                    assert!(bones.locate_previous(&rows).is_some());
                }
            }
        }
        // Another buffer's frame comes between: what was before is of no use.
        crowd.evaluate(&mut phalanx::crowd::BoneBuffer::new());
        bones.evaluate(&mut crowd, &gpu).unwrap();
        assert!(bones.previous_page(&gpu, 0).is_none());
    }
}

/// Devices with timestamps report a time, and only if it was requested.
pub fn the_device_times_its_copies() {
    let gpu = open();
    let mut bones = bones(&gpu, PaletteBackend::Storage);
    let (mut small, _, _) = crowd_of(&[chain(4)], 1);
    bones.evaluate(&mut small, &gpu).unwrap();
    assert_eq!(bones.copy_time(&gpu), Ok(None));
    let able = wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
    let able = gpu.device.features().contains(able);
    bones.set_options(&GpuBoneOptions { timed: true, ..GpuBoneOptions::default() });
    assert_eq!(bones.copy_time(&gpu), Ok(None));
    let mut frame = |crowd: &mut Crowd| {
        bones.evaluate(crowd, &gpu).unwrap();
        bones.copy_time(&gpu).unwrap()
    };
    let (few, many) = (frame(&mut small), frame(&mut crowd_of(&[chain(300)], 3000).0));
    assert_eq!((few.is_some(), many.is_some()), (able, able));
}

pub fn an_empty_crowd() {
    let gpu = open();
    for backend in PaletteBackend::ALL {
        let mut bones = bones(&gpu, backend);
        let upload = bones.evaluate(&mut Crowd::new(), &gpu).unwrap();
        assert_eq!((upload.bytes, upload.copies, upload.pages), (0, 0, 0));
        let (mut crowd, all, _) = crowd_of(&[chain(4)], 2);
        bones.evaluate(&mut crowd, &gpu).unwrap();
        for &id in &all {
            crowd.set_visible(id, false).unwrap();
        }
        let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
        assert_eq!((upload.bytes, upload.pages), (0, 0));
        assert!(bones.page(&gpu, 0).is_none() && bones.read(&gpu).unwrap().is_empty());
        crowd.set_visible(all[1], true).unwrap();
        let stride = 4usize.next_multiple_of(backend.align()) as u64;
        assert_eq!(bones.evaluate(&mut crowd, &gpu).unwrap().bytes, stride * 48);
        gpu.wait().unwrap();
    }
}

/// Cells stay where they are on the device, too: what is held, interpolated or shared, or has the palette of a detail, has
/// the rows of the heap, while the crowd grows, fades and changes what it plays.
pub fn rows_with_tiers_equal_the_heap() {
    let tiers = |number: usize| {
        let own = Tier { rate: 4, interpolate: number == 1, ..Tier::default() };
        let shared = Tier { shared_error: Some(0.08), ..Tier::default() };
        let tier = match number {
            0 | 1 => own,
            2 => shared,
            _ => Tier { detail: Some(TierDetail { level: 2, ..TierDetail::default() }), ..own },
        };
        let full = Tier { height: 10.0, rate: 2, interpolate: true, ..Tier::default() };
        Tiers { tiers: if number == 3 { vec![full, tier] } else { vec![tier] }, ..Tiers::default() }
    };
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            let cases = [(0, true), (1, true), (2, true), (3, true), (1, false)];
            for (number, mapped) in cases {
                let options = GpuBoneOptions { mapped, ..GpuBoneOptions::default() };
                let mut bones = GpuBoneBuffer::new(&gpu, backend, &options).unwrap();
                // Twins, since a frame for other memory is a frame.
                let rig = match number {
                    3 => Arc::new(phalanx::import::mannequin().unwrap()),
                    _ => rig_of_clips(4),
                };
                let mut twins = [0, 1].map(|_| crowd_of(std::slice::from_ref(&rig), 40));
                for (crowd, ..) in &mut twins {
                    crowd.set_tiers(Some(tiers(number))).unwrap();
                }
                let mut heap = BoneBuffer::new();
                let mut shares = false;
                for frame in 0..20 {
                    for (crowd, all, _) in &mut twins {
                        if frame == 7 {
                            let more = all[0].rig();
                            crowd.spawn_many(more, 60, all).unwrap();
                        }
                        let clip = crowd.clip_by_index(all[0].rig(), frame % 4).unwrap();
                        let who = all[frame * 7 % all.len()];
                        let options = PlayOptions::default();
                        crowd.fade_to(who, clip, 0.1, &options).unwrap();
                        crowd.advance(1.0 / 60.0).unwrap();
                        if number == 3 {
                            // Everybody comes to the other tier now and then.
                            let height = |n: usize| ((n + frame / 3) % 5) as f32 * 5.0 + 1.0;
                            let heights: Vec<f32> = (0..all.len()).map(height).collect();
                            crowd.set_importances(all[0].rig(), &heights).unwrap();
                        }
                    }
                    let [(on_device, all, _), (on_heap, others, _)] = &mut twins;
                    bones.evaluate(on_device, &gpu).unwrap();
                    on_heap.evaluate(&mut heap);
                    let rows = bones.read(&gpu).unwrap();
                    for (n, (&a, &b)) in all.iter().zip(others.iter()).enumerate() {
                        let a = on_device.shown(a).unwrap();
                        let b = on_heap.shown(b).unwrap();
                        let at =
                            format!("{backend}, {number}, mapped {mapped}, frame {frame}: {n}");
                        assert_eq!(rows[a.from], heap.rows()[b.from], "{at}");
                        assert_eq!(rows[a.to], heap.rows()[b.to], "{at}");
                        assert_eq!(a.factor, b.factor, "{at}");
                        shares |= a.shared;
                    }
                }
                assert_eq!(shares, number == 2);
            }
        }
    }
}

/// A hook and a whole pose on the device: the rows of the heap.
pub fn rows_of_a_hook_equal_the_heap() {
    let (mut crowd, all, _) = crowd_of(&[chain(20)], 40);
    let rig = all[0].rig();
    let by = crowd.add_modifier(rig, Hook::default()).unwrap();
    crowd.set_targets(by, &all[..25], &[Default::default()], &[1.0]).unwrap();
    let joints = crowd.rig(rig).unwrap().skeleton().len();
    let pose = vec![Trs { translation: glam::Vec3::Y, ..Trs::IDENTITY }; 10 * joints];
    crowd.set_poses(rig, &all[20..30], &pose, PoseSpace::Local, &[0.5]).unwrap();
    let hook = |id: InstanceId, pose: &mut PoseMut<'_>, _| {
        let local = pose.local(3).unwrap();
        let rotation = glam::Quat::from_rotation_x(0.1 * id.index() as f32);
        pose.set_local(3, Trs { rotation, ..local }).unwrap();
    };
    let mut heap = BoneBuffer::new();
    crowd.evaluate(&mut heap);
    let plain = heap.clone();
    crowd.evaluate_with(&mut heap, &hook);
    assert!(plain != heap);
    let expected: Vec<_> = all.iter().map(|&id| crowd.palette_range(id).unwrap()).collect();
    let gpu = open();
    for backend in PaletteBackend::ALL {
        for mapped in [true, false] {
            let options = GpuBoneOptions { mapped, ..GpuBoneOptions::default() };
            let mut bones = GpuBoneBuffer::new(&gpu, backend, &options).unwrap();
            bones.evaluate_with(&mut crowd, &gpu, &hook).unwrap();
            let rows = bones.read(&gpu).unwrap();
            for (&id, expected) in all.iter().zip(&expected) {
                let range = crowd.palette_range(id).unwrap();
                assert_eq!(
                    rows[range],
                    heap.rows()[expected.clone()],
                    "{backend}, mapped {mapped}"
                );
            }
        }
    }
}
