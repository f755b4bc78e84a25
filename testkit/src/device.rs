//! Shared by the benchmarks of the GPU: the device, and the backend that the environment may pin.

use phalanx::gpu::{Gpu, GpuOptions, PaletteBackend};

/// The first adapter that answers; without one, says what is left out.
pub fn open(what: &str) -> Option<Gpu> {
    match Gpu::open(&GpuOptions::default()) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            println!("nothing is {what}: {error}");
            None
        }
    }
}

/// The best backend for palettes of so many rows, or that of `PHALANX_BENCH_BACKEND`.
pub fn backend(gpu: &Gpu, joints: usize) -> PaletteBackend {
    let Ok(name) = std::env::var("PHALANX_BENCH_BACKEND") else {
        return PaletteBackend::choose(gpu, joints).expect("the device holds the palette");
    };
    let known = PaletteBackend::ALL.into_iter();
    let mut named = known.filter(|b| b.to_string() == name);
    let named = named.next();
    named.expect("PHALANX_BENCH_BACKEND is uniform, texture or storage")
}
