//! A minimal reader for .glb and .gltf: JSON, buffers (GLB chunk, data URI, external file) and accessors as
//! f64 tables. Extensions are not supported.

use base64::Engine;
use serde_json::Value;
use std::path::Path;

/// A file in memory.
pub struct File {
    pub json: Value,
    buffers: Vec<Vec<u8>>,
}

/// Contents of an accessor: `components` numbers per element.
pub struct Table {
    pub components: usize,
    pub values: Vec<f64>,
}

impl Table {
    pub fn elements(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.components)
    }

    /// The elements as arrays of N; fails if the accessor's type has another size.
    pub fn rows<const N: usize>(&self) -> Result<Vec<[f64; N]>, String> {
        if self.components != N {
            return Err(format!("{} components, expected {N}", self.components));
        }
        Ok(self.elements().map(|e| std::array::from_fn(|i| e[i])).collect())
    }
}

/// The array at `key`, or an empty one.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The index at `key`, if there is one.
pub fn index(value: &Value, key: &str) -> Option<usize> {
    value[key].as_u64().map(|i| i as usize)
}

/// The N numbers at `key`, if there are exactly N.
pub fn numbers<const N: usize>(value: &Value, key: &str) -> Option<[f64; N]> {
    let all: Vec<f64> = list(value, key).iter().filter_map(Value::as_f64).collect();
    all.try_into().ok()
}

impl File {
    pub fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&bytes, path.parent().unwrap_or(Path::new("")))
    }

    /// Parses a file's bytes; external buffers are read from `folder`.
    pub fn parse(bytes: &[u8], folder: &Path) -> Result<Self, String> {
        let (json, mut chunk) = match bytes.strip_prefix(b"glTF") {
            Some(_) => glb_chunks(bytes)?,
            None => (bytes, None),
        };
        let json: Value = serde_json::from_slice(json).map_err(|e| e.to_string())?;
        if !list(&json, "extensionsRequired").is_empty() {
            return Err("the reference supports no extensions".into());
        }
        let buffers = list(&json, "buffers")
            .iter()
            .map(|buffer| match buffer["uri"].as_str() {
                // Only the first buffer may be the GLB chunk (4.4.3.2).
                None => chunk.take().map(<[u8]>::to_vec).ok_or("no BIN chunk".into()),
                Some(uri) => match uri.split_once(";base64,") {
                    Some((head, data)) if head.starts_with("data:") => {
                        base64::engine::general_purpose::STANDARD
                            .decode(data)
                            .map_err(|e| e.to_string())
                    }
                    _ => std::fs::read(folder.join(uri)).map_err(|e| format!("{uri}: {e}")),
                },
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { json, buffers })
    }

    /// The numbers of an accessor: normalised integers as fractions, sparse values applied (3.6.2).
    pub fn accessor(&self, at: usize) -> Result<Table, String> {
        let accessor = list(&self.json, "accessors").get(at).ok_or(format!("no accessor {at}"))?;
        let components = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            Some("MAT4") => 16,
            other => return Err(format!("accessor {at}: type {other:?}")),
        };
        let count = index(accessor, "count").ok_or(format!("accessor {at}: no count"))?;
        let kind = accessor["componentType"].as_u64().unwrap_or(0);
        let normalized = accessor["normalized"].as_bool().unwrap_or(false);
        // Without a bufferView an accessor consists of zeros, which sparse values replace.
        let mut values = match index(accessor, "bufferView") {
            Some(_) => self.elements(accessor, kind, components, count)?,
            None => vec![0.0; count * components],
        };
        if let Some(sparse) = accessor.get("sparse") {
            let count = index(sparse, "count").ok_or("sparse without count")?;
            let (places, replacing) = (&sparse["indices"], &sparse["values"]);
            let place_kind = places["componentType"].as_u64().unwrap_or(0);
            let places = self.elements(places, place_kind, 1, count)?;
            let replacing = self.elements(replacing, kind, components, count)?;
            for (place, value) in places.iter().zip(replacing.chunks_exact(components)) {
                let start = *place as usize * components;
                values[start..start + components].copy_from_slice(value);
            }
        }
        if normalized {
            let (scale, signed) = match kind {
                5120 => (127.0, true),
                5121 => (255.0, false),
                5122 => (32767.0, true),
                5123 => (65535.0, false),
                _ => return Err(format!("accessor {at}: normalised component {kind}")),
            };
            for value in &mut values {
                *value /= scale;
                if signed {
                    *value = value.max(-1.0);
                }
            }
        }
        Ok(Table { components, values })
    }

    /// `count` elements at `place`'s bufferView and byteOffset, as stored.
    fn elements(
        &self,
        place: &Value,
        kind: u64,
        components: usize,
        count: usize,
    ) -> Result<Vec<f64>, String> {
        let view = index(place, "bufferView")
            .and_then(|v| list(&self.json, "bufferViews").get(v))
            .ok_or("no such bufferView")?;
        let buffer =
            index(view, "buffer").and_then(|b| self.buffers.get(b)).ok_or("no such buffer")?;
        let start = index(view, "byteOffset").unwrap_or(0);
        let length = index(view, "byteLength").ok_or("bufferView without byteLength")?;
        let view_bytes =
            buffer.get(start..start + length).ok_or("bufferView exceeds its buffer")?;
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return Err(format!("component type {kind}")),
        };
        let stride = index(view, "byteStride").unwrap_or(size * components);
        let first = index(place, "byteOffset").unwrap_or(0);
        let mut values = Vec::with_capacity(count * components);
        for element in 0..count {
            for c in 0..components {
                let offset = first + element * stride + c * size;
                let bytes = view_bytes
                    .get(offset..offset + size)
                    .ok_or("accessor exceeds its bufferView")?;
                values.push(number(kind, bytes));
            }
        }
        Ok(values)
    }
}

/// One little-endian component.
fn number(kind: u64, b: &[u8]) -> f64 {
    match kind {
        5120 => f64::from(b[0] as i8),
        5121 => f64::from(b[0]),
        5122 => f64::from(i16::from_le_bytes([b[0], b[1]])),
        5123 => f64::from(u16::from_le_bytes([b[0], b[1]])),
        5125 => f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        _ => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
    }
}

/// The JSON chunk and, if there is one, the BIN chunk of a GLB container (4.4).
fn glb_chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let chunk = |at: usize| -> Option<(&[u8], &[u8])> {
        let size = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize;
        Some((bytes.get(at + 4..at + 8)?, bytes.get(at + 8..at + 8 + size)?))
    };
    let (kind, json) = chunk(12).ok_or("truncated JSON chunk")?;
    if kind != b"JSON" {
        return Err("the first chunk is not JSON".into());
    }
    let binary = chunk(20 + json.len()).filter(|(kind, _)| *kind == b"BIN\0").map(|(_, data)| data);
    Ok((json, binary))
}
