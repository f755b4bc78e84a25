//! Details of rigs against the full rigs and against the oracle: palettes, model matrices, skinned vertices and bounds,
//! for what a level's meshes leave out and for what is left out explicitly, at every SIMD level.

use phalanx::build::{BuildError, BuildOptions, add_lod, build_additive_raw, build_rig};
use phalanx::clip::ClipKind;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, LayerOptions, PlayOptions};
use phalanx::import::raw::RawScene;
use phalanx::import::read_path;
use phalanx::import::{self, ImportOptions, MANNEQUIN};
use phalanx::math::Affine3x4;
use phalanx::playback::LoopMode;
use phalanx::rig::{DetailOptions, Rig};
use phalanx::runtime::SkinningJob;
use phalanx::simd::SimdLevel;
use phalanx::skeleton::{JointMask, JointRef, LookupError, NO_JOINT};
use phalanx_testkit::lively::Dice;
use phalanx_testkit::oracle::{Action, Additive, Evaluated, Layer, Reference, Scene};
use phalanx_testkit::{reference, sample::sample, trials};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest difference from the oracle, of the larger of 1 and the largest entry: that of the golden poses.
const EXACT: f64 = 1e-4;

/// Largest difference of a row from the same row of the full rig, in the same measure: chains of constant joints are
/// multiplied in f64 where the full rig composes them in f32. 2.4e-7 is the most that was seen.
const FOLDED: f64 = 1e-6;

/// Levels are set for the process.
static LEVELS: Mutex<()> = Mutex::new(());

fn at_levels(mut each: impl FnMut(SimdLevel)) {
    let _alone = LEVELS.lock().unwrap_or_else(PoisonError::into_inner);
    for level in SimdLevel::supported() {
        level.set().unwrap();
        each(level);
    }
}

/// A rig with the raw scene of its finest level.
struct Model {
    name: String,
    raw: RawScene,
    scene: Scene,
    rig: Rig,
}

impl Model {
    fn mannequin() -> Self {
        let (name, bytes) = MANNEQUIN[0];
        let options = ImportOptions::default();
        let (raw, _) = import::read_slice(bytes, name, None, &options).unwrap();
        let rig = import::mannequin().unwrap();
        Self::new(name, raw, rig)
    }

    /// A model with two generated levels, if the models are there.
    fn of_file(name: &str) -> Option<Self> {
        let (raw, _) = read_path(&trials::model(name)?, &ImportOptions::default()).unwrap();
        let mut rig = build_rig(raw.clone(), &BuildOptions::default()).unwrap();
        let mut level = raw.clone();
        for _ in 0..2 {
            level = coarser(&level);
            add_lod(&mut rig, &level).unwrap();
        }
        Some(Self::new(name, raw, rig))
    }

    fn new(name: &str, raw: RawScene, rig: Rig) -> Self {
        Self { name: name.into(), scene: reference::scene(&raw), raw, rig }
    }
}

/// The scene with a third of the triangles, and the vertices of joints without children on the joints above these.
fn coarser(scene: &RawScene) -> RawScene {
    let mut out = scene.clone();
    out.name = format!("{}, coarser", scene.name);
    for node in &scene.nodes {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else {
            continue;
        };
        let joints = &scene.skins[skin].joints;
        // Joints that moved vertices before; one that is above none of these is a leaf.
        let primitives = &scene.meshes[mesh].primitives;
        let mut used = vec![false; scene.nodes.len()];
        for i in primitives.iter().map(|p| &p.influences) {
            for (&slot, &w) in i.joints.iter().zip(&i.weights) {
                used[joints[usize::from(slot)]] |= w != 0.0;
            }
        }
        let mut inner = vec![false; scene.nodes.len()];
        for (n, _) in used.iter().enumerate().filter(|u| *u.1) {
            let up = std::iter::successors(scene.nodes[n].parent, |&n| scene.nodes[n].parent);
            up.for_each(|n| inner[n] = true);
        }
        let above = |slot: u16| {
            let joint = joints[usize::from(slot)];
            let parent = scene.nodes[joint].parent.filter(|_| !inner[joint]);
            let parent = parent.and_then(|p| joints.iter().position(|&j| j == p));
            parent.map_or(slot, |p| p as u16)
        };
        for p in &mut out.meshes[mesh].primitives {
            let triangles = p.indices.chunks_exact(3).step_by(3);
            p.indices = triangles.flatten().copied().collect();
            p.influences.joints.iter_mut().for_each(|s| *s = above(*s));
        }
    }
    out
}

/// What is played: layers as the oracle takes them, with masks by joint.
#[derive(Clone)]
struct Play {
    what: String,
    layers: Vec<Layer>,
}

impl Play {
    fn one(model: &Model, clip: usize, phase: f64) -> Self {
        Self {
            what: format!("clip {clip} at phase {phase}"),
            layers: vec![Layer::of(vec![at(model, clip, phase, 1.0)])],
        }
    }
}

fn at(model: &Model, clip: usize, phase: f64, weight: f64) -> Action {
    let time = (f64::from(model.rig.clips()[clip].duration()) * phase) as f32;
    Action::new(clip, time.into(), f64::from(weight as f32))
}

/// Single clips, blends of two and three, a mask, and an additive layer.
fn plays(model: &Model) -> Vec<Play> {
    let count = model.rig.clips().len();
    let mut all = vec![Play { what: "nothing".into(), layers: Vec::new() }];
    for clip in 0..count.min(6) {
        all.push(Play::one(model, clip, 0.381966));
    }
    let Some(last) = count.checked_sub(1) else {
        return all;
    };
    let (b, c) = (1 % count, last / 2);
    if count > 1 {
        let two = vec![at(model, 0, 0.3, 0.625), at(model, b, 0.7, 0.375)];
        all.push(Play { what: "two clips".into(), layers: vec![Layer::of(two)] });
        let partly = vec![at(model, 0, 0.2, 0.25), at(model, last, 0.6, 0.5)];
        all.push(Play { what: "two clips with rest".into(), layers: vec![Layer::of(partly)] });
    }
    if count > 2 && c != 0 && c != last {
        let three = [(0, 0.1, 0.5), (c, 0.45, 0.25), (last, 0.8, 0.25)];
        let three = three.map(|(clip, phase, w)| at(model, clip, phase, w));
        all.push(Play { what: "three clips".into(), layers: vec![Layer::of(three.to_vec())] });
    }
    let middle = model.rig.skeleton().len() / 3;
    let mut masked = Layer::of(vec![at(model, last, 0.5, 1.0)]);
    masked.weight = 0.75;
    masked.mask = Some(below(model, middle));
    let base = Layer::of(vec![at(model, 0, 0.25, 1.0)]);
    all.push(Play { what: "a masked layer".into(), layers: vec![base.clone(), masked] });
    let mut added = base;
    added.additive.push(Additive {
        clip: last,
        time: at(model, last, 0.5, 1.0).time,
        reference: Reference::Time(0.0),
        weight: 0.5,
        mask: None,
    });
    all.push(Play { what: "an additive layer".into(), layers: vec![added] });
    all
}

/// By node, 1 at a joint and below it.
fn below(model: &Model, joint: usize) -> Vec<f64> {
    let mut nodes = model.rig.nodes().iter();
    let node = nodes.find(|n| n.joint == Some(joint as u16)).unwrap();
    let nodes = 0..model.scene.nodes.len();
    let weight = |n| f64::from(u8::from(model.scene.is_at_or_below(n, node.source)));
    nodes.map(weight).collect()
}

/// A crowd of one instance that plays it.
fn crowd(model: &Model, rig: &Arc<Rig>, play: &Play) -> (Crowd, InstanceId) {
    let skeleton = rig.skeleton();
    let mask = |mask: &Option<Vec<f64>>| {
        let of = |nodes: &Vec<f64>| {
            let mut weights = vec![0.0; skeleton.len()];
            for node in rig.nodes() {
                if let Some(joint) = node.joint {
                    weights[usize::from(joint)] = nodes[node.source] as f32;
                }
            }
            JointMask::from_weights(skeleton, &weights).unwrap()
        };
        mask.as_ref().map(of)
    };
    let mut options = Vec::new();
    for layer in &play.layers {
        let over = |additive, m: &Option<Vec<f64>>| LayerOptions {
            additive,
            mask: mask(m),
            ..LayerOptions::default()
        };
        options.push(over(false, &layer.mask));
        options.extend(layer.additive.iter().map(|a| over(true, &a.mask)));
    }
    options.extend(play.layers.is_empty().then(LayerOptions::default));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig_with_layers(rig.clone(), options).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let held = |time: f64, weight: f64| PlayOptions {
        speed: 0.0,
        loop_mode: LoopMode::Once,
        time,
        weight: weight as f32,
        ..PlayOptions::default()
    };
    let mut place = 0;
    for layer in &play.layers {
        let mut player = crowd.player(instance).unwrap();
        player.set_layer_weight(place, layer.weight as f32).unwrap();
        for a in &layer.actions {
            let clip = crowd.clip_by_index(id, a.clip).unwrap();
            let mut player = crowd.player(instance).unwrap();
            player.add(place, clip, &held(a.time, a.weight)).unwrap();
        }
        place += 1;
        for a in &layer.additive {
            let Reference::Time(t) = a.reference else {
                unreachable!("references are times");
            };
            let pose = sample(&rig.clips()[a.clip], skeleton, t as f32).unwrap();
            let clip = build_additive_raw(&model.rig, (&model.raw, a.clip), &pose).unwrap();
            let clip = crowd.add_clip(id, Arc::new(clip)).unwrap();
            let mut player = crowd.player(instance).unwrap();
            player.set_layer_weight(place, a.weight as f32).unwrap();
            player.add(place, clip, &held(a.time, 1.0)).unwrap();
            place += 1;
        }
    }
    (crowd, instance)
}

/// What a rig shows.
struct Shown {
    rows: Vec<Affine3x4>,
    models: Vec<Affine3x4>,
    /// By mesh of the level.
    vertices: Vec<Vec<[f32; 3]>>,
}

fn show(model: &Model, rig: &Arc<Rig>, level: usize, play: &Play) -> Shown {
    let (mut crowd, instance) = crowd(model, rig, play);
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let rows = buffer.rows()[crowd.palette_range(instance).unwrap()].to_vec();
    let joints = 0..rig.skeleton().len();
    let models: Vec<Affine3x4> =
        joints.map(|joint| crowd.model_matrix(instance, joint).unwrap()).collect();
    let mut scalars = Vec::new();
    crowd.scalars(instance, &mut scalars).unwrap();
    let mut vertices = Vec::new();
    for m in rig.meshes().iter().filter(|m| m.lod == level) {
        let first = rig.palette_offset(m.skin);
        let palette = &rows[first..first + rig.skins()[m.skin].len()];
        let morphs = &rig.nodes()[m.node].morphs;
        for primitive in &m.mesh.primitives {
            let mut positions = vec![[0.0; 3]; primitive.positions.len()];
            SkinningJob {
                primitive,
                palette: if m.rigid_slot.is_some() { &[] } else { palette },
                rigid: m.rigid_slot.map_or(Affine3x4::IDENTITY, |slot| palette[usize::from(slot)]),
                morph_weights: &scalars[morphs.clone()],
                positions: &mut positions,
                normals: &mut [],
                tangents: &mut [],
            }
            .run()
            .unwrap();
            vertices.push(positions);
        }
    }
    // The bounds hold what is drawn.
    let bounds = crowd.bounding_sphere(instance).unwrap();
    for p in vertices.iter().flatten() {
        let bounds = bounds.expect("what draws vertices has bounds");
        let off = |i: usize| f64::from(p[i] - bounds.center[i]).powi(2);
        let far = (off(0) + off(1) + off(2)).sqrt();
        let most = f64::from(bounds.radius) * (1.0 + 1e-5) + 1e-5;
        assert!(far <= most, "{}: {}: {far} of {most}", model.name, play.what);
    }
    Shown { rows, models, vertices }
}

/// What the oracle shows, with the joints that a detail leaves out at rest.
fn expected(model: &Model, rig: &Rig, play: &Play) -> Evaluated {
    let mut pose = model.scene.mix(&play.layers);
    let rest = model.scene.rest();
    for node in rig.nodes() {
        if node.joint.is_some_and(|j| !rig.is_evaluated(j.into())) {
            let weights = std::mem::take(&mut pose[node.source].weights);
            pose[node.source] = rest[node.source].clone();
            pose[node.source].weights = weights;
        }
    }
    model.scene.evaluate(&pose)
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    let largest = b.iter().fold(1.0f64, |most, v| most.max(v.abs()));
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs() / largest);
    let finite = differences.map(|d| if d.is_nan() { f64::INFINITY } else { d });
    finite.fold(0.0, f64::max)
}

fn numbers(m: &Affine3x4) -> [f64; 16] {
    m.to_cols_array().map(f64::from)
}

/// Shares of a comparison, for its report.
#[derive(Default)]
struct Report {
    rows: usize,
    equal: usize,
    folded: f64,
    exact: f64,
}

impl Report {
    fn check(&mut self, model: &Model, full: &Shown, detail: &Arc<Rig>, play: &Play, plain: bool) {
        let (level, full_rows) = (detail.detail_level(), detail.full_rows().unwrap());
        let shown = show(model, detail, level, play);
        let place = format!("{}, level {}: {}", model.name, level, play.what);
        assert_eq!(shown.rows.len(), full_rows.len());
        if plain {
            for (row, &of_full) in shown.rows.iter().zip(full_rows) {
                let full = &full.rows[of_full as usize];
                self.rows += 1;
                self.equal += usize::from(row == full);
                let off = off(&numbers(row), &numbers(full));
                self.folded = self.folded.max(off);
                assert!(off <= FOLDED, "{place}: row {of_full} of the full rig: {off}");
            }
            for (a, b) in shown.vertices.iter().zip(&full.vertices) {
                let wide = |v: &Vec<[f32; 3]>| -> Vec<f64> {
                    v.as_flattened().iter().map(|&v| v.into()).collect()
                };
                let off = off(&wide(a), &wide(b));
                assert!(off <= 4.0 * FOLDED, "{place}: vertices: {off}");
            }
        }
        assert_eq!(shown.vertices.len(), full.vertices.len(), "{place}");
        let expected = expected(model, detail, play);
        let palette = expected.palettes.concat();
        for (row, &full) in shown.rows.iter().zip(full_rows) {
            // The rows of rigid meshes follow; the oracle has none for them.
            let Some(wanted) = palette.get(full as usize) else {
                continue;
            };
            let off = off(&numbers(row), wanted);
            self.exact = self.exact.max(off);
            assert!(off <= EXACT, "{place}: row {full}: {off}");
        }
        for node in detail.nodes() {
            let Some(joint) = node.joint.map(usize::from) else {
                continue;
            };
            let wanted = expected.world[node.source].unwrap();
            let off = off(&numbers(&shown.models[joint]), &wanted);
            self.exact = self.exact.max(off);
            assert!(off <= EXACT, "{place}: model matrix of joint {joint}: {off}");
        }
    }

    fn print(&self, name: &str) {
        let Self { rows, equal, folded, exact } = self;
        println!(
            "{name}: {equal} of {rows} rows have the bits of the full rig, others differ by {folded:.1e}; from the oracle {exact:.1e}"
        );
    }
}

fn details_match(model: &Model) {
    let rig = Arc::new(model.rig.clone());
    let plays = plays(model);
    let mut report = Report::default();
    at_levels(|_| {
        for level in 0..rig.lod_count() {
            let options = DetailOptions { level, ..DetailOptions::default() };
            let detail = rig.detail(&options).unwrap();
            for play in &plays {
                let full = show(model, &rig, level, play);
                report.check(model, &full, &detail, play, true);
            }
        }
    });
    report.print(&model.name);
}

#[test]
fn details_of_the_built_in_character() {
    let model = Model::mannequin();
    details_match(&model);
    let counts: Vec<[usize; 2]> = (0..3)
        .map(|level| {
            let detail = model.rig.detail(&DetailOptions { level, ..DetailOptions::default() });
            let detail = detail.unwrap();
            let joints = 0..detail.skeleton().len();
            [detail.palette_len(), joints.filter(|&joint| detail.is_evaluated(joint)).count()]
        })
        .collect();
    println!("rows and evaluated joints by level: {counts:?}");
    assert!(counts[2][0] < model.rig.palette_len());
}

#[test]
fn details_of_models() {
    for name in [
        "pab.glb",
        "CesiumMan.glb",
        "Fox.glb",
        "bl_humanoid.glb",
        "bl_manyjoints.glb",
        "bl_morphbones.glb",
        "bl_rider.glb",
        "bl_corners.glb",
        "greenman.glb",
    ] {
        if let Some(model) = Model::of_file(name) {
            details_match(&model);
        }
    }
}

/// Any joints kept and left out, below and above each other.
#[test]
fn random_joints_are_kept_and_left_out() {
    let mut models = vec![Model::mannequin()];
    models.extend(["pab.glb", "bl_rider.glb"].into_iter().filter_map(Model::of_file));
    for model in &models {
        let rig = Arc::new(model.rig.clone());
        let plays = plays(model);
        let joints = rig.skeleton().len();
        let mut dice = Dice(7);
        let mut report = Report::default();
        at_levels(|_| {
            for _ in 0..12 {
                let level = dice.below(rig.lod_count());
                let most = 1 + dice.below(joints);
                let mut some = || -> Vec<JointRef<'static>> {
                    let count = dice.below(most + 1);
                    (0..count).map(|_| dice.below(joints).into()).collect()
                };
                let (keep, leave_out) = (some(), some());
                let options = DetailOptions { level, keep: &keep, leave_out: &leave_out };
                let detail = rig.detail(&options).unwrap();
                check_set(&rig, &detail, &options);
                let play = &plays[dice.below(plays.len())];
                let full = show(model, &rig, level, play);
                report.check(model, &full, &detail, play, false);
                // A detail of the detail with nothing kept and nothing else left out.
                let again = detail.detail(&DetailOptions { level, ..DetailOptions::default() });
                let again = again.unwrap();
                for (a, b) in again.meshes().iter().zip(detail.meshes()) {
                    assert!(Arc::ptr_eq(&a.mesh, &b.mesh), "meshes are shared");
                }
                let [a, b] = [&again, &detail].map(|d| d.full_rows().unwrap());
                assert_eq!(a, b);
                report.check(model, &full, &again, play, false);
            }
        });
        report.print(&model.name);
    }
}

/// The evaluated joints of a detail are those that its options and the level's meshes ask for.
fn check_set(rig: &Rig, detail: &Rig, options: &DetailOptions<'_>) {
    let skeleton = rig.skeleton();
    assert!(Arc::ptr_eq(skeleton, detail.skeleton()));
    let find = |j: &JointRef<'_>| skeleton.joint(*j).unwrap();
    let keep: Vec<usize> = options.keep.iter().map(find).collect();
    let out: Vec<usize> = options.leave_out.iter().map(find).collect();
    let slots: Vec<u16> = (detail.skins().iter())
        .flat_map(|s| s.joints().iter().copied())
        .filter(|&j| j != NO_JOINT)
        .collect();
    let is_below = |joint: usize, above: usize| {
        let up = |&j: &usize| {
            let parent = usize::from(skeleton.parents()[j]);
            Some(parent).filter(|&p| p < skeleton.len())
        };
        std::iter::successors(Some(joint), up).any(|j| j == above)
    };
    for joint in 0..skeleton.len() {
        let used = slots.iter().any(|&s| is_below(s.into(), joint));
        let needed = used || keep.iter().any(|&k| is_below(k, joint));
        let wanted = keep.contains(&joint) || needed && !out.contains(&joint);
        assert_eq!(detail.is_evaluated(joint), wanted, "joint {joint}");
    }
    for (clip, full) in detail.clips().iter().zip(rig.clips()) {
        assert!(Arc::ptr_eq(clip, full));
        assert_eq!(clip.kind(), ClipKind::Full);
    }
}

/// Slots are those with a weight, in the order of the full rig; influences refer to the same joints.
#[test]
fn influences_refer_to_the_same_joints() {
    let rig = import::mannequin().unwrap();
    for level in 0..rig.lod_count() {
        let detail = rig.detail(&DetailOptions { level, ..DetailOptions::default() });
        let detail = detail.unwrap();
        let rows = detail.full_rows().unwrap();
        assert!(rows.is_sorted());
        let full = rig.meshes().iter().filter(|m| m.lod == level);
        let mut used = vec![false; detail.palette_len()];
        for (a, b) in detail.meshes().iter().zip(full) {
            assert_eq!((a.lod, a.node, a.skin), (level, b.node, b.skin));
            for (p, q) in a.mesh.primitives.iter().zip(&b.mesh.primitives) {
                assert_eq!(p.positions, q.positions);
                assert_eq!(p.influences.weights, q.influences.weights);
                let slots = p.influences.joints.iter().zip(&q.influences.joints);
                for ((&new, &old), &w) in slots.zip(&p.influences.weights) {
                    if w != 0.0 {
                        let new = detail.palette_offset(a.skin) + usize::from(new);
                        let old = rig.palette_offset(b.skin) + usize::from(old);
                        assert_eq!(rows[new] as usize, old);
                        used[new] = true;
                    }
                }
            }
        }
        assert!(used.into_iter().all(|u| u), "level {level}");
        let boxes = detail.slot_bounds();
        let all = rig.slot_bounds();
        for (b, &row) in boxes.iter().zip(rows) {
            let of_full = all[row as usize];
            assert!(
                !b.is_empty() && of_full.min.cmple(b.min).all() && of_full.max.cmpge(b.max).all()
            );
        }
    }
}

#[test]
fn unknown_levels_and_joints_are_refused() {
    let rig = import::mannequin().unwrap();
    let refused = |options: DetailOptions<'_>| rig.detail(&options).unwrap_err();
    let level = refused(DetailOptions { level: 3, ..DetailOptions::default() });
    assert_eq!(level.to_string(), "there is no level of detail 3, the rig has 3 levels");
    let joint = LookupError::JointIndex { joint: 99, joints: 47 };
    let keep = refused(DetailOptions { keep: &[99.into()], ..DetailOptions::default() });
    assert_eq!(keep, BuildError::Joint(joint));
    let name = LookupError::NoJoint { name: "Tail".into(), near: Vec::new() };
    let leave_out =
        refused(DetailOptions { leave_out: &["Tail".into()], ..DetailOptions::default() });
    assert_eq!(leave_out, BuildError::Joint(name));
}

/// Where the meshes are while a clip plays includes those of the levels that were added.
#[test]
fn bounds_of_clips_include_added_levels() {
    let options = ImportOptions::default();
    let (name, bytes) = MANNEQUIN[0];
    let (raw, _) = import::read_slice(bytes, name, None, &options).unwrap();
    let mut rig = build_rig(raw.clone(), &BuildOptions::default()).unwrap();
    let before = *rig.clip_bounds(0).unwrap();
    // A hat of ten metres.
    let mut level = raw;
    for mesh in &mut level.meshes {
        for p in &mut mesh.primitives {
            let top = p.positions.iter().map(|v| v[1]).fold(0.0, f32::max);
            let highest = p.positions.iter_mut().filter(|v| v[1] > top - 0.01);
            highest.for_each(|v| v[1] += 10.0);
        }
    }
    add_lod(&mut rig, &level).unwrap();
    let after = *rig.clip_bounds(0).unwrap();
    assert!(after.mesh.max.y > before.mesh.max.y + 5.0, "{before:?} {after:?}");
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(Arc::new(rig)).unwrap();
    let instance = crowd.spawn(id).unwrap();
    let sphere = crowd.bounding_sphere(instance).unwrap().unwrap();
    assert!(sphere.center[1] + sphere.radius > 11.0, "{sphere:?}");
}
