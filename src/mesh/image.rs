//! Images of a rig: decoded, or encoded as in their file.

#[cfg(feature = "images")]
use super::webp::Container;
#[cfg(feature = "images")]
use crate::error::BuildError;
#[cfg(feature = "images")]
use image::{ImageFormat, ImageReader, Limits};
#[cfg(feature = "images")]
use std::io::Cursor;

/// Largest width and height of an image, pixels.
#[cfg(any(feature = "images", feature = "phx"))]
pub const MAX_IMAGE_SIDE: u32 = 16_384;

/// Longest MIME type, bytes; registered ones are shorter than 100.
pub const MAX_MIME_TYPE: usize = 255;

/// Whether bytes can be a MIME type: printable ASCII without spaces, at most [`MAX_MIME_TYPE`] of them.
pub(crate) fn is_mime_type(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_MIME_TYPE && bytes.iter().all(u8::is_ascii_graphic)
}

/// A decoded image: RGBA with 8 bits per channel, rows from top to bottom. Colour textures are sRGB; images of other
/// uses hold the numbers of their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels: `width × height × 4` bytes.
    pub rgba: Vec<u8>,
}

/// An image of a rig.
#[derive(Clone, Debug, PartialEq)]
pub enum ImageData {
    /// Pixels.
    Decoded(Image),
    /// Bytes of the source file.
    Encoded {
        /// MIME type, such as `image/png`: printable ASCII without spaces, at most 255 bytes. PNG, JPEG and WebP
        /// are recognised by their first bytes. For other formats it is the type that the file states, or
        /// `application/octet-stream`.
        mime: String,
        /// The encoded bytes.
        bytes: Vec<u8>,
    },
}

/// How reading a file handles images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageMode {
    /// Images are left out: the rig has `None` in their positions.
    Skip,
    /// Images keep the bytes of their file: [`ImageData::Encoded`]. Stored pixels stay pixels.
    Encoded,
    /// Images are decoded: [`ImageData::Decoded`].
    #[cfg(feature = "images")]
    Decoded,
}

impl Default for ImageMode {
    /// `Decoded` with the feature `images`, otherwise `Encoded`.
    fn default() -> Self {
        #[cfg(feature = "images")]
        return Self::Decoded;
        #[cfg(not(feature = "images"))]
        Self::Encoded
    }
}

impl ImageData {
    /// The pixels, if the image is decoded.
    pub fn decoded(&self) -> Option<&Image> {
        match self {
            Self::Decoded(image) => Some(image),
            Self::Encoded { .. } => None,
        }
    }

    /// Makes an image of encoded bytes. `stated` is the MIME type that the file states; the first bytes of
    /// PNG, JPEG and WebP take precedence, and a text that cannot be a MIME type counts as none.
    pub fn from_encoded(bytes: Vec<u8>, stated: Option<&str>) -> Self {
        let mime = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => stated
                .filter(|stated| is_mime_type(stated.as_bytes()))
                .unwrap_or("application/octet-stream"),
        };
        Self::Encoded { mime: mime.into(), bytes }
    }

    /// Decodes a PNG, a JPEG or a WebP that is not animated; pixels are copied. `limit` bounds the bytes that decoding may
    /// allocate, with the image.
    ///
    /// # Errors
    /// If the image has another format, is damaged, has a side above 16,384, or needs more bytes than `limit`.
    #[cfg(feature = "images")]
    pub fn decode(&self, limit: u64) -> Result<Image, BuildError> {
        let (mime, bytes) = match self {
            Self::Decoded(image) => return Ok(image.clone()),
            Self::Encoded { mime, bytes } => (mime, bytes),
        };
        let failed =
            |reason: String| BuildError::invalid(format!("image of type {mime}: {reason}"));
        let survey = Survey::new(bytes).map_err(failed)?;
        if survey.needed > limit {
            let needed = survey.needed;
            let what = format!("image of type {mime}: decoding needs {needed} bytes");
            return Err(BuildError::Limit { what, needed, limit });
        }
        survey.decode(bytes).map_err(failed)
    }
}

#[cfg(feature = "images")]
fn check_side(longer: u32) -> Result<(), String> {
    if longer <= MAX_IMAGE_SIDE {
        return Ok(());
    }
    Err(format!("the longer side of an image is {longer} pixels, the limit is {MAX_IMAGE_SIDE}"))
}

/// Format, size and decoding memory of an encoded image, from its header.
#[cfg(feature = "images")]
pub(crate) struct Survey {
    format: ImageFormat,
    /// Bytes that decoding allocates, including the image.
    pub needed: u64,
}

#[cfg(feature = "images")]
impl Survey {
    /// Allocation limit while the header is read: tables, window, one row of blocks.
    const DECODER_BYTES: u64 = 1 << 20;

    /// Reads the header of a PNG, JPEG or WebP.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        let format = image::guess_format(bytes).map_err(|e| e.to_string())?;
        // Bytes per pixel. PNG: up to 8, and 4 as RGBA. JPEG: up to 4, and 4 as RGBA; progressive files
        // (marker FF C2) also hold all coefficients, 4 × 2 bytes, and their padding.
        let per_pixel = match format {
            ImageFormat::Png => 12,
            ImageFormat::Jpeg if bytes.windows(2).any(|w| w == [0xff, 0xc2]) => 24,
            ImageFormat::Jpeg => 12,
            ImageFormat::WebP => {
                let container = Container::read(bytes)?;
                check_side(container.width.max(container.height))?;
                let needed = container.needed();
                return Ok(Self { format, needed });
            }
            other => {
                let extension = other.extensions_str().first().copied().unwrap_or("such");
                return Err(format!("{extension} images are not supported"));
            }
        };
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(Self::limits(Self::DECODER_BYTES));
        let (width, height) = reader.into_dimensions().map_err(|e| e.to_string())?;
        check_side(width.max(height))?;
        let pixels = u64::from(width) * u64::from(height);
        Ok(Self { format, needed: pixels.saturating_mul(per_pixel) })
    }

    /// Decodes the image whose header was read.
    pub fn decode(&self, bytes: &[u8]) -> Result<Image, String> {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), self.format);
        reader.limits(Self::limits(self.needed));
        let decoded = reader.decode().map_err(|e| e.to_string())?.into_rgba8();
        let (width, height) = decoded.dimensions();
        Ok(Image { width, height, rgba: decoded.into_raw() })
    }

    fn limits(bytes: u64) -> Limits {
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_IMAGE_SIDE);
        limits.max_image_height = Some(MAX_IMAGE_SIDE);
        limits.max_alloc = Some(bytes);
        limits
    }
}

#[cfg(all(test, feature = "images"))]
mod tests {
    use super::*;

    #[test]
    fn encoded_images_are_decoded_within_a_limit() {
        let pixels =
            image::RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8, y as u8, 7, 255]));
        let mut png = Cursor::new(Vec::new());
        pixels.write_to(&mut png, ImageFormat::Png).unwrap();
        let encoded = ImageData::from_encoded(png.into_inner(), Some("image/jpeg"));
        let ImageData::Encoded { mime, bytes } = &encoded else {
            panic!("pixels");
        };
        assert_eq!(mime, "image/png");
        let decoded = encoded.decode(1 << 20).unwrap();
        assert_eq!((decoded.width, decoded.height), (3, 2));
        assert_eq!(decoded.rgba, pixels.into_raw());
        let refused = encoded.decode(3 * 2 * 12 - 1);
        assert!(matches!(refused, Err(BuildError::Limit { needed: 72, limit: 71, .. })));
        let half = ImageData::from_encoded(bytes[..40].to_vec(), None);
        assert!(matches!(half.decode(1 << 20), Err(BuildError::Invalid(_))));
        let other = ImageData::from_encoded(b"RIFF....WEBP".to_vec(), Some("image/webp"));
        let text = other.decode(1 << 20).unwrap_err().to_string();
        assert!(text.starts_with("image of type image/webp: "), "{text}");
    }
}
