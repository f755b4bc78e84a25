//! The stored form of a mixer: its pool, and its actions with their options.

use super::super::blend_space::MAX_PARAMETER;
use super::super::error::PlaybackError;
use super::super::ids::{BlendSpaceId, ClipId, Owner, Playable};
use super::super::loop_mode::LoopMode;
use super::super::mixer::MAX_ACTIONS;
use super::super::mixer_action::Remembered;
use super::super::options::{AtEnd, PlayOptions};
use super::super::player::MAX_SPEED;
use super::super::pool::MAX_TIME;
use super::bytes::{Kind, Reader, Writer};
use super::pool::{read_arena, write_arena};
use super::{MixerSnapshot, PoolSnapshot, SnapshotError};

const MODES: [LoopMode; 3] = [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong];

impl MixerSnapshot {
    /// The snapshot as bytes, for files and other processes. FORMAT.md specifies every byte.
    ///
    /// ```
    /// use phalanx::playback::{Mixer, MixerSnapshot, PlayOptions};
    /// # #[cfg(feature = "gltf")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rig = std::sync::Arc::new(phalanx::import::mannequin()?);
    /// let mut mixer = Mixer::new(rig.clone())?;
    /// mixer.play(mixer.find_clip("Walk").unwrap(), &PlayOptions::default())?;
    /// mixer.advance(0.4)?;
    /// let saved = mixer.snapshot().to_bytes();
    /// // In another process:
    /// let mut other = Mixer::new(rig)?;
    /// other.restore(&MixerSnapshot::from_bytes(&saved)?)?;
    /// assert_eq!(other.evaluate(), mixer.evaluate());
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "gltf"))]
    /// # fn main() {}
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::new(Kind::Mixer);
        self.pool.write(&mut w);
        write_arena(&mut w, &self.actions, write_action);
        w.finish()
    }

    /// The snapshot of bytes from [`to_bytes`](Self::to_bytes). They may come from anywhere: every number is checked, and
    /// memory is at most [`SNAPSHOT_MEMORY_PER_BYTE`](super::SNAPSHOT_MEMORY_PER_BYTE) times the bytes. Whether it fits a
    /// mixer is checked by [`Mixer::restore`](crate::playback::Mixer::restore).
    ///
    /// # Errors
    /// If the bytes are no snapshot of a mixer, of another version, cut, changed, or contradict themselves.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PlaybackError> {
        let mut r = Reader::new(bytes, Kind::Mixer)?;
        let pool = PoolSnapshot::read(&mut r)?;
        let only = pool.state.len() == 1 && pool.state.count_alive() == 1;
        r.needs(only, "a mixer has one instance")?;
        let what = "actions of a mixer";
        let actions = read_arena(&mut r, what, MAX_ACTIONS, |r| read_action(r, &pool))?;
        r.finish()?;
        Ok(Self { pool, actions })
    }
}

impl PartialEq for MixerSnapshot {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

fn write_action(w: &mut Writer, action: &Remembered) {
    let Remembered {
        layer,
        motion,
        options,
    } = action;
    // A rig has at most 16 layers.
    w.u8(*layer as u8);
    let (space, index) = match motion {
        Playable::Clip(clip) => (false, clip.index),
        Playable::Space(space) => (true, space.index),
    };
    w.flags([space, options.at_end == AtEnd::Stop]);
    w.u16(index);
    w.u8(MODES
        .iter()
        .position(|m| *m == options.loop_mode)
        .unwrap_or(1) as u8);
    w.u32(options.repetitions.unwrap_or(0));
    w.f32(options.speed);
    w.f64(options.time);
    w.f32(options.weight);
    w.f32(options.fade_in);
    w.f32(options.parameter);
}

fn read_action(r: &mut Reader<'_>, pool: &PoolSnapshot) -> Result<Remembered, SnapshotError> {
    let owner = Owner::of_mixers(pool.identity.structure);
    let clips = &pool.identity.clips;
    let layer = usize::from(r.u8("layer of an action")?);
    let options = pool.identity.layers.get(layer);
    r.needs(
        options.is_some(),
        "an action is on a layer that does not exist",
    )?;
    let low = if options.is_some_and(|o| o.additive) {
        -1.0
    } else {
        0.0
    };
    let [space, stop] = r.flags("flags of an action")?;
    let index = r.u16("motion of an action")?;
    let known = match space {
        true => pool.spaces.get(index).is_some(),
        false => clips.get(index).is_some(),
    };
    r.needs(known, "an action has a motion that is not loaded")?;
    let motion = match space {
        true => BlendSpaceId::new(owner, index, pool.spaces.generation(index)).into(),
        false => ClipId::new(owner, index, clips.generation(index)).into(),
    };
    let mode = MODES.get(usize::from(r.u8("loop mode")?)).copied();
    r.needs(mode.is_some(), "there is no such loop mode")?;
    let repetitions = r.u32("repetitions")?;
    let options = PlayOptions {
        loop_mode: mode.unwrap_or_default(),
        repetitions: (repetitions > 0).then_some(repetitions),
        at_end: if stop { AtEnd::Stop } else { AtEnd::Hold },
        speed: r.f32("speed", -MAX_SPEED, MAX_SPEED)?,
        time: r.f64("time", -MAX_TIME, MAX_TIME)?,
        weight: r.f32("weight", low, 1.0)?,
        fade_in: r.f32("fade_in", 0.0, MAX_TIME)?,
        parameter: r.f32("parameter", -MAX_PARAMETER, MAX_PARAMETER)?,
    };
    Ok(Remembered {
        layer,
        motion,
        options,
    })
}
