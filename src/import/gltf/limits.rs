//! Limits on the cost of an import: named limits, the memory limit and the capped report.

use super::error::ImportFault;
use crate::import::{ReportEntry, Severity};

/// Bytes of memory that an import may use per byte of the file and the files it refers to.
///
/// Meshopt streams of real models expand 3 to 10 times, quantised vertices 4 times when they become floats.
pub const MEMORY_PER_BYTE: u64 = 64;

/// Bytes of memory that an import may use regardless of the file's size.
pub const MEMORY_BASE: u64 = 64 << 20;

/// Part of the base that is reserved for small allocations that are not counted (places, hash tables).
const MEMORY_MARGIN: u64 = 4 << 20;

/// Total bytes decoded, including those that were freed, as a multiple of the memory limit.
const WORK_PER_MEMORY: u64 = 8;

/// Limit on the elements of an accessor without a buffer view, which costs the file nothing.
///
/// The largest seen are morph targets that leave normals unchanged: 10^5 vertices.
pub const MAX_ZERO_ELEMENTS: u64 = 1 << 22;

/// Limit on the slots of a skin: 16 bits count them.
pub const MAX_SKIN_JOINTS: usize = u16::MAX as usize;

/// Limit on the levels of nested JSON arrays and objects; glTF itself needs 8.
pub const MAX_JSON_DEPTH: usize = 100;

/// Limit on the entries of an import report; one more entry states how many were left out.
pub const MAX_REPORT_ENTRIES: usize = 10_000;

/// Sums of a vertex's weights that differ from 1 by less than this are left unchanged.
///
/// Exporters round to 1/255 or 1/65535 and correct the sum: 1e-6 was seen. A broken sum is off by
/// 1e-2.
pub const WEIGHT_SUM_TOLERANCE: f32 = 1e-4;

/// The memory of an import: charged before each allocation, released when freed.
pub(super) struct MemoryLimit {
    limit: u64,
    used: u64,
    work: u64,
    fixed: bool,
}

impl MemoryLimit {
    /// The limit for a file of `bytes` bytes, or the one that the caller chose.
    pub fn new(bytes: u64, chosen: Option<u64>) -> Self {
        let limit = MEMORY_BASE - MEMORY_MARGIN + bytes.saturating_mul(MEMORY_PER_BYTE);
        MemoryLimit { limit: chosen.unwrap_or(limit), used: 0, work: 0, fixed: chosen.is_some() }
    }

    /// Raises the limit for another file of `bytes` bytes that belongs to the import.
    pub fn extend(&mut self, bytes: u64) {
        if !self.fixed {
            self.limit = (self.limit).saturating_add(bytes.saturating_mul(MEMORY_PER_BYTE));
        }
    }

    /// Charges `bytes` before they are allocated.
    pub fn charge(&mut self, bytes: u64) -> Result<(), ImportFault> {
        let needed = self.used.saturating_add(bytes);
        if needed > self.limit {
            return Err(ImportFault::Memory {
                what: "memory of the import in bytes",
                needed,
                limit: self.limit,
            });
        }
        let (work, limit) =
            (self.work.saturating_add(bytes), self.limit.saturating_mul(WORK_PER_MEMORY));
        if work > limit {
            return Err(ImportFault::Memory {
                what: "bytes decoded by the import",
                needed: work,
                limit,
            });
        }
        (self.used, self.work) = (needed, work);
        Ok(())
    }

    /// Charges the memory of `count` values of `T`.
    pub fn charge_for<T>(&mut self, count: usize) -> Result<(), ImportFault> {
        self.charge((count as u64).saturating_mul(size_of::<T>() as u64))
    }

    /// Releases `bytes`.
    pub fn release(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// A report that stops growing at [`MAX_REPORT_ENTRIES`].
#[derive(Default)]
pub(super) struct Notes {
    report: Vec<ReportEntry>,
    left_out: usize,
}

impl Notes {
    fn push(&mut self, severity: Severity, place: impl Into<String>, message: impl Into<String>) {
        if self.report.len() < MAX_REPORT_ENTRIES {
            self.report.push(ReportEntry::new(severity, place, message));
        } else {
            self.left_out += 1;
        }
    }

    /// Adds a note: the import changed nothing.
    pub fn note(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.push(Severity::Note, place, message);
    }

    /// Adds an entry for a repaired value.
    pub fn repaired(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.push(Severity::Repaired, place, message);
    }

    /// Adds an entry for something that is not in the result.
    pub fn dropped(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.push(Severity::Dropped, place, message);
    }

    /// Adds items to the last entry, unless it was left out.
    pub fn items(&mut self, items: Vec<String>) {
        if let Some(last) = self.report.last_mut().filter(|_| self.left_out == 0) {
            last.items = items;
        }
    }

    /// The report.
    pub fn finish(mut self) -> Vec<ReportEntry> {
        if self.left_out > 0 {
            let message = format!("{} further entries are left out", self.left_out);
            self.report.push(ReportEntry::new(Severity::Note, "report", message));
        }
        self.report
    }
}
