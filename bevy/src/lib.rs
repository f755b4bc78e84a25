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

mod character;
mod crowd;
mod events;
mod frame;
mod images;
mod joints;
mod loader;
mod meshes;
mod modifiers;
mod palettes;
mod player;
mod scenes;
mod views;

pub use character::{PhalanxCharacter, PhalanxInstance, PhalanxJointEntities};
pub use crowd::{ActionState, Names, PhalanxCrowd, Playable, RigSetup};
pub use events::{PhalanxError, PhalanxEvent, PhalanxRootMotion};
pub use joints::PhalanxAttachment;
pub use loader::{PhalanxRig, RigLoader, RigLoaderError, RigSettings, RigSurface};
pub use modifiers::{
    OverrideSpace, PhalanxOverride, PhalanxOverrides, PhalanxSprings, PhalanxTarget,
    PhalanxTargets, TargetPoint,
};
pub use phalanx;
pub use player::{PhalanxPlayer, PlayCall};

use bevy::asset::{Asset, AssetApp, Assets};
use bevy::camera::visibility::VisibilitySystems;
use bevy::ecs::schedule::{InternedScheduleLabel, IntoScheduleConfigs, ScheduleLabel, SystemSet};
use bevy::pbr::StandardMaterial;
use bevy::prelude::{App, Image, Mesh, Plugin, PostUpdate, TransformSystems};

/// Phalanx for an app: assets, components, the crowd and its systems.
#[derive(Clone, Debug)]
pub struct PhalanxPlugin {
    /// The schedule in which calls are applied and the clock advances, by its `Time`. `FixedPostUpdate` gives steps of
    /// one length. Default `PostUpdate`, where the virtual time of the app stands still while it is paused.
    pub schedule: InternedScheduleLabel,
}

impl Default for PhalanxPlugin {
    fn default() -> Self {
        Self { schedule: PostUpdate.intern() }
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
            .register_asset_loader(RigLoader)
            .init_resource::<PhalanxCrowd>()
            .register_type::<PhalanxCharacter>()
            .register_type::<PhalanxJointEntities>()
            .register_type::<PhalanxPlayer>();
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
                .before(VisibilitySystems::CheckVisibility),
        );
        scenes::add(app);
        frame::add(app, self.schedule);
        events::add(app, self.schedule);
        views::add(app);
        modifiers::add(app);
        joints::add(app);
        palettes::add(app);
    }

    /// Without Bevy's renderer, as on a server, rigs load all the same.
    fn finish(&self, app: &mut App) {
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
