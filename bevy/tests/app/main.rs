//! The plugin in apps without a window. They draw on whatever device is there; a software one will do.

mod bare;
mod cameras;
mod common;
mod files;
mod joints;
mod life;
mod migration;
mod models;
mod modifiers;
mod picking;
mod pictures;
mod playback;
mod prepass;
mod tiers;
