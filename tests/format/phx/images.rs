//! Images that stay as their sources hold them.

use super::Tested;
use super::roundtrip::check;
use image::{ImageFormat, RgbaImage};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::format::{ClipForm, Library, ReadError, RigOptions, Section};
use phalanx::mesh::{Image, ImageData, ImageMode};
use phalanx::rig::Rig;
use phalanx_testkit::{made, seal};
use std::io::Cursor;

fn pixels() -> Image {
    Image { width: 2, height: 1, rgba: vec![255, 128, 0, 255, 1, 2, 3, 4] }
}

/// A rig whose images are a PNG, none, pixels, and bytes of an unknown kind.
fn rig() -> Result<Rig, Box<dyn std::error::Error>> {
    let Image { width, height, rgba } = pixels();
    let picture = RgbaImage::from_raw(width, height, rgba).ok_or("eight bytes")?;
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png)?;
    let mut raw = made::raw();
    raw.images = vec![
        Some(ImageData::from_encoded(png.into_inner(), None)),
        None,
        Some(ImageData::Decoded(pixels())),
    ];
    Ok(build_rig(raw, &BuildOptions::default())?)
}

fn options(images: ImageMode) -> RigOptions {
    RigOptions { clips: false, images }
}

pub fn encoded() -> Tested {
    let rig = rig()?;
    let bytes = made::library_in(&rig, ClipForm::Rows);
    let library = Library::from_bytes(&bytes)?;
    let read = library.rig(&options(ImageMode::Encoded))?;
    check(read.images() == rig.images(), "the bytes and their type")?;
    let skipped = library.rig(&options(ImageMode::Skip))?;
    check(skipped.images() == [None, None, None], "left out")?;
    // Written again, they are the same bytes.
    check(
        made::library_in(
            &library.rig(&RigOptions { clips: true, ..options(ImageMode::Encoded) })?,
            ClipForm::Rows,
        ) == bytes,
        "the same file",
    )?;
    #[cfg(feature = "images")]
    {
        let decoded = library.rig(&options(ImageMode::Decoded))?;
        let image = Some(ImageData::Decoded(pixels()));
        check(decoded.images() == [image.clone(), None, image], "pixels")?;
    }
    Ok(())
}

/// The fault of a library whose image section has these bytes, and where it lies.
fn fault(image: &[u8], mode: ImageMode) -> Result<ReadError, Box<dyn std::error::Error>> {
    let mut parts = seal::parts(&made::library_in(&rig()?, ClipForm::Rows));
    let place = seal::find(&parts, b"IMAG");
    parts[place].bytes = image.to_vec();
    match Library::from_bytes(&seal::file(&parts))?.rig(&options(mode)) {
        Ok(_) => Err("it was taken".into()),
        Err(error) => Ok(error),
    }
}

/// A type that no reader would take does not become part of a rig, so none is written.
pub fn mime_types() -> Tested {
    for (stated, kept) in [
        ("image/webp".to_owned(), true),
        ("x".repeat(255), true),
        ("x".repeat(256), false),
        ("image/\u{fc}".to_owned(), false),
        ("image/a b".to_owned(), false),
        ("image/\n".to_owned(), false),
    ] {
        let image = ImageData::from_encoded(b"?".to_vec(), Some(&stated));
        let wanted = if kept { &stated } else { "application/octet-stream" };
        let ImageData::Encoded { mime, .. } = image else {
            return Err("pixels".into());
        };
        check(mime == *wanted, format!("{stated:?}: {mime}"))?;
        let mut raw = made::raw();
        raw.images[0] = Some(ImageData::Encoded { mime: stated.clone(), bytes: b"?".to_vec() });
        match build_rig(raw, &BuildOptions::default()) {
            Ok(rig) => {
                check(kept, format!("{stated:?} was taken"))?;
                let library = Library::from_bytes(&made::library_in(&rig, ClipForm::Rows))?;
                let read = library.rig(&options(ImageMode::Encoded))?;
                check(read.images()[0] == rig.images()[0], stated)?;
            }
            Err(error) => {
                let (text, length) = (error.to_string(), stated.len());
                let named = text.contains("image 0") && text.contains(&format!("{length} bytes"));
                check(!kept && named, text)?;
            }
        }
    }
    Ok(())
}

pub fn damaged() -> Tested {
    let section = |mime: &[u8], stated: u32, bytes: &[u8]| {
        let mut out = (mime.len() as u32).to_le_bytes().to_vec();
        out.extend(stated.to_le_bytes());
        out.extend(mime);
        out.extend(bytes);
        out
    };
    let (long, file) = ([b'x'; 256], b"anything");
    let cases = [
        ("bytes that are not there", section(b"image/png", 9, file)),
        ("bytes too many", section(b"image/png", 7, file)),
        ("a long type", section(&long, 8, file)),
        ("a type that is no text", section(b"image/\xff", 8, file)),
        ("a type of two lines", section(b"image/\n", 8, file)),
        ("nothing", Vec::new()),
    ];
    for (what, bytes) in &cases {
        for mode in [ImageMode::Skip, ImageMode::Encoded] {
            let error = fault(bytes, mode).map_err(|e| format!("{what}, {mode:?}: {e}"))?;
            check(error.section == Section::Image, error.to_string())?;
        }
    }
    #[cfg(feature = "images")]
    {
        let error = fault(&section(b"image/png", 8, file), ImageMode::Decoded)?;
        let picture = matches!(error.fault, phalanx::format::Fault::Picture(_));
        check(picture, error.to_string())?;
    }
    Ok(())
}
