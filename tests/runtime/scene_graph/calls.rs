//! Calls of any kind, in any order.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::skeleton::{Joint, Skeleton, Trs};
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Call {
    Add(Option<u8>, Local),
    Mirror(Option<u8>, bool),
    SetParent(u8, Option<u8>),
    InPlace(u8, Option<u8>),
    SetLocal(u8, Local),
    Joints(u8, Local),
    Attach(u8, u8, u8),
    Remove(u8, Option<Option<u8>>),
    Update,
}

#[derive(Clone, Copy, Debug)]
pub struct Local([f32; 6]);

impl Local {
    pub fn matrix(self) -> Affine3x4 {
        let [x, y, z, angle, tilt, scale] = self.0;
        Trs {
            translation: Vec3::new(x, y, z),
            rotation: Quat::from_rotation_y(angle) * Quat::from_rotation_x(tilt),
            scale: Vec3::splat(0.7 + 0.6 * scale),
        }
        .into()
    }
}

fn local() -> impl Strategy<Value = Local> {
    let number = || -2.0f32..2.0;
    (number(), number(), number(), number(), number(), 0.0f32..1.0)
        .prop_map(|(x, y, z, a, b, s)| Local([x, y, z, a, b, s]))
}

pub fn call() -> impl Strategy<Value = Call> {
    let place = || any::<u8>();
    let maybe = || proptest::option::of(any::<u8>());
    prop_oneof![
        4 => (maybe(), local()).prop_map(|(p, l)| Call::Add(p, l)),
        1 => (maybe(), any::<bool>()).prop_map(|(p, long)| Call::Mirror(p, long)),
        3 => (place(), maybe()).prop_map(|(n, p)| Call::SetParent(n, p)),
        2 => (place(), maybe()).prop_map(|(n, p)| Call::InPlace(n, p)),
        3 => (place(), local()).prop_map(|(n, l)| Call::SetLocal(n, l)),
        1 => (place(), local()).prop_map(|(n, l)| Call::Joints(n, l)),
        2 => (place(), place(), place()).prop_map(|(n, m, j)| Call::Attach(n, m, j)),
        2 => (place(), proptest::option::of(maybe())).prop_map(|(n, h)| Call::Remove(n, h)),
        2 => Just(Call::Update),
    ]
}

pub fn skeleton(long: bool) -> Arc<Skeleton> {
    let joints: Vec<Joint> = (0..if long { 5 } else { 2 })
        .map(|j: usize| Joint {
            name: format!("joint{j}"),
            parent: j.checked_sub(1).map(|p| p.min(2)),
            rest: Trs { translation: Vec3::new(0.0, 0.3, 0.1 * j as f32), ..Trs::IDENTITY },
        })
        .collect();
    Arc::new(Skeleton::new(&joints, None, vec![]).unwrap())
}
