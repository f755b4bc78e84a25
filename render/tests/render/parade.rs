//! The built-in character in formation, seen by cameras that leave some of it out.

use glam::{Quat, Vec3};
use phalanx::crowd::Crowd;
use phalanx::import;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_render::{
    Camera, CrowdView, DrawDetail, DrawMesh, DrawModel, Look, Palette, PictureSize, RigShape, Scene,
};
use phalanx_workload::standard_crowd;
use std::sync::Arc;

/// The built-in character in three levels of detail, many of it.
pub struct Parade {
    pub rig: Arc<Rig>,
    pub crowd: Crowd,
    pub view: CrowdView,
    look: Look,
}

pub const WIDE: PictureSize = PictureSize { width: 400, height: 225 };

/// Heights in pixels from which details are used.
pub const DETAILS: [f32; 3] = [60.0, 25.0, 0.0];

impl Parade {
    pub fn new(count: usize) -> Self {
        let rig = Arc::new(import::mannequin().expect("the built-in character"));
        let clips: Vec<usize> = (0..rig.clips().len()).collect();
        let (mut crowd, ids) = standard_crowd(rig.clone(), &clips, count).expect("room");
        let side = (count as f64).sqrt().ceil() as usize;
        for (i, &id) in ids.iter().enumerate() {
            let at = Vec3::new((i % side) as f32 * 1.5, 0.0, -((i / side) as f32) * 1.5);
            let turn = Quat::from_rotation_y(i as f32);
            let world = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, at);
            crowd.set_world(id, world).expect("a sound transform");
        }
        let mut view = CrowdView::new();
        view.add_rig(&crowd, ids[0].rig(), 0).expect("sound clips");
        Self { rig, crowd, view, look: Look::default() }
    }

    /// Takes over the state of another parade, its tag included: the view is made again, as it holds the
    /// handles of before.
    pub fn restore(&mut self, of: &Self) {
        let state = of.crowd.snapshot();
        self.crowd.restore(&state).expect("the same rig");
        self.view = CrowdView::new();
        let first = self.crowd.instances().next().expect("an instance");
        self.view.add_rig(&self.crowd, first.rig(), 0).expect("sound clips");
    }

    pub fn camera(turn: f32) -> Camera {
        let eye = Vec3::new(5.0, 3.0, 4.0);
        Camera {
            eye,
            target: eye + Vec3::new(turn.sin(), -0.25, -turn.cos()),
            up: Vec3::Y,
            fov_y: 0.7,
            near: 0.1,
        }
    }

    /// Schedules the instances that a camera sees, and only these.
    pub fn look(&mut self, camera: &Camera) {
        let Self { crowd, view, look, .. } = self;
        view.look(crowd, camera, look, WIDE, true).expect("a view");
    }

    /// A picture of the visible instances, from rows in any memory.
    pub fn picture<T>(
        &mut self,
        camera: Camera,
        palette: Palette,
        draw: impl FnOnce(&Scene) -> T,
    ) -> T {
        self.view.collect(&self.crowd, tint).expect("the same crowd");
        let shape = RigShape::new(&self.rig);
        let meshes: Vec<Vec<DrawMesh>> = (0..3).map(|lod| shape.meshes(lod)).collect();
        let details = meshes
            .iter()
            .zip(DETAILS)
            .map(|(meshes, min_pixels)| DrawDetail { meshes, min_pixels });
        let details: Vec<_> = details.collect();
        draw(&Scene {
            models: &[DrawModel { details: &details }],
            instances: self.view.instances(),
            palette,
            morph_weights: self.view.morph_weights(),
            camera,
            look: self.look,
        })
    }
}

fn tint(i: usize) -> [f32; 4] {
    [0.2 + 0.1 * (i % 7) as f32, 0.5, 0.9 - 0.1 * (i % 5) as f32, 1.0]
}
