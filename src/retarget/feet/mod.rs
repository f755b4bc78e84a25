//! Planting of feet: a foot that stands in the source stands in the target.
//!
//! A foot of the source is in contact while it is low and moves with the ground. The ground stands, except in a clip that
//! walks in place, so its velocity is measured first. On the target, a two-bone correction of the leg moves the foot in
//! contact along with the ground; it is faded in and out around the contact.

mod contact;
mod leg;
mod plant;
mod ring;

pub(super) use plant::{least_work, missing, plant};
