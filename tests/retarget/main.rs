//! Clips of one skeleton on another.

mod bind;
