//! How far a clip travels in a pass: by its root motion, or by the feet that stand.

use crate::clip::Clip;
use crate::playback::error::PlaybackError;
use crate::playback::modifiers::{Definition, Feet, Modifier};
use crate::rig::Rig;
use crate::runtime::{models_once, sample_once};

/// The parts of a time on the ground at whose ends a foot is measured, and those of the window in which it is fastest.
const PARTS: usize = 16;
const WINDOW: usize = 4;

/// What measures the clips of a rig.
pub(in crate::playback) struct Walked<'a> {
    rig: &'a Rig,
    feet: Option<Definition>,
}

impl<'a> Walked<'a> {
    pub fn new(rig: &'a Rig, feet: Option<Feet>) -> Result<Self, PlaybackError> {
        let define = |feet| Definition::new(&Modifier::Feet(feet), rig);
        Ok(Self { rig, feet: feet.map(define).transpose()? })
    }

    /// The velocity of a clip along x and z, metres per second.
    pub fn velocity(&self, clip: &Clip) -> Result<[f64; 2], PlaybackError> {
        if let Some(motion) = clip.root_motion() {
            let way = motion.whole().translation / f64::from(clip.duration());
            return Ok([way.x, way.z]);
        }
        let (mut way, mut feet) = ([0.0; 2], 0.0);
        let ankles =
            self.feet.iter().flat_map(|feet| feet.ankles().map(move |ankle| (feet, ankle)));
        for (foot, (feet_of, ankle)) in ankles.enumerate() {
            // The ground stands, so the body moves as a foot does, the other way. While its heel or its toes roll, an ankle
            // is slower.
            let (mut fastest, mut most) = ([0.0; 2], 0.0);
            for span in feet_of.stands(clip, foot).iter().flatten() {
                let [first, last] = span.map(|t| t.clamp(0.0, clip.duration()));
                let time = |part: usize| first + (last - first) * (part as f32 / PARTS as f32);
                let seconds = f64::from(time(WINDOW) - first);
                let places: Result<Vec<_>, _> =
                    (0..=PARTS).map(|part| self.place(clip, ankle, time(part))).collect();
                for pair in places?.windows(WINDOW + 1).filter(|_| seconds > 0.0) {
                    let (a, b) = (pair[0], pair[WINDOW]);
                    let v = [0, 1].map(|i| (a[i] - b[i]) / seconds);
                    let square = v[0] * v[0] + v[1] * v[1];
                    if square > most {
                        (fastest, most) = (v, square);
                    }
                }
            }
            if most > 0.0 {
                way = [way[0] + fastest[0], way[1] + fastest[1]];
                feet += 1.0;
            }
        }
        Ok(if feet > 0.0 { way.map(|v| v / feet) } else { way })
    }

    /// Where a joint is in the pose of a clip: x and z.
    fn place(&self, clip: &Clip, joint: u16, time: f32) -> Result<[f64; 2], PlaybackError> {
        let skeleton = self.rig.skeleton();
        let models = models_once(skeleton, &sample_once(clip, skeleton, time)?)?;
        let at = models[usize::from(joint)].translation();
        Ok([at.x.into(), at.z.into()])
    }
}
