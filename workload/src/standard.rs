//! The standard crowd: the scene that tests, benchmarks and the command line share.

use phalanx::crowd::{Crowd, CrowdError, InstanceId, PlayOptions};
use phalanx::rig::Rig;
use std::sync::Arc;

/// Clips of the built-in character that suit a crowd: they loop and stay in place.
pub const PARADE: [&str; 8] = ["Idle", "Walk", "Jog", "Run", "Wave", "Cheer", "Clap", "LookAround"];

/// A pseudo-random number in [0, 1), the same for the same seed. Source: SplitMix64's finaliser.
pub fn hash01(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Makes a crowd of `count` instances of one rig that play its clips in turn.
///
/// `clips` are indices; an empty slice means all. Phases and speeds are pseudo-random and fixed. If there are
/// several clips, every fourth instance is half-way through a fade of one second to the next clip, so that
/// the crowd blends.
///
/// # Errors
/// If the crowd rejects the rig.
pub fn standard_crowd(
    rig: Arc<Rig>,
    clips: &[usize],
    count: usize,
) -> Result<(Crowd, Vec<InstanceId>), CrowdError> {
    let all: Vec<usize> = (0..rig.clips().len()).collect();
    let clips = if clips.is_empty() { &all } else { clips };
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig)?;
    let loaded: Vec<_> = clips.iter().filter_map(|&c| crowd.clip_by_index(id, c)).collect();
    let mut instances = Vec::with_capacity(count);
    for i in 0..count {
        let instance = crowd.spawn(id)?;
        instances.push(instance);
        if loaded.is_empty() {
            continue;
        }
        let seed = i as u64;
        let clip = loaded[i % loaded.len()];
        let duration = f64::from(crowd.clip(clip)?.duration());
        let options = PlayOptions {
            speed: 0.8 + 0.4 * hash01(seed * 2 + 1) as f32,
            time: hash01(seed * 2) * duration,
            ..PlayOptions::default()
        };
        crowd.play(instance, clip, &options)?;
        if i % 4 == 3 && loaded.len() > 1 {
            crowd.fade_to(instance, loaded[(i + 1) % loaded.len()], 1.0, &options)?;
        }
    }
    crowd.advance(0.5)?;
    Ok((crowd, instances))
}
