//! Compares the eight-lane culling with frustum planes in f64.

use super::*;
use glam::{Affine3A, DMat3, DVec3, Quat};
use phalanx::math::Affine3x4;
use phalanx::rig::Sphere;
use phalanx_workload::hash01;

const SIZE: PictureSize = PictureSize { width: 640, height: 360 };

fn camera(origin: Vec3) -> Camera {
    Camera {
        eye: origin + Vec3::new(3.0, 4.0, 20.0),
        target: origin + Vec3::new(-1.0, 1.0, -30.0),
        up: Vec3::Y,
        fov_y: 0.8,
        near: 0.1,
    }
}

fn scattered(count: usize, origin: Vec3) -> Vec<DrawInstance> {
    let around = |seed: usize, reach: f64| ((hash01(seed as u64) - 0.5) * 2.0 * reach) as f32;
    let instance = |i: usize| {
        let k = i * 16;
        let at = Vec3::new(around(k, 60.0), around(k + 1, 20.0), around(k + 2, 60.0));
        let scale = Vec3::new(
            1.0 + around(k + 3, 0.5),
            1.0 + around(k + 4, 0.5),
            if i.is_multiple_of(3) { -1.0 } else { 1.0 },
        );
        let turn = Quat::from_rotation_y(around(k + 5, 3.0));
        DrawInstance {
            model: 0,
            world: Affine3A::from_scale_rotation_translation(scale, turn, at + origin).into(),
            palette_offset: 0,
            lerp: None,
            morph_offset: 0,
            tint: [1.0; 4],
            bounds: (i % 17 != 5).then(|| Sphere {
                center: [around(k + 6, 1.0), around(k + 7, 1.0), around(k + 8, 1.0)],
                radius: 0.2 + around(k + 9, 0.2),
            }),
        }
    };
    (0..count).map(instance).collect()
}

/// The smallest margin of a world-space sphere to the frustum planes, in metres and f64; negative outside.
fn margin(camera: &Camera, center: DVec3, radius: f64) -> f64 {
    let forward = (camera.target - camera.eye).as_dvec3().normalize();
    let right = forward.cross(camera.up.as_dvec3()).normalize();
    let up = right.cross(forward);
    let tan_y = (f64::from(camera.fov_y) / 2.0).tan();
    let tan_x = tan_y * f64::from(SIZE.width) / f64::from(SIZE.height);
    let p = center - camera.eye.as_dvec3();
    let planes = [
        (right - forward * tan_x).normalize(),
        (-right - forward * tan_x).normalize(),
        (up - forward * tan_y).normalize(),
        (-up - forward * tan_y).normalize(),
    ];
    let sides = planes.map(|n| radius - n.dot(p));
    let near = forward.dot(p) + radius - f64::from(camera.near);
    sides.into_iter().fold(near, f64::min)
}

/// The world-space sphere of an instance in f64; its radius is scaled by the largest singular value.
fn sphere(instance: &DrawInstance) -> Option<(DVec3, f64)> {
    let s = instance.bounds?;
    let rows = instance.world.rows.map(|r| r.map(f64::from));
    let p = DVec3::from_array(s.center.map(f64::from));
    let at = |r: [f64; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    let m =
        DMat3::from_cols_array_2d(&std::array::from_fn(|c| std::array::from_fn(|r| rows[r][c])));
    // Power iteration on the transpose times the matrix.
    let square = m.transpose() * m;
    let mut v = DVec3::new(0.6, 0.7, 0.4);
    for _ in 0..200 {
        v = (square * v).normalize();
    }
    let largest = (square * v).length().sqrt();
    Some((DVec3::from_array(rows.map(at)), f64::from(s.radius) * largest))
}

#[test]
fn job_validity() {
    let look = Look::default();
    let instances = scattered(3, Vec3::ZERO);
    let run = |camera: &Camera, size, seen: &mut [Seen]| {
        CullJob { camera, look: &look, size, instances: &instances, seen }.run()
    };
    let good = camera(Vec3::ZERO);
    assert_eq!(run(&good, SIZE, &mut [Seen::default(); 3]), Ok(()));
    let (found, expected) = (2, 3);
    let short = run(&good, SIZE, &mut [Seen::default(); 2]);
    assert_eq!(short, Err(RenderError::Seen { found, expected }));
    let empty = PictureSize { width: 0, height: 9 };
    assert!(run(&good, empty, &mut [Seen::default(); 3]).is_err());
    let blind = Camera { near: 0.0, ..good };
    assert!(run(&blind, SIZE, &mut [Seen::default(); 3]).is_err());
}

#[test]
fn eight_at_a_time_agrees_with_planes_in_f64() {
    for origin in [Vec3::ZERO, Vec3::new(4096.0, 0.0, -8192.0)] {
        let camera = camera(origin);
        let look = Look { ground: Some(-3.0), ..Look::default() };
        let light = look.light.as_dvec3().normalize();
        let instances = scattered(5003, origin);
        let mut seen = vec![Seen::default(); instances.len()];
        CullJob {
            camera: &camera,
            look: &look,
            size: SIZE,
            instances: &instances,
            seen: &mut seen,
        }
        .run()
        .unwrap();
        let (mut bodies, mut shadows, mut hidden) = (0, 0, 0);
        for (instance, seen) in instances.iter().zip(&seen) {
            let Some((center, radius)) = sphere(instance) else {
                assert!(seen.body && seen.shadow && seen.pixels.is_infinite());
                continue;
            };
            // Between touching and the slack of skewed or rounded bounds, both answers are correct.
            let slack = radius * 0.1 + 0.01;
            let body = margin(&camera, center, radius);
            assert!(seen.body || body < 0.001, "missed by {body}");
            assert!(!seen.body || body > -slack, "seen at {body}");
            let height = (center.y - -3.0).max(0.0);
            let thrown = center - light * (height / light.y);
            let shadow = margin(&camera, thrown, radius / light.y);
            assert!(seen.shadow || shadow < 0.001, "shadow missed by {shadow}");
            assert!(!seen.shadow || shadow > -2.0 * slack, "shadow seen at {shadow}");
            let forward = (camera.target - camera.eye).as_dvec3().normalize();
            let along = forward.dot(center - camera.eye.as_dvec3());
            if along > radius * 1.01 {
                let pixels = radius / along / (f64::from(camera.fov_y) / 2.0).tan() * 360.0;
                let ratio = f64::from(seen.pixels) / pixels;
                assert!((0.99..1.1).contains(&ratio), "{} for {pixels}", seen.pixels);
            }
            bodies += usize::from(seen.body);
            shadows += usize::from(seen.shadow);
            hidden += usize::from(!seen.any());
        }
        assert!(bodies > 500 && shadows > 500 && hidden > 500, "{bodies} {shadows} {hidden}");
    }
}

#[test]
fn numbers_out_of_range_are_seen() {
    let world = Affine3x4 { rows: [[f32::MAX; 4]; 3] };
    let mut instance = scattered(1, Vec3::ZERO)[0];
    instance.world = world;
    instance.bounds = Some(Sphere { center: [f32::MAX; 3], radius: f32::MAX });
    let mut seen = [Seen::default()];
    let eye = Eye::new(&camera(Vec3::ZERO), &Look::default(), SIZE).unwrap();
    cull(&eye, &[instance], &mut seen);
    assert!(seen[0].body && seen[0].shadow);
}
