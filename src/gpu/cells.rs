//! One frame of `GpuBoneBuffer` for a crowd with tiers: what is evaluated is staged in one piece and copied to the cells
//! that it belongs to; all other rows stay where they are.
//!
//! ```text
//! staging   | palettes of bank 3 | of bank 7 | …          written by the workers, one after another
//!               \                   \
//! page      | bank 0 | … | bank 3 | … | bank 7 |          a copy per run of neighbouring cells
//! ```

use super::backend::ROW_BYTES;
use super::bones::{BoneUpload, GpuBoneBuffer};
use super::paging::Paging;
use super::upload::stage;
use super::{Gpu, GpuError};
use crate::crowd::Schedule;

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
        let ring = self.options.mapped.then_some(&mut self.ring);
        let paged = (&staged_rows, &parts[..]);
        let staged = ring.and_then(|ring| stage(ring, gpu, &mut schedule, paged, max));
        let id = schedule.id();
        let mut done = self.begin(&mut schedule, staged.is_some(), (to, written))?;
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
            self.submit(gpu, encoder, (to, staged), &mut done);
            Ok(())
        })?;
        self.targets[to].frame = Some(id);
        self.follows = false;
        Ok(done)
    }
}
