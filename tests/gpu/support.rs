//! Devices, and crowds whose truth is known.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdSnapshot, InstanceId, RigId};
use phalanx::gpu::{Gpu, GpuBoneBuffer, GpuBoneOptions, GpuOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One device at a time: software ones take all workers.
pub fn device_lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no adapter, if there is none.
pub fn no_adapter() -> Option<String> {
    let opened = std::thread::spawn(|| Gpu::open(&GpuOptions::default()).map(drop)).join();
    match opened {
        Ok(opened) => opened.err().map(|e| e.to_string()),
        Err(_) => Some("looking for one panicked".into()),
    }
}

pub fn open() -> Gpu {
    Gpu::open(&GpuOptions::default()).expect("an adapter")
}

/// A device whose pages hold that many bytes.
pub fn paged(page_bytes: u64) -> Gpu {
    let options = GpuOptions { page_bytes, ..GpuOptions::default() };
    Gpu::open(&options).expect("an adapter")
}

/// A device with no more than WebGL2's limits.
pub fn downlevel() -> Gpu {
    let options =
        GpuOptions { limits: wgpu::Limits::downlevel_webgl2_defaults(), ..GpuOptions::default() };
    Gpu::open(&options).expect("an adapter")
}

pub fn bones(gpu: &Gpu, backend: PaletteBackend) -> GpuBoneBuffer {
    GpuBoneBuffer::new(gpu, backend, &GpuBoneOptions::default())
        .expect("the device has the backend")
}

/// The palettes of a crowd's state, every visible instance evaluated into heap memory by a crowd that
/// has no history.
pub struct Truth {
    crowd: Crowd,
    rows: BoneBuffer,
}

impl Truth {
    pub fn new(rigs: &[Arc<Rig>], spawned: &[usize]) -> Self {
        let mut crowd = Crowd::new();
        for (rig, &count) in rigs.iter().zip(spawned) {
            let id = crowd.add_rig(rig.clone()).expect("a sound rig");
            for _ in 0..count {
                crowd.spawn(id).expect("room");
            }
        }
        Self { crowd, rows: BoneBuffer::new() }
    }

    pub fn of(&mut self, state: &CrowdSnapshot) -> &mut Self {
        self.crowd.restore(state).expect("the same rigs");
        self.crowd.evaluate(&mut self.rows);
        self
    }

    pub fn palette(&self, instance: InstanceId) -> Option<&[Affine3x4]> {
        let range = self.crowd.palette_range(instance)?;
        Some(&self.rows.rows()[range])
    }
}

/// The tag of all crowds here: their handles are compared.
const TAG: u16 = 7;

/// A crowd of rigs, each with as many instances that play its first clips.
pub fn crowd_of(rigs: &[Arc<Rig>], each: usize) -> (Crowd, Vec<InstanceId>, Vec<RigId>) {
    let mut crowd = Crowd::with_tag(TAG).expect("a tag within its limits");
    let (mut all, mut ids) = (Vec::new(), Vec::new());
    for rig in rigs {
        let id = crowd.add_rig(rig.clone()).expect("a sound rig");
        ids.push(id);
        for i in 0..each {
            let instance = crowd.spawn(id).expect("room");
            let clips = rig.clips().len();
            if let Some(clip) = (clips > 0).then(|| crowd.clip_by_index(id, i % clips)).flatten() {
                let options =
                    phalanx::crowd::PlayOptions { time: 0.037 * i as f64, ..Default::default() };
                crowd.play(instance, clip, &options).expect("a clip of the rig");
            }
            all.push(instance);
        }
    }
    crowd.advance(0.25).expect("a short step");
    (crowd, all, ids)
}
