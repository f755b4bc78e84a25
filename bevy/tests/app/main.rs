//! The plugin in apps without a window. They draw on whatever device is there; a software one will do.

mod bare;
mod common;
mod models;
mod joints;
mod modifiers;
mod pictures;
mod tiers;
