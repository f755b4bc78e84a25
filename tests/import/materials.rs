//! Materials and pictures.

use base64::Engine;
use image::{ImageFormat, RgbaImage};
use phalanx::import::ImportOptions;
#[cfg(feature = "images")]
use phalanx::import::read_path;
use phalanx::import::{ReportEntry, Severity};
use phalanx::mesh::{
    AlphaMode, Filter, ImageData, ImageMode, Material, Sampler, Texture, TextureTransform, Wrap,
};
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
        let color = json!({ "baseColorTexture": { "index": texture }, "metallicFactor": 0.0 });
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
    file.push("textures", json!({ "extensions": { "KHR_texture_basisu": { "source": 0 } } }));
    let color = json!({ "baseColorFactor": [0.5, 0.25, 1.0, 0.125],
        "baseColorTexture": { "index": 0, "texCoord": 1 } });
    file.push("materials", json!({ "pbrMetallicRoughness": color, "doubleSided": true }));
    let color = json!({ "baseColorTexture": { "index": 1 } });
    file.push("materials", json!({ "pbrMetallicRoughness": color }));
    let old = json!({ "diffuseFactor": [0.5, 0.5, 0.25, 1.0], "diffuseTexture": { "index": 0 },
        "glossinessFactor": 0.25 });
    file.push("materials", json!({ "extensions": { "KHR_materials_pbrSpecularGlossiness": old } }));
    let options = ImportOptions { images: ImageMode::Skip, ..ImportOptions::default() };
    let (scene, report) = file.read_with(&options).unwrap();
    assert_eq!(scene.images, [None, None]);
    let m = &scene.materials;
    let plain = Material { name: Some("plain".into()), ..Material::default() };
    assert_eq!(m[0], plain);
    assert_eq!(m[1].base_color, [0.5, 0.25, 1.0, 0.125]);
    let image = |m: &Material| m.base_color_texture.map(|t| (t.image, t.tex_coord));
    assert_eq!((image(&m[1]), m[1].double_sided), (Some((1, 1)), true));
    assert_eq!((image(&m[2]), m[2].double_sided), (None, false));
    assert_eq!(m[3].base_color, [0.5, 0.5, 0.25, 1.0]);
    assert_eq!(image(&m[3]), Some((1, 0)));
    assert_eq!((m[3].metallic, m[3].roughness), (0.0, 0.75));
    let words = ["material 2", "texture 1", "only that of KHR_texture_basisu"];
    assert_reported(&report, Severity::Dropped, &words);
    assert_reported(&report, Severity::Dropped, &["material 3", "specular colour"]);
    // The first three are metals, as they do not state that they are none.
    assert_reported(&report, Severity::Note, &["materials", "metallic (of 3)"]);
    let unlisted = ["KHR_texture_basisu", "pbrSpecularGlossiness"];
    for name in unlisted {
        let parts = ["extension", name, "1 object, but not listed in extensionsUsed"];
        assert_reported(&report, Severity::Dropped, &parts);
    }
    assert_eq!(report.len(), 5);
}

/// A file with one image, one sampler and one texture of both.
fn textured() -> File {
    let mut file = File::new();
    file.push("images", json!({ "uri": "never-fetched.png" }));
    file.push(
        "samplers",
        json!({ "wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985 }),
    );
    file.push("textures", json!({ "source": 0, "sampler": 0 }));
    file.push("textures", json!({ "source": 0 }));
    file
}

fn read_without_images(file: &File) -> (Vec<Material>, Vec<ReportEntry>) {
    let options = ImportOptions { images: ImageMode::Skip, ..ImportOptions::default() };
    let (scene, report) = file.read_with(&options).unwrap_or_else(|e| panic!("{e}"));
    (scene.materials, report)
}

#[test]
fn all_properties_of_surfaces() {
    let mut file = textured();
    let transform = json!({ "KHR_texture_transform":
        { "offset": [0.25, -1.0], "rotation": 0.5, "scale": [2.0, -3.0], "texCoord": 1 } });
    file.push(
        "materials",
        json!({
            "name": "everything",
            "alphaMode": "MASK",
            "alphaCutoff": 0.25,
            "doubleSided": true,
            "emissiveFactor": [0.5, 0.25, 0.0],
            "emissiveTexture": { "index": 1, "texCoord": 1 },
            "normalTexture": { "index": 0, "scale": -0.5 },
            "occlusionTexture": { "index": 1, "strength": 0.125 },
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.1, 0.2, 0.3, 0.4],
                "baseColorTexture": { "index": 0, "texCoord": 0, "extensions": transform },
                "metallicFactor": 0.75,
                "roughnessFactor": 0.5,
                "metallicRoughnessTexture": { "index": 1 },
            },
            "extensions": {
                "KHR_materials_emissive_strength": { "emissiveStrength": 8.0 },
            },
        }),
    );
    file.push("materials", json!({ "alphaMode": "BLEND" }));
    let names = ["KHR_texture_transform", "KHR_materials_unlit", "KHR_materials_emissive_strength"];
    file.root["extensionsUsed"] = json!(names);
    file.root["extensionsRequired"] = json!(names);
    let (materials, report) = read_without_images(&file);
    let sampler = Sampler {
        wrap_u: Wrap::ClampToEdge,
        wrap_v: Wrap::MirroredRepeat,
        mag_filter: Some(Filter::Nearest),
        min_filter: Some(Filter::Linear),
        mip_filter: Some(Filter::Nearest),
    };
    let plain = Texture::default();
    let everything = Material {
        name: Some("everything".into()),
        base_color: [0.1, 0.2, 0.3, 0.4],
        base_color_texture: Some(Texture {
            image: 0,
            tex_coord: 1,
            transform: TextureTransform { offset: [0.25, -1.0], rotation: 0.5, scale: [2.0, -3.0] },
            sampler,
        }),
        metallic: 0.75,
        roughness: 0.5,
        metallic_roughness_texture: Some(plain),
        normal_texture: Some(Texture { sampler, ..plain }),
        normal_scale: -0.5,
        occlusion_texture: Some(plain),
        occlusion_strength: 0.125,
        emissive: [4.0, 2.0, 0.0],
        emissive_texture: Some(Texture { tex_coord: 1, ..plain }),
        alpha_mode: AlphaMode::Mask,
        alpha_cutoff: 0.25,
        double_sided: true,
        unlit: false,
    };
    let blend = Material { alpha_mode: AlphaMode::Blend, ..Material::default() };
    assert_eq!(materials, [everything, blend]);
    // What pictures do without is said once for the file.
    let words = [
        "materials: kept, but not shown in pictures",
        "metallic (of 2), roughness (of 1), normal textures (of 1), occlusion (of 1), emissive (of 1)",
    ];
    assert_reported(&report, Severity::Note, &words);
    assert_eq!(report.len(), 1, "{:?}", report);
    // Unlit surfaces ignore all of it.
    file.root["materials"][0]["extensions"]["KHR_materials_unlit"] = json!({});
    file.root["materials"][1]["pbrMetallicRoughness"] = json!({ "metallicFactor": 0.0 });
    let (materials, report) = read_without_images(&file);
    assert!(materials[0].unlit);
    assert!(report.is_empty(), "{:?}", report);
}

#[test]
fn numbers_of_surfaces_are_moved_into_their_ranges() {
    let mut file = textured();
    file.push("samplers", json!({ "wrapS": 1, "magFilter": 9985, "minFilter": 2 }));
    file.push("textures", json!({ "source": 0, "sampler": 1 }));
    file.push(
        "materials",
        json!({
            "alphaMode": "DITHER",
            "alphaCutoff": -1.0,
            "emissiveFactor": [-1.0, 0.5, 9.0],
            "normalTexture": { "index": 2, "scale": 1e20, "texCoord": 2 },
            "occlusionTexture": { "index": 0, "strength": 1.5 },
            "pbrMetallicRoughness": {
                "metallicFactor": 2.0,
                "roughnessFactor": -0.5,
                "baseColorFactor": [0.5, 7.0, 1.0, -2.0],
                "baseColorTexture": { "index": 1,
                    "extensions": { "KHR_texture_transform": { "scale": [1e30, 1.0] } } },
                "metallicRoughnessTexture": { "index": 1,
                    "extensions": { "KHR_texture_transform": { "offset": "left" } } },
            },
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": [] } },
        }),
    );
    let (materials, report) = read_without_images(&file);
    let m = &materials[0];
    assert_eq!(m.check(), Ok(()));
    let factors = [m.metallic, m.roughness, m.occlusion_strength, m.alpha_cutoff];
    assert_eq!(factors, [1.0, 0.0, 1.0, 0.0]);
    assert_eq!((m.emissive, m.alpha_mode), ([0.0, 0.5, 1.0], AlphaMode::Opaque));
    assert_eq!(m.base_color, [0.5, 1.0, 1.0, 0.0]);
    assert_eq!(m.normal_scale, 1e12);
    assert_eq!(m.normal_texture, Some(Texture::default()));
    assert_eq!(m.metallic_roughness_texture, Some(Texture::default()));
    let scale = m.base_color_texture.map(|t| t.transform.scale);
    assert_eq!(scale, Some([1e12, 1.0]));
    for words in [
        "sampler 1: its wrapS 1 is unknown",
        "sampler 1: its magFilter 9985 is unknown",
        "sampler 1: its minFilter 2 is unknown",
        "material 0: its alpha mode \"DITHER\" is unknown",
        "its alpha cutoff was -1 and was set to 0",
        "its emissive factor was -1 and was set to 0",
        "its emissive factor was 9 and was set to 1",
        "its base colour was 7 and was set to 1",
        "its base colour was -2 and was set to 0",
        "its scale of the normals was 1e20 and was set to 1e12",
        "its strength of the occlusion was 1.5 and was set to 1",
        "its metallic factor was 2 and was set to 1",
        "its roughness factor was -0.5 and was set to 0",
        "the transform of its base colour texture was cut to 1e12",
    ] {
        assert_reported(&report, Severity::Repaired, &[words]);
    }
    for words in [
        "its normal texture uses TEXCOORD_2, which is not kept",
        "material 0: texture transform: invalid type",
        "material 0: emissive strength: ",
    ] {
        assert_reported(&report, Severity::Dropped, &[words]);
    }
}

/// A strength beyond f32 does not make a black surface shine, and no file is refused for it.
#[test]
fn an_emissive_strength_beyond_f32() {
    let mut file = textured();
    for factor in [[0.0; 3], [0.5; 3]] {
        file.push(
            "materials",
            json!({
                "emissiveFactor": factor,
                "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 1e39 } },
            }),
        );
    }
    let (materials, report) = read_without_images(&file);
    assert_eq!(materials[0].emissive, [0.0; 3]);
    assert_eq!(materials[1].emissive, [5e11; 3]);
    let words = "material 1: its emissive strength was 1e39 and was set to 1e12";
    assert_reported(&report, Severity::Repaired, &[words]);
}

#[test]
fn surfaces_that_are_refused() {
    let error = |change: fn(&mut File), words: &[&str]| {
        let mut file = textured();
        file.push("materials", json!({ "pbrMetallicRoughness": {} }));
        change(&mut file);
        assert_says(&file.error(), words);
    };
    fn color(file: &mut File) -> &mut serde_json::Value {
        &mut file.root["materials"][0]["pbrMetallicRoughness"]
    }
    error(|f| color(f)["metallicFactor"] = json!(1e300), &["JSON line 1", "number out of range"]);
    error(
        |f| color(f)["baseColorFactor"] = json!([0.0, 0.0, 1e300, 0.0]),
        &["JSON line 1", "number out of range"],
    );
    error(|f| color(f)["baseColorTexture"] = json!({ "index": 7 }), &["material 0", "texture 7"]);
    error(
        |f| {
            f.root["textures"][0]["sampler"] = json!(3);
            color(f)["baseColorTexture"] = json!({ "index": 0 });
        },
        &["material 0", "sampler 3"],
    );
    error(
        |f| {
            f.root["textures"][0] =
                json!({ "extensions": { "EXT_texture_webp": { "source": 9 } } });
            color(f)["baseColorTexture"] = json!({ "index": 0 });
        },
        &["material 0", "image 9"],
    );
}

/// Numbers of extensions beyond f32 are repaired as others are.
#[test]
fn numbers_of_extensions_beyond_f32() {
    let mut file = textured();
    let transform = |value: serde_json::Value| {
        let extensions = json!({ "KHR_texture_transform": value });
        json!({ "index": 0, "extensions": extensions })
    };
    file.push(
        "materials",
        json!({
            "emissiveFactor": [0.0, 1.0, 0.25],
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 1e39 } },
            "pbrMetallicRoughness": { "baseColorTexture": transform(json!({ "rotation": 1e300 })) },
            "normalTexture": transform(json!({ "offset": [-1e39, 0.5], "scale": [1e300, 2.0] })),
        }),
    );
    file.push(
        "materials",
        json!({
            "emissiveFactor": [0.5, 1e-30, 0.0],
            "extensions": {
                "KHR_materials_emissive_strength": { "emissiveStrength": -1e300 },
                "KHR_materials_pbrSpecularGlossiness": {
                    "diffuseFactor": [1e39, 0.5, 0.25, 1.0], "glossinessFactor": 1e39,
                },
            },
        }),
    );
    let (materials, report) = read_without_images(&file);
    assert!(materials.iter().all(|m| m.check().is_ok()));
    assert_eq!(materials[0].emissive, [0.0, 1e12, 2.5e11]);
    assert_eq!(materials[1].emissive, [0.0; 3]);
    assert_eq!(materials[1].base_color, [1.0, 0.5, 0.25, 1.0]);
    assert_eq!(materials[1].roughness, 0.0);
    let of = |texture: Option<Texture>| texture.map(|t| t.transform).unwrap();
    assert_eq!(of(materials[0].base_color_texture).rotation, 0.0);
    let moved = of(materials[0].normal_texture);
    assert_eq!((moved.offset, moved.scale), ([-1e12, 0.5], [1e12, 2.0]));
    for words in [
        "material 0: its emissive strength was 1e39 and was set to 1e12",
        "material 0: the rotation of its base colour texture is beyond f32 and was set to 0",
        "material 0: the transform of its normal texture was cut to 1e12",
        "material 1: its emissive strength was -1e300 and was set to 0",
        "material 1: its diffuse factor was inf and was set to 1",
        "material 1: its glossiness factor was inf and was set to 1",
    ] {
        assert_reported(&report, Severity::Repaired, &[words]);
    }
}

#[test]
fn the_second_texture_coordinates_are_kept_where_they_are_used() {
    let mut file = textured();
    for set in [0, 1] {
        let texture = json!({ "index": 0, "texCoord": set });
        file.push("materials", json!({ "emissiveTexture": texture }));
    }
    let positions = file.floats("VEC3", &[0.0; 9]);
    let (first, second) =
        (file.floats("VEC2", &[0.25; 6]), file.fractions(U16, "VEC2", 3, &u16_bytes(&[65535; 6])));
    let attributes = json!({ "POSITION": positions, "TEXCOORD_0": first, "TEXCOORD_1": second });
    for material in [json!(0), json!(1)] {
        file.mesh(attributes.clone());
        let mesh = file.root["meshes"].as_array().unwrap().len() - 1;
        file.root["meshes"][mesh]["primitives"][0]["material"] = material;
    }
    file.mesh(attributes);
    let options = ImportOptions { images: ImageMode::Skip, ..ImportOptions::default() };
    let (scene, _) = file.read_with(&options).unwrap();
    let primitives = scene.meshes.iter().map(|m| &m.primitives[0]);
    let sets: Vec<_> = primitives.map(|p| (p.uvs.len(), p.uvs1.clone())).collect();
    let all = vec![[1.0; 2]; 3];
    assert_eq!(sets, [(3, Vec::new()), (3, all), (3, Vec::new())]);
    // A set of another length is refused by its name.
    let short = file.floats("VEC2", &[0.25; 4]);
    file.root["meshes"][1]["primitives"][0]["attributes"]["TEXCOORD_1"] = json!(short);
    let line = file.read_with(&options).unwrap_err().to_string();
    assert_says(&line, &["TEXCOORD_1", "expected 3"]);
}

/// The source of the specification goes before that of an extension.
#[test]
fn sources_of_textures() {
    let mut file = File::new();
    for _ in 0..2 {
        file.push("images", json!({ "uri": "never-fetched.webp" }));
    }
    let webp = json!({ "EXT_texture_webp": { "source": 1 } });
    file.push("textures", json!({ "extensions": webp }));
    file.push("textures", json!({ "source": 0, "extensions": webp }));
    for texture in 0..2 {
        let color = json!({ "baseColorTexture": { "index": texture }, "metallicFactor": 0.0 });
        file.push("materials", json!({ "pbrMetallicRoughness": color }));
    }
    file.root["extensionsUsed"] = json!(["EXT_texture_webp"]);
    file.root["extensionsRequired"] = json!(["EXT_texture_webp"]);
    let (materials, report) = read_without_images(&file);
    let images: Vec<_> = materials.iter().map(|m| m.base_color_texture.unwrap().image).collect();
    assert_eq!(images, [1, 0]);
    assert!(report.is_empty(), "{:?}", report);
}

/// Images of all textures are read; if memory does not suffice for all, those of base colours are there.
#[cfg(feature = "images")]
#[test]
fn base_colours_are_read_first() {
    let mut picture = std::io::Cursor::new(Vec::new());
    let pixels = RgbaImage::from_pixel(256, 256, image::Rgba([200, 100, 50, 255]));
    pixels.write_to(&mut picture, ImageFormat::Png).unwrap();
    let mut file = File::new();
    for _ in 0..3 {
        let view = file.view(picture.get_ref());
        let image = file.push("images", json!({ "bufferView": view }));
        file.push("textures", json!({ "source": image }));
    }
    let color = json!({ "baseColorTexture": { "index": 2 } });
    file.push(
        "materials",
        json!({ "normalTexture": { "index": 0 }, "pbrMetallicRoughness": color }),
    );
    let read = |memory_limit| {
        let options = ImportOptions { memory_limit, ..ImportOptions::default() };
        let (scene, _) = file.read_with(&options).unwrap();
        let images = scene.images.iter();
        images.map(Option::is_some).collect::<Vec<bool>>()
    };
    assert_eq!(read(None), [true, false, true]);
    // 12 bytes a pixel are needed at a time, of which 4 stay.
    assert_eq!(read(Some(256 * 256 * 13)), [false, false, true]);
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
    file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    // The bytes decide, not the type that the file names.
    let view = file.view(&jpeg);
    file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    let text = base64::engine::general_purpose::STANDARD.encode(&png);
    file.push("images", json!({ "uri": format!("data:image/png;base64,{text}") }));
    file.push("images", json!({ "uri": "a%20b.png" }));
    use_all_images(&mut file);
    let path = folder.join("a.glb");
    std::fs::write(&path, file.glb()).unwrap();
    let (scene, report) = read_path(&path, &ImportOptions::default()).unwrap();
    assert!(report.is_empty(), "{:?}", report);
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
    assert_eq!(entries(&report, Severity::Dropped).len(), 8, "{:?}", report);
    assert_reported(&report, Severity::Dropped, &["image 3", "memory of the import"]);
    assert_reported(&report, Severity::Dropped, &["image 4", "size exceeds limit"]);
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
    file.push("images", json!({ "bufferView": view, "mimeType": "image/webp" }));
    let text = base64::engine::general_purpose::STANDARD.encode(&webp);
    let image = json!({ "uri": format!("data:image/webp;base64,{text}") });
    file.push("images", image);
    let view = file.view(b"?");
    file.push("images", json!({ "bufferView": view }));
    // No material names this one.
    use_all_images(&mut file);
    let view = file.view(&png);
    file.push("images", json!({ "bufferView": view }));
    let options = ImportOptions { images: ImageMode::Encoded, ..ImportOptions::default() };
    let (scene, report) = file.read_with(&options).unwrap();
    let parts = ["images", "1 of 6 has no use", "the first is 5"];
    assert_reported(&report, Severity::Note, &parts);
    assert_eq!(report.len(), 1, "{:?}", report);
    let image = |mime: &str, bytes: &[u8]| {
        Some(ImageData::Encoded { mime: mime.into(), bytes: bytes.to_vec() })
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
    let options = ImportOptions { memory_limit: Some(4 << 20), ..ImportOptions::default() };
    let (scene, report) = file.read_with(&options).unwrap();
    let read = scene.images.iter().filter(|i| i.is_some()).count();
    assert!((10..40).contains(&read), "{read}");
    let dropped = entries(&report, Severity::Dropped);
    let counted = dropped.iter().filter(|d| d.contains("bytes decoded by the import"));
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

/// Images of one pixel: lossy, and lossy with lossless alpha, as browsers are tested with; and an animation.
#[cfg(feature = "images")]
const WEBP: [&str; 3] = [
    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
    "UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA",
];

#[cfg(feature = "images")]
fn webp() -> [Vec<u8>; 3] {
    let decode = |text| base64::engine::general_purpose::STANDARD.decode(text);
    WEBP.map(|text| decode(text).expect("the text is right"))
}

#[cfg(feature = "images")]
#[test]
fn webp_textures_are_decoded() {
    let [lossy, alpha, animated] = webp();
    let lossless = encoded(ImageFormat::WebP);
    let mut other_size = alpha.clone();
    // The canvas of the header, and not the image in it.
    other_size[24] = 200;
    let all = [
        &lossy[..],
        &alpha,
        &lossless,
        &animated,
        &other_size,
        &lossless[..lossless.len() / 2],
        &lossy[..20],
    ];
    let mut file = File::new();
    for bytes in all {
        let view = file.view(bytes);
        let image = file.push("images", json!({ "bufferView": view, "mimeType": "image/webp" }));
        let extension = json!({ "EXT_texture_webp": { "source": image } });
        let texture = file.push("textures", json!({ "extensions": extension }));
        let color = json!({ "baseColorTexture": { "index": texture }, "metallicFactor": 0.0 });
        file.push("materials", json!({ "pbrMetallicRoughness": color }));
    }
    file.root["extensionsRequired"] = json!(["EXT_texture_webp"]);
    let (scene, report) = file.read();
    let sizes: Vec<_> = (scene.images.iter())
        .map(|i| Some(i.as_ref()?.decoded()?).map(|i| (i.width, i.height)))
        .collect();
    let one = Some((1, 1));
    assert_eq!(sizes, [one, one, Some((3, 2)), None, None, None, None]);
    let image = scene.images[2].as_ref().and_then(|i| i.decoded()).unwrap();
    assert_eq!(image.rgba[4..8], [255, 128, 0, 255]);
    for (image, words) in [
        (3, "animated WebP images are not supported"),
        (4, "the parts of the WebP image differ in size"),
        (5, ""),
        (6, "chunks of the WebP file are damaged"),
    ] {
        let place = format!("image {image}:");
        assert_reported(&report, Severity::Dropped, &[&place, words]);
    }
    // Lossless data is paid for by its bytes: the tables that it describes are large.
    let image = ImageData::from_encoded(lossless.clone(), None);
    assert!(matches!(&image, ImageData::Encoded { mime, .. } if mime == "image/webp"));
    let line = image.decode(16 * 256).unwrap_err().to_string();
    assert_says(&line, &["image/webp", "limit is 4096"]);
    assert!(image.decode(1 << 20).is_ok());
}

/// Any bytes of WebP files: an error, or an image of the size that the header states.
#[cfg(feature = "images")]
#[test]
fn damaged_webp_images() {
    let [lossy, alpha, _] = webp();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        // Marsaglia's xorshift64.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let mut read = 0;
    for original in [lossy, alpha, encoded(ImageFormat::WebP)] {
        for _ in 0..4_000 {
            let mut bytes = original.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            if let Ok(image) = ImageData::from_encoded(bytes, None).decode(1 << 24) {
                let pixels = image.width as usize * image.height as usize;
                assert_eq!(image.rgba.len(), pixels * 4);
                read += 1;
            }
        }
    }
    assert!((100..11_900).contains(&read), "{read}");
}
