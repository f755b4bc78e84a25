//! Models below an armature of another scale are the same models: clips, palettes, bounds, speeds and retargeting do not
//! depend on the unit in which a joint's lengths are.

use libtest_mimic::{Failed, Trial};
use phalanx::build::{BuildOptions, RootMotionOptions, build_rig};
use phalanx::clip::{Channel, Clip};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, Tier, Tiers};
use phalanx::import::ImportOptions;
use phalanx::import::raw::RawScene;
use phalanx::import::read_path;
use phalanx::math::Affine3x4;
use phalanx::retarget::{HumanoidMap, RetargetOptions, Retargeting};
use phalanx::rig::{ClipBounds, Rig, Sphere};
use phalanx_testkit::raw_pose::evaluate;
use phalanx_testkit::sample::sample;
use phalanx_testkit::scaled::{below_armature, in_unit};
use phalanx_testkit::trials::{needed, trial};
use std::sync::Arc;

const MODELS: [&str; 10] = [
    "mannequin.glb",
    "pab.glb",
    "greenman.glb",
    "CesiumMan.glb",
    "Fox.glb",
    "MorphStressTest.gltf",
    "bl_humanoid.glb",
    "bl_morphbones.glb",
    "robot.glb",
    "SimpleSkin.gltf",
];

/// Hips that rise by 2 mm below a node of scale 1,000.
const BOB: &str = "../reports/c52_S1000_2mm.gltf";

/// Scales that change no bit.
const POWERS: [f64; 2] = [1024.0, 1.0 / 1024.0];

/// Scales of real files.
const OTHERS: [f64; 4] = [1e-3, 1e-2, 1e2, 1e4];

/// The largest difference of places, as a share of the model's size. Lengths are rounded to f32 in each unit, a few times
/// down a chain.
const CLOSE: f32 = 1e-6;

/// Instances whose palettes are compared.
const PHASES: usize = 7;

pub fn trials() -> Vec<Trial> {
    let mut all = Vec::new();
    for model in MODELS {
        all.push(trial(format!("units_{model}"), &[model], move || {
            same_in_all_units(&read(model)?)
        }));
    }
    let both = ["mannequin.glb", "robot.glb"];
    all.push(trial("units_of_retargeting", &both, || {
        retargeted_in_all_units(&read("mannequin.glb")?, &read("robot.glb")?)
    }));
    all.push(trial("units_of_root_motion", &["mannequin.glb"], || {
        root_motion_in_all_units(&read("mannequin.glb")?)
    }));
    all.push(trial("units_of_a_bob_below_a_thousand", &[BOB], || {
        bobs_as_the_file_says(&read(BOB)?)
    }));
    all
}

fn read(model: &str) -> Result<RawScene, Failed> {
    let (raw, _) = read_path(&needed(model)?, &ImportOptions::default())?;
    Ok(raw)
}

fn built(raw: &RawScene, scale: f64) -> Result<Arc<Rig>, Failed> {
    let raw = below_armature(raw, scale);
    Ok(Arc::new(build_rig(raw, &BuildOptions::default())?))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what().into()) }
}

/// What can be seen of a rig: nothing of it depends on units.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Of every clip, blocks and timelines.
    layout: Vec<String>,
    palettes: Vec<Vec<Affine3x4>>,
    bounds: Vec<Option<ClipBounds>>,
    spheres: Vec<Option<Sphere>>,
    /// Palettes that instances share within an error; the phases follow from the clips' speeds.
    shared: Vec<usize>,
    #[cfg(feature = "phx")]
    bytes: usize,
}

impl Seen {
    fn new(rig: &Arc<Rig>) -> Result<Self, Failed> {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone())?;
        let mut all: Vec<InstanceId> = Vec::new();
        for (n, clip) in rig.clips().iter().enumerate() {
            let handle = crowd.clip_by_index(id, n).ok_or("no such clip")?;
            for phase in 0..PHASES {
                let i = crowd.spawn(id)?;
                let options = PlayOptions {
                    time: f64::from(clip.duration()) * phase as f64 / PHASES as f64,
                    ..PlayOptions::default()
                };
                crowd.play(i, handle, &options)?;
                all.push(i);
            }
        }
        let mut bones = BoneBuffer::new();
        crowd.evaluate(&mut bones);
        let palette = |&i: &InstanceId| {
            let range = crowd.palette_range(i)?;
            Some(bones.rows()[range].to_vec())
        };
        // Of meshes that hang on nodes the vertices are in the other unit.
        let palettes = match rig.skins().len() == rig.file_skins().len() {
            true => all.iter().filter_map(palette).collect(),
            false => Vec::new(),
        };
        let spheres = all.iter().map(|&i| crowd.bounding_sphere(i));
        let spheres: Vec<Option<Sphere>> = spheres.collect::<Result<_, _>>()?;
        let size = spheres.iter().flatten().map(|s| s.radius);
        let size = size.fold(0.0f32, f32::max);
        let mut shared = Vec::new();
        for share in [0.003, 0.03, 0.3] {
            if size == 0.0 {
                break;
            }
            let tier = Tier { shared_error: Some(share * size), ..Tier::default() };
            let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
            crowd.set_tiers(Some(tiers))?;
            crowd.evaluate(&mut bones);
            let stats = crowd.tier_stats().ok_or("no statistics")?;
            shared.push(stats.shared_palettes);
        }
        Ok(Self {
            layout: rig.clips().iter().map(|c| layout(c)).collect(),
            palettes,
            bounds: (0..rig.clips().len()).map(|c| rig.clip_bounds(c).copied()).collect(),
            spheres,
            shared,
            #[cfg(feature = "phx")]
            bytes: bytes(rig)?,
        })
    }
}

fn layout(clip: &Clip) -> String {
    let blocks = Channel::ALL.map(|c| (clip.blocks(c), clip.tracks(c)));
    let times: Vec<&[f32]> = clip.timelines().collect();
    format!("{} {blocks:?} {times:?}", clip.name())
}

/// The size of the rig and its clips in a file, coded.
#[cfg(feature = "phx")]
fn bytes(rig: &Rig) -> Result<usize, Failed> {
    use phalanx::format::{ClipForm, LibraryWriter};
    let provenance = phalanx_testkit::made::provenance(rig.clips().len());
    let mut writer = LibraryWriter::new(std::io::Cursor::new(Vec::new()), rig.skeleton())?;
    writer.add_rig(rig)?;
    for (n, clip) in rig.clips().iter().enumerate() {
        writer.add_clip(clip, &format!("{n}"), ClipForm::Coded)?;
    }
    Ok(writer.finish(&provenance)?.into_inner().len())
}

/// Fails unless a clip is another one with lengths of another unit, to the bit.
fn same_clip(a: &Clip, b: &Clip, scale: f64) -> Result<(), Failed> {
    let what = || format!("{} below {scale}", a.name());
    ensure(layout(a) == layout(b), || format!("{}: {} and {}", what(), layout(a), layout(b)))?;
    ensure(a.rows().len() == b.rows().len(), what)?;
    let shorter = |v: f32| (f64::from(v) / scale) as f32;
    for (row, (a, b)) in a.rows().iter().zip(b.rows()).enumerate() {
        let same = a.0 == b.0 || a.0.map(shorter) == b.0;
        ensure(same, || format!("{}, row {row}: {a:?} {b:?}", what()))?;
    }
    for part in 0..=20 {
        let time = a.duration() * (part as f32 / 20.0);
        let (x, y) = (sample(a, a.skeleton(), time)?, sample(b, b.skeleton(), time)?);
        for lane in 0..a.skeleton().len() {
            let (x, y) = (x.lane(lane), y.lane(lane));
            let same = x.translation.to_array().map(shorter) == y.translation.to_array()
                && x.rotation == y.rotation
                && x.scale == y.scale;
            let armature = a.skeleton().joint_of()[lane] == 0;
            ensure(same || armature, || format!("{} at {time}, lane {lane}: {x:?} {y:?}", what()))?;
        }
    }
    Ok(())
}

fn same_in_all_units(raw: &RawScene) -> Result<(), Failed> {
    let rig = built(raw, 1.0)?;
    let seen = Seen::new(&rig)?;
    for scale in POWERS {
        let other = built(raw, scale)?;
        for (a, b) in rig.clips().iter().zip(other.clips()) {
            same_clip(a, b, scale)?;
        }
        let mut found = Seen::new(&other)?;
        #[cfg(feature = "phx")]
        {
            alike("bytes", seen.bytes as f64, found.bytes as f64, 0.01, scale)?;
            found.bytes = seen.bytes;
        }
        ensure(found == seen, || format!("below {scale}: {}", first_difference(&seen, &found)))?;
    }
    // The whole model in another unit: what counts as still, and how fast it moves for its size.
    for unit in POWERS {
        let raw = below_armature(&in_unit(raw, unit), 1.0);
        let other = Arc::new(build_rig(raw, &BuildOptions::default())?);
        let found = Seen::new(&other)?;
        ensure(found.layout == seen.layout && found.shared == seen.shared, || {
            format!("in units of {unit}: {}", first_difference(&seen, &found))
        })?;
    }
    let size = seen.spheres.iter().flatten().map(|s| s.radius);
    let size = size.fold(0.0f32, f32::max);
    for scale in OTHERS {
        let found = Seen::new(&built(raw, scale)?)?;
        let what = |what: &str| format!("below {scale}: {what}");
        #[cfg(feature = "phx")]
        alike("bytes", seen.bytes as f64, found.bytes as f64, 0.01, scale)?;
        let far = palettes_apart(&seen.palettes, &found.palettes);
        println!("{}: palettes below {scale}: {:.1e}", raw.name, far / size);
        ensure(far <= CLOSE * size, || what(&format!("palettes {far} of {size}")))?;
        for (a, b) in seen.bounds.iter().zip(&found.bounds) {
            let far = match (a, b) {
                (Some(a), Some(b)) => bounds_apart(a, b),
                (None, None) => 0.0,
                _ => f32::INFINITY,
            };
            ensure(far <= 4.0 * CLOSE * size, || what(&format!("bounds {far} of {size}")))?;
        }
        for (a, b) in seen.shared.iter().zip(&found.shared) {
            ensure(a.abs_diff(*b) <= 1, || what(&format!("phases {a} {b}")))?;
        }
    }
    Ok(())
}

#[cfg(feature = "phx")]
fn alike(what: &str, a: f64, b: f64, share: f64, scale: f64) -> Result<(), Failed> {
    ensure((a - b).abs() <= share * a, || format!("below {scale}: {what} {a} and {b}"))
}

fn first_difference(a: &Seen, b: &Seen) -> String {
    if a.layout != b.layout {
        return "layouts".into();
    }
    if a.bounds != b.bounds {
        return format!("bounds {:?} {:?}", a.bounds, b.bounds);
    }
    if a.spheres != b.spheres {
        return format!("spheres {:?} {:?}", a.spheres, b.spheres);
    }
    if a.shared != b.shared {
        return format!("phases {:?} {:?}", a.shared, b.shared);
    }
    format!("palettes, by {}", palettes_apart(&a.palettes, &b.palettes))
}

fn palettes_apart(a: &[Vec<Affine3x4>], b: &[Vec<Affine3x4>]) -> f32 {
    let numbers = |all: &[Vec<Affine3x4>]| -> Vec<f32> {
        let rows = all.iter().flatten();
        rows.flat_map(|m| m.to_cols_array()).collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    if a.len() != b.len() {
        return f32::INFINITY;
    }
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f32::max)
}

fn bounds_apart(a: &ClipBounds, b: &ClipBounds) -> f32 {
    if a.mesh.is_empty() || b.mesh.is_empty() {
        return if a.mesh == b.mesh { 0.0 } else { f32::INFINITY };
    }
    let apart = [
        a.mesh.min - b.mesh.min,
        a.mesh.max - b.mesh.max,
        a.anchor.min - b.anchor.min,
        a.anchor.max - b.anchor.max,
    ];
    apart.map(|v| v.abs().max_element()).into_iter().fold(0.0, f32::max)
}

/// Retargeting from and onto bodies below an armature of another scale.
fn retargeted_in_all_units(source: &RawScene, target: &RawScene) -> Result<(), Failed> {
    let options = || RetargetOptions { plant_feet: true, ..RetargetOptions::default() };
    let onto = |source: &Rig, target: &Rig, clip: &str| -> Result<Clip, Failed> {
        let maps = [source, target].map(|rig| HumanoidMap::find(rig.skeleton()));
        let [a, b] = maps;
        let (a, b) = (a?, b?);
        let both = Retargeting::new((source.skeleton(), &a), (target.skeleton(), &b), options())?;
        let clip = source.find_clip(clip).ok_or("no such clip")?;
        Ok(both.retarget(&source.clips()[clip])?.0)
    };
    for (from, to, clip) in [(source, target, "Walk"), (target, source, "Robot_Walking")] {
        let (a, b) = (built(from, 1.0)?, built(to, 1.0)?);
        let plain = onto(&a, &b, clip)?;
        for scale in POWERS {
            let (c, d) = (built(from, scale)?, built(to, scale)?);
            same_clip(&plain, &onto(&a, &d, clip)?, scale)?;
            same_clip(&plain, &onto(&c, &b, clip)?, 1.0)?;
            same_clip(&plain, &onto(&c, &d, clip)?, scale)?;
        }
    }
    Ok(())
}

/// The motion is in model space: its keys are the same.
fn root_motion_in_all_units(raw: &RawScene) -> Result<(), Failed> {
    let built = |scale: f64| {
        let options = BuildOptions {
            root_motion: Some(RootMotionOptions { rotation: true, ..RootMotionOptions::default() }),
            ..BuildOptions::default()
        };
        build_rig(below_armature(raw, scale), &options)
    };
    let plain = built(1.0)?;
    for scale in POWERS {
        let other = built(scale)?;
        for (a, b) in plain.clips().iter().zip(other.clips()) {
            ensure(a.root_motion() == b.root_motion(), || format!("{} below {scale}", a.name()))?;
            same_clip(a, b, scale)?;
        }
    }
    Ok(())
}

/// Places of joints, as an evaluation of the file in f64 has them.
fn bobs_as_the_file_says(raw: &RawScene) -> Result<(), Failed> {
    let rig = build_rig(raw.clone(), &BuildOptions::default())?;
    let clip = rig.find_clip("Bob").ok_or("no clip Bob")?;
    let (clip, skeleton) = (&rig.clips()[clip], rig.skeleton());
    let mut highest = 0.0f64;
    for part in 0..=8 {
        let time = clip.duration() * (part as f32 / 8.0);
        let pose = sample(clip, skeleton, time)?;
        let wanted = evaluate(raw, Some(0), time.into());
        let mut models: Vec<glam::DAffine3> = Vec::new();
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let local = pose.lane(skeleton.lane_of()[joint].into());
            let local = glam::DAffine3::from_scale_rotation_translation(
                local.scale.as_dvec3(),
                local.rotation.as_dquat(),
                local.translation.as_dvec3(),
            );
            let above = models.get(usize::from(parent)).copied();
            models.push(above.unwrap_or(glam::DAffine3::IDENTITY) * local);
        }
        for (node, world) in rig.nodes().iter().zip(&wanted.world) {
            let Some(joint) = node.joint else { continue };
            let found = models[usize::from(joint)].translation;
            for c in 0..3 {
                let far = (found[c] - world[c][3]).abs();
                ensure(far < 1e-6, || format!("{joint} at {time}: {found}, {world:?}"))?;
            }
            if node.name.as_deref() == Some("Hips") {
                highest = highest.max(world[1][3]);
            }
        }
    }
    ensure((highest - 1.002).abs() < 1e-6, || format!("{highest}"))
}
