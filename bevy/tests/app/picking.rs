//! Bevy's picking by meshes finds characters as it finds Bevy's own: by their meshes at rest, where their boxes are.

use crate::common;
use bevy::ecs::system::RunSystemOnce;
use bevy::gltf::GltfAssetLabel;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::prelude::*;
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::{PhalanxCharacter, PhalanxInstance};
use bevy_picking::mesh_picking::ray_cast::{MeshRayCast, MeshRayCastSettings};

const EYE: Vec3 = Vec3::new(150.0, 120.0, 220.0);
const LOOK: Vec3 = Vec3::new(0.0, 40.0, 0.0);
const RAYS: i16 = 12;

/// What rays through a grid around a fox hit first: the entity at the root, and the point.
fn hits(bevy: bool) -> Option<(Entity, Vec<Option<(Entity, Vec3)>>)> {
    let mut app = common::app(&common::models()?);
    let _file = common::loaded(&mut app, "Fox.glb");
    common::scene(&mut app, EYE, LOOK);
    let assets = app.world().resource::<AssetServer>().clone();
    let mut fox = app.world_mut().spawn(Transform::from_xyz(5.0, 0.0, -3.0));
    if bevy {
        fox.insert(WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"))));
    } else {
        fox.insert(PhalanxCharacter(assets.load("Fox.glb")));
    }
    let fox = fox.id();
    common::until(&mut app, "the fox stands", |world| match bevy {
        true => world.query::<&SkinnedMesh>().iter(world).count() == 1,
        false => world.query::<&PhalanxInstance>().iter(world).count() == 1,
    });
    (0..8).for_each(|_| app.update());
    let cast = |mut cast: MeshRayCast, parents: Query<&ChildOf>| {
        let grid = (-RAYS..=RAYS).flat_map(|y| (-RAYS..=RAYS).map(move |x| (x, y)));
        let hit = |(x, y): (i16, i16)| {
            let to = LOOK + 8.0 * Vec3::new(f32::from(x), f32::from(y), -f32::from(x));
            let ray = Ray3d::new(EYE, Dir3::new(to - EYE).expect("a direction"));
            let (mesh, hit) = cast.cast_ray(ray, &MeshRayCastSettings::default()).first()?;
            Some((parents.root_ancestor(*mesh), hit.point))
        };
        grid.map(hit).collect::<Vec<_>>()
    };
    Some((fox, app.world_mut().run_system_once(cast).expect("a system")))
}

#[test]
fn rays_hit_a_fox_where_they_hit_bevys() {
    let Some((_, theirs)) = hits(true) else { return };
    let (fox, ours) = hits(false).expect("there are models");
    for (n, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        match (theirs, ours) {
            (None, None) => {}
            (Some((_, theirs)), Some((root, ours))) => {
                assert!(theirs.distance(*ours) < 1e-3, "ray {n}: {ours}, and Bevy's {theirs}");
                assert_eq!(*root, fox, "ray {n}");
            }
            _ => panic!("ray {n}: {ours:?}, and Bevy's {theirs:?}"),
        }
    }
    let found = ours.iter().flatten().count();
    assert!((20..400).contains(&found), "{found} rays of {} hit", ours.len());
}
