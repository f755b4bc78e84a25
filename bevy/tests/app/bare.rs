//! An app without a renderer, with the built-in character.

use bevy::asset::AssetPlugin;
use bevy::camera::visibility::VisibilityPlugin;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_phalanx::phalanx::crowd::{Aim, Feet, TwoBoneIk};
use bevy_phalanx::phalanx::skeleton::{SpringBones, SpringChain, SpringJoint};
use bevy_phalanx::{
    PhalanxCharacter, PhalanxCrowd, PhalanxPlayer, PhalanxPlugin, PhalanxRig, RigAssets, RigSetup,
    phalanx,
};
use std::time::Duration;

/// An app with neither window nor device. Each update is 1/60 s.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        TransformPlugin,
        VisibilityPlugin,
        PhalanxPlugin::default(),
    ))
    .init_asset::<Mesh>()
    .init_asset::<StandardMaterial>()
    .init_asset::<Image>()
    .init_asset::<bevy::mesh::skinning::SkinnedMeshInverseBindposes>()
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.finish();
    app.cleanup();
    app
}

/// The built-in character as an asset, with modifiers `reach` (right hand), `look`, `springs` (right arm) and `feet`.
pub fn rig(app: &mut App) -> Handle<PhalanxRig> {
    let make = |mut assets: RigAssets| {
        assets.add(phalanx::import::mannequin().expect("built in")).expect("no images")
    };
    let rig = app.world_mut().run_system_cached(make).expect("it runs");
    let setup = RigSetup::new(|crowd, rig, names| {
        let skeleton = crowd.rig(rig)?.skeleton().clone();
        let reach = TwoBoneIk::new(skeleton.joint("RightHand")?);
        let look = Aim::new(skeleton.joint("Head")?);
        let ankles = [skeleton.joint("LeftFoot")?, skeleton.joint("RightFoot")?];
        let feet = Feet::new(skeleton.joint("Hips")?, &ankles);
        let mut chain = SpringChain::default();
        for name in ["LeftHandIndex1", "LeftHandIndex2", "LeftHandIndex3"] {
            let joint = SpringJoint::new(skeleton.joint(name)?);
            let gravity = phalanx::glam::Vec3::Y * 2.0;
            chain.joints.push(SpringJoint { gravity, stiffness: 0.1, ..joint });
        }
        names.modifier("reach", crowd.add_modifier(rig, reach)?);
        names.modifier("look", crowd.add_modifier(rig, look)?);
        names.modifier("feet", crowd.add_modifier(rig, feet)?);
        let springs = SpringBones { chains: vec![chain], ..SpringBones::default() };
        names.modifier("springs", crowd.add_modifier(rig, springs)?);
        Ok(())
    });
    app.world_mut().resource_mut::<PhalanxCrowd>().set_up(&rig, setup);
    rig
}

/// A character that walks.
pub fn walker(app: &mut App, rig: &Handle<PhalanxRig>, place: Transform) -> Entity {
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat();
    app.world_mut().spawn((PhalanxCharacter(rig.clone()), player, place)).id()
}

/// Where a joint is, by the crowd.
pub fn joint(app: &App, character: Entity, name: &str) -> GlobalTransform {
    app.world().resource::<PhalanxCrowd>().joint(character, name).expect("bound")
}
