//! A caller's memory that panics leaves the crowd whole: the next frame writes every row.

use phalanx::crowd::{
    BoneBuffer, Crowd, FrameId, InstanceId, PaletteMemory, PlayOptions, RowLayout,
};
use phalanx::math::Affine3x4;
use phalanx::scene::SceneGraph;
use phalanx_testkit::chain::rig;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Rows of an instance.
const PALETTE: usize = 20;
/// Instances per rig: enough for several ranges per worker.
const EACH: usize = 300;

/// Where the memory panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Never,
    /// When the palette of this instance is written.
    Write(usize),
    /// When the rows are split for the first time: no worker has begun.
    Split,
}

struct Memory<'a> {
    rows: &'a mut [Affine3x4],
    first: usize,
    at: At,
}

impl PaletteMemory for Memory<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        if self.at == At::Split {
            resume_unwind(Box::new("as meant"));
        }
        let Self { first, at, .. } = self;
        let (now, later) = self.rows.split_at_mut(rows);
        let part = |rows, first| Memory { rows, first, at };
        (part(now, first), part(later, first + rows))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        // Not by `panic!`, which prints a message that looks like a failure.
        if self.at == At::Write((self.first + row) / PALETTE) {
            resume_unwind(Box::new("as meant"));
        }
        self.rows[row..row + palette.len()].copy_from_slice(palette);
    }
}

/// A crowd of two rigs with irregular timelines: every fourth instance is mid-fade, some have overrides,
/// some are not scheduled, some are mirrored.
struct Stage {
    crowd: Crowd,
    scene: SceneGraph,
    instances: Vec<InstanceId>,
    rows: Vec<Affine3x4>,
}

impl Stage {
    /// With overrides on the first rig, or on none. The workers' scratch is shared by all rigs, and is reserved in
    /// every frame for a rig with overrides: without overrides a missing part after a panic would show.
    fn new(overrides: bool) -> Self {
        let mut crowd = Crowd::new();
        let mut scene = SceneGraph::new();
        let mut instances = Vec::new();
        for with_overrides in [overrides, false] {
            let id = crowd.add_rig(rig()).unwrap();
            let clips = [0, 1, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
            for n in 0..EACH {
                let i = crowd.spawn(id).unwrap();
                let options = PlayOptions { time: 0.017 * n as f64, ..PlayOptions::default() };
                crowd.play(i, clips[1], &options).unwrap();
                if n % 4 == 0 {
                    crowd.fade_to(i, clips[n % 3], 1.0, &options).unwrap();
                }
                if with_overrides && n % 11 == 0 {
                    crowd.player(i).unwrap().set_override(3, Affine3x4::IDENTITY).unwrap();
                }
                if n % 29 == 0 {
                    crowd.mirror(i, &mut scene, None).unwrap();
                }
                crowd.set_scheduled(i, n % 5 != 0).unwrap();
                instances.push(i);
            }
        }
        Self { crowd, scene, instances, rows: Vec::new() }
    }

    /// A frame into rows that hold no number before; its name, and how many instances were carried.
    fn frame(&mut self, at: At, compact: bool, holds: Option<FrameId>) -> (FrameId, usize) {
        self.crowd.advance(1.0 / 30.0).unwrap();
        let layout = RowLayout { align: 1, compact, holds };
        let mut schedule = self.crowd.schedule(&layout);
        let nothing = Affine3x4 { rows: [[f32::NAN; 4]; 3] };
        self.rows = vec![nothing; schedule.rows()];
        let memory = Memory { rows: &mut self.rows[..], first: 0, at };
        let (id, carried) = (schedule.id(), schedule.stats().carried);
        let unwound = catch_unwind(AssertUnwindSafe(|| schedule.write(memory)));
        assert_eq!(unwound.is_err(), at != At::Never, "{at:?}");
        (id, carried)
    }

    /// The joints of all mirrors, brought up to date.
    fn joints(&mut self) -> Vec<[f64; 12]> {
        let mirrored = self.crowd.update_scene(&mut self.scene).mirrored;
        assert_eq!(mirrored, 2 * EACH.div_ceil(29));
        let worlds = self.scene.worlds().iter();
        worlds.map(|w| w.to_cols_array()).collect()
    }
}

fn bits(rows: &[Affine3x4]) -> Vec<u32> {
    let numbers = rows.iter().flat_map(|m| m.rows.iter().flatten());
    numbers.map(|x| x.to_bits()).collect()
}

#[test]
fn frames_after_a_panic_are_those_of_a_crowd_that_never_panicked() {
    let last = 2 * EACH - 1;
    let points = [
        At::Write(0),
        At::Write(3),
        At::Write(EACH / 2),
        At::Write(EACH),
        At::Write(last),
        At::Split,
    ];
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // One worker has nothing to split.
        for at in points.into_iter().filter(|at| threads > 1 || *at != At::Split) {
            for compact in [false, true] {
                for overrides in [false, true] {
                    pool.install(|| after_a_panic(at, compact, overrides));
                }
            }
        }
    }
}

fn after_a_panic(at: At, compact: bool, overrides: bool) {
    let (mut broken, mut whole) = (Stage::new(overrides), Stage::new(overrides));
    let (first, _) = broken.frame(At::Never, compact, None);
    whole.frame(At::Never, compact, None);
    let same = |broken: &Stage, whole: &Stage| {
        assert_eq!(broken.rows.len(), 2 * EACH * PALETTE);
        assert!(broken.rows.iter().all(Affine3x4::is_finite), "{at:?}");
        assert!(bits(&broken.rows) == bits(&whole.rows), "{at:?} {compact}");
        for (&a, &b) in broken.instances.iter().zip(&whole.instances) {
            let ranges = (broken.crowd.palette_range(a), whole.crowd.palette_range(b));
            assert!(ranges.0.is_some() && ranges.0 == ranges.1);
        }
    };
    same(&broken, &whole);
    let (cut, _) = broken.frame(at, compact, None);
    whole.frame(At::Never, compact, None);
    assert_eq!(broken.joints(), whole.joints());
    // Neither the frame before nor the one that was cut short counts as held: nothing is carried over.
    for holds in [cut, first] {
        let (_, carried) = broken.frame(At::Never, compact, Some(holds));
        assert_eq!(carried, 0);
        whole.frame(At::Never, compact, None);
        same(&broken, &whole);
        assert_eq!(broken.joints(), whole.joints());
        broken.frame(at, compact, None);
        whole.frame(At::Never, compact, None);
    }
    // Into heap memory, too.
    let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
    broken.crowd.evaluate(&mut buffers[0]);
    whole.crowd.evaluate(&mut buffers[1]);
    assert_eq!(buffers[0].hash(), buffers[1].hash());
    // Frames are carried over again.
    let (held, _) = broken.frame(At::Never, compact, None);
    let (_, carried) = broken.frame(At::Never, true, Some(held));
    assert_eq!(carried, 2 * EACH / 5);
}
