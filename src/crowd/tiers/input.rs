//! `CellInput`: what a palette was evaluated from, so that it can be evaluated again, with the same bits, after memory was
//! lost.

use crate::evaluate::{ActionInput, LayerInput, Scratch};

/// The layers and actions of a palette.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CellInput {
    pub layers: Vec<LayerInput>,
    pub actions: Vec<ActionInput>,
}

impl CellInput {
    /// Makes room, so that later inputs need not allocate.
    pub fn reserve(&mut self, layers: usize, actions: usize) {
        self.layers.reserve(layers.saturating_sub(self.layers.len()));
        self.actions.reserve(actions.saturating_sub(self.actions.len()));
    }

    /// Stores what a scratch holds.
    pub fn store(&mut self, scratch: &Scratch) {
        self.layers.clone_from(&scratch.layers);
        self.actions.clone_from(&scratch.actions);
    }

    /// Puts it into a scratch.
    #[inline(never)]
    pub fn load(&self, scratch: &mut Scratch) {
        scratch.layers.clone_from(&self.layers);
        scratch.actions.clone_from(&self.actions);
    }
}
