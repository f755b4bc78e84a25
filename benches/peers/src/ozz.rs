//! A crowd by ozz-animation-rs: sampling, blending and local-to-model jobs per character, then a palette.

use crate::archive;
use crate::host::{ACTIONS, Character};
use crate::joints::Joints;
use glam::Mat4;
use ozz_animation_rs::{
    Animation, Archive, BlendingJobRc, BlendingLayer, LocalToModelJob, LocalToModelJobRef,
    OzzError, OzzRcBuf, SamplingJob, SamplingJobRef, Skeleton, SoaTransform, ozz_rc_buf,
};
use phalanx::import::raw::RawScene;
use phalanx::rig::Rig;
use std::error::Error;
use std::hint::black_box;
use std::rc::Rc;

/// A palette row: three rows of a matrix, as Phalanx writes it.
pub type Row = [[f32; 4]; 3];

/// A skeleton with its animations; crowds share it.
pub struct Library {
    skeleton: Rc<Skeleton>,
    animations: Vec<Animation>,
    pub durations: Vec<f64>,
    /// Joint and inverse bind matrix of every slot.
    slots: Vec<(usize, Mat4)>,
}

impl Library {
    /// Writes and reads the archives of a rig and all its clips.
    ///
    /// # Errors
    /// If a clip cannot be an animation.
    pub fn new(raw: &RawScene, rig: &Rig) -> Result<Self, Box<dyn Error>> {
        let joints = Joints::new(raw, rig);
        let bytes = archive::skeleton(raw, &joints);
        let skeleton = Skeleton::from_archive(&mut Archive::from_slice(&bytes)?)?;
        let mut animations = Vec::with_capacity(raw.clips.len());
        for clip in &raw.clips {
            let bytes = archive::animation(raw, clip, &joints)?;
            animations.push(Animation::from_archive(&mut Archive::from_slice(&bytes)?)?);
        }
        let mut slots = Vec::new();
        for skin in &raw.skins {
            for (&node, bind) in skin.joints.iter().zip(&skin.inverse_bind) {
                let joint = joints.of(node).ok_or("a slot without a joint")?;
                slots.push((joint, Mat4::from_cols_array(bind)));
            }
        }
        Ok(Self {
            skeleton: Rc::new(skeleton),
            durations: raw.clips.iter().map(|c| f64::from(c.duration)).collect(),
            animations,
            slots,
        })
    }

    /// Number of tracks of an animation.
    pub fn tracks(&self) -> usize {
        self.skeleton.num_joints()
    }

    /// Rows of a palette.
    pub fn palette_len(&self) -> usize {
        self.slots.len()
    }
}

/// Characters of a library. Local transforms and model matrices are of one character at a time, so they stay in the
/// nearest cache; contexts are of every character and clip, as ozz asks for.
pub struct OzzCrowd {
    pub library: Rc<Library>,
    pub characters: Vec<Character>,
    /// All palettes, one after another.
    pub palettes: Vec<Row>,
    locals: Vec<OzzRcBuf<SoaTransform>>,
    blended: OzzRcBuf<SoaTransform>,
    blend: BlendingJobRc,
    models: Vec<Mat4>,
}

impl OzzCrowd {
    pub fn new(library: Rc<Library>, characters: Vec<Character>) -> Self {
        let locals =
            || ozz_rc_buf(vec![SoaTransform::default(); library.skeleton.num_soa_joints()]);
        let (inputs, blended) = (Vec::from_iter((0..ACTIONS).map(|_| locals())), locals());
        let mut blend = BlendingJobRc::default();
        blend.set_skeleton(library.skeleton.clone());
        blend.set_output(blended.clone());
        let layers = inputs.iter().map(|input| BlendingLayer::with_weight(input.clone(), 0.0));
        blend.layers_mut().extend(layers);
        Self {
            palettes: vec![Row::default(); library.palette_len() * characters.len()],
            models: vec![Mat4::IDENTITY; library.tracks()],
            locals: inputs,
            blended,
            blend,
            library,
            characters,
        }
    }

    /// Moves all times and weights.
    pub fn advance(&mut self, seconds: f64) {
        for character in &mut self.characters {
            character.advance(seconds, &self.library.durations);
        }
    }

    /// Samples all characters to model matrices and, if asked for, to palettes.
    ///
    /// # Errors
    /// If a job refuses its buffers.
    pub fn evaluate(&mut self, palettes: bool) -> Result<(), OzzError> {
        let library = &*self.library;
        let rows = library.palette_len();
        let all = self.characters.iter_mut().zip(self.palettes.chunks_exact_mut(rows));
        for (character, palette) in all {
            for (action, local) in character.actions.iter_mut().zip(&self.locals) {
                let mut local = local.borrow_mut();
                let mut sample: SamplingJobRef<'_> = SamplingJob::default();
                sample.set_animation(&library.animations[action.clip]);
                sample.set_context(&mut action.context);
                sample.set_output(&mut local[..]);
                sample.set_ratio((action.time / library.durations[action.clip]) as f32);
                sample.run()?;
            }
            // One clip needs no blend, whatever its weight.
            let pose = match character.actions.len() {
                0 | 1 => &self.locals[0],
                _ => {
                    for (k, layer) in self.blend.layers_mut().iter_mut().enumerate() {
                        layer.weight = character.actions.get(k).map_or(0.0, |a| a.weight as f32);
                    }
                    self.blend.run()?;
                    &self.blended
                }
            };
            let pose = pose.borrow();
            let mut compose: LocalToModelJobRef<'_> = LocalToModelJob::default();
            compose.set_skeleton(&library.skeleton);
            compose.set_input(&pose[..]);
            compose.set_output(&mut self.models[..]);
            compose.run()?;
            black_box(&mut self.models);
            if palettes {
                for ((joint, bind), row) in library.slots.iter().zip(palette) {
                    let skinning = (self.models[*joint] * *bind).transpose();
                    *row =
                        [skinning.x_axis, skinning.y_axis, skinning.z_axis].map(|r| r.to_array());
                }
            }
        }
        black_box(&mut self.palettes);
        Ok(())
    }
}
