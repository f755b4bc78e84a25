//! The characters of a picture: a main character and models attached to its joints, evaluated through crowd
//! and scene graph.

use super::super::actions::Actions;
use super::super::error::CliError;
use super::super::model::Model;
use super::times::{Span, Times};
use glam::Vec3;
use phalanx::crowd::{ACTIONS_PER_LAYER, BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx::playback::{LoopMode, PoseAction};
use phalanx::rig::{Aabb, Rig};
use phalanx::scene::SceneGraph;
use std::sync::Arc;

/// Largest distance between the first and the last pose of a loop, as a share of the way of the point that goes
/// farthest. A turn to one side and not back has 1.
const CLOSED: f32 = 0.01;

/// The same as a share of the farthest that a point is away from its first place, for long clips that go to and fro.
const NEAR: f32 = 0.04;

/// Distances below this share of the model's size are rounding.
const ROUNDING: f32 = 1e-5;

/// Moments at which a movement is looked at, to see how far it leads.
const LOOKS: u32 = 32;

/// A character.
struct Actor {
    rig: Arc<Rig>,
    instance: InstanceId,
    /// The clip that another model plays in step with the main character.
    follows: Option<usize>,
}

/// All characters with their crowd and scene graph. The first one is the main character.
pub struct Stage {
    actors: Vec<Actor>,
    actions: Actions,
    crowd: Crowd,
    scene: SceneGraph,
}

/// One evaluated frame: the palette rows and morph weights of all actors.
pub struct SampledFrame {
    pub time: f64,
    pub palette: Vec<Affine3x4>,
    pub weights: Vec<f32>,
    pub actors: Vec<Posed>,
}

/// World transform of an actor in a frame, and indices of its first palette row and morph weight.
pub struct Posed {
    pub world: Affine3x4,
    pub first_row: usize,
    pub first_weight: usize,
}

impl Stage {
    /// Creates the main character with its clips, attaches other models to its joints, and adds the models that stand
    /// next to it.
    pub fn new(
        model: &Model,
        actions: Actions,
        attached: &[(Model, &str)],
        beside: &[Model],
    ) -> Result<Self, CliError> {
        let count = actions.at(0.0).iter().filter(|a| a.weight > 0.0).count();
        if count > ACTIONS_PER_LAYER {
            return Err(CliError::TooManyBlended { count, limit: ACTIONS_PER_LAYER });
        }
        let (mut crowd, mut scene) = (Crowd::new(), SceneGraph::new());
        let mut actors = Vec::new();
        let mut enter = |model: &Model, follows: Option<usize>| -> Result<_, CliError> {
            let rig = crowd.add_rig(model.rig.clone())?;
            let instance = crowd.spawn(rig)?;
            actors.push(Actor { rig: model.rig.clone(), instance, follows });
            Ok(crowd.mirror(instance, &mut scene, None)?)
        };
        let main = enter(model, None)?;
        let name = actions.first().and_then(|c| model.rig.clips().get(c));
        let name = name.map(|c| c.name());
        let mut hung = Vec::new();
        // Without a clip the main character rests, and so do the others.
        let follows = |other: &Model| {
            let same = other.rig.find_clip(name?);
            let any = (!other.rig.clips().is_empty()).then_some(0);
            same.or(any)
        };
        for (other, joint) in attached {
            let same = name.and_then(|n| other.rig.find_clip(n));
            let any = (!other.rig.clips().is_empty()).then_some(0);
            hung.push((enter(other, same.or(any))?, joint));
        }
        for other in beside {
            enter(other, follows(other))?;
        }
        for (mirror, joint) in hung {
            let joint = model.find_joint(joint)?;
            scene.attach(mirror, main, joint, Affine3x4::IDENTITY)?;
        }
        Ok(Self { actors, actions, crowd, scene })
    }

    /// The rigs of all actors, in the order of [`SampledFrame::actors`].
    pub fn rigs(&self) -> impl Iterator<Item = &Arc<Rig>> {
        self.actors.iter().map(|a| &a.rig)
    }

    /// True if the movement of a span is a loop: its last pose is its first, by the measure of each actor's own way. A
    /// movement in which nothing moves is one. `round` is the time after which the clips repeat.
    pub fn is_loop(&mut self, span: Span, round: f64) -> Result<bool, CliError> {
        let Span(start, end) = span;
        let mut buffer = BoneBuffer::new();
        let mut shown = |time: f64| -> Result<SampledFrame, CliError> {
            self.at(time)?.0.evaluate(&mut buffer);
            self.crowd.update_scene(&mut self.scene);
            self.frame(time, &buffer)
        };
        let step = (end - start).min(round) / f64::from(LOOKS);
        let frames = (0..=LOOKS).map(|k| shown(start + step * f64::from(k)));
        let frames = frames.collect::<Result<Vec<_>, CliError>>()?;
        let last = shown(end)?;
        let bodies = self.actors.iter().enumerate().all(|(i, actor)| {
            let poses: Vec<_> = frames.iter().map(|f| points(actor, f, i)).collect();
            let mut size = Aabb::EMPTY;
            poses.iter().flatten().for_each(|&p| size.add(p));
            let rounding = ROUNDING * 2.0 * size.half_size().length();
            returns(&poses, &points(actor, &last, i), rounding)
        });
        let weights = |f: &SampledFrame| f.weights.iter().map(|w| Vec3::X * *w).collect();
        let morphs: Vec<_> = frames.iter().map(weights).collect();
        Ok(bodies && returns(&morphs, &weights(&last), ROUNDING))
    }

    /// Evaluates all frames.
    pub fn play(&mut self, times: &Times) -> Result<Vec<SampledFrame>, CliError> {
        let mut buffer = BoneBuffer::new();
        let mut frames = Vec::with_capacity(times.count);
        for time in times.moments() {
            self.at(time)?.0.evaluate(&mut buffer);
            self.crowd.update_scene(&mut self.scene);
            frames.push(self.frame(time, &buffer)?);
        }
        Ok(frames)
    }

    /// The crowd with all actors set to a time, not yet evaluated, and the actors' instances.
    pub fn at(&mut self, time: f64) -> Result<(&mut Crowd, Vec<InstanceId>), CliError> {
        let phase = self.actions.phase(time);
        for (i, actor) in self.actors.iter().enumerate() {
            let clips = match (i, actor.follows) {
                (0, _) => self.actions.at(time),
                (_, None) => Vec::new(),
                (_, Some(clip)) => vec![PoseAction {
                    clip,
                    time: (phase * duration(&actor.rig, clip)) as f32,
                    weight: 1.0,
                }],
            };
            pose(&mut self.crowd, actor.instance, &clips)?;
        }
        let ids = self.actors.iter().map(|a| a.instance).collect();
        Ok((&mut self.crowd, ids))
    }

    fn frame(&self, time: f64, buffer: &BoneBuffer) -> Result<SampledFrame, CliError> {
        let mut frame = SampledFrame {
            time,
            palette: buffer.rows().to_vec(),
            weights: Vec::new(),
            actors: Vec::new(),
        };
        for actor in &self.actors {
            let rows = self.crowd.palette_range(actor.instance).unwrap_or(0..0);
            frame.actors.push(Posed {
                world: *self.crowd.world(actor.instance)?,
                first_row: rows.start,
                first_weight: frame.weights.len(),
            });
            self.crowd.scalars(actor.instance, &mut frame.weights)?;
        }
        Ok(frame)
    }
}

/// Whether points that go through `poses` are back where they began in a last pose. Distances up to `rounding` are none.
fn returns(poses: &[Vec<Vec3>], last: &[Vec3], rounding: f32) -> bool {
    let Some(first) = poses.first() else {
        return true;
    };
    let farthest = |to: &[Vec3]| {
        let pairs = first.iter().zip(to);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    };
    let reach = poses.iter().map(|p| farthest(p)).fold(0.0, f32::max);
    let mut ways = vec![0.0; first.len()];
    for (from, to) in poses.iter().zip(poses.iter().skip(1)) {
        for (way, (a, b)) in ways.iter_mut().zip(from.iter().zip(to)) {
            *way += a.distance(*b);
        }
    }
    let way = ways.into_iter().fold(0.0, f32::max);
    farthest(last) <= (CLOSED * way).min(NEAR * reach).max(rounding)
}

/// Corners of the boxes of the vertices that follow each joint of an actor, in world space.
fn points(actor: &Actor, frame: &SampledFrame, index: usize) -> Vec<Vec3> {
    let Some(posed) = frame.actors.get(index) else {
        return Vec::new();
    };
    let boxes = actor.rig.slot_bounds().iter().enumerate();
    let boxes = boxes.filter(|(_, bounds)| !bounds.is_empty());
    let corners = boxes.flat_map(|(slot, bounds)| {
        let row = frame.palette.get(posed.first_row + slot);
        let row = row.copied().unwrap_or(Affine3x4::IDENTITY);
        [bounds.min, bounds.max].map(|p| row.transform_point3(p))
    });
    corners.map(|p| posed.world.transform_point3(p)).collect()
}

fn duration(rig: &Rig, clip: usize) -> f64 {
    rig.clips().get(clip).map_or(0.0, |c| f64::from(c.duration()))
}

/// Sets the clips of an instance. Weights that sum to more than 1 are divided by the sum, as `pose` does.
fn pose(crowd: &mut Crowd, instance: InstanceId, clips: &[PoseAction]) -> Result<(), CliError> {
    crowd.player(instance)?.stop_layer(0, 0.0)?;
    let sum: f32 = clips.iter().map(|a| a.weight).sum();
    for action in clips.iter().filter(|a| a.weight > 0.0) {
        let Some(id) = crowd.clip_by_index(instance.rig(), action.clip) else {
            continue;
        };
        let options = PlayOptions {
            time: action.time.into(),
            loop_mode: LoopMode::Once,
            weight: action.weight / sum.max(1.0),
            ..PlayOptions::default()
        };
        crowd.player(instance)?.add(0, id, &options)?;
    }
    Ok(())
}
