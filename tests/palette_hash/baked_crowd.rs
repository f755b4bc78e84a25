//! Keys of 16 bits and rows of f32 in crowds, at every instruction set, against an oracle of its own in
//! f64.

use libtest_mimic::{Failed, Trial};
use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::Clip;
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
use phalanx::format::codec::encode;
use phalanx::import::{import_path, mannequin};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::simd::SimdLevel;
use phalanx_testkit::oracle::math::{Mat4, mul};
use phalanx_testkit::trials;
use std::sync::Arc;

/// Arcs between keys are within 2e-5 of slerp, in metres of a body; 2.1e-5 was observed.
const TOLERANCE: f64 = 5e-5;
/// Two clips that were baked within 0.1 and 0.05 mm, blended: entries of matrices differ by more than
/// lengths on a shell.
const ALIKE: f64 = 5e-3;

pub fn trials() -> Vec<Trial> {
    let levels = || -> Result<(), Failed> { every_level(mannequin()?) };
    let mut trials = vec![Trial::test("the built-in character", levels)];
    trials.push(Trial::test("baked to the same bytes at every level", || same_bytes(mannequin()?)));
    for file in ["pab.glb", "robot.glb", "bl_humanoid.glb"] {
        let test = move || {
            let imported = import_path(&trials::needed(file)?, &Default::default())?;
            imported.rigs.into_iter().try_for_each(every_level)
        };
        trials.push(trials::trial(file, &[file], test));
    }
    // One of its clips is reached in the second attempt only.
    let robot = "robot.glb";
    let test = move || {
        let imported = import_path(&trials::needed(robot)?, &Default::default())?;
        imported.rigs.into_iter().try_for_each(same_bytes)
    };
    let name = "robot.glb: baked to the same bytes at every level";
    trials.push(trials::trial(name, &[robot], test));
    trials
}

fn column_major(m: &Affine3x4) -> Mat4 {
    m.to_cols_array().map(f64::from)
}

/// One character that plays a clip at a time, and one that blends it half and half with one alike.
fn palettes(
    rig: &Arc<Rig>,
    [clip, alike]: &[Arc<Clip>; 2],
    time: f32,
) -> Result<[Vec<Affine3x4>; 2], Failed> {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let [clip, alike] = [clip, alike].map(|c| crowd.add_clip(id, c.clone()));
    let (clip, alike) = (clip?, alike?);
    let options = PlayOptions { time: time.into(), ..PlayOptions::default() };
    let half = PlayOptions { weight: 0.5, ..options };
    let instances = [crowd.spawn(id)?, crowd.spawn(id)?];
    crowd.play(instances[0], clip, &options)?;
    crowd.play(instances[1], clip, &half)?;
    crowd.player(instances[1])?.add(0, alike, &half)?;
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    let range = |i| crowd.palette_range(i).ok_or("it was evaluated");
    let rows = |i| Ok::<_, Failed>(buffer.rows()[range(i)?].to_vec());
    Ok([rows(instances[0])?, rows(instances[1])?])
}

fn every_level(rig: Rig) -> Result<(), Failed> {
    let rig = Arc::new(rig);
    let skeleton = rig.skeleton();
    let (mut packed, mut worst) = (0, [0.0f64; 2]);
    for raw in rig.clips() {
        let bakes = [1e-4, 5e-5].map(|max_error| {
            let settings = BakeOptions { max_error, ..BakeOptions::default() };
            bake(raw, skeleton, &settings).map(|(clip, _)| Arc::new(clip))
        });
        let [clip, alike] = bakes;
        let clips = [clip?, alike?];
        packed += clips[0].packed().len();
        for part in [0.0, 0.137, 0.5, 0.871] {
            let time = raw.duration() * part;
            let models = phalanx_testkit::baked::models(&clips[0], skeleton, time.into());
            for level in SimdLevel::supported() {
                level.set()?;
                let palettes = palettes(&rig, &clips, time)?;
                for (palette, worst) in palettes.iter().zip(&mut worst) {
                    *worst = apart(&rig, &models, palette).max(*worst);
                }
                if !(worst[0] <= TOLERANCE && worst[1] <= ALIKE) {
                    return Err(format!("{} at {time}, {level}: {worst:?} off", raw.name()).into());
                }
                // Rows of f32, alone and blended with themselves.
                let exact = phalanx_testkit::baked::models(raw, skeleton, time.into());
                for palette in self::palettes(&rig, &[raw.clone(), raw.clone()], time)? {
                    let off = apart(&rig, &exact, &palette);
                    if off.is_nan() || off > TOLERANCE {
                        return Err(format!("{} at {time}, {level}: {off} off", raw.name()).into());
                    }
                }
            }
        }
    }
    assert!(packed > 0, "some keys are integers");
    println!("largest differences {worst:?}");
    Ok(())
}

/// What is baked, coded and measured at every level: the clips to the bit, and the errors that are stated.
fn same_bytes(rig: Rig) -> Result<(), Failed> {
    let settings = BakeOptions::default();
    let skeleton = rig.skeleton();
    for raw in rig.clips() {
        let mut first: Option<(Vec<u8>, Clip, f32)> = None;
        for level in SimdLevel::supported() {
            level.set()?;
            let (clip, report) = bake(raw, skeleton, &settings)?;
            let bytes = encode(&clip, skeleton)?;
            let (same, wanted, error) =
                first.get_or_insert_with(|| (bytes.clone(), clip.clone(), report.max));
            if clip != *wanted || bytes != *same || clip.content_hash() != wanted.content_hash() {
                return Err(format!("{} at {level}: other bytes", raw.name()).into());
            }
            if report.max != *error {
                return Err(format!("{} at {level}: {} off", raw.name(), report.max).into());
            }
        }
    }
    Ok(())
}

/// The largest difference between palette rows and models × inverse binds.
fn apart(rig: &Rig, models: &[Mat4], palette: &[Affine3x4]) -> f64 {
    let mut worst = 0.0f64;
    for (s, skin) in rig.skins().iter().enumerate() {
        let binds = skin.joints().iter().zip(skin.inverse_bind());
        for (slot, (&joint, bind)) in binds.enumerate() {
            let wanted = mul(&models[usize::from(joint)], &column_major(bind));
            let found = column_major(&palette[rig.palette_offset(s) + slot]);
            let entries = wanted.iter().zip(&found).map(|(a, b)| (a - b).abs());
            // Written so that NaN counts as the worst.
            worst = entries.fold(worst, |w, d| if d <= w { w } else { d });
        }
    }
    worst
}
