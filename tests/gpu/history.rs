//! Frames one after another, as shaders see them: the frame before, what is carried over, and both ways of
//! uploading. Everyone's rows are those of a twin crowd in heap memory.

use crate::models::chain;
use crate::seen::{Frame, Reader, Seen};
use crate::support::{open, paged};
use crate::twins::{Rows, Twins};
use phalanx::crowd::InstanceId;
use phalanx::gpu::{BonePlace, Gpu, GpuBoneBuffer, GpuBoneOptions, PaletteBackend, UploadWay};
use std::collections::HashMap;

/// Joints of the two rigs: instances of both fit a page of 100 rows, in other numbers.
const RIGS: [usize; 2] = [20, 33];

/// Palettes that were asked for, and whose they are.
struct Asked {
    whose: Vec<InstanceId>,
    seen: Seen,
}

impl Asked {
    fn new(
        gpu: &Gpu,
        reader: &Reader,
        bones: &GpuBoneBuffer,
        places: impl IntoIterator<Item = (InstanceId, BonePlace)>,
        expected: &Rows,
    ) -> Self {
        let (whose, places): (Vec<_>, Vec<_>) = places.into_iter().unzip();
        let lengths = whose.iter().map(|id| expected[id].len());
        let wanted: Vec<_> = places.into_iter().zip(lengths).collect();
        Self {
            seen: reader.copy(gpu, bones, &wanted),
            whose,
        }
    }

    fn assert_equal(self, gpu: &Gpu, expected: &Rows, what: &str) {
        for (id, rows) in self.whose.iter().zip(self.seen.palettes(gpu)) {
            assert_eq!(rows, expected[id], "{what}, {id:?}");
        }
    }
}

/// Where everyone is who is shown; nobody else is anywhere.
fn places(twins: &Twins, bones: &GpuBoneBuffer, shown: &Rows) -> Vec<(InstanceId, BonePlace)> {
    let place = |&id: &InstanceId| {
        let range = twins.crowd.palette_range(id);
        assert_eq!(range.is_some(), shown.contains_key(&id), "{id:?}");
        Some((id, bones.locate(&range?).expect("it is shown")))
    };
    twins.all.iter().filter_map(place).collect()
}

/// Instances come, go, hide and rest between frames; rows move within and between pages. What shaders see
/// of the frame before is what everyone showed then.
pub fn the_frame_before_has_its_rows() {
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            let mut bones = GpuBoneBuffer::new(
                &gpu,
                GpuBoneOptions {
                    previous: true,
                    ..GpuBoneOptions::new(backend)
                },
            )
            .unwrap();
            let [now, then] = [Frame::Now, Frame::Before].map(|f| Reader::new(&gpu, backend, f));
            let mut twins = Twins::new(&RIGS.map(chain), 12);
            let mut before = twins.rows();
            bones.evaluate(&mut twins.crowd, &gpu).unwrap();
            let (mut moved, mut hidden, mut carried) = (0, 0, 0);
            for frame in 0..16 {
                let old: HashMap<_, _> = places(&twins, &bones, &before).into_iter().collect();
                twins.step(1 + frame % 3);
                let rows = twins.rows();
                let upload = bones.evaluate(&mut twins.crowd, &gpu).unwrap();
                carried += upload.frame.carried;
                let mut kept = Vec::new();
                for &id in &twins.all {
                    let range = twins.crowd.previous_range(id);
                    // Newcomers had none, whosever place they took.
                    assert_eq!(range.is_some(), before.contains_key(&id), "{id:?}");
                    let Some(range) = range else { continue };
                    let place = bones.locate_previous(&range).expect("it was shown");
                    assert_eq!(old.get(&id), Some(&place), "{id:?}");
                    let new = twins.crowd.palette_range(id).and_then(|r| bones.locate(&r));
                    hidden += usize::from(new.is_none());
                    moved += usize::from(new.is_some_and(|new| new != place));
                    kept.push((id, place));
                }
                let what = format!("{backend}, frame {frame}");
                let was = Asked::new(&gpu, &then, &bones, kept, &before);
                was.assert_equal(&gpu, &before, &format!("{what}, the frame before"));
                let shown = places(&twins, &bones, &rows);
                let is = Asked::new(&gpu, &now, &bones, shown, &rows);
                is.assert_equal(&gpu, &rows, &what);
                before = rows;
            }
            // All of it has happened.
            let least = moved.min(hidden).min(carried);
            assert!(
                least > 10,
                "{moved} moved, {hidden} hidden, {carried} carried"
            );
        }
    }
}

/// Rows go through mapped buffers, or by way of the heap as they do when the ring has none at hand, or now
/// so and now so. Shaders see the same by either way, and those of who is not due by neither, while the
/// crowd grows.
pub fn both_ways_of_uploading() {
    let patterns: [fn(usize) -> bool; 3] = [|_| true, |_| false, |frame| frame % 5 < 2];
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            for mapped in patterns {
                let mut bones = GpuBoneBuffer::new(&gpu, GpuBoneOptions::new(backend)).unwrap();
                let ways = play(&gpu, &mut bones, mapped);
                // The ring may run dry behind a slow device, but does not begin so.
                let first = [UploadWay::Written, UploadWay::Mapped][usize::from(mapped(0))];
                assert_eq!(ways[0], first);
                let wrong = |(frame, &way)| !mapped(frame) && way == UploadWay::Mapped;
                assert!(!ways.iter().enumerate().any(wrong), "{ways:?}");
            }
        }
    }
}

/// Frames of a growing crowd, none of which waits for the device; the ways that they went.
fn play(gpu: &Gpu, bones: &mut GpuBoneBuffer, mapped: fn(usize) -> bool) -> Vec<UploadWay> {
    let backend = bones.options().backend;
    let reader = Reader::new(gpu, backend, Frame::Now);
    let mut twins = Twins::new(&RIGS.map(chain), 8);
    let (mut frames, mut ways) = (Vec::new(), Vec::new());
    let mut carried = 0;
    for frame in 0..14 {
        twins.step(3);
        let rows = twins.rows();
        bones.set_mapped(mapped(frame));
        let upload = bones.evaluate(&mut twins.crowd, gpu).unwrap();
        // What is carried over is the device's to copy: nothing of it is sent.
        let stride = |joints: usize| joints.next_multiple_of(backend.align()) as u64 * 48;
        let least = upload.frame.carried as u64 * RIGS[0] as u64 * 48;
        let most = upload.frame.carried as u64 * stride(RIGS[1]);
        assert!((least..=most).contains(&upload.carried), "{upload:?}");
        let sent = upload.frame.instances as u64;
        assert!(upload.bytes <= sent * stride(RIGS[1]), "{upload:?}");
        carried += upload.frame.carried;
        ways.push(upload.way);
        let shown = places(&twins, bones, &rows);
        let asked = Asked::new(gpu, &reader, bones, shown, &rows);
        let what = format!("{backend}, frame {frame}, {:?}", upload.way);
        frames.push((asked, rows, what));
    }
    for (asked, rows, what) in frames {
        asked.assert_equal(gpu, &rows, &what);
    }
    assert!(carried > 60, "{carried} carried");
    ways
}
