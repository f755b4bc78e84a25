//! Skeletons: flat parents and rest poses, skins, masks. Knows only `math`.

mod trs;

pub use trs::Trs;
