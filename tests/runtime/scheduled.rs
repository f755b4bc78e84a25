//! Instances that are not scheduled keep last frame's rows in every kind of memory, and nothing else changes.

use phalanx::crowd::{BoneBuffer, Crowd, FrameId, InstanceId, PaletteMemory, RowLayout};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx_workload::{hash01, standard_crowd};
use std::collections::HashMap;
use std::sync::Arc;

fn crowd(count: usize) -> (Crowd, Vec<InstanceId>) {
    standard_crowd(Arc::new(mannequin().unwrap()), &[], count).unwrap()
}

/// A slice that is written through `PaletteMemory`.
struct Written<'a>(&'a mut [Affine3x4]);

impl PaletteMemory for Written<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows.min(self.0.len()));
        (Self(now), Self(later))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        self.0[row..row + palette.len()].copy_from_slice(palette);
    }
}

/// Memory that is written like a device's: fresh rows in one piece, copied to where they belong.
#[derive(Default)]
struct Ring {
    align: usize,
    compact: bool,
    rows: Vec<Affine3x4>,
    holds: Option<FrameId>,
    copies: usize,
}

impl Ring {
    fn frame(&mut self, crowd: &mut Crowd) -> usize {
        let mut schedule = crowd.schedule(&RowLayout {
            align: self.align,
            compact: self.compact,
            holds: self.holds,
        });
        let poison = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
        self.rows.resize(schedule.rows(), poison);
        let stats = if self.compact {
            let mut fresh = vec![poison; schedule.written_rows()];
            let stats = schedule.write(Written(&mut fresh));
            schedule.scatter(|from, to| {
                self.rows[to..to + from.len()].copy_from_slice(&fresh[from]);
                self.copies += 1;
            });
            stats
        } else {
            assert_eq!(schedule.written_rows(), self.rows.len());
            schedule.write(Written(&mut self.rows))
        };
        self.holds = Some(schedule.id());
        stats.carried
    }
}

/// Instances are hidden, shown, spawned, despawned and scheduled at random. Rows of scheduled ones equal a crowd
/// evaluated in full, the others equal last frame's rows.
#[test]
fn rows_are_fresh_or_kept_and_never_stale() {
    for (lent, compact, align) in [
        (true, false, 1),
        (false, false, 1),
        (false, false, 16),
        (false, true, 1),
        (false, true, 16),
    ] {
        {
            let (mut crowd, mut all) = crowd(60);
            let rig = all[0].rig();
            let mut heap = BoneBuffer::new();
            let mut ring = Ring { align, compact, ..Ring::default() };
            let mut known: Vec<(InstanceId, Vec<Affine3x4>)> = Vec::new();
            let mut scheduled = HashMap::new();
            let (mut carried, mut fresh) = (0, 0);
            for frame in 0..40u32 {
                let roll =
                    |salt: u32, i: usize| hash01(u64::from(frame * 7919 + salt) * 1009 + i as u64);
                crowd.advance(1.0 / 30.0).unwrap();
                for (i, &id) in all.iter().enumerate() {
                    if roll(1, i) < 0.1 {
                        crowd.set_visible(id, roll(2, i) < 0.7).unwrap();
                    }
                    let wanted = roll(3, i) < 0.5;
                    crowd.set_scheduled(id, wanted).unwrap();
                    scheduled.insert(id, wanted);
                }
                if frame % 5 == 4 {
                    crowd.despawn(all.remove(frame as usize % 20)).unwrap();
                    let new = crowd.spawn(rig).unwrap();
                    crowd.set_scheduled(new, false).unwrap();
                    all.push(new);
                }

                let snapshot = crowd.snapshot();
                carried += match lent {
                    true => crowd.evaluate(&mut heap).carried,
                    false => ring.frame(&mut crowd),
                };
                let rows = match lent {
                    true => heap.rows(),
                    false => &ring.rows,
                };
                let (mut full, _) =
                    standard_crowd(crowd.rig(rig).unwrap().clone(), &[], 60).unwrap();
                full.restore(&snapshot).unwrap();
                let mut whole = BoneBuffer::new();
                full.evaluate(&mut whole);
                let mut now = Vec::new();
                for &id in &all {
                    let Some(range) = crowd.palette_range(id) else {
                        assert_eq!(full.palette_range(id), None);
                        continue;
                    };
                    assert_eq!(range.start % align, 0);
                    let rows = rows[range].to_vec();
                    let truth = &whole.rows()[full.palette_range(id).unwrap()];
                    let before = known.iter().find(|k| k.0 == id);
                    match before {
                        Some((_, before)) if rows == *before && !scheduled[&id] => {}
                        _ => {
                            assert_eq!(rows, truth, "frame {frame}, {id:?}");
                            fresh += 1;
                        }
                    }
                    now.push((id, rows));
                }
                known = now;
            }
            assert!(carried > 500 && fresh > 500, "{carried}, {fresh}");
        }
    }
}

#[test]
fn time_and_events_advance_for_unscheduled_instances() {
    let (mut crowd, all) = crowd(3);
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    for &id in &all {
        crowd.set_scheduled(id, false).unwrap();
    }
    let before = buffer.hash();
    for _ in 0..30 {
        crowd.advance(0.05).unwrap();
        let stats = crowd.evaluate(&mut buffer);
        assert_eq!((stats.instances, stats.carried, stats.bytes), (0, 3, 0));
    }
    assert_eq!(buffer.hash(), before);
    let (mut other, _) = standard_crowd(crowd.rig(all[0].rig()).unwrap().clone(), &[], 3).unwrap();
    for _ in 0..30 {
        other.advance(0.05).unwrap();
    }
    for &id in &all {
        crowd.set_scheduled(id, true).unwrap();
    }
    let mut expected = BoneBuffer::new();
    other.evaluate(&mut expected);
    crowd.evaluate(&mut buffer);
    assert_eq!(buffer, expected);
}

#[test]
fn another_buffer_gets_every_instance() {
    let (mut crowd, all) = crowd(5);
    let (mut a, mut b) = (BoneBuffer::new(), BoneBuffer::new());
    crowd.evaluate(&mut a);
    crowd.set_scheduled(all[2], false).unwrap();
    crowd.advance(0.1).unwrap();
    assert_eq!(crowd.evaluate(&mut a).carried, 1);
    assert_eq!(crowd.evaluate(&mut b).carried, 0);
    // The first buffer no longer holds the crowd's last frame.
    assert_eq!(crowd.evaluate(&mut a).carried, 0);
    assert_eq!(a, b);
    // The rows of a restored state are evaluated anew, where they were.
    let snapshot = crowd.snapshot();
    let rows = crowd.palette_range(all[2]);
    crowd.restore(&snapshot).unwrap();
    assert_eq!(crowd.evaluate(&mut a).carried, 0);
    assert_eq!(crowd.palette_range(all[2]), rows);
}

/// Nothing is copied but what is evaluated, in few pieces where neighbours are.
#[test]
fn rows_stay_where_they_are_while_others_take_turns() {
    let (mut crowd, all) = crowd(300);
    let mut ring = Ring { align: 16, compact: true, ..Ring::default() };
    ring.frame(&mut crowd);
    assert_eq!(ring.copies, 1);
    let places: Vec<_> = all.iter().map(|&i| crowd.palette_range(i)).collect();
    for turn in 0..12 {
        crowd.advance(0.02).unwrap();
        for (i, &id) in all.iter().enumerate() {
            crowd.set_scheduled(id, i / 100 == turn % 3).unwrap();
        }
        ring.copies = 0;
        assert_eq!(ring.frame(&mut crowd), 200);
        assert_eq!(ring.copies, 1);
        for (&i, place) in all.iter().zip(&places) {
            assert_eq!(&crowd.palette_range(i), place);
            assert_eq!(&crowd.shown(i).filter(|s| s.stayed).map(|s| s.from), place);
        }
    }
}

/// One that comes has no rows of the frame before, though it takes those of one that went.
#[test]
fn freed_rows_are_taken_next_and_have_no_frame_before() {
    let (mut crowd, all) = crowd(40);
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    assert!(all.iter().all(|&i| crowd.shown(i).filter(|s| s.stayed).map(|s| s.from).is_none()));
    crowd.evaluate(&mut buffer);
    assert!(all.iter().all(|&i| crowd.shown(i).filter(|s| s.stayed).map(|s| s.from) == crowd.palette_range(i)));
    let rows = crowd.palette_range(all[7]);
    crowd.despawn(all[7]).unwrap();
    let new = crowd.spawn(all[0].rig()).unwrap();
    assert_eq!(crowd.palette_range(new), None);
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.palette_range(new), rows);
    assert_eq!(crowd.shown(new).filter(|s| s.stayed).map(|s| s.from), None);
    crowd.set_visible(all[9], false).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(
        (crowd.palette_range(all[9]), crowd.shown(new).filter(|s| s.stayed).map(|s| s.from)),
        (None, rows)
    );
    crowd.set_visible(all[9], true).unwrap();
    crowd.evaluate(&mut buffer);
    assert_eq!(crowd.shown(all[9]).filter(|s| s.stayed).map(|s| s.from), None);
    assert_eq!(buffer.rows().len(), 40 * crowd.rig(new.rig()).unwrap().palette_len());
}

/// A snapshot holds which instances are scheduled, whatever their indices were used for since.
#[test]
fn snapshots_hold_which_instances_are_scheduled() {
    let (mut crowd, all) = crowd(12);
    crowd.set_scheduled(all[3], false).unwrap();
    let snapshot = crowd.snapshot();
    let play = |crowd: &mut Crowd| {
        crowd.restore(&snapshot).unwrap();
        let mut buffer = BoneBuffer::new();
        let mut hashes = Vec::new();
        let mut carried = 0;
        for _ in 0..5 {
            crowd.advance(0.05).unwrap();
            carried += crowd.evaluate(&mut buffer).carried;
            hashes.push(buffer.hash());
        }
        (hashes, carried)
    };
    let first = play(&mut crowd);
    // The first frame evaluates all, the others all but one.
    assert_eq!(first.1, 4);
    crowd.set_scheduled(all[3], true).unwrap();
    crowd.set_scheduled(all[5], false).unwrap();
    crowd.despawn(all[7]).unwrap();
    let new = crowd.spawn(all[7].rig()).unwrap();
    crowd.set_scheduled(new, false).unwrap();
    assert_eq!(play(&mut crowd), first);
}
