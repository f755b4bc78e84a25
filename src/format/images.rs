//! Section IMAG: one image, decoded or with the bytes of its source.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::Bytes;
#[cfg(feature = "images")]
use crate::mesh::Survey;
use crate::mesh::{Image, ImageData, ImageMode, MAX_IMAGE_SIDE, MAX_MIME_TYPE, is_mime_type};
#[cfg(feature = "images")]
use image::{ExtendedColorType, ImageEncoder, ImageFormat, ImageReader, Limits};
#[cfg(feature = "images")]
use std::io::Cursor;

/// Forms of the section: an image with its size, or an embedded image file.
const SIZED: u32 = 0;
const ENCODED: u32 = 1;
pub(super) const FORMS: u64 = 2;

/// Encodings of the pixels in form `SIZED`.
const ABSENT: u32 = 0;
const PIXELS: u32 = 1;
const PNG: u32 = 2;

/// MIME type of encoding `PNG`.
const PNG_TYPE: &str = "image/png";

/// Memory for decoding a PNG in addition to the image, bytes: tables and a row.
#[cfg(feature = "images")]
const DECODER_BYTES: u64 = 1 << 20;

/// Writes an image: the form and the bytes of its section.
pub(super) fn write(image: Option<&ImageData>) -> (u32, Vec<u8>) {
    match image {
        None => {
            let mut out = Bytes::default();
            out.many(&[ABSENT, 0, 0, 0]);
            (SIZED, out.0)
        }
        Some(ImageData::Decoded(image)) => (SIZED, sized(image)),
        Some(ImageData::Encoded { mime, bytes }) => {
            let mut out = Bytes::default();
            // The rig has checked the type.
            out.count(mime.len());
            out.count(bytes.len());
            out.many(mime.as_bytes());
            out.many(bytes);
            (ENCODED, out.0)
        }
    }
}

fn sized(i: &Image) -> Vec<u8> {
    let png = smaller(i);
    let (form, bytes) = png.as_ref().map_or((PIXELS, &i.rgba), |png| (PNG, png));
    let mut out = Bytes::default();
    out.many(&[form, i.width, i.height]);
    out.count(bytes.len());
    out.many(bytes);
    out.0
}

/// The image as PNG, if that is smaller than its pixels.
#[cfg(feature = "images")]
fn smaller(i: &Image) -> Option<Vec<u8>> {
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    let encoded = encoder.write_image(&i.rgba, i.width, i.height, ExtendedColorType::Rgba8);
    (encoded.is_ok() && png.len() < i.rgba.len()).then_some(png)
}

#[cfg(not(feature = "images"))]
fn smaller(_: &Image) -> Option<Vec<u8>> {
    None
}

/// Reads an image. With `ImageMode::Skip` only the fields of the section are checked.
pub(super) fn read(
    r: SectionReader<'_>,
    form: u32,
    mode: ImageMode,
) -> Result<Option<ImageData>, ReadError> {
    if form == ENCODED { read_encoded(r, mode) } else { read_sized(r, mode) }
}

fn read_encoded(mut r: SectionReader<'_>, mode: ImageMode) -> Result<Option<ImageData>, ReadError> {
    let mime = r.count("the length of a MIME type", 1)?;
    r.index("the length of a MIME type", mime as u32, MAX_MIME_TYPE + 1)?;
    let stored = r.count("the number of image bytes", 1)?;
    // The type is copied before it is checked: bytes of a mapped file may change after the check.
    let mime = r.take(mime, "a MIME type")?.to_vec();
    let bytes = r.take(stored, "bytes of an image")?;
    let valid = is_mime_type(&mime);
    let mime = match String::from_utf8(mime) {
        Ok(mime) if valid => mime,
        _ => return Err(r.fault(Fault::Picture("its MIME type is not ASCII text".into()))),
    };
    let image = match mode {
        ImageMode::Skip => None,
        ImageMode::Encoded => Some(kept(&mut r, mime, bytes)?),
        #[cfg(feature = "images")]
        ImageMode::Decoded => {
            let survey = Survey::new(bytes).map_err(|e| r.fault(Fault::Picture(e)))?;
            let needed = usize::try_from(survey.needed).unwrap_or(usize::MAX);
            r.charge(needed)?;
            let image = survey.decode(bytes);
            let image = image.map_err(|e| r.fault(Fault::Picture(e)))?;
            r.memory.release(needed - image.rgba.len().min(needed));
            Some(ImageData::Decoded(image))
        }
    };
    r.finish()?;
    Ok(image)
}

fn read_sized(mut r: SectionReader<'_>, mode: ImageMode) -> Result<Option<ImageData>, ReadError> {
    let [form, width, height]: [u32; 3] = r.one("the size of an image")?;
    for (what, found) in [("the width in pixels", width), ("the height in pixels", height)] {
        r.index(what, found, MAX_IMAGE_SIDE as usize + 1)?;
    }
    let stored = r.count("the number of image bytes", 1)?;
    let bytes = r.take(stored, "bytes of an image")?;
    let needed = width as usize * height as usize * 4;
    let image = match form {
        ABSENT if width == 0 && height == 0 && stored == 0 => None,
        PIXELS if stored == needed => {
            let wanted = mode != ImageMode::Skip;
            r.charge(if wanted { needed } else { 0 })?;
            let pixels = || Image { width, height, rgba: bytes.to_vec() };
            wanted.then(|| ImageData::Decoded(pixels()))
        }
        PIXELS => {
            let what = "the number of image bytes";
            return Err(r.whole(Fault::limit(what, stored as u64, needed as u64)));
        }
        PNG => match mode {
            ImageMode::Skip => None,
            ImageMode::Encoded => Some(kept(&mut r, PNG_TYPE.into(), bytes)?),
            #[cfg(feature = "images")]
            ImageMode::Decoded => {
                // The charge covers the decoder's copy and the result.
                r.charge(2 * needed)?;
                let rgba = png(bytes, width, height).map_err(|e| r.fault(Fault::Picture(e)))?;
                r.memory.release(needed);
                Some(ImageData::Decoded(Image { width, height, rgba }))
            }
        },
        found => {
            return Err(r.whole(Fault::limit("the encoding of an image", found, PNG)));
        }
    };
    r.finish()?;
    Ok(image)
}

/// The bytes of an image file; their memory is charged.
fn kept(r: &mut SectionReader<'_>, mime: String, bytes: &[u8]) -> Result<ImageData, ReadError> {
    r.charge(bytes.len() + mime.len())?;
    let bytes = bytes.to_vec();
    Ok(ImageData::Encoded { mime, bytes })
}

#[cfg(feature = "images")]
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
        return Err(format!("it has {w} x {h} pixels, the section states {width} x {height}"));
    }
    match decoded {
        image::DynamicImage::ImageRgba8(image) => Ok(image.into_raw()),
        other => Err(format!(
            "its pixels have {} channels of {} bits, expected 4 of 8",
            other.color().channel_count(),
            other.color().bits_per_pixel() / u16::from(other.color().channel_count())
        )),
    }
}
