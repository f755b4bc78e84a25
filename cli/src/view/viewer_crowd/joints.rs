//! Joints and limbs of the characters in the window.

use super::super::super::error::CliError;
use super::super::handles::Handle;
use super::ViewerCrowd;
use glam::{Affine3A, Vec3};
use phalanx::crowd::InstanceId;

/// A joint of a visible character, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub index: usize,
    pub at: Vec3,
    /// Position of its parent; roots have none.
    pub parent: Option<Vec3>,
}

/// The joints of the nearest characters, and how many characters were asked for.
#[derive(Clone, Debug, Default)]
pub struct Joints {
    pub joints: Vec<Joint>,
    pub shown: usize,
    pub visible: usize,
}

impl ViewerCrowd {
    /// Looks for limbs that handles can drag. Returns whether there are any.
    pub fn find_limbs(&mut self) -> Result<bool, CliError> {
        Ok(self.limbs.find(&mut self.crowd, self.rig)?)
    }

    /// The visible character that is nearest to the eye.
    fn nearest(&self, eye: Vec3) -> Result<Option<InstanceId>, CliError> {
        let mut nearest = None;
        for (instance, _) in self.view.seen().filter(|(_, seen)| seen.body) {
            let far = self.crowd.world(instance)?.translation().distance_squared(eye);
            if nearest.is_none_or(|(least, _)| far < least) {
                nearest = Some((far, instance));
            }
        }
        Ok(nearest.map(|n| n.1))
    }

    /// The handles of the nearest visible character.
    pub fn handles(&self, eye: Vec3) -> Result<Vec<Handle>, CliError> {
        match self.nearest(eye)? {
            Some(instance) => Ok(self.limbs.handles(&self.crowd, instance)?),
            None => Ok(Vec::new()),
        }
    }

    /// Moves the handle of a limb; all characters reach for the same place beside them.
    pub fn drag(
        &mut self,
        eye: Vec3,
        limb: usize,
        to: impl FnOnce(Vec3) -> Vec3,
    ) -> Result<(), CliError> {
        let Some(instance) = self.nearest(eye)? else { return Ok(()) };
        if let Some(handle) = self.limbs.handles(&self.crowd, instance)?.get(limb) {
            let to_model = Affine3A::from(*self.crowd.world(instance)?).inverse();
            let to = to_model.transform_point3(to(handle.at));
            self.limbs.drag(&mut self.crowd, &self.instances, limb, to)?;
        }
        Ok(())
    }

    /// Fades dragged limbs back to the clips.
    pub fn let_go(&mut self, seconds: f32) -> Result<(), CliError> {
        Ok(self.limbs.let_go(&mut self.crowd, &self.instances, seconds)?)
    }

    /// Joints of up to `most` visible characters, nearest to the eye first.
    pub fn joints(&self, eye: Vec3, most: usize) -> Result<Joints, CliError> {
        let seen = self.view.seen().filter(|(_, seen)| seen.body);
        let mut near = Vec::new();
        for (instance, _) in seen {
            let world = *self.crowd.world(instance)?;
            near.push((world.translation().distance_squared(eye), instance, world));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joints =
            Joints { visible: near.len(), shown: near.len().min(most), joints: Vec::new() };
        let parents = self.source.skeleton().parents();
        for (_, instance, world) in near.into_iter().take(most) {
            let models = self.crowd.model_matrices(instance)?;
            let at = |joint: usize| {
                let model = models.get(joint)?;
                Some(world.transform_point3(model.translation()))
            };
            let found = parents.iter().enumerate().filter_map(|(index, &parent)| {
                let parent = at(usize::from(parent));
                at(index).map(|at| Joint { index, at, parent })
            });
            joints.joints.extend(found);
        }
        Ok(joints)
    }
}

#[cfg(test)]
impl ViewerCrowd {
    /// What a limb of every character reaches for, and its weight.
    pub fn reaching(&self, limb: usize) -> Vec<(phalanx::crowd::Target, f32)> {
        let targets = self.instances.iter().map(|&i| self.limbs.target(&self.crowd, i, limb));
        targets.map(|t| t.expect("a limb")).collect()
    }
}
