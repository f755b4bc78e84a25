//! Section PROV: the tool and the sources that a file was made from, and the error of each clip.

use super::error::{Fault, ReadError};
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use super::writer::WriteError;

/// The origin of a file: the tool that wrote it, its sources and the source of each clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// Name and version of the tool that wrote the file.
    pub tool: String,
    /// The source files.
    pub sources: Vec<Source>,
    /// One entry per clip, in clip order; may be empty.
    pub clips: Vec<ClipOrigin>,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// File name, without folders.
    pub name: String,
    /// The settings that its clips were baked with, in the tool's own notation.
    pub settings: String,
    /// Size in bytes, including the files that it refers to.
    pub bytes: u64,
    /// [`hash_bytes`](super::hash_bytes) of these files, concatenated.
    pub hash: u64,
}

/// The source of one clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipOrigin {
    /// Index into [`Provenance::sources`].
    pub source: u32,
    /// Index of the clip in the source file.
    pub clip: u32,
    /// Largest error, with allowances for rounding and for the times between those measured, metres of model space; NaN if
    /// none was measured.
    pub max_error: f32,
    /// Shell distance at which the error was measured, metres of model space; 0 if unknown.
    pub shell: f32,
}

impl ClipOrigin {
    /// The fault of a length that is negative, NaN or infinite, if one is.
    fn fault(&self) -> Option<Fault> {
        let error = Some(self.max_error).filter(|e| !e.is_nan());
        let lengths = [("the error of a clip", error), ("the shell of a clip", Some(self.shell))];
        let length = |v: f32| v >= 0.0 && v.is_finite();
        lengths.into_iter().find_map(|(what, v)| {
            let found = v.filter(|&v| !length(v))?;
            Some(Fault::Invalid(format!("{what} is {found}; it must be finite and at least 0")))
        })
    }
}

/// Rejects what a reader would reject.
pub(super) fn check(p: &Provenance, clips: usize) -> Result<(), WriteError> {
    let refused = |what, found: usize, limit: usize| {
        Err(WriteError::Provenance(Fault::limit(what, found as u64, limit as u64)))
    };
    if !p.clips.is_empty() && p.clips.len() != clips {
        return refused("the number of clip origins", p.clips.len(), clips);
    }
    for origin in &p.clips {
        if origin.source as usize >= p.sources.len() {
            let limit = p.sources.len().saturating_sub(1);
            return refused("the source of a clip", origin.source as usize, limit);
        }
        if let Some(fault) = origin.fault() {
            return Err(WriteError::Provenance(fault));
        }
    }
    Ok(())
}

pub(super) fn write(p: &Provenance, names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.one(names.add(Some(&p.tool)));
    out.one(0u32);
    out.count(p.sources.len());
    out.count(p.clips.len());
    for s in &p.sources {
        out.one(names.add(Some(&s.name)));
        out.one(names.add(Some(&s.settings)));
        out.one(s.bytes);
        out.one(s.hash);
    }
    for c in &p.clips {
        out.many(&[c.source, c.clip]);
        out.many(&[c.max_error, c.shell]);
    }
    out.0
}

pub(super) fn read(
    mut r: SectionReader<'_>,
    names: &Names,
    clips: usize,
) -> Result<Provenance, ReadError> {
    let [tool, zero]: [u32; 2] = r.one("the tool")?;
    if zero != 0 {
        return Err(r.limit("the reserved field", zero, 0u32));
    }
    let mut out =
        Provenance { tool: r.name(names, tool)?.unwrap_or_default(), ..Provenance::default() };
    let sources = r.count("the number of sources", 24)?;
    let origins = r.count("the number of clip origins", 16)?;
    if origins != clips && origins != 0 {
        let what = "the number of clip origins";
        return Err(r.limit(what, origins as u64, clips as u64));
    }
    for _ in 0..sources {
        r.charge(size_of::<Source>())?;
        let [name, settings]: [u32; 2] = r.one("a source")?;
        let name = r.name(names, name)?.unwrap_or_default();
        let settings = r.name(names, settings)?.unwrap_or_default();
        let [bytes, hash]: [u64; 2] = r.one("the hash of a source")?;
        out.sources.push(Source { name, settings, bytes, hash });
    }
    for _ in 0..origins {
        r.charge(size_of::<ClipOrigin>())?;
        let [source, clip]: [u32; 2] = r.one("the origin of a clip")?;
        r.index("the source of a clip", source, sources)?;
        let [max_error, shell]: [f32; 2] = r.one("the error of a clip")?;
        let origin = ClipOrigin { source, clip, max_error, shell };
        if let Some(fault) = origin.fault() {
            return Err(r.fault(fault));
        }
        out.clips.push(origin);
    }
    r.finish()?;
    Ok(out)
}
