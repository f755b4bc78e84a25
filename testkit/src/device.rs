//! Shared by the GPU benchmarks: the device, and the backend, which the environment may pin.

use phalanx::gpu::{Gpu, GpuOptions, PaletteBackend};

/// Opens the default adapter; if there is none, prints that nothing is `what` (measured, uploaded).
pub fn open(what: &str) -> Option<Gpu> {
    match Gpu::open(&GpuOptions::default()) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            println!("nothing is {what}: {error}");
            None
        }
    }
}

/// The best backend for palettes of `joints` rows, or the one named by `PHALANX_BENCH_BACKEND`.
pub fn backend(gpu: &Gpu, joints: usize) -> PaletteBackend {
    let Ok(name) = std::env::var("PHALANX_BENCH_BACKEND") else {
        return PaletteBackend::choose(gpu, joints).expect("the device holds the palette");
    };
    let known = PaletteBackend::ALL.into_iter();
    let mut named = known.filter(|b| b.to_string() == name);
    let named = named.next();
    named.expect("PHALANX_BENCH_BACKEND is uniform, texture or storage")
}
