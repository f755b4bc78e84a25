//! [`App`]: handles the window's events, opens files and reopens a lost device.

use super::super::binding::BindingArgs;
use super::super::error::CliError;
use super::super::import_args::ImportArgs;
use super::super::quiet;
use super::super::text::one_line;
use super::display::{Display, FrameOutcome};
use super::history::milliseconds;
use super::opened::{Loader, Opened, Subject};
use super::viewer::Viewer;
use phalanx::gpu::GpuError;
use phalanx_render::{PictureSize, RenderError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::window::{Window, WindowId};

/// Largest number of devices lost within a minute before the viewer gives up.
const MOST_LOSSES: usize = 5;

/// Interval at which time advances while nothing can be shown.
const HIDDEN_STEP: Duration = Duration::from_millis(50);

/// Frame numbers at which the window closes, and at which its device is destroyed on purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunLimits {
    pub frames: Option<u64>,
    pub lose_device_at: Option<u64>,
}

/// The window and its contents.
pub struct App {
    pub viewer: Viewer,
    /// How files that are dropped on the window are imported.
    pub import: ImportArgs,
    /// How clips of such files are bound.
    pub binding: BindingArgs,
    subject: Subject,
    size: PictureSize,
    limits: RunLimits,
    loader: Loader,
    display: Option<Display>,
    title: String,
    /// Start of the last frame, and whether it was shown.
    last: Option<Instant>,
    shown: bool,
    losses: Vec<Instant>,
    /// Whether a Shift key is held.
    shift: bool,
    /// Total number of frames shown and of devices lost.
    pub frames: u64,
    pub lost: u64,
    /// Error that closed the window, if any.
    pub error: Option<CliError>,
}

impl App {
    /// Creates the state before the window is opened. `subject` is the model on show.
    pub fn new(viewer: Viewer, subject: Subject, size: PictureSize, limits: RunLimits) -> Self {
        Self {
            viewer,
            import: ImportArgs::default(),
            binding: BindingArgs::default(),
            subject,
            size,
            limits,
            loader: Loader::default(),
            display: None,
            title: String::new(),
            last: None,
            shown: false,
            losses: Vec::new(),
            shift: false,
            frames: 0,
            lost: 0,
            error: None,
        }
    }

    /// Closes the window and its device.
    pub fn close(&mut self) {
        quiet::during(|| self.display = None);
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), CliError> {
        let size = PhysicalSize::new(self.size.width, self.size.height);
        self.title = self.viewer.title();
        let attributes = Window::default_attributes().with_title(&self.title).with_inner_size(size);
        let window = event_loop.create_window(attributes);
        let window = window.map_err(|e| CliError::Window { reason: e.to_string() })?;
        let started = self.start(Arc::new(window));
        started.map_err(|error| match error {
            // Nothing has been drawn yet, so the cause is reported as a window error.
            CliError::Render(source) => CliError::Window { reason: source.to_string() },
            error => error,
        })
    }

    fn start(&mut self, window: Arc<Window>) -> Result<(), CliError> {
        let display = quiet::during(|| Display::open(window, &self.subject))?;
        [self.viewer.drawn_by, self.viewer.palettes] = display.drawn_by();
        self.viewer.set_most_pair_rows(display.most_pair_rows())?;
        display.window().request_redraw();
        self.display = Some(display);
        Ok(())
    }

    /// Advances time, and draws a frame if it can be shown.
    fn frame(&mut self) -> Result<(), CliError> {
        let start = Instant::now();
        let since = self.last.replace(start).map_or(Duration::ZERO, |l| start - l);
        if std::mem::take(&mut self.shown) {
            self.viewer.end_frame(since);
        }
        self.viewer.advance(since.as_secs_f64())?;
        self.viewer.frame.advance = milliseconds(start.elapsed());
        self.open_files()?;
        let Some(display) = &mut self.display else {
            return Ok(());
        };
        if self.limits.lose_device_at == Some(self.frames) {
            self.limits.lose_device_at = None;
            display.lose_device();
        }
        match display.frame(&mut self.viewer, &self.subject) {
            Ok(FrameOutcome::Shown) => {
                self.frames += 1;
                self.shown = true;
                let title = self.viewer.title();
                if title != self.title {
                    display.window().set_title(&title);
                    self.title = title;
                }
                let over = |most: u64| self.frames >= most;
                self.viewer.quit |= self.limits.frames.is_some_and(over);
                if self.viewer.quit {
                    // No later frame will end this one.
                    self.viewer.end_frame(start.elapsed());
                }
                Ok(())
            }
            Ok(FrameOutcome::Hidden) => Ok(()),
            Err(error) => self.recover(error),
        }
    }

    /// Starts to load a file that was chosen, and shows one that is loaded. If that
    /// fails, a notice says why, and what is shown stays.
    fn open_files(&mut self) -> Result<(), CliError> {
        if let Some(file) = self.viewer.open.take() {
            let count = self.viewer.crowd.count();
            let palettes = self.subject.palettes();
            self.loader.start(file, count, palettes, self.import);
        }
        if let Some((file, clips_only)) = self.viewer.dropped.take() {
            let (count, palettes) = (self.viewer.crowd.count(), self.subject.palettes());
            let onto = self.viewer.onto(clips_only, self.binding);
            self.loader.start_dropped(file, onto, count, palettes, self.import);
        }
        let loaded = self.loader.poll();
        let shown = |file: &std::path::Path| one_line(&file.display().to_string());
        self.viewer.loading = self.loader.file().map(shown);
        match loaded {
            None => Ok(()),
            Some(Ok((opened, subject))) => self.change(opened, subject),
            Some(Err(error)) => {
                self.viewer.notice.set(one_line(&error));
                Ok(())
            }
        }
    }

    fn change(&mut self, opened: Opened, subject: Subject) -> Result<(), CliError> {
        let display = self.display.as_mut();
        let loaded = display.map(|d| quiet::during(|| d.load(&subject)));
        match loaded.transpose() {
            Err(error) if !is_lost(&error) => {
                let text = format!("{}: {error}", opened.file);
                self.viewer.notice.set(one_line(&text));
                Ok(())
            }
            loaded => {
                self.subject = subject;
                self.viewer.show(opened)?;
                loaded.map(drop).or_else(|lost| self.recover(lost.into()))
            }
        }
    }

    /// Reopens a lost device; the viewer's state is kept. Other errors are returned.
    fn recover(&mut self, error: CliError) -> Result<(), CliError> {
        let lost = matches!(&error, CliError::Render(source) if is_lost(source));
        let Some(display) = self.display.take().filter(|_| lost) else {
            return Err(error);
        };
        self.lost += 1;
        self.losses.retain(|at| at.elapsed() < Duration::from_secs(60));
        self.losses.push(Instant::now());
        if self.losses.len() > MOST_LOSSES {
            return Err(error);
        }
        self.viewer.notice.set(format!("{error}; the device was reopened"));
        // The old surface is dropped first: a window can have only one.
        let window = quiet::during(|| display.close());
        self.start(window)
    }

    /// Runs `work`, and closes the window if it fails.
    fn attempt(
        &mut self,
        event_loop: &ActiveEventLoop,
        work: impl FnOnce(&mut Self) -> Result<(), CliError>,
    ) {
        if let Err(error) = work(self) {
            self.error = Some(error);
        }
        if self.error.is_some() || self.viewer.quit {
            self.display = None;
            event_loop.exit();
        }
    }
}

fn is_lost(error: &RenderError) -> bool {
    matches!(error, RenderError::Gpu(GpuError::Lost { .. }))
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.display.is_none() && self.error.is_none() {
            self.attempt(event_loop, |app| app.open(event_loop));
        }
    }

    fn suspended(&mut self, _: &ActiveEventLoop) {
        self.display = None;
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.attempt(event_loop, |app| {
            let Some(display) = &mut app.display else {
                return Ok(());
            };
            match event {
                WindowEvent::CloseRequested => app.viewer.quit = true,
                WindowEvent::RedrawRequested => return app.frame(),
                WindowEvent::DroppedFile(file) => {
                    app.viewer.dropped = Some((file.clone(), app.shift));
                    app.viewer.dialog = None;
                    // Tells the interface that the drag has ended.
                    if let Err(error) = display.event(&WindowEvent::DroppedFile(file)) {
                        return app.recover(RenderError::from(error).into());
                    }
                }
                event => {
                    if let WindowEvent::ModifiersChanged(keys) = &event {
                        app.shift = keys.state().shift_key();
                    }
                    if let Err(error) = display.event(&event) {
                        return app.recover(RenderError::from(error).into());
                    }
                }
            }
            Ok(())
        });
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(display) = &self.display else {
            return;
        };
        if display.has_pixels() {
            event_loop.set_control_flow(ControlFlow::Wait);
            display.window().request_redraw();
        } else {
            // A minimised window gets no redraw events, but its time advances.
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + HIDDEN_STEP));
            self.attempt(event_loop, Self::frame);
        }
    }
}
