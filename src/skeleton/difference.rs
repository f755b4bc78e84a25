//! How two skeletons differ, for messages: the first joint or scalar, with both values.

use super::{NO_JOINT, Skeleton};
use crate::error::SkeletonMismatch;
use crate::words::shorten;
use std::fmt;

/// A difference: `joint 3 "Hand": the rest translation is [0.1, 0.0, 0.0], in the other skeleton [0.2, 0.0, 0.0]`.
fn differs(
    place: impl fmt::Display,
    what: &str,
    here: impl fmt::Display,
    there: impl fmt::Display,
) -> String {
    format!("{place}: the {what} is {here}, in the other skeleton {there}")
}

impl fmt::Display for SkeletonMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Structure(difference) => f.write_str(difference),
            Self::LaneOrder => f.write_str(
                "the joints are the same, in another lane order; `reorder_lanes` lays a clip out in it",
            ),
            Self::JointOrder => f.write_str(
                "the joints are the same, in another order; `reorder_lanes` lays a clip out in it",
            ),
        }
    }
}

impl Skeleton {
    /// Why data of this skeleton does not fit another; `None` if it fits.
    pub fn mismatch(&self, other: &Skeleton) -> Option<SkeletonMismatch> {
        if self.structure_hash() != other.structure_hash() {
            if self.scalars_differ(other).is_none() && self.joints_in(other).is_some() {
                return Some(SkeletonMismatch::JointOrder);
            }
            let hash = |s: &Skeleton| format!("{:016x}", s.structure_hash());
            let hashes = || differs("the skeleton", "hash", hash(self), hash(other));
            let difference = self.first_difference(other).unwrap_or_else(hashes);
            return Some(SkeletonMismatch::Structure(difference));
        }
        (self.layout_hash() != other.layout_hash()).then_some(SkeletonMismatch::LaneOrder)
    }

    /// The first difference to another skeleton in the names, parents, rest pose and scalars, which
    /// [`Skeleton::structure_hash`] hashes, as text. `None` if at most the lane orders differ. Names are cut after 40 characters.
    pub(crate) fn first_difference(&self, other: &Skeleton) -> Option<String> {
        let joints = self.len().min(other.len());
        let found = (0..joints).find_map(|joint| self.joint_difference(other, joint));
        found
            .or_else(|| counts("number of joints", self.len(), other.len()))
            .or_else(|| self.scalars_differ(other))
    }

    /// The first difference of the scalars and user channels.
    fn scalars_differ(&self, other: &Skeleton) -> Option<String> {
        self.scalar_difference(other)
            .or_else(|| {
                let (here, there) = (self.scalars().len(), other.scalars().len());
                counts("number of scalars", here, there)
            })
            .or_else(|| {
                let (here, there) = (self.channels().len(), other.channels().len());
                counts("number of user channels", here, there)
            })
            .or_else(|| self.channel_difference(other))
    }

    fn joint_difference(&self, other: &Skeleton, joint: usize) -> Option<String> {
        let [a, b] = [self, other].map(|s| s.rest(joint).to_array());
        let name = |s: &Skeleton| quoted(&s.names()[joint]);
        let parent = |s: &Skeleton| match s.parents()[joint] {
            NO_JOINT => "none".to_owned(),
            above => {
                let name = s.names().get(usize::from(above));
                quoted(name.map_or("", |n| n))
            }
        };
        let numbers = |v: &[f32]| format!("{v:?}");
        let same = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        let parts = [("rest translation", 0..3), ("rest rotation", 3..7), ("rest scale", 7..10)];
        let (what, here, there) = if self.names()[joint] != other.names()[joint] {
            ("name", name(self), name(other))
        } else if self.parents()[joint] != other.parents()[joint] {
            ("parent", parent(self), parent(other))
        } else {
            let (what, part) =
                parts.into_iter().find(|(_, p)| !same(&a[p.clone()], &b[p.clone()]))?;
            (what, numbers(&a[part.clone()]), numbers(&b[part]))
        };
        Some(differs(format!("joint {joint} {}", name(self)), what, here, there))
    }

    fn scalar_difference(&self, other: &Skeleton) -> Option<String> {
        let pairs = self.scalars().iter().zip(other.scalars());
        let (index, (a, b)) = pairs
            .enumerate()
            .find(|(_, (a, b))| a.name != b.name || a.rest.to_bits() != b.rest.to_bits())?;
        let (what, here, there) = if a.name == b.name {
            ("rest value", a.rest.to_string(), b.rest.to_string())
        } else {
            ("name", quoted(&a.name), quoted(&b.name))
        };
        Some(differs(format!("scalar {index} {}", quoted(&a.name)), what, here, there))
    }

    fn channel_difference(&self, other: &Skeleton) -> Option<String> {
        let mut pairs = self.channels().zip(other.channels());
        let (a, b) = pairs.find(|(a, b)| a.rest.is_quaternion() != b.rest.is_quaternion())?;
        let [here, there] = [a, b].map(|c| format!("{:?}", c.rest));
        Some(differs(format!("user channel {}", quoted(&a.name)), "rest value", here, there))
    }
}

fn counts(what: &'static str, here: usize, there: usize) -> Option<String> {
    (here != there).then(|| differs("the skeleton", what, here, there))
}

/// A name in quotes, cut short.
fn quoted(name: &str) -> String {
    format!("\"{}\"", shorten(name))
}

#[cfg(test)]
mod tests {
    use super::super::{Joint, Scalar, Skeleton, Trs};

    #[test]
    fn the_first_joint_that_differs_is_named_with_both_values() {
        let joint = |name: &str, parent, x: f32| Joint {
            name: name.into(),
            parent,
            rest: Trs { translation: [x, 0.0, 0.0].into(), ..Trs::IDENTITY },
        };
        let make = |joints: &[Joint], rest: f32| {
            let smile = Scalar { name: "smile".into(), rest };
            Skeleton::new(joints, None, vec![smile]).unwrap()
        };
        let a = [joint("hips", None, 1.0), joint("leg", Some(0), 0.5)];
        let same = make(&a, 0.0);
        let order = Skeleton::new(&a, Some(&[1, 0]), same.scalars().to_vec()).unwrap();
        assert_eq!(same.first_difference(&order), None);
        let cases = [
            (
                make(&[a[0].clone(), joint("leg", Some(0), 0.5001)], 0.0),
                "joint 1 \"leg\": the rest translation is [0.5, 0.0, 0.0], in the other skeleton [0.5001, 0.0, 0.0]",
            ),
            (
                make(&[a[0].clone(), joint("leg", None, 0.5)], 0.0),
                "joint 1 \"leg\": the parent is \"hips\", in the other skeleton none",
            ),
            (
                make(&[a[0].clone(), joint("arm", Some(0), 0.5)], 0.0),
                "joint 1 \"leg\": the name is \"leg\", in the other skeleton \"arm\"",
            ),
            (
                make(&a[..1], 0.0),
                "the skeleton: the number of joints is 2, in the other skeleton 1",
            ),
            (make(&a, 1.0), "scalar 0 \"smile\": the rest value is 0, in the other skeleton 1"),
        ];
        for (other, text) in cases {
            let found = same.first_difference(&other);
            assert_eq!(found.as_deref(), Some(text));
        }
        let long = make(&[joint(&"é".repeat(41), None, 1.0), a[1].clone()], 0.0);
        let cut = format!("\"{}…\"", "é".repeat(40));
        let text = format!("joint 0 {cut}: the name is {cut}, in the other skeleton \"hips\"");
        let found = long.first_difference(&same);
        assert_eq!(found, Some(text));
    }
}
