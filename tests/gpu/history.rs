//! Sequences of frames as shaders read them: the previous frame, carried rows, and both ways of uploading. All rows
//! must equal those of a twin crowd in heap memory.

use crate::models::chain;
use crate::readback::{FrameRows, Readback, RowReader};
use crate::support::{open, paged};
use crate::twins::{Rows, Twins};
use phalanx::crowd::InstanceId;
use phalanx::gpu::{BoneRow, Gpu, GpuBoneBuffer, GpuBoneOptions, PaletteBackend};
use std::collections::HashMap;

/// Joints of the two rigs: instances of both fit a page of 100 rows, in other numbers.
const RIGS: [usize; 2] = [20, 33];

/// Palettes that are being read back, and their instances.
struct InstanceReadback {
    instances: Vec<InstanceId>,
    readback: Readback,
}

impl InstanceReadback {
    fn new(
        gpu: &Gpu,
        reader: &RowReader,
        bones: &GpuBoneBuffer,
        places: impl IntoIterator<Item = (InstanceId, BoneRow)>,
        expected: &Rows,
    ) -> Self {
        let (instances, places): (Vec<_>, Vec<_>) = places.into_iter().unzip();
        let lengths = instances.iter().map(|id| expected[id].len());
        let wanted: Vec<_> = places.into_iter().zip(lengths).collect();
        Self { readback: reader.copy(gpu, bones, &wanted), instances }
    }

    fn assert_equal(self, gpu: &Gpu, expected: &Rows, what: &str) {
        for (id, rows) in self.instances.iter().zip(self.readback.palettes(gpu)) {
            assert_eq!(rows, expected[id], "{what}, {id:?}");
        }
    }
}

/// The places of all visible instances; the others must have none.
fn places(twins: &Twins, bones: &GpuBoneBuffer, shown: &Rows) -> Vec<(InstanceId, BoneRow)> {
    let place = |&id: &InstanceId| {
        let range = twins.crowd.palette_range(id);
        assert_eq!(range.is_some(), shown.contains_key(&id), "{id:?}");
        Some((id, bones.locate(&range?).expect("it is shown")))
    };
    twins.all.iter().filter_map(place).collect()
}

/// Instances are spawned, despawned, hidden and not scheduled between frames, and take the rows of others.
/// Shaders read the rows of the previous frame as they were then.
pub fn the_frame_before_has_its_rows() {
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            let mut bones = GpuBoneBuffer::new(
                &gpu,
                backend,
                &GpuBoneOptions { previous: true, ..GpuBoneOptions::default() },
            )
            .unwrap();
            let [now, then] =
                [FrameRows::Current, FrameRows::Previous].map(|f| RowReader::new(&gpu, backend, f));
            let mut twins = Twins::new(&RIGS.map(chain), 12);
            let mut before = twins.rows();
            bones.evaluate(&mut twins.crowd, &gpu).unwrap();
            let (mut taken, mut hidden, mut carried) = (0, 0, 0);
            for frame in 0..16 {
                let old: HashMap<_, _> = places(&twins, &bones, &before).into_iter().collect();
                twins.step(1 + frame % 3);
                let rows = twins.rows();
                let upload = bones.evaluate(&mut twins.crowd, &gpu).unwrap();
                carried += upload.frame.carried;
                let mut kept = Vec::new();
                for &id in &twins.all {
                    let range = twins.crowd.shown(id).filter(|s| s.stayed).map(|s| s.from);
                    let (was, is) = (before.contains_key(&id), rows.contains_key(&id));
                    // New instances had none, also if they reuse an index.
                    assert_eq!(range.is_some(), was && is, "{id:?}");
                    hidden += usize::from(was && !is);
                    let Some(range) = range else {
                        let new = twins.crowd.palette_range(id);
                        let new = new.and_then(|range| bones.locate(&range));
                        taken += usize::from(old.values().any(|old| Some(*old) == new));
                        continue;
                    };
                    let place = bones.locate_previous(&range).expect("it was shown");
                    assert_eq!(old.get(&id), Some(&place), "{id:?}");
                    assert_eq!(bones.locate(&range), Some(place), "{id:?}");
                    kept.push((id, place));
                }
                let what = format!("{backend}, frame {frame}");
                let was = InstanceReadback::new(&gpu, &then, &bones, kept, &before);
                was.assert_equal(&gpu, &before, &format!("{what}, the frame before"));
                let shown = places(&twins, &bones, &rows);
                let is = InstanceReadback::new(&gpu, &now, &bones, shown, &rows);
                is.assert_equal(&gpu, &rows, &what);
                before = rows;
            }
            // All of it has happened.
            let least = taken.min(hidden).min(carried);
            assert!(least > 10, "{taken} taken, {hidden} hidden, {carried} carried");
        }
    }
}

/// Rows are uploaded through mapped buffers, through the heap (as when the ring has no free buffer), or alternately.
/// Shaders read the same rows either way, and rows of instances that are not scheduled are not uploaded, while the
/// crowd grows.
pub fn both_ways_of_uploading() {
    let patterns: [fn(usize) -> bool; 3] = [|_| true, |_| false, |frame| frame % 5 < 2];
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            for mapped in patterns {
                let mut bones =
                    GpuBoneBuffer::new(&gpu, backend, &GpuBoneOptions::default()).unwrap();
                let ways = play(&gpu, &mut bones, mapped);
                // The ring may run dry behind a slow device, but does not begin so.
                assert_eq!(ways[0], mapped(0));
                let wrong = |(frame, &was_mapped)| was_mapped && !mapped(frame);
                assert!(!ways.iter().enumerate().any(wrong), "{ways:?}");
            }
        }
    }
}

/// Frames of a growing crowd, none of which waits for the device; whether each was mapped.
fn play(gpu: &Gpu, bones: &mut GpuBoneBuffer, mapped: fn(usize) -> bool) -> Vec<bool> {
    let backend = bones.backend();
    let reader = RowReader::new(gpu, backend, FrameRows::Current);
    let mut twins = Twins::new(&RIGS.map(chain), 8);
    let (mut frames, mut ways) = (Vec::new(), Vec::new());
    let mut carried = 0;
    for frame in 0..14 {
        twins.step(3);
        let rows = twins.rows();
        let mapped = mapped(frame);
        bones.set_options(&GpuBoneOptions { mapped, ..GpuBoneOptions::default() });
        let generation = bones.generation();
        let upload = bones.evaluate(&mut twins.crowd, gpu).unwrap();
        // Carried rows are not uploaded, and copied only to pages that have grown.
        let grown = bones.generation() != generation;
        assert!(grown || upload.carried == 0, "{upload:?}");
        let stride = |joints: usize| joints.next_multiple_of(backend.align()) as u64 * 48;
        let sent = upload.frame.instances as u64;
        assert!(upload.bytes <= sent * stride(RIGS[1]), "{upload:?}");
        carried += upload.frame.carried;
        ways.push(upload.mapped);
        let shown = places(&twins, bones, &rows);
        let readback = InstanceReadback::new(gpu, &reader, bones, shown, &rows);
        let what = format!("{backend}, frame {frame}, mapped: {}", upload.mapped);
        frames.push((readback, rows, what));
    }
    for (readback, rows, what) in frames {
        readback.assert_equal(gpu, &rows, &what);
    }
    assert!(carried > 60, "{carried} carried");
    ways
}
