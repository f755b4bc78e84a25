//! The scene graph alone: random sequences of calls against a naive model that recurses in f64, and
//! what is refused.

mod calls;
mod model;
mod refusals;
mod run;
mod update;
