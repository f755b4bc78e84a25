//! Writes small glTF files in memory.

use phalanx::import::ImportError;
use phalanx::import::ImportOptions;
use phalanx::import::raw::RawScene;
use phalanx::import::read_slice;
use phalanx::import::{ReportEntry, Severity};
use serde_json::{Value, json};

pub const I8: u32 = 5120;
pub const U8: u32 = 5121;
pub const I16: u32 = 5122;
pub const U16: u32 = 5123;
pub const U32: u32 = 5125;
pub const F32: u32 = 5126;

/// A glTF file under construction: its JSON and one binary chunk.
#[derive(Clone)]
pub struct File {
    pub root: Value,
    pub bin: Vec<u8>,
}

pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn u16_bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn i16_bytes(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn u32_bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

impl Default for File {
    fn default() -> Self {
        Self::new()
    }
}

impl File {
    pub fn new() -> Self {
        File { root: json!({ "asset": { "version": "2.0" } }), bin: Vec::new() }
    }

    /// Appends to a list of the root object; returns the index.
    pub fn push(&mut self, list: &str, value: Value) -> usize {
        let entry = &mut self.root[list];
        if entry.is_null() {
            *entry = json!([]);
        }
        let list = entry.as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// Adds bytes to the chunk and a buffer view over them.
    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        let view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() });
        self.push("bufferViews", view)
    }

    /// Adds bytes and an accessor over them.
    pub fn accessor(&mut self, component: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let accessor = json!({
            "bufferView": view, "componentType": component, "type": shape, "count": count
        });
        self.push("accessors", accessor)
    }

    /// Adds an accessor of floats.
    pub fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let per = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("{other}"),
        };
        self.accessor(F32, shape, values.len() / per, &f32_bytes(values))
    }

    /// Adds an accessor of normalised integers.
    pub fn fractions(&mut self, component: u32, shape: &str, count: usize, bytes: &[u8]) -> usize {
        let accessor = self.accessor(component, shape, count, bytes);
        self.root["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    /// Adds a mesh of one primitive with the given attributes, and a node that draws it.
    pub fn mesh(&mut self, attributes: Value) -> usize {
        let mesh = json!({ "primitives": [{ "attributes": attributes }] });
        let mesh = self.push("meshes", mesh);
        self.push("nodes", json!({ "mesh": mesh }))
    }

    /// Like `mesh`, but without triangles, so that any number of vertices is valid.
    pub fn vertices(&mut self, attributes: Value) -> usize {
        let none = json!({ "componentType": U8, "type": "SCALAR", "count": 0 });
        let none = self.push("accessors", none);
        let node = self.mesh(attributes);
        let mesh = self.root["nodes"][node]["mesh"].as_u64().unwrap() as usize;
        self.root["meshes"][mesh]["primitives"][0]["indices"] = json!(none);
        node
    }

    /// Adds an animation with one channel.
    pub fn clip(&mut self, node: usize, path: &str, mode: &str, times: usize, values: usize) {
        let animation = json!({
            "samplers": [{ "input": times, "output": values, "interpolation": mode }],
            "channels": [{ "sampler": 0, "target": { "node": node, "path": path } }]
        });
        self.push("animations", animation);
    }

    fn with_buffer(&self, uri: Option<&str>) -> Value {
        let mut root = self.root.clone();
        if root["buffers"].is_null() && !self.bin.is_empty() {
            root["buffers"] = json!([{ "byteLength": self.bin.len() }]);
            if let Some(uri) = uri {
                root["buffers"][0]["uri"] = json!(uri);
            }
        }
        root
    }

    /// The JSON text, with the chunk referred to as `uri`.
    pub fn gltf(&self, uri: &str) -> Vec<u8> {
        self.with_buffer(Some(uri)).to_string().into_bytes()
    }

    /// The binary file.
    pub fn glb(&self) -> Vec<u8> {
        glb(self.with_buffer(None).to_string().as_bytes(), &self.bin)
    }

    pub fn read_with(
        &self,
        options: &ImportOptions,
    ) -> Result<(RawScene, Vec<ReportEntry>), ImportError> {
        read_slice(&self.glb(), "test.glb", None, options)
    }

    /// Reads the file with default options. The note on clips that travel is left out of the report: clips made in
    /// code move joints at will.
    pub fn read(&self) -> (RawScene, Vec<ReportEntry>) {
        let read = self.read_with(&ImportOptions::default());
        let (scene, mut report) = read.unwrap_or_else(|error| panic!("{error}"));
        report.retain(|e| !(e.place == "clips" && e.message.contains("those that travel")));
        (scene, report)
    }

    /// Reads a file that must need no repairs.
    pub fn read_clean(&self) -> RawScene {
        let (scene, report) = self.read();
        assert_eq!(report, vec![], "{:?}", report);
        scene
    }

    /// Error message of reading the file, checked to be one line that starts with the file's name.
    pub fn error(&self) -> String {
        let error = self.read_with(&ImportOptions::default());
        let line = error.map(|_| ()).unwrap_err().to_string();
        assert!(!line.contains('\n'), "{line}");
        assert!(line.starts_with("test.glb: "), "{line}");
        line
    }
}

/// A GLB from JSON text and a binary chunk.
pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let (mut json, mut bin) = (json.to_vec(), bin.to_vec());
    json.resize(json.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let chunk = |tag: &[u8], data: &[u8]| -> Vec<u8> {
        [&(data.len() as u32).to_le_bytes(), tag, data].concat()
    };
    let mut body = chunk(b"JSON", &json);
    if !bin.is_empty() {
        body.extend(chunk(b"BIN\0", &bin));
    }
    let length = (body.len() + 12) as u32;
    [b"glTF".as_slice(), &2u32.to_le_bytes(), &length.to_le_bytes(), &body].concat()
}

/// Report entries of one severity, as `place: message`.
pub fn entries(report: &[ReportEntry], severity: Severity) -> Vec<String> {
    let matching = report.iter().filter(|e| e.severity == severity);
    matching.map(|e| format!("{}: {}", e.place, e.message)).collect()
}

/// Asserts that exactly one entry of the severity contains all `parts`.
#[track_caller]
pub fn assert_reported(report: &[ReportEntry], severity: Severity, parts: &[&str]) {
    let all = entries(report, severity);
    let hits = all.iter().filter(|line| parts.iter().all(|part| line.contains(part)));
    assert_eq!(hits.count(), 1, "{parts:?} among {:?}", report);
}

/// Asserts that a message contains all `parts`.
#[track_caller]
pub fn assert_says(line: &str, parts: &[&str]) {
    for part in parts {
        assert!(line.contains(part), "{part:?} is not in {line:?}");
    }
}
