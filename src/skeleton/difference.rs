//! How two skeletons differ, for messages: the first joint or scalar, with both values.

use super::{NO_JOINT, Skeleton};
use crate::error::SkeletonMismatch;
use crate::words::shorten;
use std::fmt;

/// The first difference of two skeletons. Names are cut after 40 characters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SkeletonDifference {
    /// The differing part: a joint or a scalar with its index and name, or the skeleton.
    pub place: String,
    /// The differing quantity.
    pub what: &'static str,
    /// Value in the first skeleton.
    pub here: String,
    /// Value in the other skeleton.
    pub there: String,
}

/// `joint 3 "Hand": the rest translation is [0.1, 0.0, 0.0], in the other skeleton [0.2, 0.0, 0.0]`.
impl fmt::Display for SkeletonDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, here, there } = self;
        write!(f, "{place}: the {what} is {here}, in the other skeleton {there}")
    }
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
            let hashes = || SkeletonDifference {
                place: "the skeleton".to_owned(),
                what: "hash",
                here: format!("{:016x}", self.structure_hash()),
                there: format!("{:016x}", other.structure_hash()),
            };
            let difference = self.first_difference(other).unwrap_or_else(hashes);
            return Some(SkeletonMismatch::Structure(difference.to_string()));
        }
        (self.layout_hash() != other.layout_hash()).then_some(SkeletonMismatch::LaneOrder)
    }

    /// The first difference to another skeleton in the names, parents, rest pose and scalars, which
    /// [`Skeleton::structure_hash`] hashes. `None` if at most the lane orders differ.
    pub(crate) fn first_difference(&self, other: &Skeleton) -> Option<SkeletonDifference> {
        let joints = self.len().min(other.len());
        let found = (0..joints).find_map(|joint| self.joint_difference(other, joint));
        found
            .or_else(|| counts("number of joints", self.len(), other.len()))
            .or_else(|| self.scalars_differ(other))
    }

    /// The first difference of the scalars and user channels.
    fn scalars_differ(&self, other: &Skeleton) -> Option<SkeletonDifference> {
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

    fn joint_difference(&self, other: &Skeleton, joint: usize) -> Option<SkeletonDifference> {
        let (a, b) = (self.rest(joint), other.rest(joint));
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
        let pairs = [
            (
                "rest translation",
                a.translation.to_array().to_vec(),
                b.translation.to_array().to_vec(),
            ),
            ("rest rotation", a.rotation.to_array().to_vec(), b.rotation.to_array().to_vec()),
            ("rest scale", a.scale.to_array().to_vec(), b.scale.to_array().to_vec()),
        ];
        let (what, here, there) = if self.names()[joint] != other.names()[joint] {
            ("name", name(self), name(other))
        } else if self.parents()[joint] != other.parents()[joint] {
            ("parent", parent(self), parent(other))
        } else {
            let (what, a, b) = pairs.into_iter().find(|(_, a, b)| !same(a, b))?;
            (what, numbers(&a), numbers(&b))
        };
        Some(SkeletonDifference {
            place: format!("joint {joint} {}", name(self)),
            what,
            here,
            there,
        })
    }

    fn scalar_difference(&self, other: &Skeleton) -> Option<SkeletonDifference> {
        let pairs = self.scalars().iter().zip(other.scalars());
        let (index, (a, b)) = pairs
            .enumerate()
            .find(|(_, (a, b))| a.name != b.name || a.rest.to_bits() != b.rest.to_bits())?;
        let (what, here, there) = if a.name == b.name {
            ("rest value", a.rest.to_string(), b.rest.to_string())
        } else {
            ("name", quoted(&a.name), quoted(&b.name))
        };
        Some(SkeletonDifference {
            place: format!("scalar {index} {}", quoted(&a.name)),
            what,
            here,
            there,
        })
    }

    fn channel_difference(&self, other: &Skeleton) -> Option<SkeletonDifference> {
        let mut pairs = self.channels().zip(other.channels());
        let (a, b) = pairs.find(|(a, b)| a.rest.is_quaternion() != b.rest.is_quaternion())?;
        Some(SkeletonDifference {
            place: format!("user channel {}", quoted(&a.name)),
            what: "rest value",
            here: format!("{:?}", a.rest),
            there: format!("{:?}", b.rest),
        })
    }
}

fn counts(what: &'static str, here: usize, there: usize) -> Option<SkeletonDifference> {
    (here != there).then(|| SkeletonDifference {
        place: "the skeleton".to_owned(),
        what,
        here: here.to_string(),
        there: there.to_string(),
    })
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
            let found = same.first_difference(&other).map(|d| d.to_string());
            assert_eq!(found.as_deref(), Some(text));
        }
        let long = make(&[joint(&"é".repeat(41), None, 1.0), a[1].clone()], 0.0);
        let cut = format!("\"{}…\"", "é".repeat(40));
        let text = format!("joint 0 {cut}: the name is {cut}, in the other skeleton \"hips\"");
        let found = long.first_difference(&same).map(|d| d.to_string());
        assert_eq!(found, Some(text));
    }
}
