//! The characters of a picture: a main character and models attached to its joints, evaluated through crowd
//! and scene graph.

use super::super::error::CliError;
use super::super::model::Model;
use super::times::{Times, within};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::math::Affine3x4;
use phalanx::playback::LoopMode;
use phalanx::rig::Rig;
use phalanx::scene::{SceneError, SceneGraph};
use phalanx::skeleton::{JointRefError, Skeleton};
use std::cmp::Ordering;
use std::sync::Arc;

/// Largest number of joints listed in an error.
const NEAR_NAMES: usize = 6;

/// A character and its weighted clips.
struct Actor {
    rig: Arc<Rig>,
    instance: InstanceId,
    clips: Vec<(usize, f32)>,
}

/// All characters with their crowd and scene graph.
pub struct Stage {
    actors: Vec<Actor>,
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
    /// Creates the main character with weighted clips, and attaches other models to its joints.
    pub fn new(
        model: &Model,
        clips: &[(usize, f32)],
        attached: &[(Model, &str)],
    ) -> Result<Self, CliError> {
        let (mut crowd, mut scene) = (Crowd::new(), SceneGraph::new());
        let mut actors = Vec::new();
        let mut enter = |model: &Model, clips: Vec<(usize, f32)>| -> Result<_, CliError> {
            let rig = crowd.add_rig(model.rig.clone())?;
            let instance = crowd.spawn(rig)?;
            actors.push(Actor {
                rig: model.rig.clone(),
                instance,
                clips,
            });
            Ok(crowd.mirror(instance, &mut scene)?)
        };
        let main = enter(model, clips.to_vec())?;
        let name = clips.first().and_then(|c| model.rig.clips().get(c.0));
        let name = name.map(|c| c.name());
        let mut hung = Vec::new();
        for (other, joint) in attached {
            let same = name.and_then(|n| other.rig.find_clip(n));
            let any = (!other.rig.clips().is_empty()).then_some(0);
            let clip = same.or(any).map(|c| (c, 1.0));
            hung.push((enter(other, clip.into_iter().collect())?, joint));
        }
        for (mirror, joint) in hung {
            let root = scene.root(mirror)?;
            scene
                .attach(root, main, *joint, Affine3x4::IDENTITY)
                .map_err(|e| refused(model, joint, e))?;
        }
        Ok(Self {
            actors,
            crowd,
            scene,
        })
    }

    /// The rigs of all actors, in the order of [`SampledFrame::actors`].
    pub fn rigs(&self) -> impl Iterator<Item = &Arc<Rig>> {
        self.actors.iter().map(|a| &a.rig)
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
        let leader = self.actors[0].clips.first().copied();
        let duration = leader.map_or(0.0, |c| duration(&self.actors[0].rig, c.0));
        let phase = match duration {
            d if d > 0.0 => within(time, d) / d,
            _ => 0.0,
        };
        for actor in &self.actors {
            pose(&mut self.crowd, actor, phase)?;
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
            frame.weights.extend(self.crowd.scalars(actor.instance)?);
        }
        Ok(frame)
    }
}

fn duration(rig: &Rig, clip: usize) -> f64 {
    rig.clips()
        .get(clip)
        .map_or(0.0, |c| f64::from(c.duration()))
}

/// Sets all clips of an actor to the same phase.
fn pose(crowd: &mut Crowd, actor: &Actor, phase: f64) -> Result<(), CliError> {
    crowd.stop(actor.instance, 0, 0.0)?;
    for &(clip, weight) in &actor.clips {
        let Some(id) = crowd.clip_by_index(actor.instance.rig(), clip) else {
            continue;
        };
        let options = PlayOptions {
            time: phase * duration(&actor.rig, clip),
            loop_mode: LoopMode::Once,
            weight,
            ..PlayOptions::default()
        };
        crowd.add_action(actor.instance, 0, id, &options)?;
    }
    Ok(())
}

fn refused(model: &Model, joint: &str, error: SceneError) -> CliError {
    match error {
        SceneError::JointRef(JointRefError::Name { .. }) => CliError::UnknownJoint {
            file: model.file.clone(),
            wanted: joint.to_owned(),
            near: near(model.rig.skeleton(), joint),
        },
        SceneError::JointRef(source) => CliError::Joint {
            file: model.file.clone(),
            source,
        },
        other => other.into(),
    }
}

/// Joints with names similar to the requested one.
fn near(skeleton: &Skeleton, wanted: &str) -> String {
    let wanted = wanted.to_lowercase();
    let mut names: Vec<&String> = skeleton.names().iter().filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let end = name.ends_with(&wanted) || name.starts_with(&wanted);
        let part = 2 * u8::from(end) + u8::from(name.contains(&wanted) || wanted.contains(&name));
        strsim::jaro_winkler(&name, &wanted) + f64::from(part)
    };
    names.sort_by(|a, b| {
        likeness(b)
            .partial_cmp(&likeness(a))
            .unwrap_or(Ordering::Equal)
    });
    if names.is_empty() {
        return "it has no named joints".into();
    }
    let more = if names.len() > NEAR_NAMES { " ..." } else { "" };
    let quoted = names.iter().take(NEAR_NAMES);
    let quoted: Vec<String> = quoted.map(|n| super::text::name(Some(n))).collect();
    format!("similar names are {}{more}", quoted.join(", "))
}
