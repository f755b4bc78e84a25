//! The time of Bevy's spans, for figures: with Bevy's feature `trace` each system has one, and so has each task.
//!
//! Times are processor time of the thread that is in the span, less that of spans inside it. So a system that waits for
//! its tasks counts nothing meanwhile, tasks count wherever they run, and nothing counts twice.

use cpu_time::{ProcessTime, ThreadTime};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Nanoseconds and entries of the spans of one name.
#[derive(Default)]
struct Sum {
    nanoseconds: AtomicU64,
    entries: AtomicU64,
}

/// Sums by name, over all threads.
#[derive(Clone, Default)]
pub struct Recorded(Arc<Mutex<HashMap<String, Arc<Sum>>>>);

/// Begins to record, for as long as the program runs.
pub fn record() -> Recorded {
    let recorded = Recorded::default();
    // Only one subscriber can be set, and nothing else here sets one.
    let _ = subscriber::set_global_default(Registry::default().with(recorded.clone()));
    recorded
}

/// The system or query that a span is of.
struct Name(String);

impl Visit for Name {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if matches!(field.name(), "name" | "query") {
            self.0 = format!("{}: {}", self.0, format!("{value:?}").trim_matches('"'));
        }
    }
}

/// A span that this thread is in.
struct Open {
    id: Id,
    since: ThreadTime,
    inside: Duration,
}

thread_local! {
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorded {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut name = Name(attributes.metadata().name().to_owned());
        attributes.record(&mut name);
        let Some(span) = context.span(id) else { return };
        if let Ok(mut sums) = self.0.lock() {
            span.extensions_mut().insert(sums.entry(name.0).or_default().clone());
        }
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        OPEN.with_borrow_mut(|open| {
            open.push(Open { id: id.clone(), since: ThreadTime::now(), inside: Duration::ZERO });
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(own) = OPEN.with_borrow_mut(|open| {
            let at = open.iter().rposition(|span| span.id == *id)?;
            let span = open.split_off(at).swap_remove(0);
            let took = span.since.elapsed();
            if let Some(outer) = open.last_mut() {
                outer.inside += took;
            }
            Some(took.saturating_sub(span.inside))
        }) else {
            return;
        };
        let Some(span) = context.span(id) else { return };
        if let Some(sum) = span.extensions().get::<Arc<Sum>>() {
            sum.nanoseconds.fetch_add(own.as_nanos() as u64, Ordering::Relaxed);
            sum.entries.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Recorded {
    /// Forgets what was recorded; the processor time of the process from here on.
    pub fn restart(&self) -> ProcessTime {
        if let Ok(sums) = self.0.lock() {
            for sum in sums.values() {
                sum.nanoseconds.store(0, Ordering::Relaxed);
                sum.entries.store(0, Ordering::Relaxed);
            }
        }
        ProcessTime::now()
    }

    /// Prints the spans that take at least 5 µs a frame: milliseconds and entries per frame.
    pub fn print(&self, frames: u32) {
        let Ok(sums) = self.0.lock() else { return };
        let frames = f64::from(frames);
        let mut sums: Vec<(f64, f64, &String)> = sums
            .iter()
            .map(|(name, sum)| {
                let time = sum.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-6 / frames;
                (time, sum.entries.load(Ordering::Relaxed) as f64 / frames, name)
            })
            .collect();
        sums.sort_by(|a, b| b.0.total_cmp(&a.0));
        if sums.is_empty() {
            println!("no spans: build with `--features trace`");
        }
        for (time, entries, name) in sums.iter().filter(|(time, ..)| *time >= 0.005) {
            println!("{time:>10.3} ms {entries:>8.1}  {name}");
        }
    }
}
