//! Section IMAG: one image, decoded or with the bytes of its source.

use super::error::{Fault, ReadError};
use super::read::SectionReader;
use super::write::Bytes;
#[cfg(feature = "images")]
use crate::mesh::Survey;
use crate::mesh::{Image, ImageData, ImageMode, MAX_IMAGE_SIDE, MAX_MIME_TYPE, is_mime_type};
#[cfg(feature = "images")]
use image::{ExtendedColorType, ImageEncoder};

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
    let (form, bytes) = match &png {
        Some(png) => (PNG, png),
        None => (PIXELS, &i.rgba),
    };
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
    match form {
        ENCODED => read_encoded(r, mode),
        _ => read_sized(r, mode),
    }
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
                let image = png(bytes, (width, height)).map_err(|e| r.fault(Fault::Picture(e)))?;
                r.memory.release(needed);
                Some(ImageData::Decoded(image))
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

/// The image of a PNG, which must have the stated size.
#[cfg(feature = "images")]
fn png(bytes: &[u8], (width, height): (u32, u32)) -> Result<Image, String> {
    let survey = Survey::new(bytes)?;
    if survey.size != (width, height) {
        let (w, h) = survey.size;
        return Err(format!("it has {w} x {h} pixels, the section states {width} x {height}"));
    }
    survey.decode(bytes)
}
