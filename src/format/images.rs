//! Section IMAG: one picture, as PNG where that is smaller.

use super::budget::MAX_IMAGE_SIDE;
use super::error::{Fault, FormatError};
use super::read::Reader;
use super::write::Bytes;
use crate::mesh::Image;
use image::{ExtendedColorType, ImageEncoder, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

/// How the pixels are stored.
const ABSENT: u32 = 0;
const PIXELS: u32 = 1;
const PNG: u32 = 2;

/// What decoding a PNG takes beside the picture: its tables, and a row.
const DECODER_BYTES: u64 = 1 << 20;

pub(super) fn write(image: Option<&Image>) -> Vec<u8> {
    let mut out = Bytes::default();
    let Some(i) = image else {
        out.many(&[ABSENT, 0, 0, 0]);
        return out.0;
    };
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    let encoded = encoder.write_image(&i.rgba, i.width, i.height, ExtendedColorType::Rgba8);
    let smaller = encoded.is_ok() && png.len() < i.rgba.len();
    let (form, bytes) = if smaller {
        (PNG, &png)
    } else {
        (PIXELS, &i.rgba)
    };
    out.many(&[form, i.width, i.height]);
    out.count(bytes.len());
    out.many(bytes);
    out.0
}

/// Reads a picture; without `wanted` its header alone.
pub(super) fn read(mut r: Reader<'_>, wanted: bool) -> Result<Option<Image>, FormatError> {
    let [form, width, height]: [u32; 3] = r.one("the size of a picture")?;
    for (what, found) in [("width in pixels", width), ("height in pixels", height)] {
        r.index(what, found, MAX_IMAGE_SIDE as usize + 1)?;
    }
    let stored = r.count("bytes of a picture", 1)?;
    let bytes = r.take(stored, "bytes of a picture")?;
    let needed = width as usize * height as usize * 4;
    let rgba = match form {
        ABSENT if width == 0 && height == 0 && stored == 0 => None,
        PIXELS if stored == needed => {
            r.charge(if wanted { needed } else { 0 })?;
            Some(wanted.then(|| bytes.to_vec()))
        }
        PIXELS => {
            let (found, limit) = (stored as u64, needed as u64);
            let what = "bytes of a picture";
            return Err(r.whole(Fault::Limit { what, found, limit }));
        }
        PNG if wanted => {
            // The decoder's copy, and the picture.
            r.charge(2 * needed)?;
            let decoded = png(bytes, width, height).map_err(|e| r.fault(Fault::Picture(e)))?;
            r.budget.release(needed);
            Some(Some(decoded))
        }
        PNG => Some(None),
        found => {
            let (what, found, limit) = ("the form of a picture", found.into(), PNG.into());
            return Err(r.whole(Fault::Limit { what, found, limit }));
        }
    };
    r.finish()?;
    Ok(rgba.flatten().map(|rgba| Image {
        width,
        height,
        rgba,
    }))
}

fn png(bytes: &[u8], width: u32, height: u32) -> Result<Vec<u8>, String> {
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(width), Some(height));
    let pixels = u64::from(width) * u64::from(height);
    limits.max_alloc = Some(pixels * 4 + DECODER_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), ImageFormat::Png);
    reader.limits(limits);
    let decoded = reader.decode().map_err(|e| e.to_string())?;
    if (decoded.width(), decoded.height()) != (width, height) {
        let (w, h) = (decoded.width(), decoded.height());
        return Err(format!("it is {w} x {h}, stated is {width} x {height}"));
    }
    match decoded {
        image::DynamicImage::ImageRgba8(image) => Ok(image.into_raw()),
        other => Err(format!(
            "its pixels are {:?}, needed are Rgba8",
            other.color()
        )),
    }
}
