//! Handles: what they name, how long, and that everything else refuses them.

mod bits;
mod foreign;
mod messages;
mod mixers;
mod models;
mod restored;
mod reused;
mod rollback;
mod undone;
