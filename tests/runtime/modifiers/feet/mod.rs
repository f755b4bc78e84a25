//! Feet on the ground: against the f64 oracle, what bounds them, and what the host reads and sets.

mod calls;
mod contacts;
mod places;
mod random;
mod stored;

use super::{Body, Cast, wide};
use glam::{DMat4, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Feet, Ground, ModifierId};
use phalanx_testkit::oracle::feet;
use phalanx_testkit::oracle::math::Mat4;

/// The feet of the built-in character.
fn both(body: &Body) -> Feet {
    Feet::new(body.joint("Hips"), &[body.joint("LeftFoot"), body.joint("RightFoot")])
}

/// One instance per clip, with feet.
fn cast(body: &Body, feet: &Feet, count: usize) -> (Cast, ModifierId) {
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, feet.clone()).unwrap();
    (cast, by)
}

impl Cast {
    fn stand(&mut self, n: usize, by: ModifierId, grounds: &[Ground], weight: f32) {
        self.crowd.set_grounds(by, &[self.all[n]], grounds, &[weight]).unwrap();
    }

    fn feet(&self, n: usize, by: ModifierId) -> [Vec3; 2] {
        let mut at = [Vec3::ZERO; 2];
        self.crowd.foot_positions(by, &[self.all[n]], &mut at).unwrap();
        at
    }
}

/// The length of a leg at rest.
fn length(body: &Body, feet: &Feet) -> f64 {
    let of = feet.feet.iter().map(|foot| body.length(&body.rest, &foot.leg));
    of.fold(f64::INFINITY, f64::min)
}

/// What a foot counts as on the ground without markers, by its height over the rest pose.
fn by_height(body: &Body, feet: &Feet, worlds: &[Mat4], world: &Affine3x4, foot: usize) -> f64 {
    let leg = &feet.feet[foot].leg;
    let up = (glam::DMat3::from_mat4(DMat4::from_cols_array(&wide(world))).inverse()
        * glam::DVec3::Y)
        .normalize();
    let raised = (body.at(worlds, leg.end) - body.at(&body.rest, leg.end)).dot(up);
    (1.0 - raised / (0.1 * body.length(&body.rest, leg))).clamp(0.0, 1.0)
}

/// The world matrices by the oracle.
fn stood(
    body: &Body,
    feet: &Feet,
    worlds: &[Mat4],
    (world, grounds): (&Affine3x4, &[Ground]),
    contacts: &[f64],
    weight: f32,
) -> Vec<Mat4> {
    let keep = phalanx::playback::EndRotation::Keep;
    let legs = feet.feet.iter().map(|foot| {
        body.chain(&phalanx::playback::TwoBoneIk { end_rotation: keep, ..foot.leg.clone() })
    });
    let legs = legs.collect();
    let of = feet::Feet {
        pelvis: body.nodes[feet.pelvis],
        legs,
        reach: f64::from(feet.reach) * length(body, feet),
        tilt: feet.tilt.into(),
    };
    let ground = |(ground, &contact): (&Ground, &f64)| feet::Ground {
        height: ground.height.into(),
        normal: ground.normal.as_dvec3(),
        contact,
    };
    let grounds: Vec<_> = grounds.iter().zip(contacts).map(ground).collect();
    let place = DMat4::from_cols_array(&wide(world));
    of.stand(&body.scene, (&body.rest, worlds), (&place, &grounds), weight.into())
}
