//! One frame of `GpuBoneBuffer`. Evaluated palettes are staged one after another and copied to their cells; all other
//! rows stay where they are.
//!
//! ```text
//! staging   | palettes of bank 3 | of bank 7 | …          written by the workers, one after another
//!               \                   \
//! page      | bank 0 | … | bank 3 | … | bank 7 |          one copy per run of neighbouring cells
//! previous  | bank 0 | … | bank 3 | … | bank 7 |          first, the rows that the last frame changed are copied here
//! ```

use super::backend::row_bytes as bytes;
use super::bones::{BoneUpload, GpuBoneBuffer};
use super::paging::Paging;
use super::staging::{HeapRows, MappedRows, Ring, Staging};
use super::target::{Fitted, Target};
use super::{Gpu, GpuError};
use crate::crowd::{Crowd, RowLayout, Schedule, reserve_rows};
use crate::math::Affine3x4;
use crate::playback::hook::HookFn;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

impl GpuBoneBuffer {
    pub(super) fn upload(
        &mut self,
        crowd: &mut Crowd,
        gpu: &Gpu,
        hook: Option<&HookFn<'_>>,
    ) -> Result<BoneUpload, GpuError> {
        self.settle(gpu)?;
        gpu.poll()?;
        let backend = self.backend;
        let mut schedule = crowd.schedule(&RowLayout {
            align: backend.align(),
            compact: true,
            holds: self.current.frame.take(),
        });
        for span in schedule.spans() {
            backend.check(gpu, span.palette)?;
        }
        let max = usize::try_from(gpu.palette_limits().page(backend)).unwrap_or(usize::MAX);
        let (id, follows) = (schedule.id(), schedule.follows());
        self.current.cut(schedule.spans(), max);
        self.follows = follows && self.options.previous;
        if self.follows {
            let Self { current, previous, .. } = &mut *self;
            std::mem::swap(&mut previous.paging, &mut previous.before);
            previous.paging.clone_from(&current.before);
        }
        let fitted = gpu.checked(|| {
            let previous = match self.follows {
                true => self.previous.fit(gpu, backend)?,
                false => Fitted::default(),
            };
            Ok([self.current.fit(gpu, backend)?, previous])
        })?;
        self.generation += u64::from(fitted.iter().any(|f| f.any));
        let mut staged_rows = Paging::default();
        staged_rows.cut(schedule.written_spans(), max);
        let parts = (0..staged_rows.len()).map(|page| staged_rows.rows(page).len());
        let parts: Vec<usize> = parts.collect();
        let ring = self.options.mapped.then_some(&mut self.ring);
        let paged = (&staged_rows, &parts[..]);
        let staged = match ring {
            Some(ring) => stage(ring, gpu, (&mut schedule, hook), paged, max)?,
            None => None,
        };
        let mut done = self.begin((&mut schedule, hook), staged.is_some())?;
        gpu.checked(|| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if let Some(stamps) = &mut self.stamps {
                stamps.begin(&mut encoder, 0);
            }
            if follows {
                self.keep(&mut encoder, &fitted, &mut done);
            }
            if staged.is_none() && done.copies > 0 {
                // `write_buffer` takes effect before the commands of the next submission, so earlier copies are
                // submitted first.
                let fresh = gpu.device.create_command_encoder(&Default::default());
                gpu.queue.submit([std::mem::replace(&mut encoder, fresh).finish()]);
            }
            self.changed.clear();
            schedule.scatter(|from, to| {
                if self.options.previous {
                    self.changed.push(to..to + from.len());
                }
                let rows = (&staged_rows, staged.as_deref());
                self.copy_fresh(gpu, &mut encoder, rows, (from, to), &mut done.copies);
            });
            self.submit(gpu, encoder, staged, &mut done);
            Ok(())
        })?;
        self.current.frame = Some(id);
        Ok(done)
    }

    /// The statistics of an upload before anything is copied. Without staging buffers, evaluates the frame into heap
    /// memory.
    fn begin(
        &mut self,
        (schedule, hook): (&mut Schedule<'_>, Option<&HookFn<'_>>),
        staged: bool,
    ) -> Result<BoneUpload, GpuError> {
        let written = schedule.written_rows();
        if !staged {
            reserve_rows(&mut self.spill, written).map_err(GpuError::HeapMemory)?;
            // Only rows beyond the old length are initialised.
            self.spill.resize(written, Affine3x4::IDENTITY);
            schedule.write_by(HeapRows(&mut self.spill), hook);
        }
        Ok(BoneUpload {
            frame: schedule.stats(),
            mapped: staged,
            bytes: bytes(written),
            carried: 0,
            copies: 0,
            pages: self.current.paging.len(),
        })
    }

    /// Copies the contents of replaced pages to the larger ones, then the rows that the last frame changed to the
    /// previous pages.
    fn keep(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        fitted: &[Fitted; 2],
        done: &mut BoneUpload,
    ) {
        let mut count = |(copies, bytes): (u32, u64)| {
            done.copies += copies;
            done.carried += bytes;
        };
        count(self.current.keep(encoder, &fitted[0]));
        if !self.follows {
            return;
        }
        count(self.previous.keep(encoder, &fitted[1]));
        let Self { current, previous, .. } = self;
        for changed in &self.changed {
            for (page, at, rows) in previous.paging.parts(changed.clone()) {
                let pages = current.pages.get(page).zip(previous.pages.get(page));
                if let Some((from, to)) = pages {
                    let (at, rows) = (bytes(at), bytes(rows));
                    encoder.copy_buffer_to_buffer(&from.buffer, at, &to.buffer, at, rows);
                    count((1, rows));
                }
            }
        }
    }

    /// Copies one run of rows from the staging buffers, or from heap memory, to its cells.
    fn copy_fresh(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        (staged_rows, staged): (&Paging, Option<&[Staging]>),
        (from, to): (Range<usize>, usize),
        copies: &mut u32,
    ) {
        let mut source = from.start;
        for (page, mut at, count) in self.current.paging.parts(to..to + from.len()) {
            let Some(to) = self.current.pages.get(page) else {
                continue;
            };
            for (part, first, rows) in staged_rows.parts(source..source + count) {
                match staged.map(|staged| staged.get(part)) {
                    Some(Some(staging)) => encoder.copy_buffer_to_buffer(
                        &staging.buffer,
                        bytes(first),
                        &to.buffer,
                        bytes(at),
                        bytes(rows),
                    ),
                    Some(None) => {}
                    None => {
                        let start = staged_rows.rows(part).start + first;
                        let rows = self.spill.get(start..start + rows).unwrap_or_default();
                        let rows = bytemuck::cast_slice(rows);
                        gpu.queue.write_buffer(&to.buffer, bytes(at), rows);
                    }
                }
                *copies += 1;
                at += rows;
            }
            source += count;
        }
    }

    /// Copies pages to their textures, submits all copies and gives the staging buffers back. Call inside
    /// [`Gpu::checked`].
    fn submit(
        &mut self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        staged: Option<Vec<Staging>>,
        done: &mut BoneUpload,
    ) {
        let mut to_textures = |target: &Target| {
            for (i, page) in target.pages.iter().enumerate().take(target.paging.len()) {
                let rows = target.paging.rows(i).len();
                let copied = page.copy_to_texture(&mut encoder, gpu.palette_limits(), rows);
                done.copies += u32::from(copied);
            }
        };
        to_textures(&self.current);
        if self.follows {
            to_textures(&self.previous);
        }
        if let Some(stamps) = &mut self.stamps {
            stamps.end(&mut encoder, 0);
        }
        for staging in staged.iter().flatten() {
            staging.buffer.unmap();
        }
        gpu.queue.submit([encoder.finish()]);
        self.ring.give_back(staged.unwrap_or_default());
    }
}

/// Evaluates into mapped buffers, one per page of `paging`, with `parts` rows each. `None` if there are none or mapping
/// failed; the caller then evaluates into heap memory.
fn stage(
    ring: &mut Ring,
    gpu: &Gpu,
    (schedule, hook): (&mut Schedule<'_>, Option<&HookFn<'_>>),
    (paging, parts): (&Paging, &[usize]),
    max: usize,
) -> Result<Option<Vec<Staging>>, GpuError> {
    let staged = match gpu.checked(|| Ok(ring.take(gpu, parts, max))) {
        Err(lost @ GpuError::Lost { .. }) => return Err(lost),
        Ok(Some(staged)) => staged,
        Ok(None) | Err(_) => return Ok(None),
    };
    let failed = AtomicBool::new(false);
    let written = schedule.written_rows();
    schedule.write_by(MappedRows::new(paging, &staged, written, &failed), hook);
    if failed.load(Ordering::Relaxed) {
        // A buffer that was mapped is no longer when the device is lost, which is reported when its last work is done.
        gpu.wait()?;
        return Ok(None);
    }
    Ok(Some(staged))
}
