//! Feet on the ground: grounds of instances, positions of feet, contacts in clips.

use super::Pool;
use crate::evaluate::{Evaluated, Feet, Footing, MAX_FEET, Modify, PoseMut, PoseStage};
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::ids::ModifierId;
use crate::playback::modifiers::Ground;
use glam::Vec3;

impl Pool {
    /// Finds when feet are on the ground. To be called when clips or modifiers have changed.
    pub(super) fn fit_contacts(&mut self) {
        let (clips, modifiers) = (self.library.clips(), self.library.modifiers());
        let clip = |index: usize| clips.get(index as u16).map(|clip| &**clip);
        self.contacts.clear();
        for (index, definition) in modifiers.iter().filter(|(_, d)| d.feet().is_some()) {
            self.contacts.resize_with(usize::from(index) + 1, Default::default);
            self.contacts[usize::from(index)] = definition.contacts(clips.len(), clip);
        }
    }

    /// Checks the numbers of grounds.
    pub fn check_grounds(&self, grounds: &[Ground]) -> Result<(), PlaybackError> {
        let skeleton = self.rig().skeleton();
        grounds.iter().try_for_each(|ground| ground.target().check(skeleton))
    }

    /// Sets the grounds of an instance's feet, all checked. Tiers go on by their rates, as with world transforms.
    #[inline]
    pub fn set_grounds(&mut self, index: usize, modifier: u8, grounds: &[Ground]) {
        let mut changes = false;
        for (slot, ground) in (0..).zip(grounds) {
            changes |= self.state.inputs_mut().set_slot(index, (modifier, slot), ground.target());
        }
        if changes {
            self.watched.touch(index);
        }
    }

    /// Puts an instance's feet on their grounds.
    pub(super) fn place(
        &self,
        index: usize,
        (feet, modifier): (&Feet, u8),
        pose: &mut PoseMut<'_>,
        weight: f32,
    ) {
        let (world, mut grounds) = (self.state.world(index), [Footing::LEVEL; MAX_FEET]);
        for input in self.state.inputs().all(index).iter().filter(|i| i.modifier == modifier) {
            if let Some(ground) = grounds.get_mut(usize::from(input.slot)) {
                *ground = Footing::of(&input.target, world.rows[1][3]);
            }
        }
        if let Some(contacts) = self.contacts.get(usize::from(modifier)).filter(|_| weight > 0.0) {
            let given = self.given(index).map_or(0.0, |given| given.weight);
            feet.place(pose, (world, &grounds), contacts, (weight, given));
        }
    }

    /// Writes the world positions of an instance's feet, from model matrices of its ankles.
    pub fn feet_in_world(
        &self,
        index: usize,
        feet: &Feet,
        model: impl Fn(u16) -> Option<Affine3x4>,
        out: &mut [Vec3],
    ) {
        let world = self.state.world_wide(index);
        for ((leg, ankle), out) in feet.legs.iter().zip(feet.ankles()).zip(out) {
            let at = model(ankle).map_or(leg.rest, |model| model.translation());
            *out = world.transform_point3(at.as_dvec3()).as_vec3();
        }
    }

    /// Writes the positions of an instance's feet as they were animated in the last evaluated frame. An instance that
    /// no frame has evaluated is evaluated now, to the same bits.
    pub fn last_feet(&self, index: usize, feet: &Feet, out: &mut [Vec3]) {
        if let Some(row) = self.watched.row(index).filter(|row| row.known) {
            // A frame may have watched others than these.
            if feet.ankles().all(|ankle| row.model_before(ankle).is_some()) {
                let model = |ankle| row.model_before(ankle).copied();
                return self.feet_in_world(index, feet, model, out);
            }
        }
        let written = Evaluated::read(self, index, |e| {
            let all = feet.ankles().all(|ankle| e.watched_before(ankle).is_some());
            if all {
                self.feet_in_world(index, feet, |ankle| e.watched_before(ankle), out);
            }
            all
        });
        // No frame has laid out what is watched.
        if !written {
            self.present_feet(index, feet, out);
        }
    }

    /// Writes the positions of an instance's feet as they are animated now. Evaluates the instance without its stage.
    fn present_feet(&self, index: usize, feet: &Feet, out: &mut [Vec3]) {
        let (mut ankles, mut models) = ([0; MAX_FEET], [Affine3x4::IDENTITY; MAX_FEET]);
        for (to, ankle) in ankles.iter_mut().zip(feet.ankles()) {
            *to = ankle.into();
        }
        let ankles = &ankles[..feet.legs.len()];
        let instance = std::iter::once(index);
        Evaluated::models(self, (instance, PoseStage::Before), ankles, &mut models);
        let place = |ankle: u16| ankles.iter().position(|&joint| joint == usize::from(ankle));
        self.feet_in_world(index, feet, |ankle| place(ankle).map(|at| models[at]), out);
    }

    /// [`last_feet`](Self::last_feet) of a modifier.
    pub fn feet_of(
        &self,
        index: usize,
        modifier: ModifierId,
        out: &mut [Vec3],
    ) -> Result<(), PlaybackError> {
        let (_, feet) = self.library.feet(modifier)?;
        check_count(out.len(), 1, feet)?;
        self.last_feet(index, feet, out);
        Ok(())
    }
}

/// Checks that there is one value per instance and foot.
pub(crate) fn check_count(
    values: usize,
    instances: usize,
    feet: &Feet,
) -> Result<(), PlaybackError> {
    let joints = feet.legs.len();
    match instances.checked_mul(joints) == Some(values) {
        true => Ok(()),
        false => Err(PlaybackError::JointValues { values, instances, joints }),
    }
}
