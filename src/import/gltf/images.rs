//! Images: their bytes, and their pixels if they are decoded.

use super::buffers::Buffers;
use super::error::{Fault, ImportFault as Kind, invalid, label};
use super::limits::Notes;
use super::uri::media_type;
#[cfg(feature = "images")]
use crate::mesh::Survey;
use crate::mesh::{ImageData, ImageMode, Material};
use ::gltf::json;
use std::rc::Rc;

/// Reads the images that materials use; those that cannot be read are `None` and reported.
pub(super) fn images(
    list: Vec<json::Image>,
    materials: &[Material],
    mode: ImageMode,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Vec<Option<ImageData>> {
    let mut out = vec![None; list.len()];
    if mode == ImageMode::Skip {
        return out;
    }
    for index in order(materials, list.len()) {
        let (Some(image), Some(place)) = (list.get(index), out.get_mut(index)) else { continue };
        match read(image, mode, buffers) {
            Ok(image) => *place = Some(image),
            Err(message) => {
                let place = label("image", index, image.name.as_deref());
                notes.dropped(place, message.replace(['\n', '\r'], " "));
            }
        }
    }
    out
}

/// The images in use, each once. Base colours come first: pictures need them most if memory runs out.
fn order(materials: &[Material], images: usize) -> Vec<usize> {
    let mut listed = vec![false; images];
    let base = materials.iter().filter_map(|m| m.base_color_texture.as_ref());
    let all = materials.iter().flat_map(|m| m.textures()).map(|(_, t)| t);
    let mut first = |image: &usize| {
        let listed = listed.get_mut(*image);
        listed.is_some_and(|listed| !std::mem::replace(listed, true))
    };
    base.chain(all).map(|t| t.image).filter(|i| first(i)).collect()
}

/// The encoded bytes of an image.
enum Source {
    /// In a buffer view.
    View(usize),
    /// Behind a URI.
    Fetched(Rc<Vec<u8>>),
}

impl Source {
    fn new(image: &json::Image, buffers: &mut Buffers) -> Result<Self, Fault> {
        match (&image.uri, image.buffer_view.map(|v| v.value())) {
            (Some(uri), _) => Ok(Self::Fetched(buffers.fetch(uri)?)),
            (None, Some(view)) => {
                buffers.prepare_view(view)?;
                Ok(Self::View(view))
            }
            (None, None) => Err(invalid("has no uri and no buffer view").into()),
        }
    }

    fn bytes<'b>(&'b self, buffers: &'b Buffers) -> Result<&'b [u8], Fault> {
        match self {
            Self::View(view) => Ok(buffers.view(*view)?.bytes),
            Self::Fetched(bytes) => Ok(bytes),
        }
    }
}

fn read(image: &json::Image, mode: ImageMode, buffers: &mut Buffers) -> Result<ImageData, String> {
    let text = |fault: Fault| match &fault.kind {
        kind @ Kind::ParentFolder { .. } => {
            format!("{kind}; parent folders can be allowed")
        }
        kind => kind.to_string(),
    };
    let source = Source::new(image, buffers).map_err(text)?;
    let len = source.bytes(buffers).map_err(text)?.len() as u64;
    // Images may share their bytes, and each scans or copies all of them. This work is charged like memory.
    buffers.memory.charge(len).map_err(|e| e.to_string())?;
    match mode {
        ImageMode::Skip | ImageMode::Encoded => {
            let bytes = source.bytes(buffers).map_err(text)?.to_vec();
            let stated = image.mime_type.as_ref().map(|m| m.0.as_str());
            let stated = stated.or_else(|| image.uri.as_deref().and_then(media_type));
            Ok(ImageData::from_encoded(bytes, stated))
        }
        #[cfg(feature = "images")]
        ImageMode::Decoded => {
            buffers.memory.release(len);
            let survey = Survey::new(source.bytes(buffers).map_err(text)?)?;
            let charged = buffers.memory.charge(survey.needed);
            charged.map_err(|e| e.to_string())?;
            let decoded = survey.decode(source.bytes(buffers).map_err(text)?);
            // The image is kept; the decoder's memory is free again.
            let kept = decoded.as_ref().map_or(0, |image| image.rgba.len() as u64);
            buffers.memory.release(survey.needed.saturating_sub(kept));
            decoded.map(ImageData::Decoded)
        }
    }
}
