//! Images of a rig: decoded, or as they stand in their file.

#[cfg(feature = "images")]
use image::{ImageFormat, ImageReader, Limits};
#[cfg(feature = "images")]
use std::io::Cursor;

/// The most pixels of an image's width and height.
pub const MAX_IMAGE_SIDE: u32 = 16_384;

/// A decoded image: 8-bit sRGB RGBA, rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width × height × 4` bytes.
    pub rgba: Vec<u8>,
}

/// An image as its file holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedImage {
    /// MIME type, `image/png` for example: what the bytes begin as where that is PNG or JPEG, else what the
    /// file states, else `application/octet-stream`.
    pub mime: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An image of a rig.
#[derive(Clone, Debug, PartialEq)]
pub enum ImageData {
    /// Pixels.
    Decoded(Image),
    /// Bytes of the source.
    Encoded(EncodedImage),
}

/// What becomes of the images of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageMode {
    /// They are left out: a rig has `None` in their places.
    Skip,
    /// They stay as their file holds them: [`ImageData::Encoded`]. Pixels stay pixels.
    Encoded,
    /// They are decoded: [`ImageData::Decoded`].
    #[cfg(feature = "images")]
    Decoded,
}

impl Default for ImageMode {
    /// `Decoded` with the feature `images`, else `Encoded`.
    fn default() -> Self {
        #[cfg(feature = "images")]
        return Self::Decoded;
        #[cfg(not(feature = "images"))]
        Self::Encoded
    }
}

impl ImageData {
    /// The pixels, if it is decoded.
    pub fn decoded(&self) -> Option<&Image> {
        match self {
            Self::Decoded(image) => Some(image),
            Self::Encoded(_) => None,
        }
    }

    /// The bytes of the source, if it is not decoded.
    pub fn encoded(&self) -> Option<&EncodedImage> {
        match self {
            Self::Encoded(image) => Some(image),
            Self::Decoded(_) => None,
        }
    }
}

impl EncodedImage {
    /// An image of these bytes. `stated` is the type that the file names; PNG and JPEG are known by their
    /// first bytes, whatever it says.
    pub fn new(bytes: Vec<u8>, stated: Option<&str>) -> Self {
        let mime = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            _ => stated.unwrap_or("application/octet-stream"),
        };
        Self {
            mime: mime.into(),
            bytes,
        }
    }
}

/// What an encoded image needs to be decoded, from its header.
#[cfg(feature = "images")]
pub(crate) struct Survey {
    format: ImageFormat,
    pixels: u64,
    /// Bytes that decoding allocates, the image included.
    pub needed: u64,
}

#[cfg(feature = "images")]
impl Survey {
    /// Fixed part of what a decoder allocates (tables, window, one row of blocks).
    const DECODER_BYTES: u64 = 1 << 20;

    /// Reads the header of a PNG or JPEG.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        let format = image::guess_format(bytes).map_err(|e| e.to_string())?;
        // PNG: up to 8 bytes per pixel and 4 as RGBA. JPEG: up to 4 and 4, and if it is progressive
        // (marker FF C2) all its coefficients, 4 times 2 bytes, and their padding.
        let per_pixel = match format {
            ImageFormat::Png => 12,
            ImageFormat::Jpeg if bytes.windows(2).any(|w| w == [0xff, 0xc2]) => 24,
            ImageFormat::Jpeg => 12,
            other => return Err(format!("{other:?} pictures are not read")),
        };
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        reader.limits(Self::limits(Self::DECODER_BYTES));
        let (width, height) = reader.into_dimensions().map_err(|e| e.to_string())?;
        if width.max(height) > MAX_IMAGE_SIDE {
            return Err(format!(
                "width or height of an image in pixels: {} needed, the limit is {MAX_IMAGE_SIDE}",
                width.max(height)
            ));
        }
        let pixels = u64::from(width) * u64::from(height);
        Ok(Self {
            format,
            pixels,
            needed: pixels.saturating_mul(per_pixel),
        })
    }

    /// Bytes of the decoded image.
    pub fn kept(&self) -> u64 {
        self.pixels * 4
    }

    /// Decodes the image whose header was read.
    pub fn decode(&self, bytes: &[u8]) -> Result<Image, String> {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), self.format);
        reader.limits(Self::limits(self.needed));
        let decoded = reader.decode().map_err(|e| e.to_string())?.into_rgba8();
        Ok(Image {
            width: decoded.width(),
            height: decoded.height(),
            rgba: decoded.into_raw(),
        })
    }

    fn limits(bytes: u64) -> Limits {
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_IMAGE_SIDE);
        limits.max_image_height = Some(MAX_IMAGE_SIDE);
        limits.max_alloc = Some(bytes);
        limits
    }
}
