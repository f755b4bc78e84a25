//! Encodes pictures as PNG.

use super::error::CliError;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, RgbaImage};

/// Encodes a picture as PNG without alpha, since pictures are opaque.
pub fn encode(picture: RgbaImage) -> Result<Vec<u8>, CliError> {
    let mut png = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive);
    DynamicImage::from(picture).to_rgb8().write_with_encoder(encoder)?;
    Ok(png)
}
