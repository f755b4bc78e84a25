//! Entries of the section table: finding sections, sorting clips by name, and the checks of single entries.

use super::clip::ClipForm;
use super::container::{Entry, Section};
use super::error::{Fault, ReadError};
use super::images;
use super::names::{NO_NAME, Names};
use std::collections::HashMap;
use std::mem::offset_of;

pub(super) fn of_kind(entries: &[Entry], section: Section) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(move |e| e.section() == section)
}

pub(super) fn at_most_one(
    entries: &[Entry],
    section: Section,
) -> Result<Option<&Entry>, ReadError> {
    let mut found = of_kind(entries, section);
    let first = found.next();
    match found.count() {
        0 => Ok(first),
        more => Err(section.fault(first.map_or(0, |e| e.offset), Fault::Sections(more + 1))),
    }
}

pub(super) fn the_one(entries: &[Entry], section: Section) -> Result<&Entry, ReadError> {
    at_most_one(entries, section)?.ok_or_else(|| section.fault(0, Fault::Sections(0)))
}

/// Indices of the clips, sorted by name. Distinct names are sorted first: many clips may share one long
/// name.
pub(super) fn by_name(names: &Names, clips: &[Entry]) -> Vec<u32> {
    let mut used: Vec<u32> = clips.iter().map(|e| e.name).collect();
    used.sort_unstable();
    used.dedup();
    used.sort_by(|&a, &b| names.text(a).cmp(names.text(b)));
    let mut ranks: HashMap<u32, u32> = HashMap::with_capacity(used.len());
    let mut rank = 0;
    for (i, name) in used.iter().enumerate() {
        rank += u32::from(i > 0 && names.text(*name) != names.text(used[i - 1]));
        ranks.insert(*name, rank);
    }
    let mut order: Vec<u32> = (0..clips.len() as u32).collect();
    order.sort_by_key(|&c| ranks.get(&clips[c as usize].name).copied());
    order
}

/// Checks the table entry of a known section. The entry is at byte `at` of the file.
pub(super) fn check_entry(e: &Entry, at: u64, names: usize) -> Result<(), ReadError> {
    let section = e.section();
    if matches!(section, Section::Unknown(_)) {
        return Ok(());
    }
    let fail = |field: usize, what, found: u32, limit: u64| {
        Err(Section::Table.fault(at + field as u64, Fault::limit(what, found, limit)))
    };
    let clip = section == Section::Clip;
    let forms = match section {
        Section::Clip => ClipForm::ALL.len() as u64,
        Section::Image => images::FORMS,
        _ => 1,
    };
    if u64::from(e.form) >= forms {
        let field = offset_of!(Entry, form);
        return fail(field, "the form of a section", e.form, forms - 1);
    }
    if e.name != NO_NAME && (e.name as usize >= names || !clip) {
        let last = if clip { (names as u64).saturating_sub(1) } else { NO_NAME.into() };
        let field = offset_of!(Entry, name);
        return fail(field, "the name of a section", e.name, last);
    }
    if !clip && e.value != 0 {
        let field = offset_of!(Entry, value);
        return fail(field, "the value of a section", e.value, 0);
    }
    Ok(())
}
