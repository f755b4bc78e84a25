//! How much is copied, and by how many commands.

use crate::models::chain;
use crate::support::{bones, crowd_of, paged};
use phalanx::gpu::PaletteBackend;

/// With the texture backend a page takes two copies: into its buffer, and from there into its texture.
pub fn copies_into_textures_are_counted() {
    // Pages of 100 rows hold five chains of 20, or three whose windows start at multiples of 16.
    let gpu = paged(4800);
    for (backend, pages, copies) in [
        (PaletteBackend::Storage, 4, 4),
        (PaletteBackend::Uniform, 6, 6),
        (PaletteBackend::Texture, 4, 8),
    ] {
        let mut bones = bones(&gpu, backend);
        let (mut crowd, _, _) = crowd_of(&[chain(20)], 16);
        for _ in 0..3 {
            crowd.advance(0.02).unwrap();
            let upload = bones.evaluate(&mut crowd, &gpu).unwrap();
            assert_eq!((upload.pages, upload.copies), (pages, copies), "{backend}");
        }
    }
}
