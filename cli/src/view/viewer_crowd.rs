//! [`ViewerCrowd`]: the characters in the window and what they play.

use super::super::crowd::cast::{self, Draw};
use super::super::crowd::formation::Formation;
use super::super::crowd::{picture, size};
use super::super::error::CliError;
use super::super::model::Model;
use glam::Vec3;
use phalanx::crowd::{ClipId, Crowd, FrameStats, InstanceId, PlayOptions, RigId};
use phalanx::rig::Aabb;
use phalanx_render::{Camera, CrowdView, DrawInstance, Look, PictureSize};

/// What the characters play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Playing {
    /// The rest pose.
    Rest,
    /// A clip, by its index in the rig.
    Clip(usize),
    /// Different clips: those that `phalanx crowd` would choose.
    Mixed,
}

/// The characters, one or thousands, of one rig.
#[derive(Debug)]
pub struct ViewerCrowd {
    crowd: Crowd,
    rig: RigId,
    clips: Vec<(ClipId, f64)>,
    mixed: Vec<usize>,
    playing: Playing,
    instances: Vec<InstanceId>,
    formation: Formation,
    size: Aabb,
    tinted: bool,
    view: CrowdView,
}

impl ViewerCrowd {
    /// `count` characters of a model in formation.
    pub fn new(model: &Model, playing: Playing, count: usize) -> Result<Self, CliError> {
        let choice = cast::choose_clips(model)?;
        let size = size::measure(model, &choice)?;
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(model.rig.clone())?;
        let mut view = CrowdView::new();
        view.add_rig(&crowd, rig, 0)?;
        let clips = model.rig.clips().iter().enumerate();
        let clips = clips.filter_map(|(i, clip)| {
            Some((crowd.clip_by_index(rig, i)?, f64::from(clip.duration())))
        });
        let tint = |m: &phalanx::mesh::Material| m.name.as_deref() == Some("Tint");
        let mut crowd = Self {
            clips: clips.collect(),
            mixed: choice.clips,
            crowd,
            rig,
            playing,
            instances: Vec::new(),
            formation: Formation::new(0, size),
            size,
            tinted: model.rig.materials().iter().any(tint),
            view,
        };
        crowd.set_count(count)?;
        Ok(crowd)
    }

    /// Number of characters.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// What the characters play.
    pub fn playing(&self) -> Playing {
        self.playing
    }

    /// The formation's bounding box, in world space.
    pub fn extent(&self) -> (Vec3, Vec3) {
        self.formation.extent()
    }

    /// Sets the number of characters. New ones join what the others play, and all positions are recomputed.
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
            if let Some((clip, duration)) = self.clip_of(place) {
                let options = PlayOptions {
                    time: time + Self::lag(place) * duration,
                    ..PlayOptions::default()
                };
                self.crowd.play(instance, clip, &options)?;
            }
        }
        self.formation = Formation::new(count, self.size);
        for (place, &instance) in self.instances.iter().enumerate() {
            self.crowd
                .set_world(instance, self.formation.place(place))?;
        }
        Ok(())
    }

    /// Fades all characters to something else over `seconds`.
    pub fn choose(&mut self, playing: Playing, seconds: f32) -> Result<(), CliError> {
        if playing == self.playing {
            return Ok(());
        }
        self.playing = playing;
        for place in 0..self.instances.len() {
            let instance = self.instances[place];
            match self.clip_of(place) {
                Some((clip, duration)) => {
                    let options = PlayOptions {
                        time: Self::lag(place) * duration,
                        ..PlayOptions::default()
                    };
                    self.crowd.fade_to(instance, clip, seconds, &options)?;
                }
                None => self.crowd.stop(instance, 0, seconds)?,
            }
        }
        Ok(())
    }

    /// The clip that a character plays, and its duration in seconds.
    fn clip_of(&self, place: usize) -> Option<(ClipId, f64)> {
        let clip = match self.playing {
            Playing::Rest => return None,
            Playing::Clip(clip) => clip,
            Playing::Mixed => *self.mixed.get(place % self.mixed.len().max(1))?,
        };
        self.clips.get(clip).copied()
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
        let first = self.instances.first().zip(self.clip_of(0));
        let state = first.and_then(|(&i, (clip, _))| self.crowd.action_state(i, 0, clip).ok());
        state.map_or(0.0, |(time, _)| time)
    }

    /// Duration of the first character's clip in seconds; 0 in the rest pose.
    pub fn duration(&self) -> f64 {
        self.clip_of(0).map_or(0.0, |c| c.1)
    }

    /// Sets the first character's clip time; the others keep their offsets.
    pub fn set_time(&mut self, time: f64) -> Result<(), CliError> {
        for (place, &instance) in self.instances.iter().enumerate() {
            if let Some((clip, duration)) = self.clip_of(place) {
                let time = time + Self::lag(place) * duration;
                self.crowd.set_time(instance, 0, clip, time)?;
            }
        }
        Ok(())
    }

    /// Advances time by `dt` seconds.
    pub fn advance(&mut self, dt: f64) -> Result<(), CliError> {
        Ok(self.crowd.advance(dt)?)
    }

    /// Finds the instances visible in the picture; with `skip` the next evaluation skips the others.
    pub fn look(
        &mut self,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
        skip: bool,
    ) -> Result<(), CliError> {
        Ok(self.view.look(&mut self.crowd, camera, look, size, skip)?)
    }

    /// Evaluates into the caller's memory; returns the number of instances evaluated.
    pub fn evaluate(
        &mut self,
        into: impl FnOnce(&mut Crowd) -> Result<FrameStats, CliError>,
    ) -> Result<usize, CliError> {
        let done = into(&mut self.crowd)?;
        let tint = |place| match (self.instances.len(), self.tinted) {
            // A single character keeps its own colours.
            (1, false) => [1.0; 4],
            _ => picture::tint(place),
        };
        self.view.collect(&self.crowd, tint)?;
        Ok(done.instances)
    }

    /// The visible instances.
    pub fn drawn(&self) -> &[DrawInstance] {
        self.view.instances()
    }

    /// Morph weights of the visible instances.
    pub fn morph_weights(&self) -> &[f32] {
        self.view.morph_weights()
    }

    /// Joints of up to `most` visible characters, nearest to the eye first, as pairs of world positions:
    /// joint and parent.
    pub fn joints(&self, eye: Vec3, most: usize) -> Result<Vec<(Vec3, Vec3)>, CliError> {
        let seen = self.view.seen().filter(|(_, seen)| seen.body);
        let mut near = Vec::new();
        for (instance, _) in seen {
            let world = *self.crowd.world(instance)?;
            near.push((world.translation().distance_squared(eye), instance, world));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let parents = self.crowd.rig(self.rig)?.skeleton().parents();
        let mut bones = Vec::new();
        for (_, instance, world) in near.into_iter().take(most) {
            let models = self.crowd.model_matrices(instance)?;
            let at = |joint: usize| {
                let model = models.get(joint)?;
                Some(world.transform_point3(model.translation()))
            };
            for (joint, &parent) in parents.iter().enumerate() {
                bones.extend(at(joint).zip(at(usize::from(parent))));
            }
        }
        Ok(bones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::crowd::BoneBuffer;

    fn crowd(count: usize) -> ViewerCrowd {
        let model = Model::load(None, false).unwrap();
        ViewerCrowd::new(&model, Playing::Clip(0), count).unwrap()
    }

    #[test]
    fn choosing_fades_and_scrubbing_keeps_everyones_distance() {
        let mut crowd = crowd(7);
        let old = crowd.clip_of(0).unwrap().0;
        crowd.choose(Playing::Clip(1), 0.5).unwrap();
        crowd.advance(0.25).unwrap();
        let (new, duration) = crowd.clip_of(0).unwrap();
        let weight = |crowd: &ViewerCrowd, clip| {
            let state = crowd.crowd.action_state(crowd.instances[3], 0, clip);
            state.map(|s| s.1)
        };
        assert!((weight(&crowd, old).unwrap() - 0.5).abs() < 1e-3);
        assert!((weight(&crowd, new).unwrap() - 0.5).abs() < 1e-3);
        assert!((crowd.time() - 0.25).abs() < 1e-6);
        crowd.advance(0.5).unwrap();
        assert!(weight(&crowd, old).is_err() && weight(&crowd, new) == Ok(1.0));
        crowd.set_time(0.1).unwrap();
        assert!((crowd.time() - 0.1).abs() < 1e-6);
        let other = crowd.crowd.action_state(crowd.instances[3], 0, new);
        let expected = (0.1 + ViewerCrowd::lag(3) * duration) % duration;
        assert!((other.unwrap().0 - expected).abs() < 1e-6);
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
        let size = PictureSize {
            width: 640,
            height: 360,
        };
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
            (evaluated.unwrap(), crowd.drawn().len())
        };
        let (all, drawn) = evaluate(false);
        assert_eq!(all, 400);
        assert!(drawn > 10 && drawn < 300, "{drawn}");
        assert_eq!(evaluate(true), (drawn, drawn));
        let bones = crowd.joints(aside.eye, 3).unwrap();
        assert!(bones.len() > 100 && bones.iter().all(|(a, b)| a.distance(*b) < 1.0));
        crowd.set_count(0).unwrap();
        assert_eq!(crowd.count(), 1);
    }
}
