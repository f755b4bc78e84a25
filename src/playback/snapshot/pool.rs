//! The stored form of a pool: number of its rig, identity, blend spaces, instances.

use super::super::arena::Arena;
use super::super::blend_space::space::{Kind, MAX_ON_LINE, MAX_SPACES, Point, Space};
use super::super::error::PlaybackError;
use super::super::ids::{MAX_RIGS_GIVEN, RETIRED};
use super::super::library::MAX_CLIPS;
use super::super::modifiers::MAX_MODIFIERS;
use super::super::options::{Fill, MAX_LAYERS, MAX_PARAMETER, MAX_TIME};
use super::super::state;
use super::PoolSnapshot;
use super::bytes::{Reader, Writer};
use super::identity::{ClipIdentity, LayerIdentity, PoolIdentity};
use crate::clip::ClipKind;
use crate::skeleton::limits::MAX_SECONDS;
use std::sync::Arc;

/// Writes generations and values by index, each value by `write`.
pub(super) fn write_arena<T>(w: &mut Writer, arena: &Arena<T>, write: impl Fn(&mut Writer, &T)) {
    w.count(arena.values.len());
    for (generation, value) in &arena.values {
        w.u16(*generation);
        w.flags([value.is_some()]);
        if let Some(value) = value {
            write(w, value);
        }
    }
}

/// Reads generations and values by index, each value by `read`.
pub(super) fn read_arena<T>(
    r: &mut Reader<'_>,
    what: &'static str,
    limit: usize,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, PlaybackError>,
) -> Result<Arena<T>, PlaybackError> {
    let count = r.count(what, 3, limit)?;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let generation = r.u16(what)?;
        let [full] = r.flags(what)?;
        r.needs(!full || generation != RETIRED, "a used-up index has a value")?;
        let value = if full { Some(read(r)?) } else { None };
        values.push((generation, value));
    }
    Ok(Arena::of_values(values))
}

impl PoolSnapshot {
    pub(crate) fn write(&self, w: &mut Writer) {
        w.u32(self.number);
        w.u64(self.identity.structure);
        w.u64(self.identity.layout);
        w.u8(self.identity.layers.len() as u8);
        for layer in &self.identity.layers {
            let below = layer.fill == Fill::Below;
            w.flags([layer.additive, below, layer.mask.is_some()]);
            if let Some(mask) = layer.mask {
                w.u64(mask);
            }
        }
        write_arena(w, &self.identity.clips, |w, clip| {
            w.flags([clip.kind == ClipKind::Additive]);
            w.u64(clip.hash);
            w.f32(clip.duration);
            w.text(&clip.name);
        });
        write_arena(w, &self.spaces, |w, space| {
            w.flags([space.kind.plane, space.kind.speeds]);
            w.f32(space.seconds);
            w.count(space.points().len());
            for point in space.points() {
                let values = if space.kind.plane { 2 } else { 1 };
                point.at[..values].iter().for_each(|&value| w.f32(value));
                w.u16(point.clip);
            }
        });
        write_arena(w, &self.modifiers, |w, hash| w.u64(*hash));
        self.state.write(w, self.identity.layers.len(), &self.scheduled);
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, PlaybackError> {
        let number = r.u32("number of a rig")?;
        let most = MAX_RIGS_GIVEN as u64;
        r.limit("number of a rig", number.into(), most)?;
        let (structure, layout) = (r.u64("hash of a skeleton")?, r.u64("hash of a skeleton")?);
        let count = r.u8("layers")?;
        r.limit("layers", count.into(), MAX_LAYERS as u64)?;
        r.needs(count > 0, "a rig has no layers")?;
        let mut layers = Vec::with_capacity(count.into());
        for _ in 0..count {
            let [additive, below, masked] = r.flags("flags of a layer")?;
            layers.push(LayerIdentity {
                additive,
                fill: if below { Fill::Below } else { Fill::Rest },
                mask: if masked { Some(r.u64("mask")?) } else { None },
            });
        }
        let clips = read_arena(r, "clips", MAX_CLIPS, |r| {
            let [additive] = r.flags("flags of a clip")?;
            Ok(ClipIdentity {
                kind: if additive { ClipKind::Additive } else { ClipKind::Full },
                hash: r.u64("hash of a clip")?,
                duration: r.f32("duration of a clip", 0.0, MAX_SECONDS.into())?,
                name: r.text("name of a clip")?,
            })
        })?;
        let spaces = read_arena(r, "blend spaces", MAX_SPACES, |r| read_space(r, &clips))?;
        let identity = PoolIdentity { structure, layout, layers, clips };
        let modifiers = read_arena(r, "modifiers", MAX_MODIFIERS, |r| r.u64("hash of a modifier"))?;
        let (state, scheduled) = state::read(r, &identity, &spaces, &modifiers)?;
        let identity = Arc::new(identity);
        Ok(Self { number, identity, spaces, modifiers, state, scheduled })
    }
}

fn read_space(r: &mut Reader<'_>, clips: &Arena<ClipIdentity>) -> Result<Space, PlaybackError> {
    let [plane, speeds] = r.flags("flags of a blend space")?;
    let seconds = r.f32("seconds of a blend space", 0.0, MAX_TIME)?;
    let count = r.count("points of a blend space", 6, MAX_ON_LINE)?;
    let mut points: Vec<Point> = Vec::with_capacity(count);
    let mut kind = None;
    for _ in 0..count {
        let mut value = || r.f32("value of a blend space", -MAX_PARAMETER, MAX_PARAMETER);
        let at = [value()?, if plane { value()? } else { 0.0 }];
        let clip = r.u16("clip of a blend space")?;
        let known = clips.get(clip);
        let own = known.map(|c| c.kind);
        let same = own.is_some() && kind.is_none_or(|kind| kind == own);
        r.needs(same, "the clips of a blend space are not loaded, or not of one kind")?;
        kind = Some(own);
        let duration = known.map_or(0.0, |c| c.duration);
        r.needs(!speeds || duration > 0.0, "a clip that lasts no time has a speed")?;
        let share = if speeds { Space::share(duration) } else { 1.0 };
        points.push(Point { at, clip, share });
    }
    // What is refused here is named by index.
    Space::new(points, Kind { plane, speeds }, seconds, |clip| format!("clip {clip}"))
}
