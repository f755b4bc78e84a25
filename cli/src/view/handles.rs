//! [`Limbs`]: two-bone inverse kinematics on a model's limbs, and the handles that the mouse drags.

use super::screen_joints::ScreenHandle;
use super::viewer::{Command, Viewer};
use egui::{Color32, Rect, Response, Sense, Ui, vec2};
use glam::{Vec2, Vec3};
use phalanx::crowd::{Crowd, CrowdError, InstanceId, ModifierId, RigId, Target, TwoBoneIk};
use phalanx::retarget::{HumanBone as B, HumanoidMap};
use phalanx::rig::Rig;
use phalanx_render::Camera;

/// Largest number of limbs of a model that is no humanoid, longest first.
const MOST: usize = 8;

/// Radius of a handle, and of the area in which it is taken, in points.
const RADIUS: f32 = 6.0;
const REACH: f32 = 10.0;

const HANDLE: Color32 = Color32::from_rgb(255, 190, 40);

/// The limbs of a humanoid.
const HUMAN: [[B; 3]; 4] = [
    [B::LeftUpperArm, B::LeftLowerArm, B::LeftHand],
    [B::RightUpperArm, B::RightLowerArm, B::RightHand],
    [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot],
    [B::RightUpperLeg, B::RightLowerLeg, B::RightFoot],
];

/// A limb that a modifier bends, in all characters alike.
#[derive(Debug)]
struct Limb {
    /// Index of the joint that reaches the target.
    end: usize,
    modifier: ModifierId,
    /// Where its handle was dragged to, in model space.
    target: Option<Vec3>,
}

/// The limbs of the model on show; empty until they are looked for.
#[derive(Debug, Default)]
pub struct Limbs(Vec<Limb>);

/// The handle of a limb of one character, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    pub end: usize,
    /// Where the end of the limb is.
    pub limb: Vec3,
    /// Where it was dragged to; else the same.
    pub at: Vec3,
}

impl Limbs {
    /// Adds modifiers for the limbs of a rig. Returns whether there are any.
    pub fn find(&mut self, crowd: &mut Crowd, rig: RigId) -> Result<bool, CrowdError> {
        if self.0.is_empty() {
            for [upper, middle, end] in chains(crowd.rig(rig)?) {
                let (upper, middle) = (Some(upper), Some(middle));
                let ik = TwoBoneIk { upper, middle, ..TwoBoneIk::new(end) };
                // Chains of no length are refused.
                if let Ok(modifier) = crowd.add_modifier(rig, ik) {
                    self.0.push(Limb { end, modifier, target: None });
                }
            }
        }
        Ok(!self.0.is_empty())
    }

    /// The handles of one character.
    pub fn handles(&self, crowd: &Crowd, instance: InstanceId) -> Result<Vec<Handle>, CrowdError> {
        let (world, models) = (*crowd.world(instance)?, crowd.model_matrices(instance)?);
        let handle = |limb: &Limb| {
            let end = models.get(limb.end)?.translation();
            let at = world.transform_point3(limb.target.unwrap_or(end));
            Some(Handle { end: limb.end, limb: world.transform_point3(end), at })
        };
        Ok(self.0.iter().filter_map(handle).collect())
    }

    /// Sets where a limb of all characters reaches to, in model space.
    pub fn drag(
        &mut self,
        crowd: &mut Crowd,
        instances: &[InstanceId],
        limb: usize,
        to: Vec3,
    ) -> Result<(), CrowdError> {
        let Some(limb) = self.0.get_mut(limb) else { return Ok(()) };
        limb.target = Some(to);
        self.reach(crowd, instances)
    }

    /// Gives characters the targets of limbs that were dragged.
    pub fn reach(&self, crowd: &mut Crowd, instances: &[InstanceId]) -> Result<(), CrowdError> {
        let dragged = self.0.iter().filter_map(|limb| Some((limb.modifier, limb.target?)));
        dragged.into_iter().try_for_each(|(modifier, target)| {
            crowd.set_targets(modifier, instances, &[Target::model(target)], &[1.0])
        })
    }

    /// Fades all limbs back to the clips, over `seconds`.
    pub fn let_go(
        &mut self,
        crowd: &mut Crowd,
        instances: &[InstanceId],
        seconds: f32,
    ) -> Result<(), CrowdError> {
        for limb in self.0.iter_mut().filter(|limb| limb.target.is_some()) {
            limb.target = None;
            for &instance in instances {
                crowd.player(instance)?.fade_modifier(limb.modifier, 0.0, seconds)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Limbs {
    /// What a limb of a character reaches for, and its weight.
    pub fn target(
        &self,
        crowd: &Crowd,
        instance: InstanceId,
        limb: usize,
    ) -> Option<(Target, f32)> {
        crowd.playing(instance).ok()?.target(self.0.get(limb)?.modifier).ok()
    }
}

/// The limbs of a rig, as joints: upper, middle, end. Those of a humanoid, by its map or the names of its joints; else
/// the longest chains from a fork to a tip, bent at the joint that is nearest to their half.
fn chains(rig: &Rig) -> Vec<[usize; 3]> {
    if let Ok(map) = HumanoidMap::of_rig(rig) {
        let joints = |bones: [B; 3]| {
            let [a, b, c] = bones.map(|bone| map.joint(bone));
            Some([a?, b?, c?])
        };
        return HUMAN.into_iter().filter_map(joints).collect();
    }
    let (parents, rest) = (rig.skeleton().parents(), rig.skeleton().rest_models());
    let mut children = vec![0; parents.len()];
    for &parent in parents {
        if let Some(count) = children.get_mut(usize::from(parent)) {
            *count += 1;
        }
    }
    let at = |joint: usize| rest[joint].translation;
    let parent = |joint: usize| Some(usize::from(parents[joint])).filter(|&p| p < parents.len());
    let limb = |tip: usize| {
        let alone = |&joint: &usize| children[joint] == 1;
        let next = |&joint: &usize| parent(joint).filter(alone);
        let mut path: Vec<usize> = std::iter::successors(Some(tip), next).collect();
        path.reverse();
        let mut lengths = vec![0.0f32];
        for bone in path.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + at(bone[0]).distance(at(bone[1])));
        }
        let (&upper, &end, length) = (path.first()?, path.last()?, *lengths.last()?);
        let off = |k: usize| (lengths[k] - 0.5 * length).abs();
        let middle = (1..path.len() - 1).min_by(|&a, &b| off(a).total_cmp(&off(b)))?;
        Some((length, [upper, path[middle], end]))
    };
    let tips = (0..parents.len()).filter(|&joint| children[joint] == 0);
    let mut found: Vec<(f32, [usize; 3])> = tips.filter_map(limb).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(MOST).map(|limb| limb.1).collect()
}

/// A point that is moved by pixels in the plane of the camera, in a picture of some height.
pub fn moved(camera: &Camera, height: u32, at: Vec3, by: Vec2) -> Vec3 {
    let forward = (camera.target - camera.eye).normalize_or(Vec3::NEG_Z);
    let right = forward.cross(camera.up).normalize_or(Vec3::X);
    let metres = 2.0 * forward.dot(at - camera.eye) * (0.5 * camera.fov_y).tan() / height as f32;
    at + (right * by.x - right.cross(forward) * by.y) * metres
}

/// Paints handles, whose places are in pixels of the picture, and adds what the mouse does with them to `commands`.
pub fn show(
    ui: &Ui,
    picture: &Response,
    viewer: &Viewer,
    handles: &[ScreenHandle],
    commands: &mut Vec<Command>,
) {
    let pixels = ui.ctx().pixels_per_point();
    let place = |p: Vec2| picture.rect.min + vec2(p.x, p.y) / pixels;
    let painter = ui.painter_at(picture.rect);
    for handle in handles {
        let at = place(handle.at);
        let area = Rect::from_center_size(at, vec2(2.0 * REACH, 2.0 * REACH));
        let id = picture.id.with(("handle", handle.limb));
        let taken = ui.interact(area.intersect(picture.rect), id, Sense::drag());
        let width = if taken.hovered() || taken.dragged() { 3.0 } else { 1.5 };
        painter.line_segment([place(handle.end), at], (1.5, HANDLE));
        painter.circle_stroke(at, RADIUS, (width, HANDLE));
        // The pointer's way before the press counts for nothing, that before the release does.
        let drags = (taken.dragged() && !taken.drag_started()) || taken.drag_stopped();
        let by = ui.input(|i| i.pointer.delta()) * pixels;
        if drags && by != egui::Vec2::ZERO {
            commands.push(Command::Drag(handle.limb, Vec2::new(by.x, by.y)));
        }
        if let Some(name) = viewer.joints.get(handle.joint) {
            taken.on_hover_text(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::import::{import_rig, mannequin};
    use phalanx_testkit::trials;

    fn ends(rig: &Rig) -> Vec<String> {
        let names = rig.skeleton().names();
        chains(rig)
            .into_iter()
            .map(|limb| limb.map(|joint| names[joint].as_str()).join(" "))
            .collect()
    }

    #[test]
    fn limbs_are_found_by_bones_or_by_chains() {
        let expected = [
            "LeftArm LeftForeArm LeftHand",
            "RightArm RightForeArm RightHand",
            "LeftUpLeg LeftLeg LeftFoot",
            "RightUpLeg RightLeg RightFoot",
        ];
        assert_eq!(ends(&mannequin().unwrap()), expected);
        if let Some(fox) = trials::model("Fox.glb") {
            let limbs = ends(&import_rig(fox).unwrap());
            let legs = [
                "b_RightLeg01_019 b_RightLeg02_020 b_RightFoot02_022",
                "b_LeftLeg01_015 b_LeftLeg02_016 b_LeftFoot02_018",
                "b_RightUpperArm_06 b_RightForeArm_07 b_RightHand_08",
                "b_LeftUpperArm_09 b_LeftForeArm_010 b_LeftHand_011",
            ];
            assert_eq!(limbs, [&legs[..], &["b_Tail01_012 b_Tail02_013 b_Tail03_014"]].concat());
        }
    }

    #[test]
    fn handles_move_in_the_plane_of_the_camera() {
        let eye = Vec3::new(0.0, 1.0, 5.0);
        let fov_y = std::f32::consts::FRAC_PI_2;
        let camera = Camera { eye, target: Vec3::Y, up: Vec3::Y, fov_y, near: 0.1 };
        // 4 m away the picture of 400 pixels is 8 m high.
        let at = moved(&camera, 400, Vec3::new(0.5, 1.0, 1.0), Vec2::new(50.0, 25.0));
        assert!(at.distance(Vec3::new(1.5, 0.5, 1.0)) < 1e-5, "{at}");
    }
}
