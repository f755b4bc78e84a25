//! One frame of `GpuBoneBuffer`: schedule, evaluation into mapped memory, copies.

use super::backend::ROW_BYTES;
use super::bones::{BoneUpload, GpuBoneBuffer, UploadWay};
use super::paging::Paging;
use super::staging::{HeapRows, MappedRows, Ring, Staging};
use super::{Gpu, GpuError};
use crate::crowd::{Crowd, RowLayout, RowOrder, Schedule, reserve_rows};
use crate::math::Affine3x4;
use std::sync::atomic::{AtomicBool, Ordering};

impl GpuBoneBuffer {
    pub(super) fn upload(&mut self, crowd: &mut Crowd, gpu: &Gpu) -> Result<BoneUpload, GpuError> {
        self.settle(gpu);
        gpu.poll()?;
        let backend = self.backend;
        let mut schedule = crowd.schedule(&RowLayout {
            align: backend.align(),
            order: RowOrder::FreshFirst,
            holds: self.target().frame,
        });
        for group in schedule.groups() {
            backend.check(gpu, group.palette)?;
        }
        if schedule.scatters() {
            return self.upload_cells(schedule, gpu);
        }
        let from = self.current;
        self.both |= schedule.stats().carried > 0;
        let to = if self.both { 1 - from } else { from };
        let max = usize::try_from(gpu.palette_limits().page(backend)).unwrap_or(usize::MAX);
        let target = &mut self.targets[to];
        target.paging.cut(schedule.groups(), max);
        target.frame = None;
        self.generation += u64::from(gpu.checked(|| target.fit(gpu, backend))?);
        let written = schedule.written_rows();
        let parts: Vec<usize> = (0..target.paging.len())
            .map(|p| target.paging.rows(p))
            .take_while(|rows| rows.start < written)
            .map(|rows| rows.end.min(written) - rows.start)
            .collect();
        let ring = self.options.mapped.then_some(&mut self.ring);
        let paging = &self.targets[to].paging;
        let staged = ring.and_then(|ring| stage(ring, gpu, &mut schedule, (paging, &parts), max));
        let (frame, id, follows) = (schedule.stats(), schedule.id(), schedule.follows());
        let rows = parts.iter().sum::<usize>();
        let mut done = self.begin(&mut schedule, staged.is_some(), (to, rows))?;
        gpu.checked(|| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if let Some(stamps) = &mut self.stamps {
                stamps.begin(&mut encoder, 0);
            }
            self.copy_fresh(gpu, &mut encoder, to, staged.as_deref(), &parts, &mut done);
            if frame.carried > 0 {
                self.copy_carried(&mut encoder, &schedule, [from, to], &mut done);
            }
            self.submit(gpu, encoder, (to, staged), &mut done);
            Ok(())
        })?;
        self.targets[to].frame = Some(id);
        self.follows = follows && from != to;
        self.current = to;
        Ok(done)
    }

    /// What is known of an upload before anything is copied. Without staging buffers the frame is evaluated into heap
    /// memory.
    pub(super) fn begin(
        &mut self,
        schedule: &mut Schedule<'_>,
        staged: bool,
        (to, rows): (usize, usize),
    ) -> Result<BoneUpload, GpuError> {
        if !staged {
            let written = schedule.written_rows();
            reserve_rows(&mut self.spill, written).map_err(GpuError::HeapMemory)?;
            // Only rows beyond the old length are initialised.
            self.spill.resize(written, Affine3x4::IDENTITY);
            schedule.write(HeapRows(&mut self.spill));
        }
        Ok(BoneUpload {
            frame: schedule.stats(),
            way: if staged {
                UploadWay::Mapped
            } else {
                UploadWay::Written
            },
            bytes: rows as u64 * ROW_BYTES,
            carried: 0,
            copies: 0,
            pages: self.targets[to].paging.len(),
        })
    }

    /// Copies pages to their textures, submits all copies and gives the staging buffers back. Call inside
    /// [`Gpu::checked`].
    pub(super) fn submit(
        &mut self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        (to, staged): (usize, Option<Vec<Staging>>),
        done: &mut BoneUpload,
    ) {
        let target = &self.targets[to];
        for (i, page) in target.pages.iter().enumerate().take(target.paging.len()) {
            let rows = target.paging.rows(i).len();
            let copied = page.copy_to_texture(&mut encoder, gpu.palette_limits(), rows);
            done.copies += u32::from(copied);
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

    fn copy_fresh(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        to: usize,
        staged: Option<&[Staging]>,
        parts: &[usize],
        done: &mut BoneUpload,
    ) {
        let target = &self.targets[to];
        for (i, (page, &rows)) in target.pages.iter().zip(parts).enumerate() {
            let first = target.paging.rows(i).start;
            let bytes = rows as u64 * ROW_BYTES;
            match staged.and_then(|s| s.get(i)) {
                Some(staging) => {
                    encoder.copy_buffer_to_buffer(&staging.buffer, 0, &page.buffer, 0, bytes);
                }
                None => {
                    let rows = self.spill.get(first..first + rows).unwrap_or_default();
                    gpu.queue
                        .write_buffer(&page.buffer, 0, bytemuck::cast_slice(rows));
                }
            }
            done.copies += 1;
        }
    }

    fn copy_carried(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        schedule: &Schedule<'_>,
        [from, to]: [usize; 2],
        done: &mut BoneUpload,
    ) {
        let (old, new) = (&self.targets[from], &self.targets[to]);
        schedule.moves(|m| {
            let mut source = m.from;
            for (page, at, count) in new.paging.parts(m.to..m.to + m.rows) {
                let mut at = at;
                for (old_page, old_at, rows) in old.paging.parts(source..source + count) {
                    if let (Some(a), Some(b)) = (old.pages.get(old_page), new.pages.get(page)) {
                        let bytes = |rows: usize| rows as u64 * ROW_BYTES;
                        encoder.copy_buffer_to_buffer(
                            &a.buffer,
                            bytes(old_at),
                            &b.buffer,
                            bytes(at),
                            bytes(rows),
                        );
                        done.copies += 1;
                        done.carried += bytes(rows);
                    }
                    at += rows;
                }
                source += count;
            }
        });
    }
}

/// Evaluates into mapped memory, paged as `paging` with `parts` rows a page; `None` if there is none or mapping failed,
/// and nothing is lost.
pub(super) fn stage(
    ring: &mut Ring,
    gpu: &Gpu,
    schedule: &mut Schedule<'_>,
    (paging, parts): (&Paging, &[usize]),
    max: usize,
) -> Option<Vec<Staging>> {
    let staged = gpu.checked(|| Ok(ring.take(gpu, parts, max))).ok()??;
    let failed = AtomicBool::new(false);
    let written = schedule.written_rows();
    schedule.write(MappedRows::new(paging, &staged, written, &failed));
    (!failed.load(Ordering::Relaxed)).then_some(staged)
}
