//! Materials and pictures.

use base64::Engine;
use image::{ImageFormat, RgbaImage};
use phalanx::import::Severity;
use phalanx::import::gltf::ImportOptions;
#[cfg(feature = "images")]
use phalanx::import::gltf::read_path;
use phalanx::mesh::{EncodedImage, ImageData, ImageMode};
use phalanx_testkit::gltf_file::*;
use serde_json::json;

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut picture = RgbaImage::new(3, 2);
    picture.put_pixel(1, 0, image::Rgba([255, 128, 0, 255]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    let dynamic = image::DynamicImage::from(picture);
    match format {
        ImageFormat::Jpeg => dynamic.into_rgb8().write_to(&mut bytes, format).unwrap(),
        _ => dynamic.write_to(&mut bytes, format).unwrap(),
    }
    bytes.into_inner()
}

/// A material for every image.
fn use_all_images(file: &mut File) {
    let count = file.root["images"].as_array().unwrap().len();
    for image in 0..count {
        let texture = file.push("textures", json!({ "source": image }));
        let color = json!({ "baseColorTexture": { "index": texture } });
        file.push("materials", json!({ "pbrMetallicRoughness": color }));
    }
}

#[test]
fn factors_sides_and_textures() {
    let mut file = File::new();
    file.push("materials", json!({ "name": "plain" }));
    file.push("images", json!({ "uri": "never-fetched.png" }));
    file.push("images", json!({ "uri": "never-fetched.png" }));
    file.push("textures", json!({ "source": 1 }));
    file.push(
        "textures",
        json!({ "extensions": { "KHR_texture_basisu": { "source": 0 } } }),
    );
    let color = json!({ "baseColorFactor": [0.5, 0.25, 1.0, 0.125],
        "baseColorTexture": { "index": 0, "texCoord": 1 } });
    file.push(
        "materials",
        json!({ "pbrMetallicRoughness": color, "doubleSided": true }),
    );
    let color = json!({ "baseColorTexture": { "index": 1 } });
    file.push("materials", json!({ "pbrMetallicRoughness": color }));
    let old = json!({ "diffuseFactor": [0.5, 0.5, 0.25, 1.0], "diffuseTexture": { "index": 0 } });
    file.push(
        "materials",
        json!({ "extensions": { "KHR_materials_pbrSpecularGlossiness": old } }),
    );
    let options = ImportOptions {
        images: ImageMode::Skip,
        ..ImportOptions::default()
    };
    let (scene, report) = file.read_with(&options).unwrap();
    assert_eq!(scene.images, [None, None]);
    let m = &scene.materials;
    assert_eq!(m[0].name.as_deref(), Some("plain"));
    assert_eq!((m[0].base_color, m[0].base_color_image), ([1.0; 4], None));
    assert_eq!(m[1].base_color, [0.5, 0.25, 1.0, 0.125]);
    assert_eq!((m[1].base_color_image, m[1].double_sided), (Some(1), true));
    assert_eq!((m[2].base_color_image, m[2].double_sided), (None, false));
    assert_eq!(m[3].base_color, [0.5, 0.5, 0.25, 1.0]);
    assert_eq!(m[3].base_color_image, Some(1));
    assert_reported(&report, Severity::Note, &["material 1", "TEXCOORD_1"]);
    assert_reported(&report, Severity::Dropped, &["material 2", "texture 1"]);
    assert_eq!(report.entries.len(), 2);
}

#[cfg(feature = "images")]
#[test]
fn pictures_come_from_views_data_uris_and_files() {
    let folder = std::env::temp_dir().join(format!("phalanx-images-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (png, jpeg) = (encoded(ImageFormat::Png), encoded(ImageFormat::Jpeg));
    std::fs::write(folder.join("a b.png"), &png).unwrap();
    let mut file = File::new();
    let view = file.view(&png);
    file.push(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png" }),
    );
    // The bytes decide, not the type that the file names.
    let view = file.view(&jpeg);
    file.push(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png" }),
    );
    let text = base64::engine::general_purpose::STANDARD.encode(&png);
    file.push(
        "images",
        json!({ "uri": format!("data:image/png;base64,{text}") }),
    );
    file.push("images", json!({ "uri": "a%20b.png" }));
    use_all_images(&mut file);
    let path = folder.join("a.glb");
    std::fs::write(&path, file.glb()).unwrap();
    let (scene, report) = read_path(&path, &ImportOptions::default()).unwrap();
    assert!(report.entries.is_empty(), "{:?}", report.entries);
    for image in &scene.images {
        let image = image.as_ref().and_then(|i| i.decoded()).unwrap();
        assert_eq!((image.width, image.height, image.rgba.len()), (3, 2, 24));
    }
    for i in [0, 2, 3] {
        let image = scene.images[i].as_ref().and_then(|i| i.decoded()).unwrap();
        assert_eq!(image.rgba[4..8], [255, 128, 0, 255]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(feature = "images")]
#[test]
fn pictures_that_cannot_be_decoded_are_dropped() {
    let png = encoded(ImageFormat::Png);
    // A header that claims 16,000 × 16,000 pixels, its checksum mended.
    let mut bomb = png.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 0x3e, 0x80, 0, 0, 0x3e, 0x80]);
    let crc = crc32(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&crc);
    let mut wide = bomb.clone();
    wide[16] = 1;
    let crc = crc32(&wide[12..29]).to_be_bytes();
    wide[29..33].copy_from_slice(&crc);
    let mut file = File::new();
    for bytes in [&png[..png.len() / 2], b"GIF89a....", b"", &bomb, &wide] {
        let view = file.view(bytes);
        file.push("images", json!({ "bufferView": view }));
    }
    file.push("images", json!({ "uri": "outside.png" }));
    file.push("images", json!({ "bufferView": 99 }));
    file.push("images", json!({}));
    use_all_images(&mut file);
    let (scene, report) = file.read();
    assert_eq!(scene.images, vec![None; 8]);
    assert_eq!(
        entries(&report, Severity::Dropped).len(),
        8,
        "{:?}",
        report.entries
    );
    assert_reported(
        &report,
        Severity::Dropped,
        &["image 3", "memory of the import"],
    );
    assert_reported(
        &report,
        Severity::Dropped,
        &["image 4", "size exceeds limit"],
    );
    assert_reported(&report, Severity::Dropped, &["image 6", "buffer view 99"]);
}

#[test]
fn images_stay_as_their_file_holds_them() {
    let (png, jpeg) = (encoded(ImageFormat::Png), encoded(ImageFormat::Jpeg));
    let webp = b"RIFF....WEBP".to_vec();
    let mut file = File::new();
    // What the bytes begin as goes before what the file says of them.
    let view = file.view(&jpeg);
    let image = json!({ "bufferView": view, "mimeType": "image/png" });
    file.push("images", image);
    let text = base64::engine::general_purpose::STANDARD.encode(&png);
    let image = json!({ "uri": format!("data:image/x-any;base64,{text}") });
    file.push("images", image);
    let view = file.view(&webp);
    file.push(
        "images",
        json!({ "bufferView": view, "mimeType": "image/webp" }),
    );
    let text = base64::engine::general_purpose::STANDARD.encode(&webp);
    let image = json!({ "uri": format!("data:image/webp;base64,{text}") });
    file.push("images", image);
    let view = file.view(b"?");
    file.push("images", json!({ "bufferView": view }));
    // No material names this one.
    use_all_images(&mut file);
    let view = file.view(&png);
    file.push("images", json!({ "bufferView": view }));
    let options = ImportOptions {
        images: ImageMode::Encoded,
        ..ImportOptions::default()
    };
    let (scene, report) = file.read_with(&options).unwrap();
    assert!(report.entries.is_empty(), "{:?}", report.entries);
    let image = |mime: &str, bytes: &[u8]| {
        Some(ImageData::Encoded(EncodedImage {
            mime: mime.into(),
            bytes: bytes.to_vec(),
        }))
    };
    let expected = [
        image("image/jpeg", &jpeg),
        image("image/png", &png),
        image("image/webp", &webp),
        image("image/webp", &webp),
        image("application/octet-stream", b"?"),
        None,
    ];
    assert_eq!(scene.images, expected);
}

/// Pictures of a few pixels each look through the same megabyte.
#[cfg(feature = "images")]
#[test]
fn bytes_that_pictures_share_are_counted_for_each() {
    let mut bytes = encoded(ImageFormat::Png);
    bytes.resize(1 << 20, 0);
    let mut file = File::new();
    let view = file.view(&bytes);
    for _ in 0..60 {
        file.push("images", json!({ "bufferView": view }));
    }
    use_all_images(&mut file);
    let options = ImportOptions {
        memory_limit: Some(4 << 20),
        ..ImportOptions::default()
    };
    let (scene, report) = file.read_with(&options).unwrap();
    let read = scene.images.iter().filter(|i| i.is_some()).count();
    assert!((10..40).contains(&read), "{read}");
    let dropped = entries(&report, Severity::Dropped);
    let counted = dropped
        .iter()
        .filter(|d| d.contains("bytes decoded by the import"));
    assert_eq!(counted.count(), 60 - read, "{dropped:?}");
}

/// The checksum of PNG chunks.
#[cfg(feature = "images")]
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}
