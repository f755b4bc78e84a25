//! `Derived`: what others derive from a rig and share through it, kept without knowing what it is.

use super::Rig;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// Values derived from a rig, at most one of each type. They live as long as the rig or a holder of one.
///
/// A look-up takes a lock, so a user looks up once and keeps the value.
#[derive(Debug, Default)]
pub(crate) struct Derived(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Clone for Derived {
    /// A copy derives its own values, since the rig's parts may be changed.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Rig {
    /// The value of type `T` that is derived from the rig, the same for all who share the rig; its default at first.
    pub(crate) fn derived<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        // A poisoned list is still whole, since single calls change it.
        let mut all = self.derived.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter().find_map(|one| one.clone().downcast().ok());
        known.unwrap_or_else(|| {
            let made = Arc::new(T::default());
            all.push(made.clone());
            made
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::build::build_rig;
    use crate::raw::{RawNode, RawScene};
    use std::sync::{Arc, OnceLock};

    #[test]
    fn a_rig_shares_one_value_of_each_type_and_a_copy_has_its_own() {
        let nodes = vec![RawNode::default()];
        let scene = RawScene { nodes, ..RawScene::default() };
        let rig = build_rig(scene, &Default::default()).unwrap();
        rig.derived::<OnceLock<u8>>().set(1).unwrap();
        assert!(rig.derived::<OnceLock<u16>>().get().is_none());
        assert_eq!(rig.derived::<OnceLock<u8>>().get(), Some(&1));
        let [a, b] = [(); 2].map(|_| rig.derived::<OnceLock<u8>>());
        assert!(Arc::ptr_eq(&a, &b));
        assert!(rig.clone().derived::<OnceLock<u8>>().get().is_none());
    }
}
