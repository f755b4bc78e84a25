//! Buffers and images outside the file: data URIs and neighbouring files.

use super::error::{Fault, ImportFault as Kind, invalid, shorten};
use super::limits::{MemoryLimit, Notes};
use super::plain::plain;
use super::{ImportOptions, container};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A decoder that accepts missing padding and stray bits, both of which writers produce.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A URI that is not followed.
pub(super) fn refused(uri: &str, reason: &str) -> Fault {
    invalid(format!("the URI {:?} is rejected: {reason}", shorten(uri))).into()
}

/// The text of a data URI behind its scheme; `None` if it is not one.
pub(super) fn behind_scheme(uri: &str) -> Option<&str> {
    uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).map(|_| &uri[5..])
}

/// The bytes of a data URI; `None` if it is not one.
pub(super) fn data(uri: &str) -> Option<Result<Vec<u8>, Fault>> {
    let rest = behind_scheme(uri)?;
    let Some((kind, body)) = rest.split_once(',') else {
        return Some(Err(refused(uri, "a data URI without a comma")));
    };
    if !kind.to_ascii_lowercase().ends_with(";base64") {
        return Some(Ok(percent_decode_str(body).collect()));
    }
    let decoded = match body.contains('%') {
        false => BASE64.decode(body),
        true => BASE64.decode(percent_decode_str(body).collect::<Vec<u8>>()),
    };
    Some(decoded.map_err(|_| refused(uri, "its base64 text is invalid")))
}

/// The media type of a data URI, if it has one.
pub(super) fn media_type(uri: &str) -> Option<&str> {
    let (kind, _) = behind_scheme(uri)?.split_once(',')?;
    let media = kind.split(';').next()?;
    (!media.is_empty()).then_some(media)
}

/// The path of a relative URI.
///
/// Rejects schemes and absolute paths, and `..` that leaves `base` unless the options allow it.
pub(super) fn resolve(uri: &str, base: &Path, options: &ImportOptions) -> Result<PathBuf, Fault> {
    let decoded = percent_decode_str(uri).decode_utf8().map_err(|_| refused(uri, "not UTF-8"))?;
    if decoded.is_empty() {
        return Err(refused(uri, "empty"));
    }
    if decoded.starts_with(['/', '\\']) {
        return Err(refused(uri, "absolute paths are not followed"));
    }
    let first = decoded.split(['/', '\\']).next().unwrap_or("");
    if first.contains(':') {
        return Err(refused(uri, "only relative paths are followed"));
    }
    let mut depth = 0usize;
    let mut path = base.to_path_buf();
    for part in decoded.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if depth == 0 && !options.parent_folders => {
                let uri = shorten(uri);
                return Err(Kind::ParentFolder(uri).into());
            }
            // `..` refers to the URI's own segments, whether they exist or not (RFC 3986, 5.2.4).
            ".." if depth > 0 => {
                depth -= 1;
                path.pop();
            }
            ".." => path.push(".."),
            _ => {
                depth += 1;
                path.push(part);
            }
        }
    }
    Ok(path)
}

/// The parts of a file's JSON that refer to other files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Referring {
    buffers: Vec<Referred>,
    images: Vec<Referred>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Referred {
    uri: Option<String>,
}

/// The files beside a `.gltf` or `.glb` file that an import of its bytes would read.
///
/// `base` is the file's folder. Buffers come first, then images, in the file's order. Embedded data and
/// URIs that the options reject are left out; the list is empty if the bytes are not glTF.
pub fn external_files(bytes: &[u8], base: &Path, options: &ImportOptions) -> Vec<PathBuf> {
    let Ok(container) = container::split(bytes) else { return Vec::new() };
    let mut memory = MemoryLimit::new(bytes.len() as u64, None);
    let Ok((text, _)) = plain(container.json, &mut memory, &mut Notes::default()) else {
        return Vec::new();
    };
    let all: Referring = serde_json::from_slice(&text).unwrap_or_default();
    let all = all.buffers.into_iter().chain(all.images);
    all.filter_map(|r| resolve(&r.uri?, base, options).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_files_of_both_containers() {
        let json = br#"{"images": [{"uri": "a%20b.png"}, {"bufferView": 0}, {"uri": "../c.png"}],
            "buffers": [{"byteLength": 4}, {"uri": "x/d.bin"}, {"uri": "data:;base64,AAEC"}]}"#;
        let mut glb = b"glTF\x02\0\0\0".to_vec();
        glb.extend((json.len() as u32 + 20).to_le_bytes());
        glb.extend((json.len() as u32).to_le_bytes());
        glb.extend(b"JSON");
        glb.extend(json);
        let base = Path::new("models");
        let options = ImportOptions::default();
        let open = ImportOptions { parent_folders: true, ..ImportOptions::default() };
        let expected = [base.join("x/d.bin"), base.join("a b.png")];
        for bytes in [&json[..], &glb, &[b"\xef\xbb\xbf", &json[..]].concat()] {
            assert_eq!(external_files(bytes, base, &options), expected);
            let open = external_files(bytes, base, &open);
            assert_eq!(open.last(), Some(&base.join("../c.png")));
        }
        assert!(external_files(b"glTF", base, &options).is_empty());
        assert!(external_files(&glb[..30], base, &options).is_empty());
    }

    #[test]
    fn data_uris_decode_and_others_are_left() {
        let bytes = |uri| data(uri).map(|r| r.ok());
        assert_eq!(bytes("data:application/octet-stream;base64,AAEC"), Some(Some(vec![0, 1, 2])));
        assert_eq!(bytes("data:;base64,AAE"), Some(Some(vec![0, 1])));
        assert_eq!(bytes("data:;base64,AAE%3D"), Some(Some(vec![0, 1])));
        assert_eq!(bytes("DATA:text/plain,a%20b"), Some(Some(b"a b".to_vec())));
        assert_eq!(bytes("data:;base64,A*"), Some(None));
        assert_eq!(bytes("data:;base64"), Some(None));
        assert_eq!(bytes("data.bin"), None);
    }

    #[test]
    fn paths_stay_below_the_folder() {
        let base = Path::new("models");
        let options = ImportOptions::default();
        let open = ImportOptions { parent_folders: true, ..ImportOptions::default() };
        let path = |uri| resolve(uri, base, &options).ok();
        assert_eq!(path("a%20b.bin"), Some(base.join("a b.bin")));
        assert_eq!(path("x/../b.bin"), Some(base.join("b.bin")));
        for uri in ["", "/etc/x", "\\\\host\\x", "http://h/x", "file:x", "C:\\x"] {
            assert_eq!(path(uri), None, "{uri}");
            assert!(resolve(uri, base, &open).is_err(), "{uri}");
        }
        for uri in ["../x", "a/../../x", "%2e%2e/x", "..\\x"] {
            assert_eq!(path(uri), None, "{uri}");
            assert!(resolve(uri, base, &open).is_ok(), "{uri}");
        }
    }
}
