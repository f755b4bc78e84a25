//! One frame of `GpuBoneBuffer` for a crowd with tiers: what is evaluated is staged in one piece and copied to the cells
//! that it belongs to; all other rows stay where they are.
//!
//! ```text
//! staging   | palettes of bank 3 | of bank 7 | …          written by the workers, one after another
//!               \                   \
//! page      | bank 0 | … | bank 3 | … | bank 7 |          a copy per run of neighbouring cells
//! ```

use super::backend::ROW_BYTES;
use super::bones::{BoneUpload, GpuBoneBuffer, UploadWay};
use super::paging::Paging;
use super::staging::{HeapRows, MappedRows, Staging};
use super::{Gpu, GpuError};
use crate::crowd::{Schedule, reserve_rows};
use std::sync::atomic::{AtomicBool, Ordering};

fn bytes(rows: usize) -> u64 {
    rows as u64 * ROW_BYTES
}

impl GpuBoneBuffer {
    /// Uploads a frame of cells. One set of pages serves all frames.
    pub(super) fn upload_cells(
        &mut self,
        mut schedule: Schedule<'_>,
        gpu: &Gpu,
    ) -> Result<BoneUpload, GpuError> {
        let (backend, to) = (self.backend, self.current);
        let max = usize::try_from(gpu.palette_limits().page(backend)).unwrap_or(usize::MAX);
        let target = &mut self.targets[to];
        // Pages that grow keep their rows: they are copied to the larger ones.
        let before: Vec<wgpu::Buffer> = target.pages.iter().map(|p| p.buffer.clone()).collect();
        let held = target.paging.clone();
        target.paging.cut(schedule.groups(), max);
        target.frame = None;
        self.generation += u64::from(gpu.checked(|| target.fit(gpu, backend))?);
        let mut staged_rows = Paging::default();
        staged_rows.cut(schedule.written_groups(), max);
        let parts: Vec<usize> = (0..staged_rows.len())
            .map(|page| staged_rows.rows(page).len())
            .collect();
        let written = schedule.written_rows();
        let staged = self.stage_cells(gpu, &mut schedule, (&staged_rows, &parts), max);
        let (frame, id) = (schedule.stats(), schedule.id());
        if staged.is_none() {
            reserve_rows(&mut self.spill, written).map_err(GpuError::HeapMemory)?;
            // Only rows beyond the old length are initialised.
            self.spill.resize(written, crate::math::Affine3x4::IDENTITY);
            schedule.write(HeapRows(&mut self.spill));
        }
        let mut done = BoneUpload {
            frame,
            way: if staged.is_some() {
                UploadWay::Mapped
            } else {
                UploadWay::Written
            },
            bytes: bytes(written),
            carried: 0,
            copies: 0,
            pages: self.targets[to].paging.len(),
        };
        gpu.checked(|| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if let Some(stamps) = &mut self.stamps {
                stamps.begin(&mut encoder, 0);
            }
            let target = &self.targets[to];
            for (i, (old, new)) in before.iter().zip(&target.pages).enumerate() {
                let rows = held.rows(i).len();
                if schedule.follows() && *old != new.buffer && rows > 0 {
                    encoder.copy_buffer_to_buffer(old, 0, &new.buffer, 0, bytes(rows));
                    done.copies += 1;
                    done.carried += bytes(rows);
                }
            }
            if staged.is_none() && done.copies > 0 {
                // What the queue writes comes before what an encoder copies.
                let encoder = std::mem::replace(
                    &mut encoder,
                    gpu.device.create_command_encoder(&Default::default()),
                );
                gpu.queue.submit([encoder.finish()]);
            }
            schedule.scatter(|m| {
                let mut source = m.from;
                for (page, at, count) in target.paging.parts(m.to..m.to + m.rows) {
                    let Some(to) = target.pages.get(page) else {
                        continue;
                    };
                    let mut at = at;
                    for (part, first, rows) in staged_rows.parts(source..source + count) {
                        match staged.as_deref().map(|staged| staged.get(part)) {
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
                                let rows = self.spill.get(start..start + rows);
                                let rows = bytemuck::cast_slice(rows.unwrap_or_default());
                                gpu.queue.write_buffer(&to.buffer, bytes(at), rows);
                            }
                        }
                        done.copies += 1;
                        at += rows;
                    }
                    source += count;
                }
            });
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
            Ok(())
        })?;
        self.targets[to].frame = Some(id);
        self.follows = false;
        Ok(done)
    }

    /// Evaluates into staging buffers; `None` if there are none, or their memory cannot be mapped.
    fn stage_cells(
        &mut self,
        gpu: &Gpu,
        schedule: &mut Schedule<'_>,
        (paging, parts): (&Paging, &[usize]),
        max: usize,
    ) -> Option<Vec<Staging>> {
        if !self.options.mapped {
            return None;
        }
        let staged = gpu.checked(|| Ok(self.ring.take(gpu, parts, max))).ok()??;
        let failed = AtomicBool::new(false);
        let written = schedule.written_rows();
        schedule.write(MappedRows::new(paging, &staged, written, &failed));
        (!failed.load(Ordering::Relaxed)).then_some(staged)
    }
}
