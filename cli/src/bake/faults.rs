//! [`Faults`]: errors of single inputs, collected while the other inputs are still processed.

use super::super::error::CliError;
use super::BakeFault;
use super::events::Events;
use super::inputs::Input;
use serde::Serialize;
use std::sync::Arc;

/// Faults in the order in which they were found, at most one per input.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Faults {
    list: Vec<Fault>,
    /// Receives every fault when it is recorded.
    #[serde(skip)]
    events: Option<Arc<Events>>,
}

#[derive(Debug, Serialize)]
struct Fault {
    /// The file, or the folder or pattern that matched nothing.
    input: String,
    fault: String,
}

impl Faults {
    /// Adds the fault of an argument that has not become an input.
    pub fn add(&mut self, input: String, fault: &BakeFault) {
        self.put(input, fault.to_string());
    }

    /// Adds a fault in words.
    pub fn put(&mut self, input: String, fault: String) {
        self.tell(&input, &fault);
        self.list.push(Fault { input, fault });
    }

    /// Passes recorded and later faults on to those who watch.
    pub fn watch(&mut self, events: &Arc<Events>) {
        self.events = Some(events.clone());
        self.list.iter().for_each(|f| self.tell(&f.input, &f.fault));
    }

    pub fn events(&self) -> Option<Arc<Events>> {
        self.events.clone()
    }

    fn tell(&self, input: &str, fault: &str) {
        if let Some(events) = &self.events {
            events.failed(input, fault);
        }
    }

    /// Returns the value of an input's result; records its error.
    pub fn sift<T>(&mut self, input: &Input, result: Result<T, CliError>) -> Option<T> {
        result.map_err(|error| self.put(input.name(), error.to_string())).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn has(&self, input: &Input) -> bool {
        let name = input.name();
        self.list.iter().any(|f| f.input == name)
    }

    /// Returns all faults as one error, if there are any.
    pub fn none(&mut self) -> Result<(), CliError> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(CliError::Inputs(std::mem::take(self))),
        }
    }

    pub fn lines(&self) -> Vec<String> {
        self.list.iter().map(|f| f.fault.clone()).collect()
    }
}
