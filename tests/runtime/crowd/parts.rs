//! A frame in parts has the bits of a frame by rayon, and is complete only when all parts have been run.

use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, RowLayout};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain;
use phalanx_testkit::lively::Dice;
use phalanx_testkit::ruler::ruler;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Rigs of these numbers of instances, some of them hidden.
fn crowd(rigs: &[usize]) -> (Crowd, Vec<InstanceId>) {
    let mut dice = Dice(3);
    let mut crowd = Crowd::with_tag(9).unwrap();
    let mut all = Vec::new();
    for (n, &count) in rigs.iter().enumerate() {
        let data = [chain::rig(), ruler()][n % 2].clone();
        let rig = crowd.add_rig(data).unwrap();
        let clips: Vec<_> = (0..3).map(|c| crowd.clip_by_index(rig, c).unwrap()).collect();
        for _ in 0..count {
            let i = crowd.spawn(rig).unwrap();
            let options =
                PlayOptions { time: 0.01 * dice.below(100) as f64, ..PlayOptions::default() };
            crowd.play(i, clips[dice.below(3)], &options).unwrap();
            crowd.set_visible(i, dice.below(8) > 0).unwrap();
            all.push(i);
        }
    }
    (crowd, all)
}

/// A frame on three threads, in at most `parts` parts.
fn in_parts(crowd: &mut Crowd, buffer: &mut BoneBuffer, parts: usize) {
    let (mut schedule, rows) = crowd.schedule_into(buffer);
    let parts = schedule.parts(parts, rows);
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for (n, part) in parts.enumerate() {
        lists[n % 3].push(part);
    }
    std::thread::scope(|threads| {
        for list in lists {
            threads.spawn(|| list.into_iter().for_each(|part| part()));
        }
    });
}

#[test]
fn parts_have_the_bits_of_a_whole_frame() {
    let many = vec![10; 60];
    for rigs in [&[1][..], &[0], &[], &[0, 3, 0, 0, 500, 0, 2, 0], &[700, 90], &many] {
        let (mut whole, all) = crowd(rigs);
        let (mut split, _) = crowd(rigs);
        let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
        let mut dice = Dice(7);
        for parts in [1, 2, 3, 7, 64, 5000, 0, 3, 3, 2] {
            // From the second frame on, some rows are kept.
            for &i in &all {
                let due = dice.below(3) > 0;
                let shown = dice.below(20) > 0;
                for crowd in [&mut whole, &mut split] {
                    crowd.set_scheduled(i, due).unwrap();
                    crowd.set_visible(i, shown).unwrap();
                }
            }
            whole.advance(0.02).unwrap();
            split.advance(0.02).unwrap();
            let stats = whole.evaluate(&mut buffers[0]);
            in_parts(&mut split, &mut buffers[1], parts);
            assert_eq!(buffers[0].hash(), buffers[1].hash(), "{rigs:?} {parts}");
            let (schedule, _) = split.schedule_into(&mut buffers[1]);
            assert!(schedule.follows() && stats.rows <= schedule.rows());
            // That schedule was not written.
            in_parts(&mut split, &mut buffers[1], 2);
        }
    }
}

#[test]
fn parts_are_about_equal_and_at_most_as_many_as_asked() {
    let (mut crowd, _) = crowd(&[10; 100]);
    let mut schedule = crowd.schedule(&RowLayout::default());
    let rows = schedule.written_rows();
    let mut memory = vec![Affine3x4::IDENTITY; rows];
    assert_eq!(schedule.parts(7, &mut memory[..]).len(), 7);
    /// The rows of a memory, and those that are left.
    struct Count<'a>(&'a std::sync::Mutex<Vec<usize>>, usize, usize);
    impl phalanx::crowd::PaletteMemory for Count<'_> {
        fn split_at(self, rows: usize) -> (Self, Self) {
            let rest = self.1 - rows;
            (Self(self.0, rows, rows), Self(self.0, rest, rest))
        }
        fn write(&mut self, _: usize, palette: &[Affine3x4]) {
            self.2 -= palette.len();
            if self.2 == 0 {
                self.0.lock().unwrap().push(self.1);
            }
        }
    }
    let ends = std::sync::Mutex::new(Vec::new());
    schedule.parts(7, Count(&ends, rows, rows)).for_each(|part| part());
    // Every part was filled to its end. They differ by a bank.
    let ends = ends.into_inner().unwrap();
    assert_eq!((ends.len(), ends.iter().sum::<usize>()), (7, rows));
    let most = ends.iter().max().unwrap() - ends.iter().min().unwrap();
    assert!(most <= 2 * 16 * 20, "{ends:?}");
}

#[test]
fn aligned_rows_and_fresh_rows_are_those_of_write() {
    for compact in [false, true] {
        let layout = |holds| RowLayout { align: 16, compact, holds };
        let (mut whole, all) = crowd(&[40, 30, 5]);
        let (mut split, _) = crowd(&[40, 30, 5]);
        let mut last = [None, None];
        for frame in 0..6 {
            for (n, &i) in all.iter().enumerate() {
                whole.set_scheduled(i, n % 3 == frame % 3).unwrap();
                split.set_scheduled(i, n % 3 == frame % 3).unwrap();
            }
            let mut schedule = whole.schedule(&layout(last[0]));
            let mut rows = vec![Affine3x4::IDENTITY; schedule.written_rows()];
            schedule.write(&mut rows[..]);
            last[0] = Some(schedule.id());
            let mut schedule = split.schedule(&layout(last[1]));
            assert_eq!(schedule.follows(), frame > 0);
            let mut parts = vec![Affine3x4::IDENTITY; schedule.written_rows()];
            schedule.parts(4, &mut parts[..]).for_each(|part| part());
            last[1] = Some(schedule.id());
            assert_eq!(rows, parts, "{compact}");
        }
    }
}

#[test]
fn a_frame_of_which_a_part_was_not_run_is_evaluated_whole() {
    let (mut crowd, all) = crowd(&[30, 30]);
    let mut buffer = BoneBuffer::new();
    let mut expected = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let visible = crowd.evaluate(&mut buffer).instances;
    let hold = |crowd: &mut Crowd, held: bool| {
        for &i in &all {
            crowd.set_scheduled(i, !held).unwrap();
        }
    };
    hold(&mut crowd, true);
    assert_eq!(crowd.evaluate(&mut buffer).instances, 0);
    type Frame<'a> = &'a dyn Fn(&mut Crowd, &mut BoneBuffer);
    let incomplete: [Frame<'_>; 4] = [
        &|crowd, buffer| {
            let (mut schedule, rows) = crowd.schedule_into(buffer);
            let _ = schedule.parts(3, rows);
        },
        &|crowd, buffer| {
            let (mut schedule, rows) = crowd.schedule_into(buffer);
            let mut parts: Vec<_> = schedule.parts(3, rows).collect();
            drop(parts.remove(1));
            parts.into_iter().for_each(|part| part());
        },
        &|crowd, buffer| {
            let (mut schedule, rows) = crowd.schedule_into(buffer);
            schedule.parts(3, rows).take(2).for_each(|part| part());
        },
        &|crowd, buffer| {
            let (mut schedule, rows) = crowd.schedule_into(buffer);
            let mut parts = schedule.parts(3, rows);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _part = parts.next();
                resume_unwind(Box::new("as meant"));
            }));
            assert!(unwound.is_err());
            parts.for_each(|part| part());
        },
    ];
    for incomplete in incomplete {
        hold(&mut crowd, false);
        incomplete(&mut crowd, &mut buffer);
        hold(&mut crowd, true);
        assert_eq!(crowd.evaluate(&mut buffer).instances, visible);
        crowd.evaluate(&mut expected);
        assert_eq!(buffer.hash(), expected.hash());
        crowd.evaluate(&mut buffer);
        assert_eq!(crowd.evaluate(&mut buffer).instances, 0, "and then kept again");
    }
    // One that was run in parts is kept.
    in_parts(&mut crowd, &mut buffer, 3);
    assert_eq!(crowd.evaluate(&mut buffer).instances, 0);
}

#[test]
fn what_changes_between_frames_in_parts_counts() {
    let (mut whole, _) = crowd(&[20, 20, 20]);
    let (mut split, _) = crowd(&[20, 20, 20]);
    let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
    let mut dice = Dice(11);
    let saved = split.snapshot();
    for frame in 0..200 {
        for crowd in [&mut whole, &mut split] {
            let mut dice = Dice(dice.0);
            let all: Vec<_> = crowd.instances().collect();
            let pick = all[dice.below(all.len())];
            match dice.below(5) {
                0 => drop(crowd.spawn(pick.rig()).unwrap()),
                1 if all.len() > 20 => crowd.despawn(pick).unwrap(),
                2 => {
                    let clip = crowd.clip_by_index(pick.rig(), 0).unwrap();
                    let clip = crowd.clip(clip).unwrap().clone();
                    crowd.add_clip(pick.rig(), clip).unwrap();
                }
                3 if frame % 17 == 0 => crowd.restore(&saved).unwrap(),
                _ => {}
            }
            crowd.advance(0.03).unwrap();
        }
        dice.below(2);
        whole.evaluate(&mut buffers[0]);
        in_parts(&mut split, &mut buffers[1], 4);
        assert_eq!(buffers[0].hash(), buffers[1].hash());
    }
}
