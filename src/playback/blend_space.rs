//! `BlendSpace`: clips at values of a parameter, as a host states them.

use super::ids::ClipId;
use super::modifiers::Feet;
use glam::Vec2;

pub(crate) mod space;
pub(crate) mod steer;
mod travel;
mod triangles;

pub(super) use travel::Walked;

/// A value of the parameter of a blend space: `1.5.into()`, or `[0.5, -1.0].into()` in a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameter {
    /// The value of a blend space with one parameter, or the first of two.
    pub x: f32,
    /// The second of two values. Blend spaces with one parameter do not read it.
    pub y: f32,
}

impl From<f32> for Parameter {
    fn from(x: f32) -> Self {
        Self { x, y: 0.0 }
    }
}

impl From<[f32; 2]> for Parameter {
    fn from([x, y]: [f32; 2]) -> Self {
        Self { x, y }
    }
}

impl From<Vec2> for Parameter {
    fn from(v: Vec2) -> Self {
        v.to_array().into()
    }
}

/// Clips at values of a parameter, such as a walking speed; for
/// [`Crowd::add_blend_space`](crate::crowd::Crowd::add_blend_space) and
/// [`Mixer::add_blend_space`](super::Mixer::add_blend_space), which also take a slice of values and clips.
///
/// All clips share one phase, so that strides match. At most three have a weight at once:
///
/// - On a line the two neighbours of the value, by linear weights. Beyond an end the clip there plays alone.
/// - In a plane the corners of the triangle that the value lies in, by barycentric weights: Delaunay triangles, made when
///   the space is added. Outside all triangles, the nearest point on their edge counts.
///
/// The phase advances at the blend of the clips' rates. So with values that are speeds, a character travels slower
/// between two clips than the value says. [`by_speed`](Self::by_speed) and [`by_velocity`](Self::by_velocity) choose
/// weights by which it travels at exactly that speed.
///
/// ```
/// use phalanx::crowd::{BlendSpace, Crowd, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let [idle, walk, run] = ["Idle", "Walk", "Run"].map(|name| crowd.clip_named(rig, name).unwrap());
/// let plane = BlendSpace::plane(&[([0.0, 0.0], idle), ([0.0, 1.5], walk), ([1.0, 3.0], run)]);
/// let space = crowd.add_blend_space(rig, plane.following(0.3))?;
/// let all = [crowd.spawn(rig)?, crowd.spawn(rig)?];
/// crowd.play_many(&all, 0, &[space], &[PlayOptions::default()])?;
/// crowd.advance(0.1)?;
/// crowd.set_parameters(&all, 0, &[space], &[[0.2, 1.0], [0.5, 2.0]])?;
/// crowd.advance(0.5)?;
/// let state = crowd.playing(all[1])?.action(0, space)?;
/// assert_eq!(crowd.playing(all[1])?.clips().count(), 3);
/// assert!(state.parameter.is_some_and(|at| (at.x - 0.5).abs() + (at.y - 2.0).abs() < 1e-5));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BlendSpace {
    pub(super) form: Form,
    pub(super) clips: Vec<ClipId>,
    pub(super) feet: Option<Feet>,
    /// Seconds in which the parameter reaches an asked value.
    pub(super) seconds: f32,
}

/// The values of the clips of a [`BlendSpace`], in the order of its clips.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Line(Vec<f32>),
    Plane(Vec<[f32; 2]>),
    Speed,
    Velocity,
}

impl BlendSpace {
    fn new(form: Form, clips: impl Iterator<Item = ClipId>) -> Self {
        Self { form, clips: clips.collect(), feet: None, seconds: 0.0 }
    }

    /// Clips at ascending values of one parameter.
    pub fn line(points: &[(f32, ClipId)]) -> Self {
        let values = points.iter().map(|p| p.0).collect();
        Self::new(Form::Line(values), points.iter().map(|p| p.1))
    }

    /// Clips at points of a plane: two parameters, such as a velocity to the side and forwards. At least three, at most 64,
    /// and not all on one line.
    pub fn plane(points: &[([f32; 2], ClipId)]) -> Self {
        let values = points.iter().map(|p| p.0).collect();
        Self::new(Form::Plane(values), points.iter().map(|p| p.1))
    }

    /// Clips by the speeds at which they travel, in metres per second, in any order: at a parameter of 1.6 the character
    /// travels at 1.6 m/s, whatever the clips' lengths. The direction is that of the fastest clip; a clip that
    /// travels against it has a negative speed.
    ///
    /// A clip travels by its root motion, from its first pose to its last. One without root motion stands, unless
    /// [`measured_by`](Self::measured_by) says how to measure it.
    pub fn by_speed(clips: &[ClipId]) -> Self {
        Self::new(Form::Speed, clips.iter().copied())
    }

    /// Clips by the velocities at which they travel, in metres per second: x and z of model space. Otherwise as
    /// [`by_speed`](Self::by_speed).
    pub fn by_velocity(clips: &[ClipId]) -> Self {
        Self::new(Form::Velocity, clips.iter().copied())
    }

    /// Measures how clips without root motion travel, by the feet that stand: between the [markers](super::Foot::markers)
    /// that put a foot down and lift it, in the quarter of that time in which its ankle is fastest, as its sole is flat.
    pub fn measured_by(mut self, feet: Feet) -> Self {
        self.feet = Some(feet);
        self
    }

    /// Makes the parameter follow an asked value within `seconds`, smoothly: a cubic in time that begins at the present
    /// value and velocity and ends at rest. A value that is asked for before an action has been advanced applies at once.
    /// Default 0.
    pub fn following(mut self, seconds: f32) -> Self {
        self.seconds = seconds;
        self
    }
}

impl From<&[(f32, ClipId)]> for BlendSpace {
    fn from(points: &[(f32, ClipId)]) -> Self {
        Self::line(points)
    }
}

impl<const N: usize> From<&[(f32, ClipId); N]> for BlendSpace {
    fn from(points: &[(f32, ClipId); N]) -> Self {
        Self::line(points)
    }
}

impl From<&Vec<(f32, ClipId)>> for BlendSpace {
    fn from(points: &Vec<(f32, ClipId)>) -> Self {
        Self::line(points)
    }
}
