//! [`ScreenJoints`]: skeletons in the picture, and the joint at the pointer.

use super::handles::Handle;
use super::viewer_crowd::Joints;
use glam::Vec2;
use phalanx_render::Projection;

/// A joint in the picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenJoint {
    /// The joint's index in the skeleton.
    pub joint: usize,
    /// The joint; `None` if it is nearer than the near plane.
    pub at: Option<Vec2>,
    /// The line to its parent, from the joint.
    pub line: Option<[Vec2; 2]>,
}

/// The handle of a limb in the picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenHandle {
    /// Number of the limb, and its end, a joint of the skeleton.
    pub limb: usize,
    pub joint: usize,
    pub at: Vec2,
    /// Where the end of the limb is.
    pub end: Vec2,
}

/// Skeletons in the picture: of the nearest characters, if there are too many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScreenJoints {
    pub joints: Vec<ScreenJoint>,
    /// Number of characters whose skeletons are shown, and number of visible characters.
    pub shown: usize,
    pub visible: usize,
    /// Handles of the nearest character.
    pub handles: Vec<ScreenHandle>,
}

impl ScreenJoints {
    /// Projects joints into a picture.
    pub fn project(found: &Joints, projection: &Projection) -> Self {
        let joints = found.joints.iter().map(|joint| ScreenJoint {
            joint: joint.index,
            at: projection.line(joint.at, joint.at).map(|ends| ends[0]),
            line: joint.parent.and_then(|p| projection.line(joint.at, p)),
        });
        let (joints, handles) = (joints.collect(), Vec::new());
        Self { joints, shown: found.shown, visible: found.visible, handles }
    }

    /// Projects handles into a picture; those nearer than the near plane are left out.
    pub fn add_handles(&mut self, handles: &[Handle], projection: &Projection) {
        let handle = |(limb, handle): (usize, &Handle)| {
            let [at, _] = projection.line(handle.at, handle.at)?;
            let end = projection.line(handle.limb, handle.at)?[0];
            Some(ScreenHandle { limb, joint: handle.end, at, end })
        };
        self.handles = handles.iter().enumerate().filter_map(handle).collect();
    }

    /// The joint nearest to a point, within `reach`. Among joints at one place, the nearest character's.
    pub fn nearest(&self, point: Vec2, reach: f32) -> Option<(usize, Vec2)> {
        let placed = self.joints.iter().filter_map(|b| Some((b.joint, b.at?)));
        let near = placed.map(|(joint, at)| (joint, at, at.distance_squared(point)));
        let near = near.filter(|n| n.2 <= reach * reach);
        let nearest = near.min_by(|a, b| a.2.total_cmp(&b.2));
        nearest.map(|(joint, at, _)| (joint, at))
    }

    /// Says that not all skeletons are shown.
    pub fn limit(&self) -> Option<String> {
        (self.shown < self.visible).then(|| {
            format!("Skeletons of the nearest {} of {} characters", self.shown, self.visible)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_joint_within_reach_is_found() {
        let joint_at = |joint, x| ScreenJoint { joint, at: Some(Vec2::new(x, 10.0)), line: None };
        let hidden = ScreenJoint { at: None, ..joint_at(7, 0.0) };
        let screen = ScreenJoints {
            joints: vec![hidden, joint_at(1, 20.0), joint_at(2, 26.0), joint_at(3, 26.0)],
            ..ScreenJoints::default()
        };
        let found = |x, y| screen.nearest(Vec2::new(x, y), 8.0).map(|n| n.0);
        assert_eq!(found(22.0, 10.0), Some(1));
        assert_eq!(found(24.0, 10.0), Some(2));
        assert_eq!(found(20.0, 19.0), None);
        assert_eq!(found(0.0, 10.0), None);
    }

    #[test]
    fn a_limit_is_shown_only_where_it_applies() {
        let screen = |shown, visible| ScreenJoints { shown, visible, ..ScreenJoints::default() };
        assert_eq!(screen(48, 48).limit(), None);
        let limit = screen(48, 312).limit();
        let expected = "Skeletons of the nearest 48 of 312 characters";
        assert_eq!(limit.as_deref(), Some(expected));
    }
}
