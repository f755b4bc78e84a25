//! Feet on the ground, as they are defined.

use super::two_bone_ik::{chain, hash};
use super::{Definition, Modifier, TwoBoneIk, below, quoted, refused};
use crate::clip::Clip;
use crate::evaluate::{
    CONTACT_FADE, Change, Contacts, EndRotation, Feet as Evaluated, Footing, Leg, MAX_FEET,
};
use crate::math::Fnv1a;
use crate::playback::error::PlaybackError;
use crate::playback::modifiers::{Space, Target};
use crate::playback::options::check;
use crate::rig::Rig;
use glam::Vec3;

/// The height over its rest pose at which a foot no longer counts as on the ground, as a share of the leg's length.
const LIFT: f32 = 0.1;

/// Feet that stand on the host's ground: slopes, stairs, rough land.
///
/// A frame: read where feet are by [`Crowd::foot_positions`](crate::crowd::Crowd::foot_positions), find the ground there,
/// and set it by [`Crowd::set_grounds`](crate::crowd::Crowd::set_grounds), as a [`Ground`] per foot. Animations are
/// made for level ground at the height of the instance's world transform, along world y.
///
/// - A foot is raised or lowered by the height of its ground over that of the instance.
/// - The pelvis moves with the lowest ground, at most by [`reach`](Self::reach), so that the lower leg keeps its bend;
///   the others bend by [two-bone inverse kinematics](TwoBoneIk). A ground out of reach is pointed at.
/// - Soles turn by the shortest rotation from world y to the normal of the ground, by at most [`tilt`](Self::tilt), while
///   the foot is on the ground: from the marker that puts it down to the one that lifts it, with a fade of 0.1 s on
///   either side. A clip is taken as a loop: before its first marker counts what the last one says. In clips without
///   such markers, at rest, and in poses that the host gives, a foot is on the ground by its height over the rest pose: 1
///   at or below it, 0 from a tenth of the leg's length on. Clips count by their weights.
/// - At a weight below 1 all of it is done in part.
///
/// Positions come from the last evaluated frame, moved by the present world transform: what is set is **one frame
/// old**. A foot on ground that is level with the instance stays as animated.
///
/// While a rig has this modifier, every evaluation of its instances keeps the positions of these feet, with
/// [tiers](crate::crowd::Crowd::set_tiers) at the cost of [watched joints](crate::crowd::Crowd::watch).
///
/// ```
/// use phalanx::crowd::{BoneBuffer, Crowd, Feet, Ground};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let joint = |name: &str| crowd.rig(rig).and_then(|rig| Ok(rig.skeleton().joint(name)?));
/// let (pelvis, ankles) = (joint("Hips")?, [joint("LeftFoot")?, joint("RightFoot")?]);
/// let feet = crowd.add_modifier(rig, Feet::new(pelvis, &ankles))?;
/// let all = [crowd.spawn(rig)?];
/// let (mut at, mut bones) = ([glam::Vec3::ZERO; 2], BoneBuffer::new());
/// for _ in 0..3 {
///     crowd.foot_positions(feet, &all, &mut at)?;
///     // A step of 20 cm to the left of the origin.
///     let grounds = at.map(|p| Ground::level(if p.x > 0.0 { 0.2 } else { 0.0 }));
///     crowd.set_grounds(feet, &all, &grounds, &[1.0])?;
///     crowd.advance(1.0 / 60.0)?;
///     crowd.evaluate(&mut bones);
/// }
/// let [left, right] = ankles.map(|joint| crowd.model_matrix(all[0], joint).unwrap().translation());
/// assert!((left.y - right.y - 0.2).abs() < 1e-3);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Feet {
    /// Index of the joint that moves with the lowest foot: the pelvis, above all legs.
    pub pelvis: usize,
    /// The feet, at most 8.
    pub feet: Vec<Foot>,
    /// The farthest that the pelvis sinks or rises, as a share of the shortest leg's length in the rest pose, in [0, 1].
    /// Default 0.5.
    pub reach: f32,
    /// The greatest angle by which a sole is turned to the ground, radians, in [0, π/2]. Default π/6.
    pub tilt: f32,
}

/// A foot of [`Feet`].
#[derive(Clone, Debug, PartialEq)]
pub struct Foot {
    /// The leg, with the ankle as its end. Its end rotation and normal axis are not used.
    pub leg: TwoBoneIk,
    /// Names of the markers at which clips put the foot down and lift it. Default: none.
    pub markers: Option<[String; 2]>,
}

/// The ground below a foot, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Height along y.
    pub height: f32,
    /// Direction away from the ground, of any length.
    pub normal: Vec3,
}

impl Feet {
    /// Feet with these ankles, each below a knee and a hip.
    pub fn new(pelvis: usize, ankles: &[usize]) -> Self {
        let foot = |&ankle: &usize| Foot { leg: TwoBoneIk::new(ankle), markers: None };
        let tilt = std::f32::consts::FRAC_PI_6;
        Self { pelvis, feet: ankles.iter().map(foot).collect(), reach: 0.5, tilt }
    }

    pub(super) fn define(&self, rig: &Rig) -> Result<Definition, PlaybackError> {
        let skeleton = rig.skeleton();
        skeleton.joint(self.pelvis)?;
        let count = self.feet.len();
        if count == 0 || count > MAX_FEET {
            return Err(refused(format!("there are {count} feet, not 1 to {MAX_FEET}")));
        }
        check("reach", self.reach.into(), 0.0, 1.0)?;
        check("tilt", self.tilt.into(), 0.0, std::f32::consts::FRAC_PI_2.into())?;
        let rest = skeleton.rest_models();
        let (mut h, mut joints) = (Fnv1a::default(), vec![self.pelvis as u16]);
        let (mut legs, mut shortest, mut stretch) = (Vec::<Leg>::new(), f32::INFINITY, 1.0f32);
        h.write_u64(FEET);
        h.write_u64(self.pelvis as u64);
        h.write_f32(self.reach);
        h.write_f32(self.tilt);
        for Foot { leg, markers } in &self.feet {
            let leg = &TwoBoneIk { end_rotation: EndRotation::Keep, ..leg.clone() };
            let chain = chain(leg, skeleton)?;
            h.write_u64(hash(leg, &chain));
            h.write_u64(markers.is_some().into());
            for name in markers.iter().flatten() {
                h.write_u64(name.len() as u64);
                h.write(name.as_bytes());
            }
            if let Some([down, _]) = markers.as_ref().filter(|[down, up]| down == up) {
                return Err(refused(format!(
                    "marker \"{down}\" both puts a foot down and lifts it"
                )));
            }
            let upper = usize::from(chain.upper);
            let path = below(skeleton, self.pelvis, upper).ok_or_else(|| {
                let (upper, pelvis) = (quoted(skeleton, upper), quoted(skeleton, self.pelvis));
                refused(format!("{upper} is not below the pelvis, {pelvis}"))
            })?;
            let path = [&path[..], &chain.to_middle, &chain.to_end].concat();
            let meets = |other: &Leg| {
                path.contains(&other.chain.upper) || other.path.contains(&chain.upper)
            };
            if legs.iter().any(meets) {
                return Err(refused(format!("two legs have {}", quoted(skeleton, upper))));
            }
            let middle = chain.to_middle.last().map_or(upper, |&joint| joint.into());
            let at = [upper, middle, leg.end].map(|joint| Vec3::from(rest[joint].translation));
            let length = at[0].distance(at[1]) + at[1].distance(at[2]);
            shortest = shortest.min(length);
            stretch = stretch.max(leg.stretch);
            joints.extend([&[chain.upper][..], &chain.to_middle, &chain.to_end].concat());
            legs.push(Leg { chain, path, rest: at[2], lift: LIFT * length });
        }
        let reach = self.reach * shortest;
        let tilt = (self.tilt / 2.0).tan();
        let feet = Evaluated { pelvis: self.pelvis as u16, legs, reach, tilt };
        let definition = Definition::of(rig, Change::Feet(feet), (joints, None), h.finish())?;
        let markers = self.feet.iter().map(|foot| foot.markers.clone()).collect();
        Ok(Definition { stretch, moves: reach, markers, ..definition })
    }
}

/// Distinguishes the hashes of feet from those of other kinds.
const FEET: u64 = u64::from_le_bytes(*b"feet    ");

impl From<Feet> for Modifier {
    fn from(feet: Feet) -> Self {
        Self::Feet(feet)
    }
}

impl Ground {
    /// Level ground at a height.
    pub fn level(height: f32) -> Self {
        Self { height, normal: Vec3::Y }
    }

    /// The ground as the target of a foot.
    pub(crate) fn target(&self) -> Target {
        Target { normal: Some(self.normal), ..Target::world(Vec3::Y * self.height) }
    }
}

impl Footing {
    /// The ground of a foot's target, for an instance that stands at a height. A foot without a ground has a target in model
    /// space.
    pub(crate) fn of(target: &Target, stands: f32) -> Self {
        match (target.space, target.normal) {
            (Space::World, Some(normal)) => Self { height: target.position.y - stands, normal },
            _ => Self::LEVEL,
        }
    }
}

impl Definition {
    /// The feet, if the modifier has any.
    pub fn feet(&self) -> Option<&Evaluated> {
        match &self.change {
            Change::Feet(feet) => Some(feet),
            _ => None,
        }
    }

    /// The ankles of the feet; empty for other modifiers.
    pub fn ankles(&self) -> impl Iterator<Item = u16> {
        self.feet().into_iter().flat_map(Evaluated::ankles)
    }

    /// The contacts of the feet in clips; empty for other modifiers.
    pub fn contacts<'c>(&self, clips: usize, clip: impl Fn(usize) -> Option<&'c Clip>) -> Contacts {
        let spans = |at: usize, foot: usize| self.stands(clip(at)?, foot);
        let feet = if self.markers.iter().any(Option::is_some) { self.markers.len() } else { 0 };
        Contacts::new(feet, clips, spans)
    }

    /// The times between which a foot is on the ground in a clip; `None` without markers.
    pub fn stands(&self, clip: &Clip, foot: usize) -> Option<Box<[[f32; 2]]>> {
        let [down, up] = self.markers[foot].as_ref()?;
        let events = clip.markers().iter().filter_map(|marker| match &marker.name {
            name if name == down => Some((marker.time, true)),
            name if name == up => Some((marker.time, false)),
            _ => None,
        });
        spans(events, clip.duration())
    }
}

/// The times between events that put a foot down and those that lift it, of a clip that is taken as a loop: first and last
/// spans are continued on the other side. `None` if there are no events.
fn spans(
    events: impl DoubleEndedIterator<Item = (f32, bool)> + Clone,
    duration: f32,
) -> Option<Box<[[f32; 2]]>> {
    let (_, stands) = events.clone().next_back()?;
    let (mut spans, mut since) = (Vec::new(), stands.then_some(0.0));
    for (time, down) in events {
        match since {
            None if down => since = Some(time),
            Some(first) if !down => {
                spans.push([first, time]);
                since = None;
            }
            _ => {}
        }
    }
    spans.extend(since.map(|first| [first, duration]));
    let around = [
        spans.last().map(|s| s.map(|t| t - duration)),
        spans.first().map(|s| s.map(|t| t + duration)),
    ];
    let near = |span: &[f32; 2]| span[1] > -CONTACT_FADE && span[0] < duration + CONTACT_FADE;
    spans.extend(around.into_iter().flatten().filter(near));
    Some(spans.into())
}
