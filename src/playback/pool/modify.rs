//! The modifiers of a pool: their definitions, the inputs of instances, and what they do to a pose.

use super::Pool;
use crate::evaluate::{
    Chains, Change, Follow, Given, IkTarget, Lag, Modify, PoseMut, PoseStage, Stage,
};
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::changes::What;
use crate::playback::hook::Calls;
use crate::playback::ids::ModifierId;
use crate::playback::inputs::{Input, POSE};
use crate::playback::linear_fade::LinearFade;
use crate::playback::modifiers::{Definition, Modifier, Space, Target};
use crate::playback::springs::Swing;
use crate::simd::prefetch;
use glam::{Affine3A, Mat3A, Quat, Vec2, Vec3, Vec3A};

impl Pool {
    pub fn add_modifier(&mut self, modifier: &Modifier) -> Result<ModifierId, PlaybackError> {
        let definition = Definition::new(modifier, self.library.rig())?;
        self.tables.prepare_lanes(definition.lanes);
        let ankles: Vec<u16> = definition.ankles().collect();
        let swings = definition.springs().is_some();
        let id = self.library.add_modifier(definition)?;
        self.springs |= u64::from(swings) << id.index;
        self.watched.watch(PoseStage::Before, ankles.into_iter());
        self.fit_contacts();
        Ok(id)
    }

    pub fn remove_modifier(&mut self, id: ModifierId) -> Result<(), PlaybackError> {
        let (index, definition) = self.library.take_modifier(id)?;
        self.springs &= !(1 << index);
        self.watched.unwatch(PoseStage::Before, definition.ankles());
        self.fit_contacts();
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
        let definition = self.library.modifiers().get(modifier.into());
        let springs = definition.and_then(|definition| definition.springs());
        let inputs = self.state.inputs_mut();
        inputs.set_weight(index, modifier, fade);
        if let Some(springs) = springs.filter(|_| before.is_silent()) {
            inputs.set_springs(index, modifier, springs.rest());
        }
        self.touch(index, What::POSE | What::BOUNDS);
    }

    /// Lets the springs of an instance start at rest.
    pub fn rest_springs(&mut self, index: usize) {
        self.state.inputs_mut().rest_springs(Some(index));
        self.touch(index, What::POSE);
    }

    /// Advances the clock of hooks, and the weights of modifiers that fade.
    #[inline]
    pub(super) fn advance_modifiers(&mut self, dt: f64) {
        self.hook_clock.advance(dt.abs());
        if self.state.inputs().fades() {
            self.advance_fades(dt);
        }
    }

    fn advance_fades(&mut self, dt: f64) {
        let Self { state, changes, watched, .. } = self;
        state.advance_inputs(dt.abs(), |index| {
            watched.touch(index);
            changes.mark(index, What::POSE | What::BOUNDS);
        });
    }

    /// Moves looks of limited speed by a step, after which root motion has moved their instances.
    pub fn follow(&mut self, dt: f64) {
        let Self { library, state, .. } = self;
        for (number, definition) in library.modifiers().iter() {
            if let Some(follow) = definition.change.follow() {
                let most = (f64::from(follow.speed) * dt.abs()) as f32;
                state.step_inputs(number as u8, |input, world| {
                    let wanted = wanted_look(follow, &input.target, world);
                    input.gaze.step(wanted, most);
                });
            }
        }
    }

    /// How an aim of limited speed lags behind.
    fn lag(&self, change: &Change, index: usize, input: &Input) -> Option<Lag> {
        let follow = change.follow()?;
        input.gaze.lag(wanted_look(follow, &input.target, self.state.world(index)))
    }

    /// The stage of an instance that has active modifiers, without overrides and offsets.
    #[cold]
    pub(super) fn modifiers_of<'a>(
        &'a self,
        index: usize,
        (by, swings): (&'a dyn Modify, bool),
    ) -> Stage<'a> {
        let mut heeded = self.heeded(index, swings);
        if heeded == 0 {
            return Stage::default();
        }
        let mut lanes = match heeded >> POSE {
            0 => 0,
            _ => {
                // It is read behind the clips.
                prefetch(self.state.inputs().pose(index));
                self.library.rig().skeleton().joint_of().len()
            }
        };
        while heeded != 0 {
            let modifier = self.library.modifiers().get(heeded.trailing_zeros() as u16);
            lanes = lanes.max(modifier.map_or(0, |definition| definition.lanes));
            heeded &= heeded - 1;
        }
        Stage { modifiers: Some((by, index)), lanes, ..Stage::default() }
    }

    /// The active modifiers of an instance, as bits; of springs only if they swing.
    #[inline]
    pub fn heeded(&self, index: usize, swings: bool) -> u64 {
        self.state.inputs().active(index) & if swings { u64::MAX } else { !self.springs }
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
        let even = self.state.inputs().even_pose(index);
        (weight > 0.0 && !rows.is_empty()).then_some(Given { rows, weight, even })
    }

    fn modify(&self, index: usize, pose: &mut PoseMut<'_>) {
        self.modify_by(index, pose, (None, Swing::Read));
    }
}

impl Pool {
    /// Runs the active modifiers of an instance; a hook in a frame that calls one.
    pub fn modify_by(
        &self,
        index: usize,
        pose: &mut PoseMut<'_>,
        (calls, swing): (Option<&Calls<'_>>, Swing),
    ) {
        if self.state.inputs().active(index) == 1 << POSE {
            return;
        }
        let world = self.state.world(index);
        // Chains that read nothing that those before change are bent at once.
        let mut chains = Chains::default();
        let mut before: [Option<&Definition>; Chains::MOST] = [None; Chains::MOST];
        for (definition, input) in self.active(index) {
            let weight = input.weight.value();
            if weight <= 0.0 {
                continue;
            }
            let is_chain = matches!(definition.change, Change::Ik(_));
            let reads = || before.iter().flatten().any(|before| definition.reads_of(before));
            let waits = chains.len() > 0
                && (!is_chain
                    || chains.len() == Chains::MOST
                    || matches!(input.target.space, Space::Joint(_))
                    || reads());
            if waits {
                chains.bend(pose);
                (chains, before) = Default::default();
            }
            match &definition.change {
                Change::Ik(chain) => {
                    if let Some(target) = in_model(input, world, pose) {
                        before[chains.len()] = Some(definition);
                        chains.add(chain, target);
                    }
                }
                Change::Aim(aim) => {
                    if let Some(target) = in_model(input, world, pose) {
                        aim.turn(pose, &target, self.lag(&definition.change, index, input));
                    }
                }
                Change::Feet(feet) => {
                    self.place(index, (feet, input.modifier), pose, weight);
                }
                Change::Springs(springs) => {
                    self.swing((index, input.modifier), springs, (pose, weight), swing);
                }
                Change::Hook => {
                    if let Some(calls) = calls {
                        calls.run((self, index), (&definition.joints, weight), pose);
                    }
                }
            }
        }
        chains.bend(pose);
    }
}

/// A target in model space; `None` if the space has no inverse.
#[inline]
fn in_model(input: &Input, world: &Affine3x4, pose: &PoseMut<'_>) -> Option<IkTarget> {
    let Input { target, weight, .. } = input;
    let weight = weight.value();
    if target.space == Space::Model && target.rotation.is_none() {
        let Target { position, normal, .. } = *target;
        return Some(IkTarget { position, rotation: None, normal, weight });
    }
    from_space(target, weight, world, pose)
}

fn from_space(
    target: &Target,
    weight: f32,
    world: &Affine3x4,
    pose: &PoseMut<'_>,
) -> Option<IkTarget> {
    let to_model = to_model(target.space, world, |joint| pose.model(joint).into());
    let turn = |rotation: Quat| {
        // Hosts' rotations need not have length 1, and may be large.
        let rotation = rotation.as_dquat().normalize().as_quat();
        let m = to_model.matrix3 * Mat3A::from_quat(rotation);
        crate::evaluate::rotation(&Affine3A::from_mat3(m.into()).into())
    };
    let position = position(target, world, &to_model);
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

/// From the space of a target to model space, with the model matrices of joints.
fn to_model(space: Space, world: &Affine3x4, joint: impl Fn(usize) -> Affine3A) -> Affine3A {
    match space {
        Space::Model => Affine3A::IDENTITY,
        Space::World => Affine3A::from(*world).inverse(),
        Space::Joint(of) => joint(of),
    }
}

fn position(target: &Target, world: &Affine3x4, to_model: &Affine3A) -> Vec3 {
    let position = Vec3A::from(target.position);
    Vec3::from(match target.space {
        // The difference first: far from the origin an inverse's translation is rounded more.
        Space::World => to_model.matrix3 * (position - Affine3A::from(*world).translation),
        _ => to_model.transform_point3a(position),
    })
}

/// Where an aim of limited speed would look in the rest pose.
fn wanted_look(follow: &Follow, target: &Target, world: &Affine3x4) -> Vec2 {
    let to_model = to_model(target.space, world, |joint| follow.model(joint));
    follow.wanted(position(target, world, &to_model))
}
