//! Inertial fades on a real model: nothing jumps at the call, and movement goes on with less of a jolt than in other fades.

use libtest_mimic::{Failed, Trial};
use phalanx::build::RootMotionOptions;
use phalanx::import::{ImportOptions, import_path};
use phalanx::playback::{ClipId, CrossFade, FadeKind, Mixer, PlayOptions};
use phalanx_testkit::trials::{needed, trial};
use std::sync::Arc;

const DT: f64 = 1.0 / 240.0;
const SECONDS: f32 = 0.25;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("inertial_fades_keep_momentum", &["pab.glb"], momentum),
        trial("evictions_do_not_jump", &["pab.glb"], evictions),
    ]
}

fn mixer() -> Result<(Mixer, Vec<ClipId>), Failed> {
    // The clips travel, which is root motion.
    let options = ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    };
    let imported = import_path(&needed("pab.glb")?, &options)?;
    let rig = imported.rigs.into_iter().next().ok_or("a rig")?;
    let mixer = Mixer::new(Arc::new(rig))?;
    let clips = (0..mixer.rig().clips().len()).map_while(|c| mixer.clip_by_index(c)).collect();
    Ok((mixer, clips))
}

/// Where all joints are, metres.
fn places(mixer: &Mixer) -> Vec<glam::DVec3> {
    mixer.model_matrices().iter().map(|m| m.translation().as_dvec3()).collect()
}

fn farthest(a: &[glam::DVec3], b: &[glam::DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// The mean change of a joint's velocity at a moment, by places a step apart.
fn jolt([before, at, after]: [&[glam::DVec3]; 3]) -> f64 {
    let all = before.iter().zip(at).zip(after);
    let sum: f64 = all.map(|((a, b), c)| (*c - *b - (*b - *a)).length() / DT).sum();
    sum / before.len() as f64
}

fn momentum() -> Result<(), Failed> {
    let (mut mixer, clips) = mixer()?;
    let mut jolts = [0.0; 2];
    let mut fades = 0;
    for (n, kind) in [FadeKind::Inertial, FadeKind::Blend].into_iter().enumerate() {
        for (i, &from) in clips.iter().enumerate().take(4) {
            for (j, &to) in clips.iter().enumerate().take(4).filter(|(j, _)| *j != i) {
                for start in [0.13, 0.41, 0.77] {
                    let mut player = mixer.player();
                    player.stop_all(0.0)?;
                    player.play(0, from, &PlayOptions { time: start, ..PlayOptions::default() })?;
                    mixer.advance(0.1)?;
                    let before = places(&mixer);
                    mixer.advance(DT)?;
                    let shown = places(&mixer);
                    let fade = CrossFade { seconds: SECONDS, kind, ..CrossFade::default() };
                    let to_time = PlayOptions { time: 0.2, ..PlayOptions::default() };
                    mixer.player().cross_fade(0, from, to, fade, &to_time)?;
                    let pop = farthest(&shown, &places(&mixer));
                    if pop > 1e-5 {
                        return Err(format!("{kind:?} {i} to {j}: a joint jumps by {pop}").into());
                    }
                    mixer.advance(DT)?;
                    jolts[n] += jolt([&before, &shown, &places(&mixer)]);
                    fades += 1;
                    // At the end the clip plays alone.
                    mixer.advance(f64::from(SECONDS))?;
                    let end = places(&mixer);
                    let time = mixer.playing().action(0, to)?.time;
                    let mut player = mixer.player();
                    player.stop_all(0.0)?;
                    player.play(0, to, &PlayOptions { time, ..PlayOptions::default() })?;
                    let off = farthest(&end, &places(&mixer));
                    if off > 1e-5 {
                        return Err(format!("{i} to {j}: {off} is left").into());
                    }
                }
            }
        }
    }
    let [inertial, blend] = jolts.map(|sum| 2.0 * sum / f64::from(fades));
    println!("mean jolt of {fades} fades: {inertial:.3} m/s, of crossfades {blend:.3} m/s");
    match inertial < 0.5 * blend {
        true => Ok(()),
        false => Err(format!("{inertial} against {blend}").into()),
    }
}

/// Fades that begin faster than they end: of a full layer the faintest action leaves an offset.
fn evictions() -> Result<(), Failed> {
    let (mut mixer, mut clips) = mixer()?;
    // Copies of a clip are others.
    for n in 0..6 {
        let clip = mixer.clip(clips[n % clips.len()])?.as_ref().clone();
        clips.push(mixer.add_clip(Arc::new(clip))?);
    }
    let count = clips.len();
    let mut most = 0.0f64;
    mixer.player().play(0, clips[0], &PlayOptions::default())?;
    for n in 1..24 {
        mixer.advance(0.1)?;
        let shown = places(&mixer);
        mixer.player().fade_to(0, clips[n % count], 0.5, &PlayOptions::default())?;
        most = most.max(farthest(&shown, &places(&mixer)));
    }
    println!("{} evictions, a joint moves by at most {most:.2e} m", mixer.evicted());
    match mixer.evicted() > 5 && most < 1e-5 {
        true => Ok(()),
        false => Err(format!("{} evictions, {most} m", mixer.evicted()).into()),
    }
}
