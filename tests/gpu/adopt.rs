//! Devices of an engine: whose handlers get errors and losses, and that the library's calls return theirs.

use crate::models::chain;
use crate::robust::impossible_texture;
use crate::support::{bones, crowd_of, open};
use phalanx::gpu::{Gpu, GpuError, PaletteBackend};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What an engine's handlers received.
#[derive(Debug, Default)]
struct Host {
    errors: AtomicUsize,
    losses: Mutex<Vec<wgpu::DeviceLostReason>>,
}

/// A device that an engine has opened, with handlers of its own, and then lent.
fn adopted() -> (Gpu, Arc<Host>) {
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()));
    let adapter = adapter.expect("an adapter");
    let desc = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&desc)).expect("a device");
    let host = Arc::<Host>::default();
    let told = Arc::clone(&host);
    device.on_uncaptured_error(Arc::new(move |_: wgpu::Error| {
        told.errors.fetch_add(1, Ordering::Relaxed);
    }));
    let told = Arc::clone(&host);
    device.set_device_lost_callback(move |reason, _| told.losses.lock().unwrap().push(reason));
    (Gpu::adopt(&adapter, device, queue), host)
}

/// A device of an engine, whose handlers stay.
pub fn lent() -> Gpu {
    adopted().0
}

fn own_error(gpu: &Gpu) -> GpuError {
    gpu.checked(|| {
        impossible_texture(gpu);
        Ok(())
    })
    .unwrap_err()
}

pub fn handlers_stay_the_hosts() {
    let (gpu, host) = adopted();
    let errors = || host.errors.load(Ordering::Relaxed);
    impossible_texture(&gpu);
    assert_eq!(errors(), 1, "the host's error is the host's");
    assert_eq!(gpu.checked(|| Ok(7)), Ok(7));
    let error = own_error(&gpu);
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    assert_eq!(errors(), 1, "the library's error is not the host's");

    let mut bones = bones(&gpu, PaletteBackend::Storage);
    let (mut crowd, _, _) = crowd_of(&[chain(30)], 20);
    bones.evaluate(&mut crowd, &gpu).unwrap();
    assert_eq!(bones.read(&gpu).unwrap().len(), 600);
    assert_eq!(gpu.lost(), None);
    gpu.device.destroy();
    assert!(matches!(gpu.lost(), Some(GpuError::Lost { .. })));
    for _ in 0..2 {
        crowd.advance(0.02).unwrap();
        let error = bones.evaluate(&mut crowd, &gpu).unwrap_err();
        assert!(matches!(error, GpuError::Lost { .. }), "{error}");
        assert!(bones.heap().is_some());
    }
    let error = gpu.checked(|| Ok(())).unwrap_err();
    assert!(error.to_string().contains("the host's"), "{error}");
    gpu.wait().unwrap_err();
    let losses = host.losses.lock().unwrap();
    assert_eq!(*losses, [wgpu::DeviceLostReason::Destroyed]);
    assert_eq!(errors(), 1);
}

/// The handlers of a device that the library opens are the library's.
pub fn own_handlers_know_the_reason_of_a_loss() {
    let gpu = open();
    let error = own_error(&gpu);
    assert!(matches!(error, GpuError::Refused { .. }), "{error}");
    gpu.device.destroy();
    let error = gpu.wait().unwrap_err();
    let reason = "it was destroyed".into();
    assert_eq!(error, GpuError::Lost { reason });
}
