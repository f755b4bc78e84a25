//! Shadows, and the depth, normals and motion vectors of Bevy's prepasses, of foxes that run, as by Bevy's own animation.

use crate::common;
use crate::pictures::{assert_alike, play_all, save};
use bevy::asset::uuid_handle;
use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass, NormalPrepass};
use bevy::gltf::GltfAssetLabel;
use bevy::light::{CascadeShadowConfig, CascadeShadowConfigBuilder, NotShadowCaster};
use bevy::prelude::*;
use bevy::reflect::TypePath;
use bevy::render::gpu_readback::ReadbackComplete;
use bevy::render::render_resource::AsBindGroup;
use bevy::shader::ShaderRef;
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::{PhalanxCharacter, PhalanxInstance, PhalanxPlayer};

const SHADER: Handle<Shader> = uuid_handle!("3f0c2f52-5a0e-4d0a-93a6-0d6f1b7c8e11");

/// Motion in red and green, and of the normal what points to the right.
const SOURCE: &str = "
#import bevy_pbr::{forward_io::VertexOutput, prepass_utils}
@fragment
fn fragment(mesh: VertexOutput) -> @location(0) vec4<f32> {
    let motion = prepass_utils::prepass_motion_vector(mesh.position, 0u);
    let normal = prepass_utils::prepass_normal(mesh.position, 0u);
    let near = step(1e-6, prepass_utils::prepass_depth(mesh.position, 0u));
    return vec4(0.5 + 20.0 * motion, near * (0.5 + 0.5 * normal.x), 1.0);
}";

/// Shows what the prepasses have written.
#[derive(Asset, TypePath, AsBindGroup, Clone, Default)]
struct Prepasses {}

impl Material for Prepasses {
    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    // It is in no prepass itself.
    fn alpha_mode(&self) -> AlphaMode {
        AlphaMode::Blend
    }
}

/// All pictures that were read back.
#[derive(Resource, Default)]
struct All(Vec<Vec<u8>>);

const EYE: Vec3 = Vec3::new(150.0, 120.0, 220.0);
const LOOK: Vec3 = Vec3::new(0.0, 40.0, 0.0);
const PLACES: [Vec3; 2] = [Vec3::ZERO, Vec3::new(-80.0, 0.0, -60.0)];

/// Two foxes that begin to run and to move: the pictures from the first that shows it on.
fn run(bevy: bool, prepasses: bool) -> Option<Vec<Vec<u8>>> {
    let mut app = common::app_with(&common::models()?, |app| {
        app.add_plugins(MaterialPlugin::<Prepasses>::default());
    });
    app.init_resource::<All>();
    let _file = common::loaded(&mut app, "Fox.glb");
    app.add_observer(|read: On<ReadbackComplete>, mut all: ResMut<All>| {
        all.0.push(read.data.clone());
    });
    common::scene(&mut app, EYE, LOOK);
    let world = app.world_mut();
    let assets = world.resource::<AssetServer>().clone();
    let flat = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(2e3, 2e3));
    let stone = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.3, 0.3, 0.3));
    world.spawn((Mesh3d(flat.clone()), MeshMaterial3d(stone)));
    let mut suns = world.query::<(&mut DirectionalLight, &mut CascadeShadowConfig)>();
    for (mut light, mut cascades) in suns.iter_mut(world) {
        light.shadow_maps_enabled = true;
        // Foxes are some 100 units long.
        *cascades = CascadeShadowConfigBuilder { maximum_distance: 1e3, ..default() }.build();
    }
    if prepasses {
        let shader = Shader::from_wgsl(SOURCE, "prepasses.wgsl");
        world.resource_mut::<Assets<Shader>>().insert(&SHADER, shader).expect("a shader");
        let camera = world.query_filtered::<Entity, With<Camera>>().single(world).expect("one");
        world.entity_mut(camera).insert((DepthPrepass, NormalPrepass, MotionVectorPrepass));
        let material = world.resource_mut::<Assets<Prepasses>>().add(Prepasses {});
        let before = Transform::from_translation(EYE + (LOOK - EYE).normalize())
            .with_rotation(Quat::from_rotation_arc(Vec3::Y, (EYE - LOOK).normalize()));
        world.spawn((Mesh3d(flat), MeshMaterial3d(material), before, NotShadowCaster));
    }
    let mut foxes = Vec::new();
    for place in PLACES {
        let mut fox = world.spawn(Transform::from_translation(place));
        if bevy {
            fox.insert(WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"))));
        } else {
            let mut player = PhalanxPlayer::default();
            player.play("Run").seek_to(0.4).with_speed(0.0);
            fox.insert((PhalanxCharacter(assets.load("Fox.glb")), player));
        }
        foxes.push(fox.id());
    }
    if bevy {
        let clip = assets.load(GltfAssetLabel::Animation(2).from_asset("Fox.glb"));
        play_all(&mut app, clip, 0.4, PLACES.len());
    } else {
        common::until(&mut app, "the characters are bound", |world| {
            world.query::<&PhalanxInstance>().iter(world).count() == PLACES.len()
        });
    }
    (0..20).for_each(|_| app.update());
    let still = app.world_mut().resource_mut::<All>().0.pop().expect("pictures");
    app.world_mut().resource_mut::<All>().0.clear();
    for mut player in app.world_mut().query::<&mut PhalanxPlayer>().iter_mut(app.world_mut()) {
        player.set_speed("Run", 1.0);
    }
    for mut player in app.world_mut().query::<&mut AnimationPlayer>().iter_mut(app.world_mut()) {
        player.playing_animations_mut().for_each(|(_, playing)| _ = playing.set_speed(1.0));
    }
    for _ in 0..12 {
        for &fox in &foxes {
            let mut place = app.world_mut().get_mut::<Transform>(fox).expect("a fox");
            place.translation.x += 2.0;
        }
        app.update();
    }
    let all = std::mem::take(&mut app.world_mut().resource_mut::<All>().0);
    let begun = all.iter().position(|picture| *picture != still).expect("they move");
    Some(all[begun..begun + 3].to_vec())
}

fn compare(name: &str, prepasses: bool) {
    let Some(theirs) = run(true, prepasses) else { return };
    let ours = run(false, prepasses).expect("there are models");
    for (frame, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        save(&format!("{name}-{frame}-bevy.png"), theirs);
        save(&format!("{name}-{frame}-phalanx.png"), ours);
        assert_alike(&format!("{name}, frame {frame}"), theirs, ours);
    }
    assert_ne!(ours[0], ours[1], "{name}: nothing moves");
}

#[test]
fn prepasses_of_foxes_that_run_are_as_by_bevy() {
    compare("prepasses", true);
}

#[test]
fn shadows_of_foxes_that_run_fall_as_by_bevy() {
    compare("shadows", false);
}
