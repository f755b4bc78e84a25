//! Crowds of skinned characters in Bevy, animated by Phalanx.
//!
//! Bevy's meshes, materials, shadows, prepasses and picking stay as they are. Phalanx takes the place of what animates
//! joints: a character is one entity with a child per mesh primitive, without entities for joints. Once a frame the
//! crowd is advanced and evaluated on Bevy's task pool, and each palette is written, in world space, to where Bevy's
//! own skinning reads it.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_phalanx::{PhalanxCharacter, PhalanxPlayer, PhalanxPlugin};
//!
//! fn main() {
//!     App::new().add_plugins((DefaultPlugins, PhalanxPlugin::default())).add_systems(Startup, spawn).run();
//! }
//!
//! fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
//!     let fox = assets.load("fox.glb");
//!     for i in 0..1000 {
//!         let mut player = PhalanxPlayer::default();
//!         player.play("Run").repeat().seek_to(0.01 * i as f32);
//!         let place = Transform::from_xyz((i % 40) as f32, 0.0, (i / 40) as f32);
//!         commands.spawn((PhalanxCharacter(fox.clone()), player, place));
//!     }
//! }
//! ```

#![deny(unsafe_code)]
#![warn(missing_docs)]

/// The code of README.md is compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bounds;
mod calls;
mod character;
mod crowd;
mod events;
mod feet;
mod frame;
mod images;
mod joints;
mod levels;
mod loader;
mod meshes;
mod modifiers;
mod morphs;
mod palettes;
mod player;
mod rig_assets;
mod scenes;
mod views;

pub use character::{PhalanxCharacter, PhalanxInstance};
pub use crowd::{ActionState, Names, PhalanxCrowd, Playable, RigSetup};
pub use events::{PhalanxError, PhalanxEvent, PhalanxRootMotion, PlayerError};
pub use feet::{PhalanxFeet, PhalanxGround};
pub use joints::{PhalanxAttachment, PhalanxJointEntities};
pub use loader::{PhalanxRig, RigLoader, RigLoaderError, RigSettings, RigSurface};
pub use modifiers::{
    OverrideSpace, PhalanxOverride, PhalanxOverrides, PhalanxSprings, PhalanxTarget,
    PhalanxTargets, TargetPoint,
};
pub use phalanx;
pub use player::{PhalanxPlayer, PlayCall};
pub use rig_assets::RigAssets;

use ::phalanx::crowd::Tiers;
use bevy::asset::{Asset, AssetApp, Assets};
use bevy::camera::visibility::VisibilitySystems;
use bevy::ecs::schedule::{InternedScheduleLabel, IntoScheduleConfigs, ScheduleLabel, SystemSet};
use bevy::image::{CompressedImageFormatSupport, CompressedImageFormats};
use bevy::light::SimulationLightSystems;
use bevy::pbr::{StandardMaterial, skins_use_uniform_buffers};
use bevy::prelude::{App, Image, Mesh, Plugin, PostUpdate, TransformSystems};
use bevy::render::RenderApp;
use bevy::render::renderer::RenderDevice;

/// Phalanx for an app: assets, components, the crowd and its systems.
#[derive(Clone, Debug)]
pub struct PhalanxPlugin {
    /// The schedule in which calls are applied and the clock advances, by its `Time`. `FixedPostUpdate` gives steps of
    /// one length. Default `PostUpdate`, where the virtual time of the app stands still while it is paused.
    pub schedule: InternedScheduleLabel,
    /// The tiers of the crowd, by which it evaluates characters as often as Bevy's cameras and shadows need them:
    /// `Some(Tiers::default())`. Default `None`: each visible character in every frame. Later,
    /// `set_tiers` of [`PhalanxCrowd::crowd`] changes them.
    pub tiers: Option<Tiers>,
}

impl Default for PhalanxPlugin {
    fn default() -> Self {
        Self { schedule: PostUpdate.intern(), tiers: None }
    }
}

/// The order of the plugin's systems.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhalanxSystems {
    /// Characters whose rig has loaded become instances of the crowd; those that are gone leave it; calls of players
    /// are applied.
    Bind,
    /// The clock advances; events and root motion follow. Before transforms are propagated.
    Advance,
    /// Poses are evaluated for the world transforms of this frame, after these are propagated and before visibility is
    /// checked.
    Evaluate,
}

impl Plugin for PhalanxPlugin {
    fn build(&self, app: &mut App) {
        app.init_asset::<PhalanxRig>()
            .preregister_asset_loader::<RigLoader>(loader::EXTENSIONS)
            .init_resource::<PhalanxCrowd>()
            .register_type::<PhalanxCharacter>()
            .register_type::<PhalanxPlayer>();
        let mut crowd = app.world_mut().resource_mut::<PhalanxCrowd>();
        if let Some(tiers) = &self.tiers
            && let Err(error) = crowd.crowd.set_tiers(Some(tiers.clone()))
        {
            tracing::error!("the crowd has no tiers: {error}");
        }
        // Characters come and go in every frame, also in those without a step of a fixed schedule.
        let mut schedules = vec![self.schedule, PostUpdate.intern()];
        schedules.dedup();
        for schedule in schedules {
            app.configure_sets(
                schedule,
                (PhalanxSystems::Bind, PhalanxSystems::Advance)
                    .chain()
                    .before(TransformSystems::Propagate),
            );
            character::add(app, schedule);
            scenes::add_systems(app, schedule);
        }
        app.configure_sets(
            PostUpdate,
            PhalanxSystems::Evaluate
                .after(TransformSystems::Propagate)
                .after(VisibilitySystems::CalculateBounds)
                .after(VisibilitySystems::VisibilityPropagate)
                // A camera or a light may follow a joint.
                .before(VisibilitySystems::UpdateFrusta)
                .before(SimulationLightSystems::UpdateBounds)
                .before(VisibilitySystems::CheckVisibility),
        );
        scenes::add(app);
        frame::add(app, self.schedule);
        events::add(app, self.schedule);
        bounds::add(app);
        views::add(app);
        levels::add(app);
        morphs::add(app);
        modifiers::add(app);
        feet::add(app);
        joints::add(app);
        palettes::add(app);
    }

    /// Without Bevy's renderer, as on a server, rigs load all the same. Without its `VisibilityPlugin`, all characters are
    /// evaluated.
    ///
    /// # Panics
    /// If Bevy's skinning has no storage buffers on this device, as with WebGL2.
    fn finish(&self, app: &mut App) {
        let render = app.get_sub_app(RenderApp);
        let device = render.and_then(|render| render.world().get_resource::<RenderDevice>());
        if device.is_some_and(|device| skins_use_uniform_buffers(&device.limits())) {
            panic!(
                "PhalanxPlugin needs storage buffers in vertex shaders, and this device has none (WebGL2 has none; \
                 WebGPU, Vulkan, Metal and DX12 have them): without them Bevy's skinning holds 256 joints in a \
                 uniform buffer per mesh"
            );
        }
        let compressed = app.world().get_resource::<CompressedImageFormatSupport>();
        let compressed = compressed.map_or(CompressedImageFormats::NONE, |all| all.0);
        app.register_asset_loader(RigLoader { compressed });
        views::finish(app);
        init::<Mesh>(app);
        init::<Image>(app);
        init::<StandardMaterial>(app);
    }
}

fn init<A: Asset>(app: &mut App) {
    if !app.world().contains_resource::<Assets<A>>() {
        app.init_asset::<A>();
    }
}
