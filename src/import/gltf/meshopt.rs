//! EXT_meshopt_compression and KHR_meshopt_compression, decoded by the `meshopt` crate.
//!
//! The crate wraps the reference decoder, which is fuzzed upstream and supports the second vertex
//! format and the colour filter. The decoder states its preconditions as C++ asserts, so all of them
//! are checked here first. Without the feature `meshopt`, which needs a C++ compiler, compressed views
//! are read from their fallback buffer, if that has data.

use super::error::{Fault, ImportFault as Kind, invalid};
use crate::words::{are, plural};
use ::gltf::json;

#[cfg(feature = "meshopt")]
pub(super) use with_crate::{decode, of};

fn flaw(words: impl std::fmt::Display) -> Kind {
    invalid(format!("meshopt: {words}"))
}

/// The extension object of a buffer view.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(not(feature = "meshopt"), allow(dead_code))]
pub(super) struct Packed {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    byte_stride: u64,
    count: u64,
    mode: Mode,
    #[serde(default)]
    filter: Filter,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Filter {
    #[default]
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Packed {
    /// Bytes after decoding. Fails if mode, filter, stride and count cannot be combined.
    pub fn decoded_size(&self) -> Result<u64, Fault> {
        let (stride, count) = (self.byte_stride, self.count);
        let stride_fits = match self.mode {
            Mode::Attributes => stride % 4 == 0 && (4..=256).contains(&stride),
            Mode::Triangles | Mode::Indices => stride == 2 || stride == 4,
        };
        let filter_fits = match self.filter {
            Filter::None => true,
            _ if self.mode != Mode::Attributes => false,
            Filter::Octahedral | Filter::Color => stride == 4 || stride == 8,
            Filter::Quaternion => stride == 8,
            Filter::Exponential => true,
        };
        if !stride_fits || !filter_fits {
            let (mode, filter) = (self.mode, self.filter);
            // The message shows them as the file writes them.
            let [mode, filter] =
                [format!("{mode:?}"), format!("{filter:?}")].map(|name| name.to_uppercase());
            let message = format!("mode {mode}, filter {filter} and byteStride {stride}");
            return Err(flaw(format!("{message} cannot be combined")).into());
        }
        if self.mode == Mode::Triangles && count % 3 != 0 {
            let message = format!("{} {} no triangles", plural(count, "index"), are(count));
            return Err(flaw(message).into());
        }
        Ok(count.saturating_mul(stride))
    }
}

#[cfg(not(feature = "meshopt"))]
pub(super) fn of(_: &json::buffer::View) -> Result<Option<Packed>, Fault> {
    Ok(None)
}

#[cfg(not(feature = "meshopt"))]
pub(super) fn decode(_: &Packed, _: &[u8]) -> Result<Vec<u8>, Fault> {
    Err(flaw("built without the feature meshopt").into())
}

#[cfg(feature = "meshopt")]
mod with_crate {
    use super::{Fault, Filter, Kind, Mode, Packed, flaw, json};
    use crate::words::brief;
    use bytemuck::{Pod, Zeroable};
    use serde::Deserialize;

    /// The compression of a view, if it has one.
    pub(in super::super) fn of(view: &json::buffer::View) -> Result<Option<Packed>, Fault> {
        let Some(extensions) = &view.extensions else { return Ok(None) };
        let names = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
        let Some(value) = names.iter().find_map(|name| extensions.others.get(*name)) else {
            return Ok(None);
        };
        let packed = Packed::deserialize(value).map_err(|e| flaw(brief(&e)))?;
        Ok(Some(packed))
    }

    /// A vertex of `N` words: the decoder takes the vertex size from a type.
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(transparent)]
    struct Words<const N: usize>([u32; N]);

    impl<const N: usize> Default for Words<N> {
        fn default() -> Self {
            Words([0; N])
        }
    }

    fn error(error: meshopt::Error) -> Fault {
        let message = match error {
            meshopt::Error::Native(-1) => "not a meshopt stream of a known version".to_owned(),
            meshopt::Error::Native(-2) => "the stream ends too early".to_owned(),
            meshopt::Error::Native(-3) => "the stream is longer than its data".to_owned(),
            other => other.to_string(),
        };
        flaw(message).into()
    }

    /// Decodes `source`; `packed.decoded_size()` has been checked and charged.
    pub(in super::super) fn decode(packed: &Packed, source: &[u8]) -> Result<Vec<u8>, Fault> {
        let count = usize::try_from(packed.count).map_err(|_| Kind::Limit {
            what: "elements of a compressed view",
            needed: packed.count,
            limit: usize::MAX as u64,
        })?;
        match (packed.mode, packed.byte_stride) {
            (Mode::Attributes, stride) => attributes(packed, source, count, stride / 4),
            (Mode::Triangles, 2) => bytes(meshopt::decode_index_buffer::<u16>(source, count)),
            (Mode::Triangles, _) => bytes(meshopt::decode_index_buffer::<u32>(source, count)),
            (Mode::Indices, 2) => bytes(meshopt::decode_index_sequence::<u16>(source, count)),
            (Mode::Indices, _) => bytes(meshopt::decode_index_sequence::<u32>(source, count)),
        }
    }

    fn bytes<T: Pod>(decoded: Result<Vec<T>, meshopt::Error>) -> Result<Vec<u8>, Fault> {
        decoded.map(|v| bytemuck::cast_slice(&v).to_vec()).map_err(error)
    }

    fn vertices<const N: usize>(source: &[u8], count: usize) -> Result<Vec<u32>, Fault>
    where
        Words<N>: Pod,
    {
        let rows: Vec<Words<N>> = meshopt::decode_vertex_buffer(source, count).map_err(error)?;
        Ok(bytemuck::allocation::try_cast_vec(rows)
            .unwrap_or_else(|(_, rows)| bytemuck::cast_slice(&rows).to_vec()))
    }

    /// One instance of the decoder for each vertex size of the format.
    macro_rules! by_words {
        ($words:expr, $source:expr, $count:expr, [$($n:literal)*]) => {
            match $words {
                $($n => vertices::<$n>($source, $count)?,)*
                other => {
                    let message = format!("byteStride {} is not supported", other * 4);
                    return Err(flaw(message).into());
                }
            }
        };
    }

    fn attributes(
        packed: &Packed,
        source: &[u8],
        count: usize,
        words: u64,
    ) -> Result<Vec<u8>, Fault> {
        let mut data: Vec<u32> = by_words!(words, source, count, [
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64
        ]);
        let data = data.as_mut_slice();
        match (packed.filter, words) {
            (Filter::None, _) => {}
            (Filter::Octahedral, 1) => {
                meshopt::decode_filter_oct::<i8>(bytemuck::cast_slice_mut(data));
            }
            (Filter::Octahedral, _) => {
                meshopt::decode_filter_oct::<i16>(bytemuck::cast_slice_mut(data));
            }
            (Filter::Quaternion, _) => {
                meshopt::decode_filter_quat(bytemuck::cast_slice_mut(data));
            }
            (Filter::Exponential, _) => {
                meshopt::decode_filter_exp::<1>(bytemuck::cast_slice_mut(data));
            }
            (Filter::Color, 1) => {
                meshopt::decode_filter_color::<u8>(bytemuck::cast_slice_mut(data));
            }
            (Filter::Color, _) => {
                meshopt::decode_filter_color::<u16>(bytemuck::cast_slice_mut(data));
            }
        }
        // glTF is little-endian, as are the words on every machine that the crate supports.
        Ok(bytemuck::cast_slice(data).to_vec())
    }
}
