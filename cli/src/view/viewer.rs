//! [`Viewer`]: the viewer's state without window and device, and the actions on it.

use super::super::error::CliError;
use super::super::model::Model;
use super::super::text;
use super::history::{FrameTime, History, milliseconds};
use super::notice::Notice;
use super::orbit::Orbit;
use super::viewer_crowd::{Playing, ViewerCrowd};
use glam::{Vec2, Vec3};
use phalanx::crowd::{Crowd, FrameStats};
use phalanx_render::{Camera, DrawCounts, Look, PictureSize, Projection};
use std::time::{Duration, Instant};

/// Largest number of characters on the slider.
pub const MOST: usize = 20_000;

/// Largest number of characters whose skeletons are drawn, nearest first.
const MOST_SKELETONS: usize = 48;

/// Largest playback speed, forward and backward.
pub const FASTEST: f32 = 4.0;

/// Longest crossfade, in seconds.
pub const LONGEST_FADE: f32 = 2.0;

/// Largest time step of one frame, in seconds, so that nothing jumps after the program was suspended.
const MOST_PER_FRAME: f64 = 0.1;

/// A user's action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Play(Playing),
    /// Plays the entry at this offset in the list.
    Step(isize),
    Pause(bool),
    Time(f64),
    Speed(f32),
    Fade(f32),
    Count(usize),
    Skeleton(bool),
    Graph(bool),
    SkipUnseen(bool),
    Turn(Vec2),
    Shift(Vec2),
    Zoom(f32),
    ResetCamera,
    Quit,
}

/// The viewer's state.
#[derive(Debug)]
pub struct Viewer {
    pub crowd: ViewerCrowd,
    /// The file's name, for the title.
    pub file: String,
    /// Entries of the list with their names.
    pub list: Vec<(Playing, String)>,
    pub paused: bool,
    pub speed: f32,
    pub fade: f32,
    pub skeleton: bool,
    pub graph: bool,
    pub skip_unseen: bool,
    pub orbit: Orbit,
    pub history: History,
    /// Counts of the last picture.
    pub counts: DrawCounts,
    pub evaluated: usize,
    /// The adapter, and how its shaders read palettes.
    pub drawn_by: String,
    pub palettes: String,
    /// A problem the viewer has recovered from.
    pub notice: Notice,
    pub quit: bool,
    /// Times of the current frame so far.
    pub frame: FrameTime,
    camera: Camera,
    size: PictureSize,
}

impl Viewer {
    /// The state for a model, before a window is open.
    pub fn new(model: &Model, playing: Playing, count: usize, fade: f32) -> Result<Self, CliError> {
        let clips = model.rig.clips().iter().enumerate();
        let mut list = vec![(Playing::Rest, "(rest pose)".to_owned())];
        if !model.rig.clips().is_empty() {
            list.push((Playing::Mixed, "(a different clip each)".to_owned()));
        }
        list.extend(clips.map(|(i, clip)| {
            let name = match clip.name() {
                "" => format!("clip {i}"),
                name => text::one_line(name),
            };
            (Playing::Clip(i), name)
        }));
        let crowd = ViewerCrowd::new(model, playing, count)?;
        let size = PictureSize {
            width: 16,
            height: 9,
        };
        let camera = best_camera(&crowd, size);
        Ok(Self {
            file: text::one_line(&model.file),
            list,
            paused: false,
            speed: 1.0,
            fade,
            skeleton: false,
            graph: true,
            skip_unseen: true,
            orbit: orbit(&crowd, &camera),
            history: History::default(),
            counts: DrawCounts::default(),
            evaluated: 0,
            drawn_by: String::new(),
            palettes: String::new(),
            notice: Notice::default(),
            quit: false,
            frame: FrameTime::default(),
            camera,
            size,
            crowd,
        })
    }

    /// Name of what is playing, as in the list.
    pub fn playing(&self) -> &str {
        let playing = self.crowd.playing();
        let entry = self.list.iter().find(|e| e.0 == playing);
        entry.map_or("", |e| &e.1)
    }

    /// The window's title.
    pub fn title(&self) -> String {
        format!("{} - {} - phalanx", self.playing(), self.file)
    }

    /// Applies an action.
    pub fn apply(&mut self, action: Action) -> Result<(), CliError> {
        match action {
            Action::Play(playing) => {
                // While paused no time advances, and a fade would not end.
                let seconds = if self.paused { 0.0 } else { self.fade };
                self.crowd.choose(playing, seconds)?;
            }
            Action::Step(by) => {
                let playing = self.crowd.playing();
                let now = self.list.iter().position(|e| e.0 == playing);
                let next = now.unwrap_or(0) as isize + by;
                let next = next.rem_euclid(self.list.len() as isize) as usize;
                self.apply(Action::Play(self.list[next].0))?;
            }
            Action::Pause(paused) => self.paused = paused,
            Action::Time(time) => {
                self.paused = true;
                self.crowd.set_time(time)?;
            }
            Action::Speed(speed) => self.speed = speed.clamp(-FASTEST, FASTEST),
            Action::Fade(seconds) => self.fade = seconds.clamp(0.0, LONGEST_FADE),
            Action::Count(count) => {
                self.crowd.set_count(count.clamp(1, MOST))?;
                if !self.orbit.moved {
                    self.reset_camera();
                }
            }
            Action::Skeleton(shown) => self.skeleton = shown,
            Action::Graph(shown) => self.graph = shown,
            Action::SkipUnseen(skip) => self.skip_unseen = skip,
            Action::Turn(drag) => self.orbit.turn(drag),
            Action::Shift(drag) => self.orbit.shift(drag, self.size.height as f32),
            Action::Zoom(steps) => self.orbit.zoom(steps),
            Action::ResetCamera => self.reset_camera(),
            Action::Quit => self.quit = true,
        }
        Ok(())
    }

    fn reset_camera(&mut self) {
        let camera = best_camera(&self.crowd, self.size);
        self.orbit = orbit(&self.crowd, &camera);
    }

    /// The camera of the current picture.
    pub fn camera(&self) -> Camera {
        self.camera
    }

    /// Light, haze and ground.
    pub fn look(&self) -> Look {
        let (min, max) = self.crowd.extent();
        Look::over(min, max, self.camera.eye)
    }

    /// Advances time, whether or not a frame is shown.
    pub fn advance(&mut self, dt: f64) -> Result<(), CliError> {
        let dt = dt.min(MOST_PER_FRAME);
        self.notice.age(dt);
        let dt = dt * f64::from(self.speed);
        self.crowd.advance(if self.paused { 0.0 } else { dt })
    }

    /// Evaluates the instances visible in a picture of the given size, into the caller's memory.
    pub fn evaluate(
        &mut self,
        size: PictureSize,
        into: impl FnOnce(&mut Crowd) -> Result<FrameStats, CliError>,
    ) -> Result<(), CliError> {
        let start = Instant::now();
        if size.aspect() != self.size.aspect() && !self.orbit.moved {
            self.size = size;
            self.reset_camera();
        }
        self.size = size;
        self.camera = self.orbit.camera();
        let look = self.look();
        self.crowd
            .look(&self.camera, &look, size, self.skip_unseen)?;
        self.frame.advance += milliseconds(start.elapsed());
        let start = Instant::now();
        self.evaluated = self.crowd.evaluate(into)?;
        self.frame.evaluate = milliseconds(start.elapsed());
        Ok(())
    }

    /// Skeletons of the nearest characters, as lines in pixels of the last picture.
    pub fn bones(&self) -> Result<Vec<[Vec2; 2]>, CliError> {
        if !self.skeleton {
            return Ok(Vec::new());
        }
        let projection: Projection = self.camera.projection(self.size)?;
        let joints = self.crowd.joints(self.camera.eye, MOST_SKELETONS)?;
        let lines = joints.into_iter();
        Ok(lines.filter_map(|(a, b)| projection.line(a, b)).collect())
    }

    /// Ends the frame and adds its times to the history.
    pub fn end_frame(&mut self, total: Duration) {
        let frame = std::mem::take(&mut self.frame);
        self.history.add(frame.end(milliseconds(total)));
    }
}

/// A camera that shows a single character whole, or a crowd in perspective.
fn best_camera(crowd: &ViewerCrowd, size: PictureSize) -> Camera {
    let (min, max) = crowd.extent();
    match crowd.count() {
        1 => Camera::around(min, max, size.aspect()),
        _ => Camera::overlooking(min, max, size.aspect()),
    }
}

fn orbit(crowd: &ViewerCrowd, camera: &Camera) -> Orbit {
    let (min, max) = crowd.extent();
    // Rotation feels best around a point in the middle of the scene, not beyond it.
    let reach = (camera.eye.distance((min + max) * 0.5)).max(1e-3);
    let forward = (camera.target - camera.eye).normalize_or(Vec3::NEG_Z);
    let camera = Camera {
        target: camera.eye + forward * reach,
        ..*camera
    };
    Orbit::from_camera(&camera, max.y - min.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_go_away_even_while_paused() {
        let model = Model::load(None, false).unwrap();
        let mut viewer = Viewer::new(&model, Playing::Clip(0), 1, 0.3).unwrap();
        viewer.apply(Action::Pause(true)).unwrap();
        viewer.notice.set("lost".into());
        // However long the device took to open, the notice is shown for at least one frame.
        viewer.advance(60.0).unwrap();
        assert_eq!(viewer.notice.text(), Some("lost"));
        for _ in 0..1000 {
            viewer.advance(0.01).unwrap();
        }
        assert_eq!(viewer.notice.text(), None);
    }
}
