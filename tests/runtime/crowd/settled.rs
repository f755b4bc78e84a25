//! Frames that ask what the frame before asked keep its places; what changes after many of them counts.

use phalanx::crowd::{BoneBuffer, ClipId, Crowd, InstanceId, RigId, RowLayout};
use phalanx_testkit::ruler::{ROWS, held, ruler, shift, stands};

/// Frames after which places and plans have settled.
const FRAMES: usize = 4;

/// Three instances of one rig at 0.1, 0.2 and 0.3 m, one of another at 0.4 m.
struct Settled {
    crowd: Crowd,
    buffer: BoneBuffer,
    rigs: [RigId; 2],
    x: [ClipId; 2],
    all: [InstanceId; 4],
}

impl Settled {
    fn new() -> Self {
        let mut crowd = Crowd::new();
        let rigs = [0; 2].map(|_| crowd.add_rig(ruler()).unwrap());
        let x = rigs.map(|rig| crowd.clip_named(rig, "x").unwrap());
        let all = [0, 0, 0, 1].map(|rig: usize| crowd.spawn(rigs[rig]).unwrap());
        for (n, &i) in all.iter().enumerate() {
            let options = held(0.1 * (n + 1) as f64, 1.0);
            crowd.play(i, x[n / 3], &options).unwrap();
        }
        let mut settled = Self { crowd, buffer: BoneBuffer::new(), rigs, x, all };
        settled.settle();
        settled
    }

    fn settle(&mut self) {
        for _ in 0..FRAMES {
            self.crowd.evaluate(&mut self.buffer);
        }
    }

    /// Asserts, in this frame and in those after it, how far along x the rows of every visible instance are.
    #[track_caller]
    fn shows(&mut self, places: &[f32]) {
        for _ in 0..FRAMES {
            let stats = self.crowd.evaluate(&mut self.buffer);
            assert_eq!(stats.instances + stats.carried, places.len());
            let rows = self.buffer.rows();
            let ranges = self.crowd.instances().filter_map(|i| self.crowd.palette_range(i));
            let ranges: Vec<_> = ranges.collect();
            assert_eq!(ranges.len(), places.len());
            for (range, &x) in ranges.iter().zip(places) {
                stands(&rows[range.clone()], [x, 0.0, 0.0]);
            }
            // No two have the same ones.
            let mut starts: Vec<usize> = ranges.iter().map(|range| range.start).collect();
            starts.sort_unstable();
            assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= ROWS));
        }
    }

    fn range(&self, n: usize) -> Option<std::ops::Range<usize>> {
        self.crowd.palette_range(self.all[n])
    }
}

#[test]
fn only_visible_instances_are_evaluated() {
    let mut s = Settled::new();
    s.shows(&[0.1, 0.2, 0.3, 0.4]);
    s.crowd.set_visible(s.all[1], false).unwrap();
    let stats = s.crowd.evaluate(&mut s.buffer);
    assert_eq!((stats.instances, stats.rows), (3, 3 * ROWS));
    assert_eq!(s.range(1), None);
    assert_eq!(s.range(2), Some(2 * ROWS..3 * ROWS));
    assert_eq!(s.range(3), Some(3 * ROWS..4 * ROWS));
    s.shows(&[0.1, 0.3, 0.4]);
    s.crowd.set_visible(s.all[1], true).unwrap();
    s.crowd.set_visible(s.all[3], false).unwrap();
    s.shows(&[0.1, 0.2, 0.3]);
    s.crowd.set_visible(s.all[3], true).unwrap();
    s.shows(&[0.1, 0.2, 0.3, 0.4]);
}

#[test]
fn spawned_and_despawned_instances_change_the_rows() {
    let mut s = Settled::new();
    s.crowd.despawn(s.all[0]).unwrap();
    s.shows(&[0.2, 0.3, 0.4]);
    let new = s.crowd.spawn(s.rigs[0]).unwrap();
    s.shows(&[0.0, 0.2, 0.3, 0.4]);
    s.crowd.play(new, s.x[0], &held(0.5, 1.0)).unwrap();
    s.shows(&[0.5, 0.2, 0.3, 0.4]);
    let more = s.crowd.spawn(s.rigs[1]).unwrap();
    s.shows(&[0.5, 0.2, 0.3, 0.4, 0.0]);
    s.crowd.play(more, s.x[1], &held(0.6, 1.0)).unwrap();
    s.shows(&[0.5, 0.2, 0.3, 0.4, 0.6]);
}

#[test]
fn unscheduled_instances_keep_their_rows() {
    let mut s = Settled::new();
    s.crowd.set_scheduled(s.all[2], false).unwrap();
    let forward = |s: &mut Settled, time| {
        for (n, x) in [(0, s.x[0]), (2, s.x[0]), (3, s.x[1])] {
            s.crowd.player(s.all[n]).unwrap().set_time(0, x, time).unwrap();
        }
        s.crowd.evaluate(&mut s.buffer)
    };
    let stats = forward(&mut s, 0.7);
    assert_eq!((stats.instances, stats.carried), (3, 1));
    s.shows(&[0.7, 0.2, 0.3, 0.7]);
    // Others that go leave it where it is.
    s.crowd.set_visible(s.all[0], false).unwrap();
    s.shows(&[0.2, 0.3, 0.7]);
    s.crowd.set_scheduled(s.all[2], true).unwrap();
    let stats = forward(&mut s, 0.8);
    assert_eq!((stats.instances, stats.carried), (3, 0));
    s.shows(&[0.2, 0.8, 0.8]);
}

/// The totals of the last frame counted instances that the rig has lost since.
#[test]
fn a_rig_that_is_removed_takes_its_rows_along() {
    let mut s = Settled::new();
    s.crowd.despawn(s.all[3]).unwrap();
    s.crowd.remove_rig(s.rigs[1]).unwrap();
    s.shows(&[0.1, 0.2, 0.3]);
    // Another rig in its place.
    let rig = s.crowd.add_rig(ruler()).unwrap();
    s.shows(&[0.1, 0.2, 0.3]);
    let i = s.crowd.spawn(rig).unwrap();
    let x = s.crowd.clip_named(rig, "x").unwrap();
    s.crowd.play(i, x, &held(0.9, 1.0)).unwrap();
    s.shows(&[0.1, 0.2, 0.3, 0.9]);
}

/// Every call that changes what plays is in the next frame.
#[test]
fn what_plays_is_in_the_next_frame() {
    let mut s = Settled::new();
    let (i, x) = (s.all[0], s.x[0]);
    let y = s.crowd.clip_named(s.rigs[0], "y").unwrap();
    s.crowd.player(i).unwrap().set_weight(0, x, 0.5).unwrap();
    s.shows(&[0.05, 0.2, 0.3, 0.4]);
    // A clip without length along x adds its weight and nothing else: the rest pose has less.
    s.crowd.player(i).unwrap().add(0, y, &held(0.0, 1.0)).unwrap();
    s.shows(&[0.1 / 3.0, 0.2, 0.3, 0.4]);
    s.crowd.player(i).unwrap().set_weight(0, y, 0.0).unwrap();
    s.shows(&[0.05, 0.2, 0.3, 0.4]);
    s.crowd.player(i).unwrap().set_layer_weight(0, 0.5).unwrap();
    s.shows(&[0.025, 0.2, 0.3, 0.4]);
    s.crowd.player(i).unwrap().set_layer_weight(0, 0.0).unwrap();
    s.shows(&[0.0, 0.2, 0.3, 0.4]);
    s.crowd.player(i).unwrap().set_layer_weight(0, 1.0).unwrap();
    s.crowd.player(i).unwrap().set_weight(0, x, 1.0).unwrap();
    s.shows(&[0.1, 0.2, 0.3, 0.4]);
    s.crowd.player(i).unwrap().stop_layer(0, 0.0).unwrap();
    s.shows(&[0.0, 0.2, 0.3, 0.4]);
    s.crowd.player(s.all[1]).unwrap().set_override("base", shift(7.0)).unwrap();
    s.shows(&[0.0, 7.0, 0.3, 0.4]);
    s.crowd.player(s.all[1]).unwrap().clear_override("base").unwrap();
    s.shows(&[0.0, 0.2, 0.3, 0.4]);
}

/// A fade of a layer that ends in the step is in the next frame, too.
#[test]
fn what_a_step_ends_is_in_the_next_frame() {
    let mut s = Settled::new();
    let mut player = s.crowd.player(s.all[0]).unwrap();
    player.fade_layer(0, 0.0, 0.5).unwrap();
    let mut player = s.crowd.player(s.all[1]).unwrap();
    player.stop(0, s.x[0], 0.5).unwrap();
    s.shows(&[0.1, 0.2, 0.3, 0.4]);
    s.crowd.advance(0.25).unwrap();
    s.shows(&[0.05, 0.1, 0.3, 0.4]);
    s.crowd.advance(0.25).unwrap();
    s.shows(&[0.0, 0.0, 0.3, 0.4]);
    let mut player = s.crowd.player(s.all[0]).unwrap();
    player.fade_layer(0, 1.0, 0.5).unwrap();
    s.crowd.advance(0.125).unwrap();
    s.shows(&[0.025, 0.0, 0.3, 0.4]);
}

/// Where rows lie depends on what is asked, however often it was asked otherwise before.
#[test]
fn another_layout_gets_cells_of_its_own() {
    let mut s = Settled::new();
    let mut layout = |align, compact| {
        let layout = RowLayout { align, compact, holds: None };
        let rows = s.crowd.schedule(&layout).rows();
        let starts = s.all.map(|i| s.crowd.palette_range(i).unwrap().start);
        // Asked again, the frame before lies alike.
        s.crowd.schedule(&layout);
        let before =
            s.all.map(|i| s.crowd.shown(i).filter(|s| s.stayed).map(|s| s.from).unwrap().start);
        assert_eq!(before, starts);
        (rows, starts)
    };
    for _ in 0..FRAMES {
        assert_eq!(layout(1, false), (8, [0, 2, 4, 6]));
    }
    assert_eq!(layout(4, false), (16, [0, 4, 8, 12]));
    assert_eq!(layout(1, true), (8, [0, 2, 4, 6]));
    assert_eq!(layout(4, true), (16, [0, 4, 8, 12]));
    assert_eq!(layout(1, false), (8, [0, 2, 4, 6]));
}
