//! Targets of modifiers and overrides of joints, as components.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use crate::joints::Hung;
use bevy::ecs::entity::MapEntities;
use bevy::ecs::error::Result;
use bevy::ecs::prelude::*;
use bevy::math::{Quat, Vec3};
use bevy::prelude::{
    App, GlobalTransform, PostUpdate, ReflectComponent, ReflectDefault, Transform,
};
use bevy::reflect::Reflect;
use phalanx::crowd::{ModifierId, PoseSpace, RigId, Space, Target};
use phalanx::glam;
use phalanx::math::Affine3x4;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use tracing::warn;

/// Where a modifier pulls to.
#[derive(Reflect, MapEntities, Clone, Debug, PartialEq)]
pub enum TargetPoint {
    /// A point of the world.
    World(Vec3),
    /// An entity, where it is in this frame.
    Entity(#[entities] Entity),
    /// A point in the space of the character.
    Model(Vec3),
    /// A point relative to another joint of the character.
    Joint(String, Vec3),
}

/// The input of one modifier.
#[derive(Reflect, MapEntities, Clone, Debug, PartialEq)]
pub struct PhalanxTarget {
    /// Its name, by [`Names::modifier`](crate::Names::modifier).
    pub modifier: String,
    /// Where it pulls to.
    #[entities]
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

/// Targets of a character's modifiers. A modifier that is taken out of the list, or whose target entity is gone, fades to
/// weight 0 within the seconds of its target, and so do all when the component is removed.
///
/// Entities are where they are in this frame. One that follows a joint, with
/// [`PhalanxAttachment`](crate::PhalanxAttachment), is where the joint was in the pose of the last frame, below the present
/// transform of its character; [`TargetPoint::Joint`] is for a joint of the same character.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::{PhalanxTarget, PhalanxTargets, TargetPoint};
///
/// fn look(mut commands: Commands, guard: Entity, bird: Entity) {
///     let bird = PhalanxTarget { seconds: 0.3, ..PhalanxTarget::new("look", TargetPoint::Entity(bird)) };
///     commands.entity(guard).insert(PhalanxTargets(vec![bird]));
/// }
/// # let _ = look;
/// ```
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
#[require(Targeted)]
pub struct PhalanxTargets(#[entities] pub Vec<PhalanxTarget>);

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

/// Overrides of a character's joints, until it is removed.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::{OverrideSpace, PhalanxOverride, PhalanxOverrides};
///
/// fn shrink(mut commands: Commands, guard: Entity) {
///     commands.entity(guard).insert(PhalanxOverrides(vec![PhalanxOverride {
///         joint: "Head".into(),
///         transform: Transform::from_xyz(0.0, 1.5, 0.0).with_scale(Vec3::splat(0.5)),
///         space: OverrideSpace::Model,
///         weight: 1.0,
///     }]));
/// }
/// # let _ = shrink;
/// ```
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxOverrides(pub Vec<PhalanxOverride>);

/// The weight of a character's springs; 1 without this component. A file's springs are a modifier of the name `springs`;
/// a [`RigSetup`](crate::RigSetup) may give this name to springs of its own.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::PhalanxSprings;
///
/// fn freeze_hair(mut commands: Commands, guard: Entity) {
///     commands.entity(guard).insert(PhalanxSprings(0.0));
/// }
/// # let _ = freeze_hair;
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Debug, Clone, PartialEq)]
pub struct PhalanxSprings(pub f32);

impl Default for PhalanxSprings {
    fn default() -> Self {
        Self(1.0)
    }
}

/// The modifiers that a character has targets for.
#[derive(Component, Default)]
struct Targeted(Vec<Input>);

/// What the crowd was told last about a modifier.
struct Input {
    modifier: ModifierId,
    weight: f32,
    seconds: f32,
    listed: bool,
}

/// Names by rig that were complained of, so that each is logged once.
#[derive(Default)]
pub(crate) struct Complaints(HashMap<RigId, HashSet<String>>);

impl Complaints {
    pub(crate) fn warn(&mut self, entity: Entity, rig: RigId, name: &str, why: impl Display) {
        let of_rig = self.0.entry(rig).or_default();
        if !of_rig.contains(name) {
            of_rig.insert(name.to_owned());
            warn!("{entity}: {name}: {why}");
        }
    }
}

pub fn add(app: &mut App) {
    app.register_type::<PhalanxTargets>()
        .register_type::<PhalanxOverrides>()
        .register_type::<PhalanxSprings>();
    let systems =
        (set_targets.after(Hung), drop_targets, set_overrides, drop_overrides, set_springs);
    app.add_systems(PostUpdate, systems.in_set(PhalanxSystems::Evaluate).before(frame::evaluate));
}

fn set_targets(
    mut crowd: ResMut<PhalanxCrowd>,
    mut characters: Query<(Entity, Ref<PhalanxInstance>, Ref<PhalanxTargets>, &mut Targeted)>,
    places: Query<&GlobalTransform>,
    mut complaints: Local<Complaints>,
) {
    for (entity, instance, targets, mut targeted) in &mut characters {
        let follows = targets.0.iter().any(|t| matches!(t.point, TargetPoint::Entity(_)));
        if !(instance.is_added() || targets.is_changed() || follows) {
            continue;
        }
        let inputs = &mut targeted.0;
        if instance.is_added() {
            inputs.clear();
        }
        inputs.iter_mut().for_each(|input| input.listed = false);
        for target in &targets.0 {
            if let Err(why) = set_target(&mut crowd, &instance, target, &places, inputs) {
                complaints.warn(entity, instance.rig, &target.modifier, why);
            }
        }
        fade_out(&mut crowd, &instance, inputs.iter().filter(|input| !input.listed));
        inputs.retain(|input| input.listed);
    }
}

fn drop_targets(
    mut crowd: ResMut<PhalanxCrowd>,
    mut removed: RemovedComponents<PhalanxTargets>,
    mut characters: Query<(&PhalanxInstance, &mut Targeted), Without<PhalanxTargets>>,
) {
    for entity in removed.read() {
        if let Ok((instance, mut targeted)) = characters.get_mut(entity) {
            fade_out(&mut crowd, instance, targeted.0.iter());
            targeted.0.clear();
        }
    }
}

fn fade_out<'a>(
    crowd: &mut PhalanxCrowd,
    instance: &PhalanxInstance,
    inputs: impl Iterator<Item = &'a Input>,
) {
    for input in inputs {
        if let Ok(mut player) = crowd.crowd.player(instance.instance) {
            // A modifier that the rig has no longer has no weight.
            let _ = player.fade_modifier(input.modifier, 0.0, input.seconds);
        }
    }
}

/// Sets a target, and its weight if that is another than last time.
fn set_target(
    crowd: &mut PhalanxCrowd,
    instance: &PhalanxInstance,
    target: &PhalanxTarget,
    places: &Query<&GlobalTransform>,
    inputs: &mut Vec<Input>,
) -> Result<()> {
    let modifier =
        crowd.modifier(instance.rig, &target.modifier).ok_or("no modifier has this name")?;
    let (space, position) = match &target.point {
        TargetPoint::World(point) => (Space::World, *point),
        TargetPoint::Model(point) => (Space::Model, *point),
        TargetPoint::Joint(joint, point) => {
            (Space::Joint(crowd.crowd.rig(instance.rig)?.skeleton().joint(joint.as_str())?), *point)
        }
        TargetPoint::Entity(entity) => match places.get(*entity) {
            Ok(place) => (Space::World, place.translation()),
            // It is gone: as if it were not listed.
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
    let (weight, seconds) = (target.weight, target.seconds);
    match inputs.iter_mut().find(|input| input.modifier == modifier) {
        Some(input) if input.weight == weight => (input.seconds, input.listed) = (seconds, true),
        Some(input) => {
            input.listed = true;
            player.fade_modifier(modifier, weight, seconds)?;
            (input.weight, input.seconds) = (weight, seconds);
        }
        None => {
            player.fade_modifier(modifier, weight, seconds)?;
            inputs.push(Input { modifier, weight, seconds, listed: true });
        }
    }
    Ok(())
}

type ChangedOverrides = Or<(Changed<PhalanxOverrides>, Added<PhalanxInstance>)>;

fn set_overrides(
    mut crowd: ResMut<PhalanxCrowd>,
    characters: Query<(Entity, &PhalanxInstance, &PhalanxOverrides), ChangedOverrides>,
    mut complaints: Local<Complaints>,
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
            let matrix = Affine3x4::from_cols_array(&o.transform.to_matrix().to_cols_array());
            if let Err(why) =
                player.set_override_weighted(o.joint.as_str(), matrix, space, o.weight)
            {
                complaints.warn(entity, instance.rig, &o.joint, why);
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
    changed: Query<Entity, ChangedSprings>,
    mut removed: RemovedComponents<PhalanxSprings>,
    characters: Query<(&PhalanxInstance, Option<&PhalanxSprings>)>,
    mut complaints: Local<Complaints>,
) {
    for entity in changed.iter().chain(removed.read()) {
        let Ok((instance, springs)) = characters.get(entity) else { continue };
        let Some(modifier) = crowd.modifier(instance.rig, crate::crowd::SPRINGS) else { continue };
        let weight = springs.map_or(1.0, |springs| springs.0);
        let Ok(mut player) = crowd.crowd.player(instance.instance) else { continue };
        if let Err(why) = player.fade_modifier(modifier, weight, 0.0) {
            complaints.warn(entity, instance.rig, crate::crowd::SPRINGS, why);
        }
    }
}
