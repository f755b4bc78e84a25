//! [`ViewerCrowd`]: the characters in the window and their clips.

use super::super::crowd::cast::{self, Draw};
use super::super::crowd::floor::{self, Floors};
use super::super::crowd::formation::Formation;
use super::super::crowd::{picture, size};
use super::super::error::CliError;
use super::super::model::Model;
use super::handles::{Handle, Limbs};
use super::pad::{self, Pad};
use super::tiers::{self, ColorBy};
use glam::{Affine3A, Vec3};
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

/// A joint of a visible character, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub index: usize,
    pub at: Vec3,
    /// Position of its parent; roots have none.
    pub parent: Option<Vec3>,
}

/// The joints of the nearest characters, and how many characters were asked for.
#[derive(Clone, Debug, Default)]
pub struct Joints {
    pub joints: Vec<Joint>,
    pub shown: usize,
    pub visible: usize,
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

    /// Measures the floors of the clips that the characters play, and of the rest pose.
    fn measure_floors(&mut self) -> Result<(), CliError> {
        let (one, points);
        let clips = match self.playing {
            Playing::Rest => &[][..],
            Playing::Clip(clip) => {
                one = [clip];
                &one
            }
            Playing::Mixed => &self.mixed,
            Playing::Pad => {
                points =
                    self.pad.iter().flat_map(|pad| &pad.points).map(|p| p.1).collect::<Vec<_>>();
                &points
            }
        };
        let wanted = clips.iter().copied().map(Some).chain([None]);
        let measured = self.floors.measure(&self.source, wanted);
        measured.map_err(|source| CliError::Pose {
            file: self.source.name().to_owned(),
            source: Box::new(source),
        })
    }

    /// Puts every character's lowest point on the ground: the floor of its clip, or during a fade a height between the
    /// floors of the clips.
    fn stand(&mut self) -> Result<(), CliError> {
        self.sinking = false;
        for (place, &instance) in self.instances.iter().enumerate() {
            let (height, fades) = self.floors.below(&self.crowd, instance)?;
            self.sinking |= fades;
            let world = floor::on_ground(self.formation.place(place), height);
            self.crowd.set_world(instance, world)?;
        }
        Ok(())
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

    /// Looks for limbs that handles can drag. Returns whether there are any.
    pub fn find_limbs(&mut self) -> Result<bool, CliError> {
        Ok(self.limbs.find(&mut self.crowd, self.rig)?)
    }

    /// The visible character that is nearest to the eye.
    fn nearest(&self, eye: Vec3) -> Result<Option<InstanceId>, CliError> {
        let mut nearest = None;
        for (instance, _) in self.view.seen().filter(|(_, seen)| seen.body) {
            let far = self.crowd.world(instance)?.translation().distance_squared(eye);
            if nearest.is_none_or(|(least, _)| far < least) {
                nearest = Some((far, instance));
            }
        }
        Ok(nearest.map(|n| n.1))
    }

    /// The handles of the nearest visible character.
    pub fn handles(&self, eye: Vec3) -> Result<Vec<Handle>, CliError> {
        match self.nearest(eye)? {
            Some(instance) => Ok(self.limbs.handles(&self.crowd, instance)?),
            None => Ok(Vec::new()),
        }
    }

    /// Moves the handle of a limb; all characters reach for the same place beside them.
    pub fn drag(
        &mut self,
        eye: Vec3,
        limb: usize,
        to: impl FnOnce(Vec3) -> Vec3,
    ) -> Result<(), CliError> {
        let Some(instance) = self.nearest(eye)? else { return Ok(()) };
        if let Some(handle) = self.limbs.handles(&self.crowd, instance)?.get(limb) {
            let to_model = Affine3A::from(*self.crowd.world(instance)?).inverse();
            let to = to_model.transform_point3(to(handle.at));
            self.limbs.drag(&mut self.crowd, &self.instances, limb, to)?;
        }
        Ok(())
    }

    /// Fades dragged limbs back to the clips.
    pub fn let_go(&mut self, seconds: f32) -> Result<(), CliError> {
        Ok(self.limbs.let_go(&mut self.crowd, &self.instances, seconds)?)
    }

    /// Joints of up to `most` visible characters, nearest to the eye first.
    pub fn joints(&self, eye: Vec3, most: usize) -> Result<Joints, CliError> {
        let seen = self.view.seen().filter(|(_, seen)| seen.body);
        let mut near = Vec::new();
        for (instance, _) in seen {
            let world = *self.crowd.world(instance)?;
            near.push((world.translation().distance_squared(eye), instance, world));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joints =
            Joints { visible: near.len(), shown: near.len().min(most), joints: Vec::new() };
        let parents = self.source.skeleton().parents();
        for (_, instance, world) in near.into_iter().take(most) {
            let models = self.crowd.model_matrices(instance)?;
            let at = |joint: usize| {
                let model = models.get(joint)?;
                Some(world.transform_point3(model.translation()))
            };
            let found = parents.iter().enumerate().filter_map(|(index, &parent)| {
                let parent = at(usize::from(parent));
                at(index).map(|at| Joint { index, at, parent })
            });
            joints.joints.extend(found);
        }
        Ok(joints)
    }
}

#[cfg(test)]
impl ViewerCrowd {
    /// What a limb of every character reaches for, and its weight.
    pub fn reaching(&self, limb: usize) -> Vec<(phalanx::crowd::Target, f32)> {
        let targets = self.instances.iter().map(|&i| self.limbs.target(&self.crowd, i, limb));
        targets.map(|t| t.expect("a limb")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::crowd::BoneBuffer;
    use phalanx::playback::PoseAction;
    use phalanx_testkit::trials;

    fn crowd(count: usize) -> ViewerCrowd {
        let model = Model::load(None, false, Default::default()).unwrap();
        ViewerCrowd::new(&model, Playing::Clip(0), count).unwrap()
    }

    #[test]
    fn choosing_fades_and_scrubbing_keeps_everyones_distance() {
        let mut crowd = crowd(7);
        let old = crowd.motion_of(0).unwrap().0;
        crowd.choose(Playing::Clip(1), 0.5).unwrap();
        crowd.advance(0.25).unwrap();
        let (new, duration) = crowd.motion_of(0).unwrap();
        let weight = |crowd: &ViewerCrowd, clip| {
            let state = crowd.crowd.playing(crowd.instances[3]).unwrap().action(0, clip);
            state.map(|s| s.weight)
        };
        assert!((weight(&crowd, old).unwrap() - 0.5).abs() < 1e-3);
        assert!((weight(&crowd, new).unwrap() - 0.5).abs() < 1e-3);
        assert!((crowd.time() - 0.25).abs() < 1e-6);
        crowd.advance(0.5).unwrap();
        assert!(weight(&crowd, old).is_err() && weight(&crowd, new) == Ok(1.0));
        crowd.set_time(0.1).unwrap();
        assert!((crowd.time() - 0.1).abs() < 1e-6);
        let other = crowd.crowd.playing(crowd.instances[3]).unwrap().action(0, new);
        let expected = (0.1 + ViewerCrowd::lag(3) * duration) % duration;
        assert!((other.unwrap().time - expected).abs() < 1e-6);
        crowd.choose(Playing::Rest, 0.0).unwrap();
        crowd.advance(0.01).unwrap();
        assert_eq!((crowd.time(), crowd.duration()), (0.0, 0.0));
    }

    #[test]
    fn crowds_grow_and_shrink_and_those_unseen_are_not_evaluated() {
        let mut crowd = crowd(1);
        crowd.choose(Playing::Mixed, 0.0).unwrap();
        crowd.set_count(400).unwrap();
        assert_eq!(crowd.count(), 400);
        let (min, max) = crowd.extent();
        let size = PictureSize { width: 640, height: 360 };
        let aside = Camera {
            eye: Vec3::new(0.0, 2.0, max.z + 2.0),
            target: Vec3::new(3.0, 1.0, max.z - 2.0),
            up: Vec3::Y,
            fov_y: 0.5,
            near: 0.1,
        };
        let look = Look::over(min, max, aside.eye);
        let mut buffer = BoneBuffer::new();
        let mut evaluate = |skip| {
            crowd.look(&aside, &look, size, skip).unwrap();
            let evaluated = crowd.evaluate(|crowd| Ok(crowd.evaluate(&mut buffer)));
            (evaluated.unwrap().0, crowd.drawn().len())
        };
        let (all, drawn) = evaluate(false);
        assert_eq!(all, 400);
        assert!(drawn > 10 && drawn < 300, "{drawn}");
        assert_eq!(evaluate(true), (drawn, drawn));
        let found = crowd.joints(aside.eye, 3).unwrap();
        assert_eq!((found.shown, found.visible > 10), (3, true));
        let near = |joint: &Joint| joint.parent.is_none_or(|p| p.distance(joint.at) < 1.0);
        assert!(found.joints.len() > 100 && found.joints.iter().all(near));
        let roots = found.joints.iter().filter(|j| j.parent.is_none());
        assert_eq!(roots.count(), 3);
        crowd.set_count(0).unwrap();
        assert_eq!(crowd.count(), 1);
    }

    /// A rig whose clips have different floors: a fox that runs deeper than it stands, and one clip far above.
    #[test]
    fn feet_of_the_clip_that_plays_stand_on_the_ground() {
        let mut crowd = crowd(2);
        // Floors as if the first clip were played in the air.
        crowd.floors = Floors::known([(None, 0.5), (Some(0), 0.25), (Some(1), -0.5)]);
        crowd.stand().unwrap();
        let height = |crowd: &ViewerCrowd| {
            let worlds = crowd.instances.iter().map(|&i| crowd.crowd.world(i));
            let heights: Vec<f32> = worlds.map(|w| w.unwrap().translation().y).collect();
            assert_eq!(heights[0], heights[1]);
            heights[0]
        };
        assert_eq!((height(&crowd), crowd.sinking), (-0.25, false));
        // A fade goes from one to the other without a jump.
        crowd.choose(Playing::Clip(1), 0.5).unwrap();
        crowd.advance(0.0).unwrap();
        assert_eq!((height(&crowd), crowd.sinking), (-0.25, true));
        crowd.advance(0.25).unwrap();
        assert!((height(&crowd) - 0.125).abs() < 1e-3);
        crowd.advance(0.5).unwrap();
        crowd.advance(0.1).unwrap();
        assert_eq!((height(&crowd), crowd.sinking), (0.5, false));
        crowd.choose(Playing::Rest, 0.0).unwrap();
        crowd.advance(0.01).unwrap();
        crowd.advance(0.01).unwrap();
        assert_eq!((height(&crowd), crowd.sinking), (-0.5, false));
    }

    #[test]
    fn no_model_floats_or_sinks() {
        for file in ["Fox.glb", "pab.glb", "robot.glb", "CesiumMan.glb"] {
            let Some(path) = trials::model(file) else {
                continue;
            };
            let model = Model::load(Some(&path), false, Default::default()).unwrap();
            let mut crowd = ViewerCrowd::new(&model, Playing::Rest, 1).unwrap();
            for clip in 0..model.rig.clips().len() {
                crowd.choose(Playing::Clip(clip), 0.0).unwrap();
                crowd.advance(0.0).unwrap();
                let (_, max) = crowd.extent();
                let lowest = lowest_seen(&mut crowd, &model);
                assert!(lowest.abs() < 0.01 * max.y, "{file} {clip}: {lowest}");
            }
        }
    }

    /// Height of the lowest vertex that is seen over the clip's time, in the picture's world.
    fn lowest_seen(crowd: &mut ViewerCrowd, model: &Model) -> f32 {
        let Playing::Clip(clip) = crowd.playing() else {
            return f32::NAN;
        };
        let instance = crowd.instances[0];
        let mut lowest = f32::INFINITY;
        for step in 0..24 {
            let time = crowd.duration() as f32 * (step as f32 + 0.5) / 24.0;
            let action = PoseAction { clip, time, weight: 1.0 };
            let pose = model.pose(&[action]).unwrap();
            let world = *crowd.crowd.world(instance).unwrap();
            for positions in pose.vertices(&model.rig).unwrap().concat() {
                let heights = positions.iter();
                let heights = heights.map(|&p| world.transform_point3(p.into()).y);
                lowest = heights.fold(lowest, f32::min);
            }
        }
        lowest
    }
}
