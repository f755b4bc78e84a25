//! [`Opened`]: a model ready to be shown, and [`Loader`], which makes one while the window goes on.

use super::super::binding::BindingArgs;
use super::super::clips::{BoundFile, ClipFile, on_rig};
use super::super::crowd::picture;
use super::super::error::CliError;
use super::super::frame_renderer::PaletteArg;
use super::super::import_args::ImportArgs;
use super::super::model::Model;
use super::super::textures;
use super::viewer_crowd::{Playing, ViewerCrowd};
use phalanx::import::{ReportEntry, Severity};
use phalanx::rig::Rig;
use phalanx_render::{DrawMesh, DrawModel, RigShape};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// The rig on show and its meshes.
pub struct Subject {
    rig: Arc<Rig>,
    shape: RigShape<'static>,
    palettes: PaletteArg,
}

impl Subject {
    /// The meshes of a rig, drawn with palettes of this kind.
    pub fn new(rig: &Arc<Rig>, palettes: PaletteArg) -> Self {
        Self { rig: rig.clone(), shape: RigShape::shared(rig.clone()), palettes }
    }

    /// Number of palette rows of a character.
    pub fn joints(&self) -> usize {
        self.rig.palette_len()
    }

    /// How shaders read palettes.
    pub fn palettes(&self) -> PaletteArg {
        self.palettes
    }

    /// Runs `work` with the models as scenes take them: lists of references, made in a moment.
    pub fn with_models<R>(&self, work: impl FnOnce(&[DrawModel]) -> R) -> R {
        let lods = 0..self.rig.lod_count();
        let meshes: Vec<Vec<DrawMesh>> = lods.map(|lod| self.shape.meshes(lod)).collect();
        let details = picture::levels(&meshes);
        work(&[DrawModel { details: &details }])
    }
}

/// A model ready to be shown.
pub struct Opened {
    pub file: String,
    /// The file's folder; `None` for the built-in character.
    pub folder: Option<PathBuf>,
    pub rig: Arc<Rig>,
    /// The repairs, losses and unused data of the import, and missing textures.
    pub report: Vec<ReportEntry>,
    /// True for files that hold no report.
    pub baked: bool,
    pub crowd: ViewerCrowd,
}

impl Opened {
    /// Loads a file, and what is drawn of it; `None` is the built-in character. It plays its first clip.
    pub fn load(
        file: Option<&Path>,
        count: usize,
        palettes: PaletteArg,
        import: ImportArgs,
    ) -> Result<(Self, Subject), CliError> {
        Self::alone(Model::load(file, true, import)?, file, count, palettes)
    }

    /// Creates the model of a file alone. It plays its first clip.
    fn alone(
        model: Model,
        file: Option<&Path>,
        count: usize,
        palettes: PaletteArg,
    ) -> Result<(Self, Subject), CliError> {
        let model = model.with_shape()?;
        let playing = match model.rig.clips().is_empty() {
            true => Playing::Rest,
            false => Playing::Clip(0),
        };
        let folder = file.map(|file| file.parent().unwrap_or(Path::new("")).to_owned());
        Self::new(&model, folder, playing, count, palettes)
    }

    /// A model that is loaded, and what is drawn of it.
    pub fn new(
        model: &Model,
        folder: Option<PathBuf>,
        playing: Playing,
        count: usize,
        palettes: PaletteArg,
    ) -> Result<(Self, Subject), CliError> {
        let mut report = model.report.clone();
        let missing = textures::missing(model);
        report.extend(missing.map(|what| ReportEntry::new(Severity::Note, "textures", what)));
        let opened = Self {
            file: model.file.clone(),
            folder,
            rig: model.rig.clone(),
            report,
            baked: model.library.is_some(),
            crowd: ViewerCrowd::new(model, playing, count)?,
        };
        Ok((opened, Subject::new(&model.rig, palettes)))
    }
}

/// The state of the window when a file is dropped on it.
pub struct Onto {
    pub file: String,
    pub folder: Option<PathBuf>,
    pub rig: Arc<Rig>,
    pub report: Vec<ReportEntry>,
    pub baked: bool,
    /// Whether the file's clips are wanted even if it has meshes.
    pub clips_only: bool,
    /// How its clips are bound.
    pub binding: BindingArgs,
}

impl Opened {
    /// A file that was dropped: its clips play on what is shown if that is asked for, or if it has no meshes and
    /// joints of the same names. Otherwise it is opened.
    fn dropped(
        file: &Path,
        onto: Onto,
        count: usize,
        palettes: PaletteArg,
        import: ImportArgs,
    ) -> Result<(Self, Subject), CliError> {
        let model = Model::load(Some(file), true, import)?;
        let motion = model.rig.meshes().is_empty() && !model.rig.clips().is_empty();
        if onto.clips_only || motion {
            let first = onto.rig.clips().len();
            let source = ClipFile::of(&model, file);
            match source.and_then(|source| on_rig(&onto.rig, &onto.file, &[source], onto.binding)) {
                Ok((rig, bound)) => {
                    let mut report = onto.report;
                    let lines = bound.iter().flat_map(BoundFile::lines);
                    report
                        .extend(lines.map(|line| ReportEntry::new(Severity::Note, "clips", line)));
                    let shown = Model {
                        file: onto.file,
                        built_in: false,
                        rig: Arc::new(rig),
                        report,
                        library: None,
                        bound,
                    };
                    let playing = Playing::Clip(first);
                    let made = Self::new(&shown, onto.folder, playing, count, palettes)?;
                    return Ok((Self { baked: onto.baked, ..made.0 }, made.1));
                }
                Err(error) if onto.clips_only => return Err(error),
                // Its joints differ: it is shown alone.
                Err(_) => {}
            }
        }
        Self::alone(model, Some(file), count, palettes)
    }
}

/// A file that was loaded, or why it cannot be.
pub type Loaded = Result<(Opened, Subject), String>;

/// Loads a file on its own thread.
#[derive(Default)]
pub struct Loader {
    job: Option<(PathBuf, Receiver<Loaded>)>,
}

impl Loader {
    /// Starts to load a file. A file that is being loaded is forgotten.
    pub fn start(&mut self, file: PathBuf, count: usize, palettes: PaletteArg, import: ImportArgs) {
        self.run(file, move |path| Opened::load(Some(path), count, palettes, import));
    }

    /// Starts to load a file that was dropped.
    pub fn start_dropped(
        &mut self,
        file: PathBuf,
        onto: Onto,
        count: usize,
        palettes: PaletteArg,
        import: ImportArgs,
    ) {
        self.run(file, move |path| Opened::dropped(path, onto, count, palettes, import));
    }

    fn run(
        &mut self,
        file: PathBuf,
        load: impl FnOnce(&Path) -> Result<(Opened, Subject), CliError> + Send + 'static,
    ) {
        let (sender, receiver) = channel();
        let path = file.clone();
        let work = move || {
            let opened = load(&path);
            // Fails if another file was chosen meanwhile.
            let _ = sender.send(opened.map_err(|e| e.to_string()));
        };
        std::thread::spawn(work);
        self.job = Some((file, receiver));
    }

    /// The file that is being loaded.
    pub fn file(&self) -> Option<&Path> {
        self.job.as_ref().map(|job| job.0.as_path())
    }

    /// The file once it is loaded, or why it cannot be.
    pub fn poll(&mut self) -> Option<Loaded> {
        let (file, receiver) = self.job.as_ref()?;
        let done = match receiver.try_recv() {
            Ok(done) => done,
            Err(TryRecvError::Empty) => return None,
            // The thread panicked.
            Err(TryRecvError::Disconnected) => Err(format!("{}: cannot be loaded", file.display())),
        };
        self.job = None;
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn wait(loader: &mut Loader) -> Loaded {
        loop {
            match loader.poll() {
                Some(done) => return done,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    #[test]
    fn files_are_loaded_apart_and_errors_name_them() {
        let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/mannequin.glb");
        let mut loader = Loader::default();
        assert!(loader.poll().is_none() && loader.file().is_none());
        loader.start("/nonexistent/fox.glb".into(), 1, PaletteArg(None), Default::default());
        assert_eq!(loader.file(), Some(Path::new("/nonexistent/fox.glb")));
        let error = wait(&mut loader).err().unwrap();
        assert!(error.contains("/nonexistent/fox.glb"), "{error}");
        // The last file chosen is the one that is loaded.
        loader.start("/nonexistent/fox.glb".into(), 1, PaletteArg(None), Default::default());
        loader.start(asset.clone(), 3, PaletteArg(None), Default::default());
        let (opened, subject) = wait(&mut loader).ok().unwrap();
        assert_eq!(opened.file, asset.display().to_string());
        assert_eq!(opened.crowd.count(), 3);
        let meshes = subject.with_models(|m| m[0].details[0].meshes.len());
        assert!(meshes > 0 && loader.file().is_none());
    }
}
