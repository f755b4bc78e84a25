//! Playing: mixers and crowds against an independent model in f64, and what both refuse.

mod again;
mod clock;
mod events;
mod fades;
mod inertial;
mod inertial_rules;
mod layers;
mod layouts;
mod leading;
#[cfg(feature = "gltf")]
mod mixer;
mod model;
mod order;
mod planes;
mod refusals;
mod snapshots;
mod spaces;
#[cfg(feature = "gltf")]
mod speeds;
mod stage;
mod standing;
mod steering;
mod stopping;
mod stored;
mod time;
mod verbs;
