//! The modifiers of a pool: their definitions, the inputs of instances, and what they do to a pose.

use super::Pool;
use crate::evaluate::{Given, IkTarget, Modify, PoseMut, Stage};
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::changes::What;
use crate::playback::hook::Calls;
use crate::playback::ids::ModifierId;
use crate::playback::inputs::{Input, POSE};
use crate::playback::linear_fade::LinearFade;
use crate::playback::modifiers::{Definition, Modifier, Space, Target};
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

impl Pool {
    pub fn add_modifier(&mut self, modifier: &Modifier) -> Result<ModifierId, PlaybackError> {
        let definition = Definition::new(modifier, self.library.rig())?;
        self.tables.prepare_joint(definition.last);
        self.library.add_modifier(definition)
    }

    pub fn remove_modifier(&mut self, id: ModifierId) -> Result<(), PlaybackError> {
        let index = self.library.take_modifier(id)?;
        for instance in self.state.inputs_mut().remove(index) {
            self.touch(instance, What::POSE | What::BOUNDS);
        }
        Ok(())
    }

    /// Sets the target of an instance's modifier, both checked.
    #[inline]
    pub fn set_target(&mut self, index: usize, modifier: u8, target: Target) {
        if self.state.inputs_mut().set_target(index, modifier, target) {
            self.touch(index, What::POSE);
        }
    }

    /// Fades the weight of an instance's modifier, all checked.
    pub fn fade_modifier(&mut self, index: usize, modifier: u8, weight: f32, seconds: f64) {
        let before = self.state.inputs().weight(index, modifier);
        let rests = !before.running() && before.value() == weight;
        if rests || before.gets_to(weight, seconds) {
            return;
        }
        if before.is_silent()
            && self.library.modifiers().get(modifier.into()).is_some_and(|m| m.is_hook())
        {
            self.hook_clock.forget(index);
        }
        let fade = LinearFade::new(before.value(), weight, seconds);
        self.state.inputs_mut().set_weight(index, modifier, fade);
        self.touch(index, What::POSE | What::BOUNDS);
    }

    /// Advances the weights of modifiers that fade.
    pub(super) fn advance_modifiers(&mut self, dt: f64) {
        self.hook_clock.advance(dt.abs());
        let Self { state, changes, watched, .. } = self;
        state.advance_inputs(dt.abs(), |index| {
            watched.touch(index);
            changes.mark(index, What::POSE | What::BOUNDS);
        });
    }

    /// What changes the pose of an instance that has active modifiers.
    #[cold]
    pub(super) fn modifiers_of<'a>(&'a self, index: usize, by: &'a dyn Modify) -> Stage<'a> {
        let lanes = self.active(index).map(|(definition, _)| {
            let skeleton = self.library.rig().skeleton();
            usize::from(skeleton.lane_of()[usize::from(definition.last)]) + 1
        });
        let lanes = match self.state.inputs().active(index) >> POSE {
            0 => lanes.max().unwrap_or(0),
            _ => self.library.rig().skeleton().joint_of().len(),
        };
        Stage { modifiers: Some((by, index)), lanes, ..Stage::default() }
    }

    /// The active modifiers of an instance.
    pub fn active(&self, index: usize) -> impl Iterator<Item = (&Definition, &Input)> {
        let inputs = self.state.inputs().of(index);
        inputs.filter_map(|input| {
            let definition = self.library.modifiers().get(input.modifier.into())?;
            Some((&**definition, input))
        })
    }
}

impl Modify for Pool {
    fn given(&self, index: usize) -> Option<Given<'_>> {
        let weight = self.state.inputs().weight(index, POSE).value();
        let rows = self.state.inputs().pose(index);
        (weight > 0.0 && !rows.is_empty()).then_some(Given { rows, weight })
    }

    fn modify(&self, index: usize, pose: &mut PoseMut<'_>) {
        self.modify_by(index, pose, None);
    }
}

impl Pool {
    /// Runs the active modifiers of an instance; a hook in a frame that calls one.
    pub fn modify_by(&self, index: usize, pose: &mut PoseMut<'_>, calls: Option<&Calls<'_>>) {
        for (definition, input) in self.active(index) {
            let weight = input.weight.value();
            if definition.is_hook() {
                if let Some(calls) = calls.filter(|_| weight > 0.0) {
                    calls.run((self, index), (&definition.joints, weight), pose);
                }
                continue;
            }
            let target = in_model((&input.target, weight), self.state.world(index), pose);
            if let Some(target) = target.filter(|_| weight > 0.0) {
                definition.change.apply(pose, &target);
            }
        }
    }
}

/// A target in model space; `None` if the space has no inverse.
fn in_model(
    (target, weight): (&Target, f32),
    world: &Affine3x4,
    pose: &PoseMut<'_>,
) -> Option<IkTarget> {
    let to_model = match target.space {
        Space::Model => Affine3A::IDENTITY,
        Space::World => Affine3A::from(*world).inverse(),
        Space::Joint(joint) => Affine3A::from(pose.model(joint)),
    };
    let turn = |rotation: Quat| {
        // Hosts' rotations need not have length 1, and may be large.
        let rotation = rotation.as_dquat().normalize().as_quat();
        let m = to_model.matrix3 * Mat3A::from_quat(rotation);
        crate::evaluate::rotation(&Affine3A::from_mat3(m.into()).into())
    };
    let position = match target.space {
        // The difference first: far from the origin an inverse's translation is rounded more.
        Space::World => {
            to_model.matrix3 * (Vec3A::from(target.position) - Affine3A::from(*world).translation)
        }
        _ => to_model.transform_point3a(target.position.into()),
    };
    let position = Vec3::from(position);
    let normal = |v: Vec3| match target.space {
        // Planes go with the transposed inverse.
        Space::World => Vec3::from(Affine3A::from(*world).matrix3.transpose() * Vec3A::from(v)),
        _ => Vec3::from(to_model.matrix3.inverse().transpose() * Vec3A::from(v)),
    };
    to_model.is_finite().then(|| IkTarget {
        position,
        rotation: target.rotation.map(turn),
        normal: target.normal.map(normal),
        weight,
    })
}
