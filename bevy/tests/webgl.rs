//! A device without storage buffers is refused at start.

use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::settings::{WgpuLimits, WgpuSettings};
use bevy::window::ExitCondition;
use bevy_phalanx::PhalanxPlugin;

#[test]
#[should_panic(expected = "PhalanxPlugin needs storage buffers in vertex shaders")]
fn a_device_with_the_limits_of_webgl2_is_refused() {
    let limits = Some(WgpuLimits::downlevel_webgl2_defaults());
    let settings = WgpuSettings { constrained_limits: limits, ..default() };
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(RenderPlugin { render_creation: settings.into(), ..default() })
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .disable::<bevy::log::LogPlugin>(),
    )
    .add_plugins(PhalanxPlugin::default());
    app.finish();
}
