//! The time of Bevy's spans: with Bevy's feature `trace` each system has one.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Sums by system, over all threads.
#[derive(Clone, Default)]
pub struct Recorded(Arc<Mutex<HashMap<String, Duration>>>);

/// Begins to record, for as long as the program runs.
pub fn record() -> Recorded {
    let recorded = Recorded::default();
    // Only one subscriber can be set, and nothing else here sets one.
    let _ = subscriber::set_global_default(Registry::default().with(recorded.clone()));
    recorded
}

/// The name of the system that a span is of.
struct Name(Option<String>);

impl Visit for Name {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "name" {
            self.0 = Some(format!("{value:?}").trim_matches('"').to_owned());
        }
    }
}

struct Open {
    name: String,
    since: Instant,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorded {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut name = Name(None);
        attributes.record(&mut name);
        let kind = attributes.metadata().name();
        if let (Some(span), Some(system)) = (context.span(id), name.0) {
            span.extensions_mut()
                .insert(Open { name: format!("{kind}: {system}"), since: Instant::now() });
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            open.since = Instant::now();
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(open) = extensions.get_mut::<Open>() else { return };
        let took = open.since.elapsed();
        if let Ok(mut sums) = self.0.lock() {
            match sums.get_mut(&open.name) {
                Some(sum) => *sum += took,
                None => _ = sums.insert(open.name.clone(), took),
            }
        }
    }
}

impl Recorded {
    /// Forgets what was recorded.
    pub fn clear(&self) {
        if let Ok(mut sums) = self.0.lock() {
            sums.clear();
        }
    }

    /// Prints the systems that take at least 10 µs a frame.
    pub fn print(&self, frames: u32) {
        let Ok(sums) = self.0.lock() else { return };
        let mut sums: Vec<(&String, Duration)> =
            sums.iter().map(|(name, sum)| (name, *sum / frames)).collect();
        sums.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        if sums.is_empty() {
            println!("no spans: build with `--features trace`");
        }
        for (name, sum) in sums.iter().filter(|(_, sum)| *sum >= Duration::from_micros(10)) {
            println!("{:>10.3} ms  {name}", sum.as_secs_f64() * 1e3);
        }
    }
}
