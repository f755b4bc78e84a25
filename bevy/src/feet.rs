//! Feet on the ground of the app.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use crate::modifiers::Complaints;
use bevy::ecs::prelude::*;
use bevy::math::Vec3;
use bevy::prelude::{App, PostUpdate, ReflectComponent, ReflectDefault};
use bevy::reflect::Reflect;
use phalanx::crowd::{CrowdError, Ground, InstanceId, ModifierId};
use phalanx::glam;
use phalanx::skeleton::MAX_WORLD;
use tracing::warn;

type Ask = Box<dyn Fn(Vec3) -> (f32, Vec3) + Send + Sync>;

/// The ground of the app: height along y and normal, at a point of the world.
///
/// The feet of each rig whose [`RigSetup`](crate::RigSetup) has named a [`Feet`](phalanx::crowd::Feet) modifier `feet`
/// stand on it. It is asked once per frame and foot with the place of the foot: that of the last frame, without
/// modifiers, moved by the present transform of its character. [`PhalanxFeet`] has the weight. Where the answer is not
/// finite, or the normal has no length, there is no ground, and the foot is as animated. When the resource is removed, so
/// are all feet, within the seconds of their [`PhalanxFeet`].
///
/// A ground that needs the world of the app, such as ray casts of a physics engine, is a system of yours before
/// [`PhalanxSystems::Evaluate`](crate::PhalanxSystems::Evaluate) with [`Crowd::foot_positions`](phalanx::crowd::Crowd::foot_positions)
/// and [`Crowd::set_grounds`](phalanx::crowd::Crowd::set_grounds).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::{PhalanxGround, RigSetup, phalanx::crowd::Feet};
///
/// let setup = RigSetup::new(|crowd, rig, names| {
///     let joints = crowd.rig(rig)?.skeleton();
///     let feet = Feet::new(joints.joint("Hips")?, &[joints.joint("LeftFoot")?, joints.joint("RightFoot")?]);
///     names.modifier("feet", crowd.add_modifier(rig, feet)?);
///     Ok(())
/// });
/// let slope = PhalanxGround::new(|at| (0.2 * at.x, Vec3::new(-0.2, 1.0, 0.0)));
/// # let _ = (setup, slope);
/// ```
#[derive(Resource)]
pub struct PhalanxGround(Ask);

impl PhalanxGround {
    /// A ground that is a function of the place.
    pub fn new(ground: impl Fn(Vec3) -> (f32, Vec3) + Send + Sync + 'static) -> Self {
        Self(Box::new(ground))
    }
}

/// The weight of a character's `feet` on the [`PhalanxGround`]; 1 without this component. 0 is for a jump.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxFeet {
    /// The weight, in [0, 1].
    pub weight: f32,
    /// How long a change of the weight takes, seconds.
    pub seconds: f32,
}

impl Default for PhalanxFeet {
    fn default() -> Self {
        Self { weight: 1.0, seconds: 0.0 }
    }
}

/// The name of the modifier.
const FEET: &str = "feet";

pub fn add(app: &mut App) {
    app.register_type::<PhalanxFeet>();
    let set_grounds = set_grounds.run_if(resource_exists::<PhalanxGround>);
    let systems = (set_weights, set_grounds)
        .after(frame::set_worlds)
        .before(frame::evaluate)
        .in_set(PhalanxSystems::Evaluate);
    app.add_systems(PostUpdate, systems);
}

type ChangedFeet = Or<(Changed<PhalanxFeet>, Added<PhalanxInstance>)>;

/// Weights of feet; without a ground, feet are as animated.
fn set_weights(
    mut crowd: ResMut<PhalanxCrowd>,
    ground: Option<Res<PhalanxGround>>,
    mut stood: Local<bool>,
    changed: Query<Entity, ChangedFeet>,
    mut removed: RemovedComponents<PhalanxFeet>,
    characters: Query<(Entity, &PhalanxInstance, Option<&PhalanxFeet>)>,
    mut complaints: Local<Complaints>,
) {
    let stand = ground.is_some();
    let stood = std::mem::replace(&mut *stood, stand);
    if !stand && !stood {
        // The app may have a ground of its own.
        return;
    }
    let all = characters.iter().map(|(entity, ..)| entity).filter(|_| stand != stood);
    for entity in changed.iter().chain(removed.read()).chain(all) {
        let Ok((_, instance, feet)) = characters.get(entity) else { continue };
        let Some(modifier) = crowd.modifier(instance.rig, FEET) else { continue };
        let PhalanxFeet { weight, seconds } = feet.copied().unwrap_or_default();
        let weight = if stand { weight } else { 0.0 };
        let Ok(mut player) = crowd.crowd.player(instance.instance) else { continue };
        if let Err(why) = player.fade_modifier(modifier, weight, seconds) {
            complaints.warn(entity, instance.rig, FEET, why);
        }
    }
}

/// Arrays of the characters of one rig.
#[derive(Default)]
struct Buffers {
    instances: Vec<InstanceId>,
    places: Vec<glam::Vec3>,
    grounds: Vec<Ground>,
}

fn set_grounds(
    mut crowd: ResMut<PhalanxCrowd>,
    ground: Res<PhalanxGround>,
    characters: Query<&PhalanxInstance>,
    mut buffers: Local<Buffers>,
    mut refused: Local<Vec<ModifierId>>,
) {
    let crowd = &mut *crowd;
    for loaded in crowd.rigs.values() {
        let Some(feet) = loaded.names.get_modifier(FEET) else { continue };
        let of_rig = characters.iter().filter(|character| character.rig == loaded.id);
        buffers.instances.clear();
        buffers.instances.extend(of_rig.map(|character| character.instance));
        if let Err(why) = ask(&mut crowd.crowd, feet, &ground, &mut buffers)
            && !refused.contains(&feet)
        {
            warn!("feet stay where they are: {why}");
            refused.push(feet);
        }
    }
}

fn ask(
    crowd: &mut phalanx::crowd::Crowd,
    feet: ModifierId,
    ground: &PhalanxGround,
    Buffers { instances, places, grounds }: &mut Buffers,
) -> Result<(), CrowdError> {
    let count = crowd.foot_count(feet)?;
    places.resize(instances.len() * count, glam::Vec3::ZERO);
    crowd.foot_positions(feet, instances, places)?;
    grounds.clear();
    for (&instance, places) in instances.iter().zip(places.chunks_exact(count)) {
        // The plane on which its clips stand.
        let [_, [.., own], _] = crowd.world(instance)?.rows;
        grounds.extend(places.iter().map(|place| {
            let (height, normal) = ground.0(Vec3::from(place.to_array()));
            match normal.try_normalize().filter(|_| height.abs() <= MAX_WORLD) {
                Some(normal) => Ground { height, normal: normal.to_array().into() },
                None => Ground::level(own),
            }
        }));
    }
    crowd.set_grounds(feet, instances, grounds, &[])
}
