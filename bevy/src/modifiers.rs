//! Targets of modifiers and overrides of joints, as components.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::ecs::prelude::*;
use bevy::math::{Quat, Vec3};
use bevy::prelude::{
    App, GlobalTransform, PostUpdate, ReflectComponent, ReflectDefault, Transform,
};
use bevy::reflect::Reflect;
use phalanx::crowd::{CrowdError, ModifierId, PoseSpace, Space, Target};
use phalanx::glam;
use tracing::warn;

/// Where a modifier pulls to.
#[derive(Reflect, Clone, Debug, PartialEq)]
pub enum TargetPoint {
    /// A point of the world.
    World(Vec3),
    /// An entity, where it is in this frame.
    Entity(Entity),
    /// A point in the space of the character.
    Model(Vec3),
    /// A point relative to another joint of the character.
    Joint(String, Vec3),
}

/// The input of one modifier.
#[derive(Reflect, Clone, Debug, PartialEq)]
pub struct PhalanxTarget {
    /// Its name, by [`Names::modifier`](crate::Names::modifier).
    pub modifier: String,
    /// Where it pulls to.
    pub point: TargetPoint,
    /// The rotation of its end joint, in the space of the point; `None` keeps the animation's.
    pub rotation: Option<Quat>,
    /// The normal of a surface to align with, in the space of the point.
    pub normal: Option<Vec3>,
    /// The weight, in [0, 1].
    pub weight: f32,
    /// How long a change of the weight takes, seconds.
    pub seconds: f32,
}

impl PhalanxTarget {
    /// A target of full weight at once.
    pub fn new(modifier: &str, point: TargetPoint) -> Self {
        Self {
            modifier: modifier.to_owned(),
            point,
            rotation: None,
            normal: None,
            weight: 1.0,
            seconds: 0.0,
        }
    }
}

/// Targets of a character's modifiers. A modifier that is taken out of the list fades to weight 0.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::{PhalanxTarget, PhalanxTargets, TargetPoint};
///
/// fn look(mut commands: Commands, guard: Entity, bird: Entity) {
///     commands.entity(guard).insert(PhalanxTargets(vec![PhalanxTarget::new("look", TargetPoint::Entity(bird))]));
/// }
/// # let _ = look;
/// ```
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxTargets(pub Vec<PhalanxTarget>);

/// The space of an override.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideSpace {
    /// Relative to the parent joint.
    Local,
    /// The space of the character.
    Model,
    /// The space of the world.
    World,
}

/// A joint that does not do what the animation says.
#[derive(Reflect, Clone, Debug, PartialEq)]
pub struct PhalanxOverride {
    /// The name of the joint.
    pub joint: String,
    /// What it does.
    pub transform: Transform,
    /// The space of that.
    pub space: OverrideSpace,
    /// The weight, in [0, 1]; the rest is the animation.
    pub weight: f32,
}

/// Overrides of a character's joints.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxOverrides(pub Vec<PhalanxOverride>);

/// The weight of a character's springs, if its file has some; 1 without this component.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct PhalanxSprings(pub f32);

/// The modifiers that a character had targets for.
#[derive(Component, Default)]
struct Targeted(Vec<(ModifierId, f32)>);

pub fn add(app: &mut App) {
    app.register_type::<PhalanxTargets>()
        .register_type::<PhalanxOverrides>()
        .register_type::<PhalanxSprings>();
    let systems = (set_targets, set_overrides, drop_overrides, set_springs);
    app.add_systems(PostUpdate, systems.in_set(PhalanxSystems::Evaluate).before(frame::evaluate));
}

fn set_targets(
    mut commands: Commands,
    mut crowd: ResMut<PhalanxCrowd>,
    mut characters: Query<(
        Entity,
        Ref<PhalanxInstance>,
        Ref<PhalanxTargets>,
        Option<&mut Targeted>,
    )>,
    mut left: Query<(&PhalanxInstance, &mut Targeted), Without<PhalanxTargets>>,
    places: Query<&GlobalTransform>,
) {
    let crowd = &mut *crowd;
    for (entity, instance, targets, targeted) in &mut characters {
        let changed = instance.is_added() || targets.is_changed();
        if !changed && !targets.0.iter().any(|t| matches!(t.point, TargetPoint::Entity(_))) {
            continue;
        }
        let mut now = Vec::new();
        for target in &targets.0 {
            let Some(modifier) = crowd.modifier(instance.rig, &target.modifier) else {
                if changed {
                    warn!("{entity}: no modifier is named `{}`", target.modifier);
                }
                continue;
            };
            now.push((modifier, target.seconds));
            let set = set_target(crowd, &instance, modifier, target, &places, changed);
            if let Err(error) = set {
                warn!("{entity}: the target of `{}` is refused: {error}", target.modifier);
            }
        }
        match targeted {
            Some(mut targeted) => {
                targeted.0.retain(|(modifier, _)| now.iter().all(|(m, _)| m != modifier));
                fade_out(crowd, &instance, &targeted.0);
                targeted.0 = now;
            }
            None => {
                commands.entity(entity).insert(Targeted(now));
            }
        }
    }
    for (instance, mut targeted) in &mut left {
        fade_out(crowd, instance, &targeted.0);
        targeted.0.clear();
    }
}

fn fade_out(crowd: &mut PhalanxCrowd, instance: &PhalanxInstance, targeted: &[(ModifierId, f32)]) {
    for &(modifier, seconds) in targeted {
        if let Ok(mut player) = crowd.crowd.player(instance.instance) {
            // A modifier of the rig before is unknown, and has no weight.
            let _ = player.fade_modifier(modifier, 0.0, seconds);
        }
    }
}

fn set_target(
    crowd: &mut PhalanxCrowd,
    instance: &PhalanxInstance,
    modifier: ModifierId,
    target: &PhalanxTarget,
    places: &Query<&GlobalTransform>,
    changed: bool,
) -> Result<(), CrowdError> {
    let (space, position) = match &target.point {
        TargetPoint::World(point) => (Space::World, *point),
        TargetPoint::Model(point) => (Space::Model, *point),
        TargetPoint::Joint(joint, point) => {
            (Space::Joint(crowd.crowd.rig(instance.rig)?.skeleton().joint(joint.as_str())?), *point)
        }
        TargetPoint::Entity(entity) => match places.get(*entity) {
            Ok(place) => (Space::World, place.translation()),
            // It is gone; the last place stands.
            Err(_) => return Ok(()),
        },
    };
    let mut player = crowd.crowd.player(instance.instance)?;
    player.set_target(
        modifier,
        Target {
            space,
            position: glam::Vec3::from(position.to_array()),
            rotation: target.rotation.map(|r| glam::Quat::from_array(r.to_array())),
            normal: target.normal.map(|n| glam::Vec3::from(n.to_array())),
        },
    )?;
    if changed {
        player.fade_modifier(modifier, target.weight, target.seconds)?;
    }
    Ok(())
}

type ChangedOverrides = Or<(Changed<PhalanxOverrides>, Added<PhalanxInstance>)>;

fn set_overrides(
    mut crowd: ResMut<PhalanxCrowd>,
    characters: Query<(Entity, &PhalanxInstance, &PhalanxOverrides), ChangedOverrides>,
) {
    for (entity, instance, overrides) in &characters {
        let Ok(mut player) = crowd.crowd.player(instance.instance) else { continue };
        player.clear_overrides();
        for o in &overrides.0 {
            let space = match o.space {
                OverrideSpace::Local => PoseSpace::Local,
                OverrideSpace::Model => PoseSpace::Model,
                OverrideSpace::World => PoseSpace::World,
            };
            let matrix = frame::rows(&o.transform.compute_affine());
            if let Err(error) =
                player.set_override_weighted(o.joint.as_str(), matrix, space, o.weight)
            {
                warn!("{entity}: the override of `{}` is refused: {error}", o.joint);
            }
        }
    }
}

fn drop_overrides(
    mut crowd: ResMut<PhalanxCrowd>,
    mut removed: RemovedComponents<PhalanxOverrides>,
    characters: Query<&PhalanxInstance, Without<PhalanxOverrides>>,
) {
    for entity in removed.read() {
        if let Ok(instance) = characters.get(entity)
            && let Ok(mut player) = crowd.crowd.player(instance.instance)
        {
            player.clear_overrides();
        }
    }
}

type ChangedSprings = Or<(Changed<PhalanxSprings>, Added<PhalanxInstance>)>;

fn set_springs(
    mut crowd: ResMut<PhalanxCrowd>,
    characters: Query<(Entity, &PhalanxInstance, Option<&PhalanxSprings>), ChangedSprings>,
) {
    for (entity, instance, springs) in &characters {
        let Some(modifier) = crowd.modifier(instance.rig, crate::crowd::SPRINGS) else { continue };
        let weight = springs.map_or(1.0, |springs| springs.0);
        let Ok(mut player) = crowd.crowd.player(instance.instance) else { continue };
        if let Err(error) = player.fade_modifier(modifier, weight, 0.0) {
            warn!("{entity}: springs: {error}");
        }
    }
}
