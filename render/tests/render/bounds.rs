//! Culling by what instances play, before they are evaluated.

use crate::parade::{Parade, WIDE};
use glam::{Quat, Vec2, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, InstanceId, PlayOptions, Tier, Tiers};
use phalanx::import;
use phalanx::math::Affine3x4;
use phalanx_render::{CrowdView, Look, ViewError};
use std::sync::Arc;

/// An override that stretches a character into the picture is seen, one that only turns a joint is not.
pub fn overrides_are_seen() {
    let mut parade = Parade::new(60);
    let camera = Parade::camera(0.0);
    let aside = parade.crowd.instances().next().expect("instances");
    let at = Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, Vec3::X * 100.0);
    parade.crowd.set_world(aside, at).expect("a sound transform");
    parade.look(&camera);
    let unseen = |parade: &Parade| {
        let seen = parade.view.seen();
        seen.filter(|(_, s)| !s.any()).map(|(id, _)| id).collect::<Vec<_>>()
    };
    let before = unseen(&parade);
    let id = *before.first().expect("somebody is outside");
    let put = |parade: &mut Parade, scale: f32| {
        let turn = Quat::from_rotation_x(1.0);
        let at = Vec3::Y * scale;
        let local = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, at);
        let joint = parade.rig.skeleton().joint("RightHand").expect("a hand");
        let mut player = parade.crowd.player(id).expect("an instance");
        player.set_override(joint, local).expect("a sound matrix");
        parade.look(&camera);
        unseen(parade)
    };
    assert!(put(&mut parade, 0.3).contains(&id));
    let now = put(&mut parade, 300.0);
    assert!(!now.contains(&id) && now.len() + 1 == before.len());
    parade.crowd.player(id).expect("an instance").clear_overrides();
    parade.look(&camera);
    assert_eq!(unseen(&parade), before);
}

/// A clip that is added later may reuse the index of an unloaded one and is not mistaken for it.
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
        crowd.play(aside, clip, &PlayOptions::default()).expect("a clip of the rig");
        let camera = Parade::camera(0.0);
        view.look(crowd, &camera, &Look::default(), WIDE, true).expect("a view");
        view.seen().all(|(_, seen)| seen.any())
    };
    let [idle, walk] = [0, 1].map(|i| crowd.clip_by_index(id, i).expect("a clip"));
    assert!(!is_seen(&mut crowd, walk), "it stands outside the picture");
    crowd.unload_clip(idle).expect("no instance plays it");
    let later = crowd.add_clip(id, rig.clips()[5].clone());
    let later = later.expect("a clip of the rig's skeleton");
    assert_eq!(crowd.clip_by_index(id, 0), Some(later));
    assert!(!is_seen(&mut crowd, later), "it does not walk so far");
    crowd.set_world(aside, Affine3x4::IDENTITY).expect("a sound transform");
    assert!(is_seen(&mut crowd, later));
}

/// A crowd with tiers evaluates the instances in the picture, and those whose shadows are in it.
pub fn tiers_see_the_picture_and_its_shadows() {
    let mut parade = Parade::new(400);
    let camera = Parade::camera(0.0);
    // Long shadows.
    let look = Look { light: Vec3::new(0.9, 0.2, 0.4), ..Look::default() };
    let refused = CrowdView::set_views(&mut parade.crowd, &camera, &look, WIDE);
    assert!(matches!(refused, Err(ViewError::Crowd(CrowdError::NoTiers))), "{refused:?}");
    let all = Tiers { tiers: vec![Tier::default()], ..Tiers::default() };
    parade.crowd.set_tiers(Some(all)).expect("sound tiers");
    let projection = camera.projection(WIDE).expect("a sound camera");
    let within = |p: Vec3| {
        let at = projection.line(p, p).map(|ends| ends[0]);
        at.is_some_and(|p| p.cmpge(Vec2::ZERO).all() && p.x <= 400.0 && p.y <= 225.0)
    };
    let ids: Vec<InstanceId> = parade.crowd.instances().collect();
    let center = |parade: &Parade, id: InstanceId| {
        let sphere = parade.crowd.bounding_sphere(id).expect("an instance");
        let center = sphere.expect("bounds").center;
        let world = parade.crowd.world(id).expect("an instance");
        world.transform_point3(center.into())
    };
    let along = look.light / look.light.y;
    let mut bones = BoneBuffer::new();
    let mut only_shadows = [0, 0];
    for (ground, count) in [Some(0.0), None].into_iter().zip(&mut only_shadows) {
        let look = Look { ground, ..look };
        CrowdView::set_views(&mut parade.crowd, &camera, &look, WIDE).expect("a sound camera");
        // Everybody is scheduled: what is outside has no rows.
        let Parade { crowd, view, .. } = &mut parade;
        view.look(crowd, &camera, &look, WIDE, true).expect("a view");
        let evaluated = parade.crowd.evaluate(&mut bones).instances;
        for &id in &ids {
            let body = center(&parade, id);
            let shown = parade.crowd.tier(id).is_some();
            assert!(shown || !within(body), "{id:?}");
            if !within(body) && within(body - along * body.y) {
                *count += usize::from(shown);
                assert!(shown || ground.is_none(), "{id:?}");
            }
        }
        let most = if ground.is_some() { 399 } else { 299 };
        assert!(evaluated <= most, "{evaluated}");
    }
    let [with, without] = only_shadows;
    assert!(with > without + 5, "{with} of whom {without} are in the picture");
}
