//! Binding and retargeting: maps, transfers between models of files and models made here, mirroring, planting of feet,
//! and what is refused. References are computed here, in f64, from sampled poses and from VRM's formulas; the library's
//! own transfer is never its own reference.

mod between;
mod bind;
mod edges;
mod feet;
mod hostile;
mod maps;
mod mirrored;
mod models;
mod rebuilt;
mod scales;
mod shape;
mod support;
mod transfer;
