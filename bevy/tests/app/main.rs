//! The plugin in apps without a window. They draw on whatever device is there; a software one will do.

mod common;
mod files;
mod life;
mod pictures;
mod playback;
