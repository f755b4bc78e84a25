//! `Lent`: takes a part out of a structure while the rest is borrowed, and always puts it back.

/// A part that is taken out of a structure, so that both can be borrowed at once. It is put back on drop, even while
/// unwinding, so a panic in a caller's code leaves nothing missing.
pub(crate) struct Lent<'a, W, T, P>
where
    T: Default,
    P: Fn(&mut W) -> &mut T,
{
    whole: &'a mut W,
    part: T,
    place: P,
}

impl<'a, W, T, P> Lent<'a, W, T, P>
where
    T: Default,
    P: Fn(&mut W) -> &mut T,
{
    /// Takes the part that `place` returns and leaves its default there until the drop.
    pub fn new(whole: &'a mut W, place: P) -> Self {
        let part = std::mem::take(place(whole));
        Self { whole, part, place }
    }

    /// The rest and the part.
    pub fn split(&mut self) -> (&mut W, &mut T) {
        (self.whole, &mut self.part)
    }
}

impl<W, T, P> Drop for Lent<'_, W, T, P>
where
    T: Default,
    P: Fn(&mut W) -> &mut T,
{
    fn drop(&mut self) {
        std::mem::swap((self.place)(self.whole), &mut self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn the_part_goes_back_on_unwinding_too() {
        let mut whole = (vec![1, 2], 7);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let mut lent = Lent::new(&mut whole, |w| &mut w.0);
            let (rest, part) = lent.split();
            part.push(3);
            assert!(rest.0.is_empty() && part.len() < 3, "as meant");
        }));
        assert!(unwound.is_err());
        assert_eq!(whole, (vec![1, 2, 3], 7));
    }
}
