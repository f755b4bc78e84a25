//! `Store`: values in an owned vector, or in place in shared bytes.

use bytemuck::{AnyBitPattern, NoUninit};
use std::fmt;
use std::ops::Deref;
#[cfg(feature = "phx")]
use std::ops::Range;

/// Immutable bytes that several stores share: a mapped file or a buffer.
#[cfg(feature = "phx")]
pub use bytes::Bytes as SharedBytes;

/// A slice of plain values, in an owned vector or in place in shared bytes.
///
/// Each access resolves the storage, so hoist the slice out of loops.
#[derive(Clone)]
pub(crate) struct Store<T>(Storage<T>);

#[derive(Clone)]
enum Storage<T> {
    Own(Vec<T>),
    #[cfg(feature = "phx")]
    Shared(SharedBytes),
}

impl<T: AnyBitPattern + NoUninit> Store<T> {
    /// The values in a range of shared bytes. `None` if the range is out of bounds, misaligned, or not a
    /// whole number of values.
    #[cfg(feature = "phx")]
    pub(crate) fn shared(owner: &SharedBytes, bytes: Range<usize>) -> Option<Self> {
        let inside = owner.get(bytes)?;
        bytemuck::try_cast_slice::<u8, T>(inside).ok()?;
        Some(Self(Storage::Shared(owner.slice_ref(inside))))
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[T] {
        match &self.0 {
            Storage::Own(values) => values,
            #[cfg(feature = "phx")]
            Storage::Shared(bytes) => typed_slice(bytes),
        }
    }
}

/// The bytes as values; size and alignment were checked when the store was made.
#[cfg(feature = "phx")]
#[inline(always)]
fn typed_slice<T: AnyBitPattern + NoUninit>(bytes: &SharedBytes) -> &[T] {
    bytemuck::try_cast_slice(bytes).unwrap_or_default()
}

impl<T> From<Vec<T>> for Store<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Storage::Own(values))
    }
}

impl<T: AnyBitPattern + NoUninit> Deref for Store<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: AnyBitPattern + NoUninit + PartialEq> PartialEq for Store<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Storage::Own(values) => write!(f, "Store({} owned values)", values.len()),
            #[cfg(feature = "phx")]
            Storage::Shared(bytes) => write!(f, "Store({} shared bytes)", bytes.len()),
        }
    }
}

#[cfg(all(test, feature = "phx"))]
mod tests {
    use super::*;
    use crate::math::Row;

    /// Rows that own bytes with the alignment of a mapped file.
    struct Buffer(Vec<Row>);

    impl AsRef<[u8]> for Buffer {
        fn as_ref(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
    }

    #[test]
    fn shared_values_are_read_where_they_lie() {
        let rows = (0..4).map(|i| Row::splat(i as f32)).collect();
        let owner = SharedBytes::from_owner(Buffer(rows));
        let store = Store::<Row>::shared(&owner, 64..192).unwrap();
        assert_eq!(store[..], [Row::splat(1.0), Row::splat(2.0)]);
        let inside = owner.as_ptr_range();
        assert!(inside.contains(&store.as_ptr().cast()), "nothing is copied");
        assert_eq!(store, Store::from(vec![Row::splat(1.0), Row::splat(2.0)]));
        for bad in [0..300, 32..96, 0..65, 320..384, 1..65] {
            assert!(Store::<Row>::shared(&owner, bad).is_none());
        }
    }
}
