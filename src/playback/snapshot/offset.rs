//! The stored form of the offset of a layer.

use super::super::error::PlaybackError;
use super::super::inertia::Inertia;
use super::super::options::MAX_TIME;
use super::bytes::{Reader, Writer};
use crate::evaluate::{OFFSET_ROWS, Offsets, SCALARS};
use crate::math::Row;

pub(super) fn write(w: &mut Writer, by: &Inertia, offsets: &Offsets) {
    w.f64(by.total);
    w.f64(by.elapsed);
    let parts = offsets.parts(by.id);
    w.count(parts.clone().count());
    for part in parts {
        // There are four channels, and fewer than 2^16 blocks.
        w.u8(part.channel as u8);
        w.u16(part.block as u16);
        part.rows.iter().flat_map(|row| row.0).for_each(|v| w.f32(v));
    }
}

pub(super) fn read(r: &mut Reader<'_>, offsets: &mut Offsets) -> Result<Inertia, PlaybackError> {
    let total = r.f64("seconds of an offset", f64::MIN_POSITIVE, MAX_TIME)?;
    let elapsed = r.f64("seconds since an offset began", 0.0, total)?;
    let mut new = offsets.begin();
    let mut last = None;
    let count =
        r.count("parts of an offset", 3 + OFFSET_ROWS * size_of::<Row>(), u32::MAX as usize)?;
    for _ in 0..count {
        let at = (r.u8("channel of an offset")?, r.u16("block of an offset")?);
        r.limit("channel of an offset", at.0.into(), SCALARS as u64)?;
        r.needs(last < Some(at), "parts of an offset do not ascend")?;
        last = Some(at);
        let mut rows = [Row::default(); OFFSET_ROWS];
        for v in rows.iter_mut().flat_map(|row| &mut row.0) {
            *v = r.f32("offset", f32::MIN.into(), f32::MAX.into())?;
        }
        let has_room = offsets.push(&mut new, (at.0.into(), at.1.into()), &rows);
        r.needs(has_room, "offsets are beyond their limit")?;
    }
    let id = new.finish().ok_or_else(|| r.fault("an offset has no parts"))?;
    Ok(Inertia { id, total, elapsed })
}
