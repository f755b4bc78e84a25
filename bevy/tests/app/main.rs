//! The plugin in apps without a window. They draw on whatever device is there; a software one will do.

mod common;
mod models;
mod pictures;
mod tiers;
