//! [`ViewerCrowd`]: the characters in the window and their clips.

use super::super::crowd::cast::{self, Draw};
use super::super::crowd::floor::Floors;
use super::super::crowd::formation::Formation;
use super::super::crowd::{picture, size};
use super::super::error::CliError;
use super::super::model::Model;
use super::handles::Limbs;
use super::pad::{self, Pad};
use super::tiers::{self, ColorBy};
use glam::Vec3;
use phalanx::clip::Marker;
use phalanx::crowd::{
    ClipId, Crowd, FrameStats, InstanceId, ModifierId, Parameter, PlayOptions, Playable, RigId,
    TierFrame, Tiers,
};
use phalanx::mesh::Material;
use phalanx::rig::{Aabb, Rig};
use phalanx_render::{Camera, CrowdView, DrawInstance, Look, PictureSize, tint_strength};
use std::sync::Arc;
use std::time::{Duration, Instant};

mod floors;
mod joints;

pub use joints::Joints;

/// The clips that the characters play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Playing {
    /// The rest pose.
    Rest,
    /// A clip, by its index in the rig.
    Clip(usize),
    /// Different clips, chosen as in `phalanx crowd`.
    Mixed,
    /// A blend of the clips of the pad.
    Pad,
}

/// The characters, one or thousands, of one rig.
#[derive(Debug)]
pub struct ViewerCrowd {
    crowd: Crowd,
    rig: RigId,
    pub source: Arc<Rig>,
    clips: Vec<(ClipId, f64)>,
    /// Ground heights of all clips that have been played.
    floors: Floors,
    /// True while characters fade from one floor to another.
    sinking: bool,
    mixed: Vec<usize>,
    pad: Option<Pad>,
    playing: Playing,
    instances: Vec<InstanceId>,
    limbs: Limbs,
    /// The springs of the file, and whether they swing.
    springs: (Option<ModifierId>, bool),
    formation: Formation,
    size: Aabb,
    built_in: bool,
    tinted: bool,
    /// Strength of a tint on the materials that take tints, above 0.
    strength: f32,
    /// The value that colours show; `None` without tiers.
    color_by: Option<ColorBy>,
    /// Tints of the last frame with tiers, in the order of the view.
    tints: Vec<[f32; 4]>,
    view: CrowdView,
}

impl ViewerCrowd {
    /// `count` characters of a model in formation.
    pub fn new(model: &Model, playing: Playing, count: usize) -> Result<Self, CliError> {
        let choice = cast::choose_clips(model)?;
        let size = size::measure(model, &choice)?;
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(model.rig.clone())?;
        let springs = match model.rig.springs().is_empty() {
            true => None,
            false => Some(crowd.add_modifier(rig, model.rig.springs().clone())?),
        };
        let mut view = CrowdView::new();
        view.add_rig(&crowd, rig, 0)?;
        let clips = model.rig.clips().iter().enumerate();
        let clips = clips.filter_map(|(i, clip)| {
            Some((crowd.clip_by_index(rig, i)?, f64::from(clip.duration())))
        });
        let clips: Vec<_> = clips.collect();
        let of_pad = pad::clips(&model.rig);
        let pad = match of_pad.is_empty() {
            true => None,
            false => Some(Pad::new(&mut crowd, rig, &of_pad)?),
        };
        let tint = |m: &Material| m.name.as_deref() == Some("Tint");
        let mut crowd = Self {
            clips,
            source: model.rig.clone(),
            floors: Floors::new(size.min.y),
            sinking: false,
            mixed: choice.clips,
            pad,
            crowd,
            rig,
            playing,
            instances: Vec::new(),
            limbs: Limbs::default(),
            springs: (springs, true),
            formation: Formation::new(0, size),
            size,
            built_in: model.built_in,
            tinted: model.rig.materials().iter().any(tint),
            strength: match model.rig.materials().iter().any(tint) {
                true => 1.0,
                false => tint_strength(&Material::DEFAULT, false),
            },
            color_by: None,
            tints: Vec::new(),
            view,
        };
        crowd.measure_floors()?;
        crowd.set_count(count)?;
        Ok(crowd)
    }

    /// Number of characters.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// The clips that the characters play.
    pub fn playing(&self) -> Playing {
        self.playing
    }

    /// Default tiers for this model.
    pub fn default_tiers(&self) -> Tiers {
        match self.built_in {
            true => Tiers::default(),
            false => Tiers::default().for_size(size::longest_side(&self.size)),
        }
    }

    /// The formation's bounding box, in world space.
    pub fn extent(&self) -> (Vec3, Vec3) {
        self.formation.extent()
    }

    /// Sets the number of characters. New ones play the clips of the others, and all positions are recomputed.
    pub fn set_count(&mut self, count: usize) -> Result<(), CliError> {
        let count = count.max(1);
        let time = self.time();
        while self.instances.len() > count {
            if let Some(instance) = self.instances.pop() {
                self.crowd.despawn(instance)?;
            }
        }
        while self.instances.len() < count {
            let place = self.instances.len();
            let instance = self.crowd.spawn(self.rig)?;
            self.instances.push(instance);
            if let Some((motion, length)) = self.motion_of(place) {
                let time = time + Self::lag(place) * length;
                let options = PlayOptions { time, parameter: self.at(), ..PlayOptions::default() };
                self.crowd.play(instance, motion, &options)?;
            }
        }
        self.swing(self.springs.1)?;
        self.limbs.reach(&mut self.crowd, &self.instances)?;
        self.formation = Formation::new(count, self.size);
        self.stand()
    }

    /// Whether the springs of the file swing; `None` if it has none.
    pub fn swings(&self) -> Option<bool> {
        self.springs.0.map(|_| self.springs.1)
    }

    /// Lets the springs of the file swing, or not. False if it has none.
    pub fn swing(&mut self, swing: bool) -> Result<bool, CliError> {
        self.springs.1 = swing;
        let (Some(by), weight) = (self.springs.0, f32::from(swing)) else { return Ok(false) };
        for &instance in &self.instances {
            self.crowd.player(instance)?.fade_modifier(by, weight, 0.0)?;
        }
        Ok(true)
    }

    /// Fades all characters to something else over `seconds`.
    pub fn choose(&mut self, playing: Playing, seconds: f32) -> Result<(), CliError> {
        if playing == self.playing {
            return Ok(());
        }
        self.playing = playing;
        self.measure_floors()?;
        for place in 0..self.instances.len() {
            let instance = self.instances[place];
            match self.motion_of(place) {
                Some((motion, length)) => {
                    let (time, parameter) = (Self::lag(place) * length, self.at());
                    let options = PlayOptions { time, parameter, ..PlayOptions::default() };
                    self.crowd.fade_to(instance, motion, seconds, &options)?;
                }
                None => self.crowd.player(instance)?.stop_layer(0, seconds)?,
            }
        }
        // What ends at once does so with the next step.
        self.sinking = true;
        Ok(())
    }

    /// The pad, if the model has clips for one.
    pub fn pad(&self) -> Option<&Pad> {
        self.pad.as_ref()
    }

    /// The clips that the first character plays, by their index in the rig.
    #[cfg(test)]
    pub fn playing_clips(&self) -> Vec<usize> {
        let first = self.instances.first().and_then(|&i| self.crowd.playing(i).ok());
        first.into_iter().flat_map(|playing| playing.clips()).map(|clip| clip.index()).collect()
    }

    /// The value of the pad.
    fn at(&self) -> Parameter {
        self.pad.as_ref().map_or([0.0; 2], |pad| pad.at).into()
    }

    /// Sets the value of the pad, which all characters that play it follow.
    pub fn set_pad(&mut self, at: [f32; 2]) -> Result<(), CliError> {
        let Some(pad) = &mut self.pad else { return Ok(()) };
        pad.at = at;
        if self.playing == Playing::Pad {
            self.crowd.set_parameters(&self.instances, 0, &[pad.space], &[at])?;
        }
        Ok(())
    }

    /// The motion that a character plays, and the length of a pass: seconds, or 1 for the pad.
    fn motion_of(&self, place: usize) -> Option<(Playable, f64)> {
        let clip = match self.playing {
            Playing::Rest => return None,
            Playing::Pad => return self.pad.as_ref().map(|pad| (pad.space.into(), 1.0)),
            Playing::Clip(clip) => clip,
            Playing::Mixed => *self.mixed.get(place % self.mixed.len().max(1))?,
        };
        self.clips.get(clip).map(|&(clip, duration)| (clip.into(), duration))
    }

    /// Time by which a character is ahead of the first one, relative to the clip's duration.
    fn lag(place: usize) -> f64 {
        match place {
            0 => 0.0,
            _ => cast::draw(place, Draw::Turn),
        }
    }

    /// Clip time of the first character in seconds; 0 in the rest pose.
    pub fn time(&self) -> f64 {
        let first = self.instances.first().zip(self.motion_of(0));
        let state = first.and_then(|(&i, (motion, _))| {
            let playing = self.crowd.playing(i).ok()?;
            playing.action(0, motion).ok()
        });
        state.map_or(0.0, |state| state.time)
    }

    /// Duration of the first character's clip in seconds; 0 in the rest pose, 1 on the pad.
    pub fn duration(&self) -> f64 {
        self.motion_of(0).map_or(0.0, |c| c.1)
    }

    /// Sets the first character's clip time; the others keep their offsets.
    pub fn set_time(&mut self, time: f64) -> Result<(), CliError> {
        for (place, &instance) in self.instances.iter().enumerate() {
            if let Some((motion, length)) = self.motion_of(place) {
                let time = time + Self::lag(place) * length;
                self.crowd.player(instance)?.set_time(0, motion, time)?;
            }
        }
        Ok(())
    }

    /// Advances time by `dt` seconds.
    pub fn advance(&mut self, dt: f64) -> Result<(), CliError> {
        self.crowd.advance(dt)?;
        if self.sinking { self.stand() } else { Ok(()) }
    }

    /// Markers of the first character's clip, sorted by time.
    pub fn markers(&self) -> &[Marker] {
        let clip = match self.playing {
            Playing::Rest | Playing::Pad => None,
            Playing::Clip(clip) => Some(clip),
            Playing::Mixed => self.mixed.first().copied(),
        };
        let clip = clip.and_then(|clip| self.source.clips().get(clip));
        clip.map_or(&[], |clip| clip.markers())
    }

    /// Finds the instances visible in the picture; with `skip` the next evaluation skips the others.
    pub fn look(
        &mut self,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
        skip: bool,
    ) -> Result<(), CliError> {
        self.view.look(&mut self.crowd, camera, look, size, skip)?;
        if self.crowd.tiers().is_some() {
            CrowdView::set_views(&mut self.crowd, camera, look, size)?;
        }
        Ok(())
    }

    /// Turns tiers on, with colours that show something, or off.
    pub fn set_tiers(
        &mut self,
        tiers: Option<Tiers>,
        color_by: Option<ColorBy>,
    ) -> Result<(), CliError> {
        // The next frame after tiers are set evaluates everything.
        if self.crowd.tiers() != tiers.as_ref() {
            self.crowd.set_tiers(tiers).map_err(tiers::refused)?;
        }
        self.color_by = color_by;
        Ok(())
    }

    /// Sets the palettes that a frame evaluates at most; without effect without tiers.
    pub fn set_budget(&mut self, palettes: Option<usize>) -> Result<(), CliError> {
        if self.crowd.tiers().is_none() {
            return Ok(());
        }
        self.crowd.set_budget(palettes).map_err(tiers::refused)
    }

    /// The tiers and statistics of the last frame; `None` if tiers are off.
    pub fn tiers(&self) -> Option<(&Tiers, &TierFrame)> {
        self.crowd.tiers().zip(self.crowd.tier_stats())
    }

    /// Evaluates into the caller's memory, and collects what is drawn. Returns the number of instances evaluated, and
    /// the time of `into` alone.
    pub fn evaluate(
        &mut self,
        into: impl FnOnce(&mut Crowd) -> Result<FrameStats, CliError>,
    ) -> Result<(usize, Duration), CliError> {
        let start = Instant::now();
        let done = into(&mut self.crowd)?;
        let time = start.elapsed();
        let mut tints = std::mem::take(&mut self.tints);
        tints.clear();
        if let Some(by) = self.color_by {
            let colors = self.view.seen().map(|(id, _)| by.color(&self.crowd, id));
            tints.extend(colors.map(|c| c.map_or([1.0; 4], |c| tiers::tint(c, self.strength))));
        }
        let tint = |place| match (self.instances.len(), self.tinted) {
            _ if self.color_by.is_some() => tints.get(place).copied().unwrap_or([1.0; 4]),
            // A single character keeps its own colours.
            (1, false) => [1.0; 4],
            _ => picture::tint(place),
        };
        self.view.collect(&self.crowd, tint)?;
        self.tints = tints;
        Ok((done.instances, time))
    }

    /// The visible instances.
    pub fn drawn(&self) -> &[DrawInstance] {
        self.view.instances()
    }

    /// Morph weights of the visible instances.
    pub fn morph_weights(&self) -> &[f32] {
        self.view.morph_weights()
    }
}

#[cfg(test)]
mod tests;
