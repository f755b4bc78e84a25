//! Where clips bring meshes, against vertices posed one by one in f64.

use crate::parade::{Parade, WIDE};
use glam::{DVec3, Quat, Vec3};
use phalanx::crowd::{Crowd, PlayOptions};
use phalanx::import;
use phalanx::math::Affine3x4;
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx_render::{ClipBounds, CrowdView, Look, Placement, RigShape};
use std::sync::Arc;

/// All vertices of a rig's finest meshes under some palette rows, in f64.
fn vertices(shape: &RigShape, rows: &[Affine3x4]) -> Vec<DVec3> {
    let mut all = Vec::new();
    for mesh in shape.meshes(0) {
        let Placement::Skinned { first_slot, .. } = mesh.placement else {
            continue;
        };
        let influences = &mesh.primitive.influences;
        let each = influences.per_vertex;
        for (v, p) in mesh.primitive.positions.iter().enumerate() {
            let p = DVec3::from_array(p.map(f64::from));
            let mut sum = DVec3::ZERO;
            for k in v * each..(v + 1) * each {
                let row = rows[first_slot as usize + usize::from(influences.joints[k])].rows;
                let row = row.map(|r| r.map(f64::from));
                let at = row.map(|[x, y, z, t]| x * p.x + y * p.y + z * p.z + t);
                sum += DVec3::from_array(at) * f64::from(influences.weights[k]);
            }
            all.push(sum);
        }
    }
    all
}

fn rows(rig: &Rig, actions: &[PoseAction]) -> Vec<Affine3x4> {
    let pose = evaluate_pose(rig, actions).expect("clips of the rig");
    pose.palettes.concat()
}

/// Spheres that are tested before an evaluation hold the mesh in the pose that follows: at any moment
/// of a clip, and of fades from one into another.
pub fn spheres_hold_what_is_drawn() {
    let rig = import::mannequin().expect("the built-in character");
    let shape = RigShape::new(&rig);
    let bounds = ClipBounds::measure(&rig).expect("sound clips");
    let clips = rig.clips().len();
    let mut most = 0.0f64;
    for a in 0..clips {
        for b in (a..clips).step_by(3) {
            let sphere = bounds.sphere([a, b]).expect("clips of the rig");
            let center = DVec3::from_array(sphere.center.map(f64::from));
            // Moments that are none of those at which clips are measured.
            for (phase, weight) in [(0.113, 0.0), (0.379, 0.5), (0.617, 0.35), (0.871, 0.8)] {
                let action = |clip: usize, phase: f32, weight| PoseAction {
                    clip,
                    time: rig.clips()[clip].duration() * phase,
                    weight,
                };
                let pose = [
                    action(a, phase, 1.0 - weight),
                    action(b, 1.0 - phase, weight),
                ];
                for vertex in vertices(&shape, &rows(&rig, &pose)) {
                    most = most.max(vertex.distance(center) / f64::from(sphere.radius));
                }
            }
        }
    }
    println!("the farthest vertex is at {most:.3} of its sphere's radius");
    assert!(most > 0.5 && most < 1.0, "{most}");
    assert_eq!(bounds.sphere([clips]), None);
}

/// An override may move a joint anywhere, so an instance with overrides counts as visible until they are cleared.
pub fn overrides_are_seen() {
    let mut parade = Parade::new(60);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    let unseen = |parade: &Parade| {
        let seen = parade.view.seen();
        seen.filter(|(_, s)| !s.any())
            .map(|(id, _)| id)
            .collect::<Vec<_>>()
    };
    let before = unseen(&parade);
    let id = *before.first().expect("somebody is outside");
    let local = Affine3x4::IDENTITY;
    parade
        .crowd
        .set_override(id, 3usize, local)
        .expect("a joint");
    parade.look(&camera);
    let now = unseen(&parade);
    assert!(!now.contains(&id) && now.len() + 1 == before.len());
    parade.crowd.clear_overrides(id).expect("an instance");
    parade.look(&camera);
    assert_eq!(unseen(&parade), before);
}

/// The clips of a rig were measured. A clip that is added later may reuse the index of an unloaded one and is not
/// mistaken for it: an instance that plays it counts as visible.
pub fn clips_that_came_later_are_seen() {
    let rig = Arc::new(import::mannequin().expect("the built-in character"));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("a sound rig");
    let aside = crowd.spawn(id).expect("room");
    let far =
        Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, Vec3::X * 500.0);
    crowd.set_world(aside, far).expect("a sound transform");
    let mut view = CrowdView::new();
    view.add_rig(&crowd, id, 0).expect("sound clips");
    let mut is_seen = |crowd: &mut Crowd, clip| {
        crowd
            .play(aside, clip, &PlayOptions::default())
            .expect("a clip of the rig");
        let camera = Parade::camera(0.0);
        view.look(crowd, &camera, &Look::default(), WIDE, true)
            .expect("a view");
        view.seen().all(|(_, seen)| seen.any())
    };
    let [idle, walk] = [0, 1].map(|i| crowd.clip_by_index(id, i).expect("a clip"));
    assert!(!is_seen(&mut crowd, walk), "it stands outside the picture");
    crowd.unload_clip(idle).expect("no instance plays it");
    let later = crowd.add_clip(id, rig.clips()[5].clone());
    let later = later.expect("a clip of the rig's skeleton");
    assert_eq!(crowd.clip_by_index(id, 0), Some(later));
    assert!(
        is_seen(&mut crowd, later),
        "where it brings him is not known"
    );
    crowd
        .player(aside)
        .unwrap()
        .stop_layer(0, 0.0)
        .expect("a layer");
    assert!(!is_seen(&mut crowd, walk));
}
