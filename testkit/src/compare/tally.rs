//! Counts of compared values, worst errors per category, and values out of tolerance.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The kinds of arrays compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Local,
    World,
    Palette,
    Morph,
    Position,
}

impl Category {
    const ALL: [Self; 5] = [Self::Local, Self::World, Self::Palette, Self::Morph, Self::Position];
}

/// Largest relative error allowed per category.
pub type Tolerance = fn(Category) -> f64;

/// The tolerances stated in the golden files' README.
pub fn readme_tolerance(category: Category) -> f64 {
    match category {
        Category::Local | Category::Morph => 2e-5,
        Category::World | Category::Palette | Category::Position => 1e-4,
    }
}

/// Results of one asset's comparisons.
pub struct Tally {
    pub name: String,
    tolerance: Tolerance,
    counts: BTreeMap<Category, (usize, f64)>,
    failures: Vec<String>,
}

/// Number of failures shown; further ones are only counted.
const SHOWN_FAILURES: usize = 12;

impl Tally {
    pub fn new(name: impl Into<String>, tolerance: Tolerance) -> Self {
        Self { name: name.into(), tolerance, counts: BTreeMap::new(), failures: Vec::new() }
    }

    /// Compares an array; error = |a - b| / max(1, largest |entry| expected).
    pub fn array(&mut self, category: Category, place: &str, expected: &[f64], actual: &[f64]) {
        if expected.len() != actual.len() {
            let (a, b) = (expected.len(), actual.len());
            return self.fail(format!("{place}: {b} values, expected {a}"));
        }
        let largest = expected.iter().fold(1.0f64, |m, e| m.max(e.abs()));
        let (count, worst) = self.counts.entry(category).or_default();
        *count += expected.len();
        let mut out = None;
        for (i, (e, a)) in expected.iter().zip(actual).enumerate() {
            // NaN counts as an infinite error.
            let error = ((e - a).abs() / largest).min(f64::INFINITY);
            let error = if error.is_nan() { f64::INFINITY } else { error };
            *worst = worst.max(error);
            if error > (self.tolerance)(category) && out.is_none() {
                out = Some(format!("{place}[{i}]: {a}, expected {e} (error {error:.1e})"));
            }
        }
        if let Some(message) = out {
            self.fail(message);
        }
    }

    /// Compares tx ty tz, qx qy qz qw, sx sy sz as three arrays, so that a long translation does not hide an
    /// error in the rotation; the quaternion is compared up to sign.
    pub fn local(&mut self, place: &str, expected: &[f64], actual: &[f64]) {
        if (expected.len(), actual.len()) != (10, 10) {
            return self.fail(format!("{place}: expected ten values"));
        }
        let dot: f64 = (3..7).map(|i| expected[i] * actual[i]).sum();
        let turned: Vec<f64> = actual[3..7].iter().map(|c| c * dot.signum()).collect();
        let part = |p: &str| format!("{place} {p}");
        let local = Category::Local;
        self.array(local, &part("translation"), &expected[..3], &actual[..3]);
        self.array(local, &part("rotation"), &expected[3..7], &turned);
        self.array(local, &part("scale"), &expected[7..], &actual[7..]);
    }

    /// Records a mismatch that has no numeric error.
    pub fn fail(&mut self, message: String) {
        self.failures.push(message);
    }

    /// Number of values compared so far.
    pub fn values(&self) -> usize {
        self.counts.values().map(|(count, _)| count).sum()
    }

    /// Fails with the first mismatches, if there are any.
    pub fn verdict(&self) -> Result<(), String> {
        if self.failures.is_empty() {
            return Ok(());
        }
        let mut text = format!("{}: {} mismatches", self.name, self.failures.len());
        for failure in self.failures.iter().take(SHOWN_FAILURES) {
            let _ = write!(text, "\n    {failure}");
        }
        Err(text)
    }
}

/// The tallies of all trials of a test binary.
#[derive(Clone, Default)]
pub struct Tallies(Arc<Mutex<Vec<Tally>>>);

impl Tallies {
    /// Stores a finished tally for the table and returns its verdict.
    pub fn add(&self, tally: Tally) -> Result<(), String> {
        let verdict = tally.verdict();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(tally);
        verdict
    }

    /// Prints the numbers of values and the worst errors, one line per tally.
    pub fn print(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let mut text = format!("{:<36}{:>9}", "worst relative error of", "values");
        for category in Category::ALL {
            let _ = write!(text, "{:>10}", format!("{category:?}").to_lowercase());
        }
        for tally in all.iter() {
            let _ = write!(text, "\n{:<36}{:>9}", tally.name, tally.values());
            for category in Category::ALL {
                let cell = match tally.counts.get(&category) {
                    Some((_, worst)) => format!("{worst:.1e}"),
                    None => "-".into(),
                };
                let _ = write!(text, "{cell:>10}");
            }
        }
        let sum: usize = all.iter().map(Tally::values).sum();
        println!("{text}\n{:<36}{sum:>9}\n", "all");
    }
}
