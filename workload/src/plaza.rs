//! The plaza: a crowd all around a camera, most of it far away or out of the picture.

use crate::hash01;
use glam::{Mat4, Quat, Vec3};
use phalanx::crowd::{BoneBuffer, ClipId, Crowd, CrowdError, InstanceId, PlayOptions, Tiers, View};
use phalanx::math::Affine3x4;
use phalanx::playback::{Event, EventKind, EventKinds};
use phalanx::rig::Rig;
use std::sync::Arc;
use std::time::Instant;

/// Square metres per character.
pub const AREA: f64 = 1.0;
/// The horizontal angle of view: 108°, 30% of all around.
pub const ANGLE: f32 = 0.3 * std::f32::consts::TAU;
/// Width over height of the picture.
pub const ASPECT: f32 = 16.0 / 9.0;
/// Lines of the picture.
pub const LINES: f32 = 1080.0;
/// The share of the characters that begin a crossfade in a second.
pub const FADES_PER_SECOND: f64 = 0.02;
/// Seconds of a crossfade.
pub const FADE_SECONDS: f32 = 0.3;
/// Seconds of a frame.
pub const FRAME: f64 = 1.0 / 60.0;
/// Height of the eye above the ground in metres.
const EYE: f32 = 2.2;
/// Least distance of a character from the eye, metres.
const CLEAR: f64 = 2.0;
/// The least distance between two characters, in metres: shoulders of half a metre pass each other.
pub const APART: f64 = 0.6;
/// Largest distance of a character from its point of the spiral, metres. Two neighbouring points are at least 0.94 m
/// apart (computed over 200,000).
const JITTER: f64 = 0.5 * (0.94 - APART);
/// The turn from one point of the spiral to the next: the golden angle, in radians.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// An error of a plaza.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlazaError {
    /// The crowd refuses the rig, the tiers or a call.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
}

/// The parts of a frame in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlazaTimes {
    /// [`Crowd::advance`]; it collects the events that are listened to.
    pub advance: f64,
    /// The host's pass over the events: they are counted by kind. 0 if none are listened to.
    pub events: f64,
    /// [`Crowd::schedule_into`]: ranking, assignment and selection.
    pub schedule: f64,
    /// The evaluation itself.
    pub evaluate: f64,
}

impl PlazaTimes {
    /// All parts.
    pub fn total(&self) -> f64 {
        self.advance + self.events + self.schedule + self.evaluate
    }
}

/// Numbers of events by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlazaEvents {
    /// Markers that were passed.
    pub markers: u64,
    /// Passes over a clip that ended while another began.
    pub loops: u64,
    /// Last passes that ended. The clips of a plaza repeat, so there are none unless the host plays others.
    pub finishes: u64,
}

/// A crowd around a camera at the origin that looks along -Z. Characters stay where they are: clips play in place.
#[derive(Debug)]
pub struct Plaza {
    crowd: Crowd,
    instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    /// Index of the clip that each character plays or fades to.
    playing: Vec<u16>,
    frame: u64,
    listens: bool,
    events: PlazaEvents,
}

/// Positions of the characters, in the order of instances. They lie on the points of a sunflower's spiral, which is
/// even over the area, each moved a little. Neighbours are not neighbours in memory, as in a crowd that has moved
/// about.
fn places(count: usize) -> Vec<Vec3> {
    let mut places: Vec<Vec3> = (0..count)
        .map(|n| {
            let random = |what: u64| hash01((n as u64) << 8 | what);
            let away = disc(n as f64 + 0.5);
            let (sin, cos) = (n as f64 * GOLDEN_ANGLE).sin_cos();
            let (off_sin, off_cos) = (random(0) * std::f64::consts::TAU).sin_cos();
            let off = JITTER * random(1).sqrt();
            let x = away * sin + off * off_sin;
            let z = -away * cos + off * off_cos;
            Vec3::new(x as f32, 0.0, z as f32)
        })
        .collect();
    for n in (1..count).rev() {
        let other = hash01(1 << 61 | n as u64) * (n + 1) as f64;
        places.swap(n, (other as usize).min(n));
    }
    places
}

/// The radius of the ground on which `count` characters stand, metres.
pub fn radius(count: usize) -> f64 {
    disc(count as f64) + JITTER
}

/// The radius that encloses the area of `count` characters, in metres: the clear ring around the eye comes first.
fn disc(count: f64) -> f64 {
    let clear = CLEAR + JITTER;
    (clear * clear + count * AREA / std::f64::consts::PI).sqrt()
}

/// The camera of the plaza. Its picture is [`LINES`] high and [`ASPECT`] times as wide.
pub fn view() -> View {
    let projection = projection();
    let eye = glam::camera::rh::view::look_to_mat4(Vec3::Y * EYE, Vec3::NEG_Z, Vec3::Y);
    View { clip_from_world: (projection * eye).to_cols_array_2d(), height: LINES, shadows: false }
}

/// The height of the eye, and the vertical angle of view in radians.
pub fn eye() -> (f32, f32) {
    (EYE, 2.0 * ((0.5 * ANGLE).tan() / ASPECT).atan())
}

fn projection() -> Mat4 {
    glam::camera::rh::proj::directx::perspective_infinite_reverse(eye().1, ASPECT, 0.1)
}

impl Plaza {
    /// Creates a crowd of `count` characters that play clips of a rig (indices; empty: all) from random times on.
    /// Without tiers every character is evaluated in every frame. No events are read;
    /// [`set_event_filter`](Self::set_event_filter) changes that.
    ///
    /// # Errors
    /// If the crowd refuses the rig or the tiers.
    pub fn new(
        rig: Arc<Rig>,
        clips: &[usize],
        count: usize,
        tiers: Option<Tiers>,
    ) -> Result<Self, PlazaError> {
        let all: Vec<usize> = (0..rig.clips().len()).collect();
        let clips = if clips.is_empty() { &all } else { clips };
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig)?;
        // No caller reads root motion.
        crowd.set_event_filter(id, EventKinds::NONE)?;
        crowd.track_root_motion(id, false)?;
        let clips: Vec<ClipId> = clips.iter().filter_map(|&c| crowd.clip_by_index(id, c)).collect();
        let mut instances = Vec::with_capacity(count);
        crowd.spawn_many(id, count, &mut instances)?;
        let mut playing = vec![0; count];
        let everyone = instances.iter().zip(&mut playing).zip(places(count));
        for (n, ((&instance, playing), place)) in everyone.enumerate() {
            let random = |what: u64| hash01((n as u64) << 8 | what);
            let turn = Quat::from_rotation_y((random(2) * std::f64::consts::TAU) as f32);
            let world = glam::Affine3A::from_rotation_translation(turn, place);
            crowd.set_world(instance, Affine3x4::from(world))?;
            if clips.is_empty() {
                continue;
            }
            *playing = (random(3) * clips.len() as f64) as u16;
            let clip = clips[usize::from(*playing)];
            let options = PlayOptions {
                time: random(4) * f64::from(crowd.clip(clip)?.duration()),
                speed: 0.8 + 0.4 * random(5) as f32,
                ..PlayOptions::default()
            };
            crowd.play(instance, clip, &options)?;
        }
        if let Some(tiers) = tiers {
            crowd.set_tiers(Some(tiers))?;
            crowd.set_views(&[view()])?;
        }
        Ok(Self {
            crowd,
            instances,
            clips,
            playing,
            frame: 0,
            listens: false,
            events: PlazaEvents::default(),
        })
    }

    /// Sets which kinds of events are listened to. [`frame`](Self::frame) counts them.
    ///
    /// # Errors
    /// None that a plaza can have.
    pub fn set_event_filter(&mut self, kinds: EventKinds) -> Result<(), PlazaError> {
        self.listens = kinds != EventKinds::NONE;
        self.events = PlazaEvents::default();
        match self.instances.first() {
            Some(first) => Ok(self.crowd.set_event_filter(first.rig(), kinds)?),
            None => Ok(()),
        }
    }

    /// The events of the last frame.
    pub fn events(&self) -> PlazaEvents {
        self.events
    }

    /// The crowd.
    pub fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// The crowd, to be changed.
    pub fn crowd_mut(&mut self) -> &mut Crowd {
        &mut self.crowd
    }

    /// The characters.
    pub fn instances(&self) -> &[InstanceId] {
        &self.instances
    }

    /// Begins the crossfades of the next frame, as a host does, and returns their number.
    ///
    /// # Errors
    /// None that a plaza of valid clips can have.
    pub fn direct(&mut self) -> Result<u64, PlazaError> {
        self.frame += 1;
        let (count, clips) = (self.instances.len(), self.clips.len());
        if clips < 2 {
            return Ok(0);
        }
        let share = count as f64 * FADES_PER_SECOND * FRAME;
        let fades = (share * self.frame as f64) as u64 - (share * (self.frame - 1) as f64) as u64;
        for n in 0..fades {
            let random = |what: u64| hash01(1 << 62 | self.frame << 24 | n << 4 | what);
            let i = ((random(0) * count as f64) as usize).min(count - 1);
            let step = 1 + (random(1) * (clips - 1) as f64) as usize;
            let next = (usize::from(self.playing[i]) + step) % clips;
            self.playing[i] = next as u16;
            let options =
                PlayOptions { speed: 0.8 + 0.4 * random(2) as f32, ..PlayOptions::default() };
            let (instance, clip) = (self.instances[i], self.clips[next]);
            self.crowd.fade_to(instance, clip, FADE_SECONDS, &options)?;
        }
        Ok(fades)
    }

    /// Runs a frame into heap memory, after [`direct`](Self::direct), and times its parts.
    ///
    /// # Errors
    /// None that a plaza of valid clips can have.
    pub fn frame(&mut self, bones: &mut BoneBuffer) -> Result<PlazaTimes, PlazaError> {
        let start = Instant::now();
        self.crowd.advance(FRAME)?;
        let advanced = start.elapsed();
        let counted = match self.listens {
            true => {
                self.events = count(self.crowd.events());
                start.elapsed()
            }
            false => advanced,
        };
        let (mut schedule, rows) = self.crowd.schedule_into(bones);
        let scheduled = start.elapsed();
        schedule.write(rows);
        let evaluated = start.elapsed();
        let ns = |time: std::time::Duration| time.as_nanos() as f64;
        Ok(PlazaTimes {
            advance: ns(advanced),
            events: ns(counted - advanced),
            schedule: ns(scheduled - counted),
            evaluate: ns(evaluated - scheduled),
        })
    }
}

fn count(events: &[Event]) -> PlazaEvents {
    let mut counts = PlazaEvents::default();
    for event in events {
        match event.kind {
            EventKind::Marker => counts.markers += 1,
            EventKind::Looped => counts.loops += 1,
            EventKind::Finished => counts.finishes += 1,
            EventKind::Stopped => {}
        }
    }
    counts
}

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use super::*;

    #[test]
    fn three_tenths_are_in_the_picture_and_a_fiftieth_fades_in_a_second() {
        let rig = Arc::new(phalanx::import::mannequin().unwrap());
        let mut plaza = Plaza::new(rig, &[], 5000, Some(Tiers::default())).unwrap();
        let mut bones = BoneBuffer::new();
        let mut before = plaza.playing.clone();
        let mut changed = 0;
        for _ in 0..60 {
            plaza.direct().unwrap();
            plaza.frame(&mut bones).unwrap();
            changed += before.iter().zip(&plaza.playing).filter(|(a, b)| a != b).count();
            before.clone_from(&plaza.playing);
        }
        assert!((95..=100).contains(&changed), "{changed}");
        let stats = plaza.crowd().tier_stats().unwrap();
        let inside = 5000 - stats.out;
        assert!((1450..1650).contains(&inside), "{inside}");
    }

    #[test]
    fn characters_stand_apart_and_evenly() {
        let places = places(20_000);
        let cell = |p: &Vec3| {
            let at = |v: f32| (f64::from(v) / APART).floor() as i32;
            (at(p.x), at(p.z))
        };
        let mut cells = std::collections::HashMap::<_, Vec<Vec3>>::new();
        for p in &places {
            cells.entry(cell(p)).or_default().push(*p);
        }
        for p in &places {
            let (x, z) = cell(p);
            let near = (-1..=1).flat_map(|dx| (-1..=1).map(move |dz| (x + dx, z + dz)));
            let near = near.filter_map(|c| cells.get(&c)).flatten();
            let too_near = near.filter(|q| p.distance(**q) < APART as f32).count();
            assert_eq!(too_near, 1, "only itself: {p}");
            assert!(p.length() >= CLEAR as f32, "{p}");
        }
        // Half of the area holds half of the characters, and so do the first half of them.
        let half = disc(10_000.0) as f32;
        for some in [&places[..], &places[..10_000]] {
            let inside = some.iter().filter(|p| p.length() < half).count() as f64;
            let share = inside / some.len() as f64;
            assert!((share - 0.5).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn events_are_counted_when_they_are_listened_to() {
        let rig = Arc::new(phalanx::import::mannequin().unwrap());
        let mut plaza = Plaza::new(rig, &[], 200, Some(Tiers::default())).unwrap();
        let mut bones = BoneBuffer::new();
        let mut run = |plaza: &mut Plaza| {
            let (mut all, mut read) = (PlazaEvents::default(), 0.0);
            for _ in 0..90 {
                plaza.direct().unwrap();
                read += plaza.frame(&mut bones).unwrap().events;
                let now = plaza.events();
                let found = now.markers + now.loops + now.finishes;
                assert_eq!(found, plaza.crowd().events().len() as u64);
                all.markers += now.markers;
                all.loops += now.loops;
            }
            (all.markers, all.loops, read)
        };
        assert_eq!(run(&mut plaza), (0, 0, 0.0));
        plaza.set_event_filter(EventKinds { stops: false, ..EventKinds::ALL }).unwrap();
        let (markers, loops, read) = run(&mut plaza);
        // Clips last 0.6 s to 4 s, and have markers for steps.
        assert!(markers > loops && read > 0.0, "{markers} {read}");
        assert!((60..600).contains(&loops), "{loops}");
        plaza.set_event_filter(EventKinds::NONE).unwrap();
        assert_eq!(run(&mut plaza), (0, 0, 0.0));
    }
}
