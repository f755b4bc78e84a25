//! Tiers: how often instances are evaluated, and which of them share a palette, by their height on screen.
//!
//! [`Tiers`](super::Tiers) are data. [`Crowd::set_tiers`](super::Crowd::set_tiers) turns them on. A frame then has
//! these steps:
//!
//! ```text
//! spheres      world-space bounding spheres of what has changed           spheres.rs
//! rank         views and importances → height on screen → tier;           tiering/rank.rs, view.rs, heights.rs,
//!              instances that share show the phase of their clock         tiering/clocks.rs
//! assign       instances whose tier or shared phase has changed get       tiering/assign.rs, shared.rs
//!              another cell
//! select       which cells are evaluated: new ones, those of this         tiering/select.rs
//!              frame's turn, those that waited; within the budget
//! evaluate     workers over ranges of banks                               tiering/evaluate.rs
//! ```
//!
//! `tiering.rs` keeps the state of all of this; its fields are private to it and the files below it.
//!
//! A *cell* has the rows of one palette, or of two that are interpolated, in the bone buffer. It stays where it is until
//! it is freed, so nothing is copied when others come or go. A *bank* is 16 cells of one size that are updated in the
//! same frames. Instances that play one clip alone may share a cell.
//!
//! ```text
//! bone buffer   | bank 0: 16 cells of 47 rows | bank 1: 16 cells of 2 × 47 rows | bank 2 | …
//! cells         instance → bank, place; several instances → the cell of one phase of a clip
//! ```
//!
//! The cells of a bank are evaluated by one rig: the rig of the instances, or a [detail](crate::rig::Rig::detail) of it
//! that the tier requests, with fewer rows. The tables of a pool keep details with their programs
//! (`evaluate/details.rs`).

mod bank;
mod banks;
mod cells;
mod frame_clock;
mod heights;
mod order;
mod progress;
mod shared;
mod spheres;
mod stats;
mod tier;
mod tiering;
mod turns;
mod view;
mod work;

pub(super) use order::{Order, OrderNeeds};
pub use stats::{TierFrame, TierStats};
pub use tier::{MAX_TIERS, RATES, Tier, Tiers};
pub use tiering::Shown;
pub(crate) use tiering::Tiering;
pub(super) use tiering::{BankShare, BankTask};
pub use view::View;
pub(super) use work::{Request, Selected, Work};
