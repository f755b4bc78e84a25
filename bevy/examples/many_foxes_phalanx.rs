//! Bevy's stress test `many_foxes`, animated by Phalanx or, with `--bevy`, by Bevy: same model, circles and flags.
//!
//! `cargo run --release --features window --example many_foxes_phalanx -- Fox.glb --count 10000` opens a window.
//! With `--frames 300` there is none: so many frames are drawn into an image, and the time of each part is printed.

mod offscreen;
mod spans;

use argh::FromArgs;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::*;
use bevy::world_serialization::WorldInstanceReady;
use bevy_phalanx::{PhalanxCharacter, PhalanxInstance, PhalanxPlayer, PhalanxPlugin, PhalanxRig};
use std::f32::consts::PI;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Many foxes on circles.
#[derive(FromArgs, Resource, Clone)]
struct Args {
    /// the model: a fox with three clips
    #[argh(positional)]
    model: PathBuf,
    /// whether all foxes run in step
    #[argh(switch)]
    sync: bool,
    /// total number of foxes
    #[argh(option, default = "1000")]
    count: usize,
    /// animated by Bevy
    #[argh(switch)]
    bevy: bool,
    /// draw so many frames without a window and print the time that each part takes
    #[argh(option)]
    frames: Option<u32>,
    /// where the last of these frames goes, a PNG file
    #[argh(option)]
    picture: Option<PathBuf>,
    /// do not draw the foxes in these frames, so that what draws takes no time: all else is as if they were drawn
    #[argh(switch)]
    undrawn: bool,
}

#[derive(Resource)]
struct Foxes {
    speed: f32,
    moving: bool,
}

/// Bevy's graph of the model's clips.
#[derive(Resource)]
struct Animations {
    nodes: Vec<AnimationNodeIndex>,
    graph: Handle<AnimationGraph>,
}

const SPACING: f32 = 2.0;
const CLIPS: [&str; 3] = ["Run", "Walk", "Survey"];

#[derive(Component)]
struct Ring {
    radius: f32,
    direction: f32,
}

fn main() -> Result<AppExit> {
    let args: Args = argh::from_env();
    let folder = PathBuf::from(".").join(args.model.parent().unwrap_or(Path::new("")));
    let folder = folder.canonicalize().map_err(|why| format!("{}: {why}", folder.display()))?;
    let recorded = args.frames.map(|frames| (frames, spans::record()));
    let window = recorded.is_none();
    let mut plugins = offscreen::plugins("Many foxes", window, folder.display().to_string());
    if !window {
        // It would set another subscriber.
        plugins = plugins.disable::<bevy::log::LogPlugin>();
    }
    let mut app = App::new();
    app.add_plugins(plugins);
    if !args.bevy {
        app.add_plugins(PhalanxPlugin::default());
    }
    app.insert_resource(StaticTransformOptimizations::Disabled)
        .insert_resource(Foxes { speed: 2.0, moving: true })
        .insert_resource(args.clone())
        .add_systems(Startup, set_up)
        .add_systems(Update, (control, update_rings).chain());
    match recorded {
        Some((frames, recorded)) => measure(app, &args, frames, &recorded),
        None => Ok(app.run()),
    }
}

/// Draws frames of a sixtieth of a second, after those in which the foxes load.
fn measure(mut app: App, args: &Args, frames: u32, recorded: &spans::Recorded) -> Result<AppExit> {
    if args.bevy {
        offscreen::load::<With<AnimationGraphHandle>>(&mut app, args.count)?;
    } else {
        offscreen::load::<With<PhalanxInstance>>(&mut app, args.count)?;
    }
    if args.undrawn {
        let world = app.world_mut();
        let mut meshes = world.query_filtered::<Entity, With<SkinnedMesh>>();
        for mesh in meshes.iter(world).collect::<Vec<_>>() {
            world.entity_mut(mesh).remove::<MeshMaterial3d<StandardMaterial>>();
        }
    }
    offscreen::draw(&mut app, 20);
    let processor = recorded.restart();
    let frame = offscreen::draw(&mut app, frames);
    let processor = processor.elapsed().as_secs_f64() * 1e3 / f64::from(frames.max(1));
    let way = if args.bevy { "Bevy" } else { "Phalanx" };
    println!(
        "{way}: {} foxes, {frames} frames, {frame:.3} ms a frame, {processor:.3} ms of processors",
        args.count
    );
    recorded.print(frames);
    if let Some(file) = &args.picture {
        offscreen::save(&mut app, file)?;
    }
    Ok(AppExit::Success)
}

fn set_up(
    mut commands: Commands,
    server: Res<AssetServer>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
    mut images: ResMut<Assets<Image>>,
    args: Res<Args>,
) {
    let file = args.model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Bevy's way has no plugin that knows rigs.
    let rig: Handle<PhalanxRig> =
        if args.bevy { Handle::default() } else { server.load(file.clone()) };
    let scene = server.load(GltfAssetLabel::Scene(0).from_asset(file.clone()));
    let clips =
        [2, 1, 0].map(|clip| server.load(GltfAssetLabel::Animation(clip).from_asset(file.clone())));
    let mut graph = AnimationGraph::new();
    let nodes = graph.add_clips(clips, 1.0, graph.root).collect();
    commands.insert_resource(Animations { nodes, graph: graphs.add(graph) });

    let mut left = args.count;
    let mut radius = SPACING;
    for ring in 0.. {
        if left == 0 {
            break;
        }
        let (turn, direction) = if ring % 2 == 0 { (PI, 1.0) } else { (0.0, -1.0) };
        let parent = commands
            .spawn((Transform::default(), Visibility::default(), Ring { radius, direction }))
            .id();
        let circumference = PI * 2.0 * radius;
        let here = ((circumference / SPACING) as usize).min(left);
        let step = circumference / (here as f32 * radius);
        for fox in 0..here {
            let angle = fox as f32 * step;
            let place = Transform::from_xyz(radius * angle.cos(), 0.0, radius * angle.sin())
                .with_scale(Vec3::splat(0.01))
                .with_rotation(Quat::from_rotation_y(turn) * Quat::from_rotation_y(-angle));
            let mut fox = commands.spawn((place, ChildOf(parent)));
            if args.bevy {
                fox.insert(WorldAssetRoot(scene.clone())).observe(play);
            } else {
                let mut player = PhalanxPlayer::default();
                let call = player.play(CLIPS[0]).repeat();
                if !args.sync {
                    call.seek_to(fox.id().index_u32() as f32 / 10.0);
                }
                fox.insert((PhalanxCharacter(rig.clone()), player));
            }
        }
        left -= here;
        radius += SPACING;
    }

    let eye = Vec3::new(radius * 1.0, radius * 0.4, radius * 1.2);
    let looking =
        Transform::from_translation(eye).looking_at(0.2 * Vec3::new(eye.x, 0.0, eye.z), Vec3::Y);
    let mut camera = commands.spawn((Camera3d::default(), looking));
    if args.frames.is_some() {
        camera.insert(offscreen::target(&mut images));
    }
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(5000.0, 5000.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.3, 0.5, 0.3))),
    ));
    let shadows = CascadeShadowConfigBuilder {
        first_cascade_far_bound: 0.9 * radius,
        maximum_distance: 2.8 * radius,
        ..default()
    };
    commands.spawn((
        Transform::from_rotation(Quat::from_euler(EulerRot::ZYX, 0.0, 1.0, -PI / 4.0)),
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        shadows.build(),
    ));
}

/// Bevy's way: the player is somewhere in the scene.
fn play(
    ready: On<WorldInstanceReady>,
    animations: Res<Animations>,
    args: Res<Args>,
    mut commands: Commands,
    children: Query<&Children>,
    mut players: Query<&mut AnimationPlayer>,
) {
    for child in children.iter_descendants(ready.entity) {
        if let Ok(mut player) = players.get_mut(child) {
            let playing = player.play(animations.nodes[0]).repeat();
            if !args.sync {
                playing.seek_to(ready.entity.index_u32() as f32 / 10.0);
            }
            let graph = AnimationGraphHandle(animations.graph.clone());
            commands.entity(child).insert((graph, AnimationTransitions::default()));
        }
    }
}

fn update_rings(time: Res<Time>, foxes: Res<Foxes>, mut rings: Query<(&Ring, &mut Transform)>) {
    for (ring, mut transform) in rings.iter_mut().filter(|_| foxes.moving) {
        transform.rotate_y(ring.direction * foxes.speed / ring.radius * time.delta_secs());
    }
}

/// Space, arrows and return, as in Bevy's program.
fn control(
    keys: Res<ButtonInput<KeyCode>>,
    animations: Res<Animations>,
    mut foxes: ResMut<Foxes>,
    mut ours: Query<&mut PhalanxPlayer>,
    mut theirs: Query<(&mut AnimationPlayer, &mut AnimationTransitions)>,
    mut now: Local<usize>,
) {
    if keys.just_pressed(KeyCode::Space) {
        foxes.moving = !foxes.moving;
        ours.iter_mut().for_each(|mut player| {
            player.set_character_speed(if foxes.moving { 1.0 } else { 0.0 })
        });
        for (mut player, _) in &mut theirs {
            if player.all_paused() {
                player.resume_all();
            } else {
                player.pause_all();
            }
        }
    }
    for (key, factor) in [(KeyCode::ArrowUp, 1.25), (KeyCode::ArrowDown, 0.8)] {
        if keys.just_pressed(key) {
            foxes.speed *= factor;
            ours.iter_mut().for_each(|mut player| player.set_character_speed(foxes.speed / 2.0));
            theirs.iter_mut().for_each(|(mut player, _)| _ = player.adjust_speeds(factor));
        }
    }
    if keys.just_pressed(KeyCode::Enter) {
        *now = (*now + 1) % CLIPS.len();
        ours.iter_mut().for_each(|mut player| _ = player.transition(CLIPS[*now], 0.25).repeat());
        for (mut player, mut transitions) in &mut theirs {
            transitions
                .play(&mut player, animations.nodes[*now], Duration::from_millis(250))
                .repeat();
        }
    }
}
