//! [`Viewer`]: the viewer's state without window and device, and the commands on it.

use super::super::binding::BindingArgs;
use super::super::crowd::tiers_file::BudgetArg;
use super::super::error::CliError;
use super::super::text;
use super::browser::{Browse, Browser};
use super::clip_list::ClipList;
use super::handles;
use super::history::{FrameTime, History, milliseconds};
use super::notice::Notice;
use super::opened::{Onto, Opened};
use super::orbit::Orbit;
use super::screen_joints::ScreenJoints;
use super::tiers::{ColorBy, WindowTiers};
use super::viewer_crowd::{Playing, ViewerCrowd};
use glam::{Vec2, Vec3};
use phalanx::crowd::{Crowd, FrameStats, Tiers};
use phalanx::import::ReportEntry;
use phalanx_render::{Camera, DrawCounts, Look, PictureSize};
use std::path::PathBuf;
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

/// A user's command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Play(Playing),
    /// Plays the entry at this offset in the list.
    Step(isize),
    Pause(bool),
    Time(f64),
    Speed(f32),
    Fade(f32),
    Count(usize),
    Skeleton(bool),
    Handles(bool),
    Springs(bool),
    /// Drags the handle of a limb, in pixels.
    Drag(usize, Vec2),
    /// Takes all limbs back to the clips.
    LetGo,
    /// Sets the value of the pad.
    Pad([f32; 2]),
    Wireframe(bool),
    Graph(bool),
    SkipUnseen(bool),
    /// Turns tiers on, with colours that show this, or off.
    Tiers(Option<ColorBy>),
    Budget(Option<BudgetArg>),
    /// Lists the clips whose names contain this.
    Filter(String),
    /// Gives the keyboard to the filter, or records that the filter has it.
    FocusFilter(bool),
    /// Opens a dialog, or closes it if it is open.
    Keys,
    Report,
    Browser,
    CloseDialog,
    Browse(Browse),
    Turn(Vec2),
    Shift(Vec2),
    Zoom(f32),
    ResetCamera,
    Quit,
}

/// A dialog over the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// All keys.
    Keys,
    /// The repairs and losses of the import.
    Report,
    /// A file to open.
    Open(Browser),
}

/// The viewer's state.
#[derive(Debug)]
pub struct Viewer {
    pub crowd: ViewerCrowd,
    /// The file's name, for the title.
    pub file: String,
    folder: Option<PathBuf>,
    pub list: ClipList,
    /// Names of the joints.
    pub joints: Vec<String>,
    /// The repairs and losses of the import.
    pub report: Vec<ReportEntry>,
    /// True for files that hold no report.
    pub baked: bool,
    pub dialog: Option<Dialog>,
    /// True if the filter shall get the keyboard.
    pub focus_filter: bool,
    /// A file to open.
    pub open: Option<PathBuf>,
    /// A file that was dropped, and whether only its clips are wanted.
    pub dropped: Option<(PathBuf, bool)>,
    /// Name of the file that is being loaded.
    pub loading: Option<String>,
    pub paused: bool,
    pub speed: f32,
    pub fade: f32,
    pub skeleton: bool,
    pub handles: bool,
    pub wireframe: bool,
    pub graph: bool,
    pub skip_unseen: bool,
    pub tiers: WindowTiers,
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
    pub fn new(opened: Opened, fade: f32) -> Self {
        let size = PictureSize { width: 16, height: 9 };
        let crowd = opened.crowd;
        let camera = best_camera(&crowd, size);
        Self {
            file: text::one_line(&opened.file),
            folder: opened.folder,
            list: ClipList::new(&opened.rig),
            joints: joint_names(opened.rig.skeleton().names()),
            report: opened.report,
            baked: opened.baked,
            dialog: None,
            focus_filter: false,
            open: None,
            dropped: None,
            loading: None,
            paused: false,
            speed: 1.0,
            fade,
            skeleton: false,
            handles: false,
            wireframe: false,
            graph: true,
            skip_unseen: true,
            tiers: WindowTiers::default(),
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
        }
    }

    /// Shows another model. Settings stay, except the filter and the camera.
    pub fn show(&mut self, opened: Opened) -> Result<(), CliError> {
        let count = self.crowd.count();
        self.file = text::one_line(&opened.file);
        self.folder = opened.folder;
        self.list = ClipList::new(&opened.rig);
        self.joints = joint_names(opened.rig.skeleton().names());
        self.report = opened.report;
        self.baked = opened.baked;
        self.crowd = opened.crowd;
        if self.crowd.count() != count {
            self.crowd.set_count(count)?;
        }
        self.show_handles(self.handles)?;
        self.reset_camera();
        self.apply_tiers()
    }

    /// The tiers and the budget that the window opens with; either turns tiers on.
    pub fn start_tiers(
        &mut self,
        tiers: Option<Tiers>,
        budget: Option<BudgetArg>,
    ) -> Result<(), CliError> {
        self.tiers.set(tiers, budget);
        self.apply_tiers()
    }

    /// Takes note of the largest palette, in rows, of which the device holds pairs.
    pub fn set_most_pair_rows(&mut self, rows: u64) -> Result<(), CliError> {
        self.tiers.most_pair_rows = rows;
        self.apply_tiers()
    }

    /// Gives the crowd the tiers that are set.
    fn apply_tiers(&mut self) -> Result<(), CliError> {
        let rows = self.crowd.source.palette_len();
        let default = self.crowd.default_tiers();
        if let Some(notice) = self.tiers.without_pairs(&default, rows) {
            self.notice.set(notice);
        }
        self.crowd.set_tiers(self.tiers.of(&default, rows), self.tiers.color_by)
    }

    /// The state that a dropped file is added to.
    pub fn onto(&self, clips_only: bool, binding: BindingArgs) -> Onto {
        Onto {
            file: self.file.clone(),
            folder: self.folder.clone(),
            rig: self.crowd.source.clone(),
            report: self.report.clone(),
            baked: self.baked,
            clips_only,
            binding,
        }
    }

    /// Name of the clip that plays, as in the list.
    pub fn playing(&self) -> &str {
        self.list.name(self.crowd.playing())
    }

    /// The window's title.
    pub fn title(&self) -> String {
        format!("{} - {} - phalanx", self.playing(), self.file)
    }

    /// Applies a command.
    pub fn apply(&mut self, command: Command) -> Result<(), CliError> {
        match command {
            Command::Play(playing) => {
                self.crowd.choose(playing, self.seconds())?;
            }
            Command::Step(by) => {
                if let Some(next) = self.list.step(self.crowd.playing(), by) {
                    self.apply(Command::Play(next))?;
                }
            }
            Command::Pause(paused) => self.paused = paused,
            Command::Time(time) => {
                self.paused = true;
                self.crowd.set_time(time)?;
            }
            Command::Speed(speed) => self.speed = speed.clamp(-FASTEST, FASTEST),
            Command::Fade(seconds) => self.fade = seconds.clamp(0.0, LONGEST_FADE),
            Command::Count(count) => {
                if count > MOST {
                    let most = text::count(MOST as u64);
                    let text = format!("{most} characters are the most that a window shows");
                    self.notice.set(text);
                }
                self.crowd.set_count(count.clamp(1, MOST))?;
                if !self.orbit.moved {
                    self.reset_camera();
                }
            }
            Command::Skeleton(shown) => self.skeleton = shown,
            Command::Handles(shown) => self.show_handles(shown)?,
            Command::Springs(swing) => {
                if !self.crowd.swing(swing)? {
                    self.notice.set("No springs: the file has none".into());
                }
            }
            Command::Drag(limb, by) => {
                let (camera, height) = (self.camera, self.size.height);
                self.crowd.drag(camera.eye, limb, |at| handles::moved(&camera, height, at, by))?;
            }
            Command::LetGo => self.crowd.let_go(self.seconds())?,
            Command::Pad(at) => self.crowd.set_pad(at)?,
            Command::Wireframe(shown) => self.wireframe = shown,
            Command::Filter(text) => self.list.filter = text,
            Command::FocusFilter(wanted) => self.focus_filter = wanted,
            Command::Keys => self.toggle(Dialog::Keys),
            Command::Report => self.toggle(Dialog::Report),
            Command::Browser => {
                let browser = Browser::new(self.folder.as_deref());
                self.dialog = Some(Dialog::Open(browser));
            }
            Command::CloseDialog => self.dialog = None,
            Command::Browse(browse) => {
                if let Some(Dialog::Open(browser)) = &mut self.dialog
                    && let Some(file) = browser.apply(browse)
                {
                    self.dialog = None;
                    self.open = Some(file);
                }
            }
            Command::Graph(shown) => self.graph = shown,
            Command::SkipUnseen(skip) => self.skip_unseen = skip,
            Command::Tiers(color_by) => {
                self.tiers.color_by = color_by;
                self.apply_tiers()?;
            }
            Command::Budget(budget) => self.tiers.set_budget(budget),
            Command::Turn(drag) => self.orbit.turn(drag),
            Command::Shift(drag) => self.orbit.shift(drag, self.size.height as f32),
            Command::Zoom(steps) => self.orbit.zoom(steps),
            Command::ResetCamera => self.reset_camera(),
            Command::Quit => self.quit = true,
        }
        Ok(())
    }

    /// Duration of fades. While paused no time advances, and a fade would not end.
    fn seconds(&self) -> f32 {
        if self.paused { 0.0 } else { self.fade }
    }

    fn show_handles(&mut self, shown: bool) -> Result<(), CliError> {
        self.handles = shown;
        if shown && !self.crowd.find_limbs()? {
            self.notice.set("No handles: the model has no chain of three joints".into());
        }
        Ok(())
    }

    fn toggle(&mut self, dialog: Dialog) {
        let open = self.dialog.as_ref() == Some(&dialog);
        self.dialog = (!open).then_some(dialog);
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
        self.crowd.look(&self.camera, &look, size, self.skip_unseen)?;
        self.crowd.set_budget(self.tiers.palettes())?;
        self.frame.advance += milliseconds(start.elapsed());
        let start = Instant::now();
        let (evaluated, time) = self.crowd.evaluate(into)?;
        self.evaluated = evaluated;
        self.frame.evaluate = milliseconds(start.elapsed());
        if let Some((_, frame)) = self.crowd.tiers() {
            self.tiers.observe(frame, time);
        }
        Ok(())
    }

    /// Skeletons and handles of the nearest characters, in pixels of the last picture.
    pub fn screen_joints(&self) -> Result<ScreenJoints, CliError> {
        let mut shown = ScreenJoints::default();
        if !self.skeleton && !self.handles {
            return Ok(shown);
        }
        let (eye, projection) = (self.camera.eye, self.camera.projection(self.size)?);
        if self.skeleton {
            shown = ScreenJoints::project(&self.crowd.joints(eye, MOST_SKELETONS)?, &projection);
        }
        if self.handles {
            shown.add_handles(&self.crowd.handles(eye)?, &projection);
        }
        Ok(shown)
    }

    /// Ends the frame and adds its times to the history.
    pub fn end_frame(&mut self, total: Duration) {
        let frame = std::mem::take(&mut self.frame);
        self.history.add(frame.end(milliseconds(total)));
    }
}

/// Display names of joints.
fn joint_names(names: &[String]) -> Vec<String> {
    let shown = |(joint, name): (usize, &String)| match name.as_str() {
        "" => format!("joint {joint}"),
        name => format!("{} ({joint})", text::one_line(name)),
    };
    names.iter().enumerate().map(shown).collect()
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
    let camera = Camera { target: camera.eye + forward * reach, ..*camera };
    Orbit::from_camera(&camera, max.y - min.y)
}

#[cfg(test)]
mod tests {
    use super::super::super::frame_renderer::PaletteArg;
    use super::*;
    use phalanx::crowd::BoneBuffer;
    use std::path::Path;

    fn viewer(count: usize) -> Viewer {
        let (opened, _) = Opened::load(None, count, PaletteArg(None), Default::default()).unwrap();
        Viewer::new(opened, 0.3)
    }

    #[test]
    fn notices_go_away_even_while_paused() {
        let mut viewer = viewer(1);
        viewer.apply(Command::Pause(true)).unwrap();
        viewer.notice.set("lost".into());
        // However long the device took to open, the notice is shown for at least one frame.
        viewer.advance(60.0).unwrap();
        assert_eq!(viewer.notice.text(), Some("lost"));
        for _ in 0..1000 {
            viewer.advance(0.01).unwrap();
        }
        assert_eq!(viewer.notice.text(), None);
    }

    #[test]
    fn another_model_keeps_what_was_set() {
        let mut viewer = viewer(2);
        for command in [
            Command::Speed(2.0),
            Command::Filter("walk".into()),
            Command::Count(3),
            Command::Play(Playing::Clip(2)),
        ] {
            viewer.apply(command).unwrap();
        }
        let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/mannequin_lod1.glb");
        // The count was another when the file began to load.
        let (opened, _) =
            Opened::load(Some(&asset), 2, PaletteArg(None), Default::default()).unwrap();
        viewer.show(opened).unwrap();
        assert_eq!((viewer.crowd.count(), viewer.speed), (3, 2.0));
        assert_eq!(viewer.crowd.playing(), Playing::Rest);
        assert_eq!(viewer.list.filter, "");
        assert!(viewer.title().contains("mannequin_lod1.glb"));
        viewer.advance(0.1).unwrap();
    }

    /// Errors of the default tiers fit the model's size; the tiers of a file are unchanged.
    #[test]
    fn default_tiers_fit_the_model() {
        let error = |viewer: &Viewer| {
            let (tiers, _) = viewer.crowd.tiers().unwrap();
            tiers.tiers[1].shared_error.unwrap()
        };
        let mut viewer = viewer(1);
        let by = Some(ColorBy::Sharing);
        viewer.apply(Command::Tiers(by)).unwrap();
        assert_eq!(error(&viewer), 0.003);
        let Some(fox) = phalanx_testkit::trials::model("Fox.glb") else {
            return;
        };
        let load = || {
            let loaded = Opened::load(Some(&fox), 1, PaletteArg(None), Default::default());
            loaded.unwrap().0
        };
        viewer.show(load()).unwrap();
        // 1.5 m in centimetres.
        let scaled = error(&viewer);
        assert!(scaled > 0.2 && scaled < 0.4, "{scaled}");
        viewer.start_tiers(Some(Tiers::default()), None).unwrap();
        assert_eq!(error(&viewer), 0.003);
        viewer.show(load()).unwrap();
        assert_eq!(error(&viewer), 0.003);
    }

    /// Whatever is collected for the picture does not count.
    #[test]
    fn a_budget_of_time_is_for_the_evaluation_alone() {
        let mut viewer = viewer(3000);
        let budget = BudgetArg::Microseconds(1e6);
        viewer.start_tiers(None, Some(budget)).unwrap();
        let size = PictureSize { width: 640, height: 360 };
        let mut bones = BoneBuffer::new();
        for _ in 0..3 {
            let (mut least, mut most) = (Duration::ZERO, Duration::ZERO);
            let began = Instant::now();
            viewer
                .evaluate(size, |crowd| {
                    let start = Instant::now();
                    let done = crowd.evaluate(&mut bones);
                    least = start.elapsed();
                    most = began.elapsed();
                    Ok(done)
                })
                .unwrap();
            let taken = viewer.tiers.taken();
            assert!(taken >= least, "{taken:?} {least:?}");
            assert!(taken.as_secs_f32() * 1e3 < viewer.frame.evaluate);
            // Work after the evaluation would exceed this.
            assert!(taken < most + Duration::from_micros(50), "{taken:?} {most:?}");
        }
    }

    #[test]
    fn more_characters_than_the_limit_are_reported() {
        let mut viewer = viewer(1);
        viewer.apply(Command::Count(MOST)).unwrap();
        assert_eq!(viewer.notice.text(), None);
        viewer.apply(Command::Count(MOST * 2)).unwrap();
        assert_eq!(viewer.crowd.count(), MOST);
        let notice = viewer.notice.text().unwrap();
        assert!(notice.starts_with("20,000 characters"), "{notice}");
    }
}
