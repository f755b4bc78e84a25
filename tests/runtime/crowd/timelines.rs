//! Clips that need more room than any before them, added to a crowd that is under way.

use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, ClipId, Crowd, InstanceId, LayerOptions, RigId};
use phalanx::math::Affine3x4;
use phalanx::scene::SceneGraph;
use phalanx_testkit::ruler::{ROWS, busy, held, line, place, ruler, shift, stands, with_clips};
use std::sync::Arc;

/// Three timelines where the ruler's own clips have one.
fn many() -> Arc<Clip> {
    let clip = with_clips(vec![busy("many")]).clips()[0].clone();
    assert_eq!(clip.timelines().len(), 3);
    assert!(ruler().clips().iter().all(|c| c.timelines().len() == 1));
    clip
}

/// Two instances that play "x" at 0.25 s; the tip of the second is held 5 m along x.
struct Held {
    crowd: Crowd,
    buffer: BoneBuffer,
    rig: RigId,
    all: [InstanceId; 2],
}

impl Held {
    fn new() -> Self {
        let mut crowd = Crowd::new();
        let layers = vec![LayerOptions::default(); 2];
        let rig = crowd.add_rig_with_layers(ruler(), layers).unwrap();
        let x = crowd.clip_named(rig, "x").unwrap();
        let all = [0; 2].map(|_| crowd.spawn(rig).unwrap());
        for i in all {
            crowd.play(i, x, &held(0.25, 1.0)).unwrap();
        }
        crowd.player(all[1]).unwrap().set_override("tip", shift(5.0)).unwrap();
        Self { crowd, buffer: BoneBuffer::new(), rig, all }
    }

    fn palettes(&mut self) -> [&[Affine3x4]; 2] {
        self.crowd.evaluate(&mut self.buffer);
        let rows = self.buffer.rows();
        [&rows[..ROWS], &rows[ROWS..]]
    }

    fn add(&mut self, clip: Arc<Clip>) -> ClipId {
        self.crowd.add_clip(self.rig, clip).unwrap()
    }

    fn play(&mut self, clip: ClipId) {
        for i in self.all {
            self.crowd.play(i, clip, &held(0.5, 1.0)).unwrap();
        }
    }
}

#[test]
fn overrides_outlive_a_clip_of_more_timelines() {
    let mut h = Held::new();
    for palette in h.palettes() {
        stands(palette, [0.25, 0.0, 0.0]);
    }
    let clip = h.add(many());
    h.play(clip);
    let [free, overridden] = h.palettes();
    stands(free, [0.5, 0.0, 0.0]);
    stands(overridden, [0.5, 0.0, 0.0]);
    // At 0.5 s, half-way between two keys, the scale is 1.5.
    assert!((place(&overridden[1..])[0] - (0.5 + 1.5 * 5.0)).abs() < 1e-4);
    assert!(place(&free[1..])[0] - 0.5 < 1e-4);
    // On another layer as well, and beside another of as many.
    let again = h.add(many());
    for i in h.all {
        h.crowd.player(i).unwrap().fade_to(1, again, 0.0, &held(0.75, 0.5)).unwrap();
        h.crowd.player(i).unwrap().add(0, again, &held(0.25, 1.0)).unwrap();
    }
    // Below 0.5 of 0.5 and 0.5 of 0.25; above 0.5 of 0.75, whose other half is the rest pose.
    for palette in h.palettes() {
        stands(palette, [0.375, 0.0, 0.0]);
    }
    for i in h.all {
        let base = h.crowd.model_matrix(i, 0).unwrap();
        assert!((base.rows[0][3] - 0.375).abs() < 1e-5);
        let mut scalars = Vec::new();
        h.crowd.scalars(i, &mut scalars).unwrap();
        assert!(scalars.is_empty());
    }
}

/// Workers that had no part in the frames before need room as well.
#[test]
fn more_workers_than_before_have_room() {
    let pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
    };
    for overridden in [false, true] {
        let mut h = Held::new();
        let more: Vec<InstanceId> = (0..400).map(|_| h.crowd.spawn(h.rig).unwrap()).collect();
        let x = h.crowd.clip_named(h.rig, "x").unwrap();
        let clip = h.add(many());
        h.play(clip);
        h.crowd.player(h.all[1]).unwrap().clear_overrides();
        for (n, &i) in more.iter().enumerate() {
            let clip = if n % 2 == 0 { x } else { clip };
            h.crowd.play(i, clip, &held(0.5, 1.0)).unwrap();
            if overridden && n % 3 == 0 {
                h.crowd.player(i).unwrap().set_override("tip", Affine3x4::IDENTITY).unwrap();
            }
        }
        for threads in [1, 4] {
            pool(threads).install(|| {
                h.crowd.evaluate(&mut h.buffer);
            });
            for palette in h.buffer.rows().chunks_exact(ROWS) {
                stands(palette, [0.5, 0.0, 0.0]);
            }
        }
    }
}

/// A rig whose clips have more timelines than those of the one that was evaluated before it.
#[test]
fn another_rig_of_more_timelines() {
    let mut h = Held::new();
    h.palettes();
    let clips = vec![line("x", 1.0, [1.0, 0.0, 0.0]), busy("many")];
    let other = h.crowd.add_rig(with_clips(clips)).unwrap();
    let i = h.crowd.spawn(other).unwrap();
    let many = h.crowd.clip_named(other, "many").unwrap();
    h.crowd.play(i, many, &held(0.75, 1.0)).unwrap();
    for overridden in [false, true] {
        if overridden {
            h.crowd.player(i).unwrap().set_override("tip", Affine3x4::IDENTITY).unwrap();
        }
        h.crowd.evaluate(&mut h.buffer);
        stands(&h.buffer.rows()[2 * ROWS..], [0.75, 0.0, 0.0]);
        let base = h.crowd.model_matrix(i, 0).unwrap();
        assert!((base.rows[0][3] - 0.75).abs() < 1e-5);
    }
    let mut scene = SceneGraph::new();
    h.crowd.mirror(h.all[0], &mut scene, None).unwrap();
    h.crowd.mirror(i, &mut scene, None).unwrap();
    assert_eq!(h.crowd.update_scene(&mut scene).mirrored, 2);
}

/// Mirrors have scratch of their own.
#[test]
fn mirrors_outlive_a_clip_of_more_timelines() {
    let mut h = Held::new();
    let mut scene = SceneGraph::new();
    let mirror = h.crowd.mirror(h.all[1], &mut scene, None).unwrap();
    let base = scene.joint(mirror, "base").unwrap();
    let along = |scene: &SceneGraph| scene.world(base).unwrap().translation.x;
    h.crowd.update_scene(&mut scene);
    assert!((along(&scene) - 0.25).abs() < 1e-5);
    let clip = h.add(many());
    h.play(clip);
    h.crowd.update_scene(&mut scene);
    assert!((along(&scene) - 0.5).abs() < 1e-5);
}

/// Overridden instances are evaluated in scratch of their rig's own.
#[test]
fn every_rig_with_overrides_has_room() {
    let mut h = Held::new();
    let other = h.crowd.add_rig(ruler()).unwrap();
    let i = h.crowd.spawn(other).unwrap();
    h.crowd.player(i).unwrap().set_override("base", shift(7.0)).unwrap();
    h.crowd.player(h.all[1]).unwrap().set_override("base", shift(5.0)).unwrap();
    for _ in 0..3 {
        h.crowd.evaluate(&mut h.buffer);
        let palettes = h.buffer.rows().chunks_exact(ROWS);
        for (palette, x) in palettes.zip([0.25, 5.0, 7.0]) {
            stands(palette, [x, 0.0, 0.0]);
        }
    }
}

/// Room that was enough for the frames before, of a crowd without overrides.
#[test]
fn a_clip_of_more_timelines_has_room() {
    let mut h = Held::new();
    h.crowd.player(h.all[1]).unwrap().clear_overrides();
    for palette in h.palettes() {
        stands(palette, [0.25, 0.0, 0.0]);
    }
    let clip = h.add(many());
    h.play(clip);
    for palette in h.palettes() {
        stands(palette, [0.5, 0.0, 0.0]);
    }
    // Four of them at once.
    let more = [0; 3].map(|_| h.add(many()));
    for i in h.all {
        for clip in more {
            h.crowd.player(i).unwrap().add(0, clip, &held(0.5, 1.0)).unwrap();
        }
    }
    for palette in h.palettes() {
        stands(palette, [0.5, 0.0, 0.0]);
    }
}
