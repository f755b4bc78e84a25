//! Tiers: how often instances are evaluated, and which of them share a palette, by their height on screen.
//!
//! [`Tiers`](super::Tiers) are data. [`Crowd::set_tiers`](super::Crowd::set_tiers) turns them on; from then on a frame is
//!
//! ```text
//! spheres      world-space bounding spheres of what has changed           spheres.rs
//! rank         views and importances → height on screen → tier;           rank.rs, view.rs, heights.rs,
//!              instances that share show the phase of their clock         clocks.rs
//! assign       instances whose tier or shared phase has changed get       assign.rs, shared.rs
//!              another cell
//! select       which cells are evaluated: new ones, those of this         select.rs
//!              frame's turn, those that waited; within the budget
//! evaluate     workers over ranges of banks                               evaluate.rs
//! ```
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
//! The cells of a bank are evaluated by one rig: that of the crowd, or a [detail](crate::rig::Rig::detail) of it that the
//! tier asks for, with fewer rows. The tables of a pool keep details with their programs (`evaluate/details.rs`).

mod assign;
mod bank;
mod banks;
mod calls;
mod cells;
mod clocks;
mod evaluate;
mod frame_clock;
mod heights;
mod order;
mod progress;
mod rank;
mod ranked;
mod select;
mod shared;
mod spheres;
mod stats;
mod tier;
mod tiering;
mod turns;
mod view;

pub use calls::Shown;
pub(super) use evaluate::{BankShare, BankTask};
pub(super) use order::{Order, OrderNeeds};
pub(super) use select::{Request, Selected, Work};
pub use stats::{TierFrame, TierStats};
pub use tier::{MAX_TIERS, RATES, Tier, Tiers};
pub(crate) use tiering::Tiering;
pub use view::View;
