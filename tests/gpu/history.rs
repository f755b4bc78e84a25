//! Frames one after another, as shaders see them: the frame before, what is carried over, and a ring that
//! runs dry. Everyone's rows are those of a twin crowd in heap memory.

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

/// While the device has something else to do, no mapped buffer comes back and rows go by way of the heap;
/// afterwards the ring has buffers again. Shaders see the same rows by either way, and those of who is
/// not due by neither.
pub fn a_ring_that_runs_dry() {
    for gpu in [open(), paged(4800)] {
        for backend in PaletteBackend::ALL {
            let reader = Reader::new(&gpu, backend, Frame::Now);
            let mut bones = GpuBoneBuffer::new(&gpu, GpuBoneOptions::new(backend)).unwrap();
            let mut twins = Twins::new(&RIGS.map(chain), 8);
            // How much a device can do meanwhile is not known: more, until it is late.
            let dry = (4..13).find(|&power| {
                let dry = play(&gpu, &reader, &mut bones, &mut twins, 1 << power);
                dry > 3
            });
            assert!(dry.is_some(), "{backend}: the ring never ran dry");
            // Once the device is idle, nothing is dry.
            gpu.wait().unwrap();
            for _ in 0..2 {
                twins.step(1);
                let rows = twins.rows();
                let upload = bones.evaluate(&mut twins.crowd, &gpu).unwrap();
                assert_eq!(upload.way, UploadWay::Mapped);
                let shown = places(&twins, &bones, &rows);
                let asked = Asked::new(&gpu, &reader, &bones, shown, &rows);
                asked.assert_equal(&gpu, &rows, "mapped again");
            }
        }
    }
}

/// Frames of a growing crowd behind something that takes a device long; how many of them went by way of
/// the heap and carried rows over.
fn play(
    gpu: &Gpu,
    reader: &Reader,
    bones: &mut GpuBoneBuffer,
    twins: &mut Twins,
    side: u32,
) -> usize {
    let backend = bones.options().backend;
    occupy(gpu, side);
    let mut frames = Vec::new();
    let mut dry = 0;
    for frame in 0..9 {
        twins.step(3);
        let rows = twins.rows();
        let upload = bones.evaluate(&mut twins.crowd, gpu).unwrap();
        // What is carried over is the device's to copy: nothing of it is sent.
        let stride = |joints: usize| joints.next_multiple_of(backend.align()) as u64 * 48;
        let least = upload.frame.carried as u64 * RIGS[0] as u64 * 48;
        let most = upload.frame.carried as u64 * stride(RIGS[1]);
        assert!((least..=most).contains(&upload.carried), "{upload:?}");
        let sent = upload.frame.instances as u64;
        assert!(upload.bytes <= sent * stride(RIGS[1]), "{upload:?}");
        dry += usize::from(upload.way == UploadWay::Written && upload.carried > 0);
        let shown = places(twins, bones, &rows);
        let asked = Asked::new(gpu, reader, bones, shown, &rows);
        frames.push((
            asked,
            rows,
            format!("{backend}, frame {frame}, {:?}", upload.way),
        ));
    }
    for (asked, rows, what) in frames {
        asked.assert_equal(gpu, &rows, &what);
    }
    dry
}

/// Gives the device something to do that all later work waits for: a picture of some width and height
/// whose pixels take long. (Software devices compute within the submission, but draw after it.)
fn occupy(gpu: &Gpu, side: u32) {
    // They end loops of more than 65,535 rounds, too.
    let source = "
@vertex fn corner(@builtin(vertex_index) v: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment fn count(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    var x = u32(at.x) * 7919u + u32(at.y);
    for (var i = 0u; i < 50000u; i++) {
        x = x * 1664525u + (1013904223u ^ i);
    }
    return vec4<f32>(f32(x & 255u) / 255.0);
}
";
    let format = wgpu::TextureFormat::Rgba8Unorm;
    let device = &gpu.device;
    let done = gpu.checked(|| {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("something else to do"),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("corner"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("count"),
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let picture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: side,
                height: side,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &picture.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: None,
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        pass.set_pipeline(&pipeline);
        pass.draw(0..3, 0..1);
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
        Ok(())
    });
    done.expect("the device works");
}
