//! User channels: named values besides the joints, animated and blended like them.

use super::skeleton_data::{Scalar, Skeleton, check_scalars};
use crate::error::BuildError;
use crate::words::shorten;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A value of a user channel; the variant is the channel's type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChannelValue {
    /// One number.
    Float(f32),
    /// Two numbers.
    Vec2([f32; 2]),
    /// Three numbers.
    Vec3([f32; 3]),
    /// Four numbers.
    Vec4([f32; 4]),
    /// A unit quaternion xyzw: blended on the nearer hemisphere and normalised, added as a rotation.
    Quaternion([f32; 4]),
}

impl ChannelValue {
    /// The value's numbers.
    pub fn as_slice(&self) -> &[f32] {
        match self {
            Self::Float(v) => std::slice::from_ref(v),
            Self::Vec2(v) => v,
            Self::Vec3(v) => v,
            Self::Vec4(v) | Self::Quaternion(v) => v,
        }
    }

    /// The number of components.
    pub(crate) fn width(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether the value is a quaternion.
    pub(crate) fn is_quaternion(&self) -> bool {
        matches!(self, Self::Quaternion(_))
    }

    /// A value of the same type with other numbers.
    pub(crate) fn with(&self, number: impl Fn(usize) -> f32) -> Self {
        match self {
            Self::Float(_) => Self::Float(number(0)),
            Self::Vec2(_) => Self::Vec2(std::array::from_fn(number)),
            Self::Vec3(_) => Self::Vec3(std::array::from_fn(number)),
            Self::Vec4(_) => Self::Vec4(std::array::from_fn(number)),
            Self::Quaternion(_) => Self::Quaternion(std::array::from_fn(number)),
        }
    }

    /// The value with a quaternion normalised; `None` if it is not finite or has no direction.
    fn checked(self) -> Option<Self> {
        // In f64 the square of no f32 underflows or overflows.
        let squares = self.as_slice().iter().map(|&v| f64::from(v).powi(2));
        let length = squares.sum::<f64>().sqrt();
        if !self.as_slice().iter().all(|v| v.is_finite()) {
            return None;
        }
        match self {
            // A second division would change bits of a normalised value, and with them hashes.
            Self::Quaternion(_) if (length - 1.0).abs() <= UNIT => Some(self),
            Self::Quaternion(q) if length > 0.0 => {
                Some(Self::Quaternion(q.map(|v| (f64::from(v) / length) as f32)))
            }
            Self::Quaternion(_) => None,
            other => Some(other),
        }
    }
}

/// Largest deviation from length 1 at which a quaternion is kept bit for bit: 8 × 2⁻²³.
const UNIT: f64 = 8.0 * f32::EPSILON as f64;

/// A named value of a skeleton: its name, its type, and its value while no clip animates it.
#[derive(Clone, Debug, PartialEq)]
pub struct UserChannel {
    /// Name, different from that of every other scalar of the skeleton.
    pub name: String,
    /// Type and rest value.
    pub rest: ChannelValue,
}

/// A user channel of a skeleton, found by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelHandle {
    pub(crate) channel: u16,
    /// Structure hash of the skeleton that the handle belongs to.
    pub(crate) structure: u64,
}

/// `user channel 2`: its index in the skeleton.
impl fmt::Display for ChannelHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user channel {}", self.channel)
    }
}

/// Limit on the user channels of a skeleton: handles are 16 bits.
pub const MAX_CHANNELS: usize = 1 << 12;

impl Skeleton {
    /// Appends user channels to the scalars.
    ///
    /// # Errors
    /// If a name is taken, a rest value is not finite, has no direction or is above
    /// 1e12, or there are too many.
    pub fn with_channels(mut self, channels: Vec<UserChannel>) -> Result<Self, BuildError> {
        let count = self.data.channels.len() + channels.len();
        if count > MAX_CHANNELS {
            return Err(BuildError::limit(format!("{count} user channels"), count, MAX_CHANNELS));
        }
        let taken = self.channels().map(|c| c.name.clone());
        let scalars = self.data.scalars.iter().map(|s| s.name.clone());
        let mut taken: HashSet<String> = scalars.chain(taken).collect();
        let data = Arc::make_mut(&mut self.data);
        for UserChannel { name, rest } in channels {
            if !taken.insert(name.clone()) {
                let name = shorten(&name);
                return Err(BuildError::invalid(format!(
                    "the name \"{name}\" of a user channel is already in use"
                )));
            }
            let Some(rest) = rest.checked() else {
                let name = shorten(&name);
                return Err(BuildError::invalid(format!(
                    "the rest value of user channel \"{name}\" is not finite, or not a rotation"
                )));
            };
            let first = data.scalars.len();
            let numbers = rest.as_slice().iter().zip(["x", "y", "z", "w"]);
            data.scalars.extend(numbers.map(|(&value, part)| Scalar {
                name: match rest.width() {
                    1 => name.clone(),
                    _ => format!("{name}.{part}"),
                },
                rest: value,
            }));
            data.channels.push((UserChannel { name, rest }, first));
        }
        check_scalars(&data.scalars)?;
        self.lay_scalars();
        Ok(self)
    }

    /// The user channels.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = &UserChannel> {
        self.data.channels.iter().map(|c| &c.0)
    }

    /// The handle of a user channel; `None` if no channel has that name.
    pub fn channel(&self, name: &str) -> Option<ChannelHandle> {
        let found = self.data.channels.iter().position(|c| c.0.name == name)?;
        Some(ChannelHandle { channel: found as u16, structure: self.structure_hash() })
    }

    /// A user channel and its first scalar; `None` for a handle of another skeleton.
    pub(crate) fn channel_at(&self, handle: ChannelHandle) -> Option<(&UserChannel, usize)> {
        let here = handle.structure == self.structure_hash();
        let found = self.data.channels.get(usize::from(handle.channel));
        found.filter(|_| here).map(|(c, first)| (c, *first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(scalars: Vec<Scalar>) -> Skeleton {
        Skeleton::new(&[], None, scalars).unwrap()
    }

    fn channel(name: &str, rest: ChannelValue) -> UserChannel {
        let name = name.into();
        UserChannel { name, rest }
    }

    #[test]
    fn channels_follow_the_scalars_and_are_found_by_name() {
        let morph = Scalar { name: "face.weights[0]".into(), rest: 0.5 };
        let s = plain(vec![morph.clone()])
            .with_channels(vec![
                channel("grip", ChannelValue::Float(0.25)),
                channel("look", ChannelValue::Quaternion([0.0, 0.0, 2.0, 0.0])),
            ])
            .unwrap();
        let (look, first) = s.channel_at(s.channel("look").unwrap()).unwrap();
        assert_eq!(first, 2);
        assert_eq!(look.rest, ChannelValue::Quaternion([0.0, 0.0, 1.0, 0.0]));
        assert_eq!(s.scalars()[5].name, "look.w");
        let rest: Vec<f32> = (0..6).map(|i| s.rest_pose().scalar(i)).collect();
        assert_eq!(rest, [0.5, 0.25, 0.0, 0.0, 1.0, 0.0]);
        // Another skeleton has another hash, so its handles are rejected here.
        let other = plain(vec![morph])
            .with_channels(vec![channel("grip", ChannelValue::Float(0.0))])
            .unwrap();
        assert_ne!(other.structure_hash(), s.structure_hash());
        assert!(s.channel_at(other.channel("grip").unwrap()).is_none());
        assert!(s.channel("nothing").is_none());
        // Four numbers and a quaternion are different types.
        let four = |rest| plain(vec![]).with_channels(vec![channel("q", rest)]).unwrap();
        let q = [0.0, 0.0, 0.0, 1.0];
        let (a, b) = (ChannelValue::Vec4(q), ChannelValue::Quaternion(q));
        assert_ne!(four(a).structure_hash(), four(b).structure_hash());
    }

    #[test]
    fn names_that_are_taken_and_invalid_rest_values_are_refused() {
        let with = |channels| plain(vec![]).with_channels(channels);
        let float = |name: &str| channel(name, ChannelValue::Float(0.0));
        let says = |refused: Result<Skeleton, BuildError>| refused.unwrap_err().to_string();
        let taken = "the name \"a\" of a user channel is already in use";
        assert_eq!(says(with(vec![float("a"), float("a")])), taken);
        let morph = Scalar { name: "a".into(), rest: 0.0 };
        let refused = plain(vec![morph]).with_channels(vec![float("a")]);
        assert_eq!(says(refused), taken);
        for rest in [
            ChannelValue::Float(f32::NAN),
            ChannelValue::Vec3([0.0, f32::INFINITY, 0.0]),
            ChannelValue::Quaternion([0.0; 4]),
            ChannelValue::Quaternion([f32::NAN; 4]),
        ] {
            let words = "the rest value of user channel \"a\" is not finite, or not a rotation";
            assert_eq!(says(with(vec![channel("a", rest)])), words);
        }
        // At every scale, a value with a direction is normalised once and is stable from then on.
        for scale in [1e-45, 3e-23, 1e-19, 0.3, 1e19, f32::MAX] {
            let rest = [scale, -scale, 0.0, scale * 0.5];
            let once = ChannelValue::Quaternion(rest).checked();
            let length = once.map(|q| q.as_slice().iter().map(|v| v * v).sum::<f32>());
            assert!(length.is_some_and(|l| (l - 1.0).abs() < 1e-6), "{scale}");
            assert_eq!(once.and_then(ChannelValue::checked), once, "{scale}");
        }
        let many = (0..=MAX_CHANNELS).map(|i| float(&i.to_string())).collect();
        assert!(matches!(with(many), Err(BuildError::Limit { needed: 4097, limit: 4096, .. })));
    }
}
