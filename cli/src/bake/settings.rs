//! Settings of a bake: everything besides the inputs that determines an output.

use super::super::binding::BindingArgs;
use super::super::error::CliError;
use super::super::import_args::ImportArgs;
use super::super::memory::BAKING;
use super::quality::Quality;
use super::{BakeArgs, BakeFault, Length};
use phalanx::bake::{BakeOptions, ErrorReport, bake, bake_memory, measure_error, measure_source};
use phalanx::clip::Clip;
use phalanx::format::{ClipForm, ClipOrigin, Library, Provenance, Source};
use phalanx::import::raw::RawScene;
use phalanx::import::{ImportOptions, UpAxis};
use phalanx::rig::Rig;
use phalanx::skeleton::Skeleton;
use std::path::Path;

/// The tool's name stored in files. The baker's number is raised whenever the same input gives different
/// bytes, so that outputs of an older baker are not skipped; `tests/format/baked/settings.rs` pins the output.
pub const TOOL: &str = concat!("phalanx ", env!("CARGO_PKG_VERSION"), ", baker 7");

/// The word that marks an input whose clips are bound.
const BOUND: &str = " bound";

/// Stands before the source of the lane order, the last of the settings that all inputs share.
const ORDER: &str = " order=";

/// Separates the per-joint settings, which come last, from the rest of the settings' text.
const QUALITY: &str = " quality=";

/// The settings of a bake.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub max_error: Length,
    pub shell: Length,
    pub exact: bool,
    pub up: UpAxis,
    pub form: ClipForm,
    pub prefix: bool,
    pub quality: Quality,
    pub import: ImportArgs,
    /// How clips of `--clips` are bound.
    pub binding: BindingArgs,
}

/// A baked clip and its measured error.
#[derive(Clone, Debug)]
pub struct Baked {
    pub clip: Clip,
    pub name: String,
    /// Measured error and sizes; for exact clips, measured against the clip itself.
    pub report: ErrorReport,
    /// The shell at which it was measured, metres.
    pub shell: f32,
}

impl Settings {
    pub fn new(args: &BakeArgs) -> Result<Self, CliError> {
        let quality = args.quality.as_deref().map(Quality::load).transpose()?;
        Ok(Self {
            max_error: args.max_error,
            shell: args.shell,
            exact: args.exact,
            up: args.up,
            form: args.form,
            prefix: args.prefix,
            quality: quality.unwrap_or_default(),
            import: args.import,
            binding: args.clips.binding,
        })
    }

    /// The settings as text, for provenance; `order` names the source of the lane order.
    pub fn text(&self, order: &str) -> String {
        let profile = match self.exact {
            true => "exact".to_owned(),
            false => format!("max-error={} shell={}", self.max_error, self.shell),
        };
        let up = match self.up {
            UpAxis::Y => "y",
            UpAxis::Z => "z",
        };
        let prefix = if self.prefix { " prefix" } else { "" };
        let form = self.form.name();
        let quality = match self.quality.is_empty() {
            true => String::new(),
            false => format!("{QUALITY}{}", self.quality.text()),
        };
        let trim = if self.import.trim { " trim" } else { "" };
        // Leniently, clips are read that are left out otherwise.
        let lenient = if self.import.lenient { " lenient" } else { "" };
        // Left out for the unit of glTF, so that outputs from before BVH files were read are still skipped.
        let unit = match self.import.unit.filter(|&unit| unit != ImportOptions::default().unit) {
            None => String::new(),
            Some(unit) => format!(" unit={unit}"),
        };
        format!("{profile} up={up}{unit} form={form}{prefix}{trim}{lenient}{ORDER}{order}{quality}")
    }

    /// The text of an input whose clips are bound, with the options of binding.
    pub fn text_bound(&self, order: &str) -> String {
        let binding = self.binding.text();
        match self.text(order).split_once(QUALITY) {
            Some((words, quality)) => format!("{words}{binding}{BOUND}{QUALITY}{quality}"),
            None => self.text(order) + &binding + BOUND,
        }
    }

    /// Whether a text is of an input whose clips are bound.
    pub fn is_bound(text: &str) -> bool {
        let words = text.split_once(QUALITY).map_or(text, |(words, _)| words);
        words.ends_with(BOUND)
    }

    /// The part of a settings text that all inputs of a bake share: up to the order, without the settings of bound inputs.
    pub fn shared(text: &str) -> String {
        let (words, quality) = match text.split_once(QUALITY) {
            Some((words, quality)) => (words, Some(quality)),
            None => (text, None),
        };
        let end = words.find(ORDER).map_or(words.len(), |at| {
            let order = &words[at + ORDER.len()..];
            at + ORDER.len() + order.find(' ').unwrap_or(order.len())
        });
        match quality {
            None => words[..end].to_owned(),
            Some(quality) => format!("{}{QUALITY}{quality}", &words[..end]),
        }
    }

    /// Parses the settings needed to measure a clip again from a settings text. `shell` is the clip's.
    pub fn of_text(text: &str, shell: f32) -> Self {
        let (words, quality) = text.split_once(QUALITY).unwrap_or((text, ""));
        let value = |name: &str| {
            let mut words = words.split(' ');
            words.find_map(|w| w.strip_prefix(name)?.strip_prefix('='))
        };
        let max_error = value("max-error").and_then(|v| v.parse().ok());
        Self {
            max_error: max_error.unwrap_or(Length::Metres(BakeOptions::default().max_error)),
            shell: Length::Metres(shell),
            exact: words.split(' ').any(|w| w == "exact"),
            up: match value("up") {
                Some("z") => UpAxis::Z,
                _ => UpAxis::Y,
            },
            form: ClipForm::default(),
            prefix: false,
            quality: Quality::of_text(quality).unwrap_or_default(),
            import: ImportArgs {
                trim: words.split(' ').any(|w| w == "trim"),
                lenient: words.split(' ').any(|w| w == "lenient"),
                unit: value("unit").and_then(|v| v.parse().ok()),
                ..ImportArgs::default()
            },
            binding: BindingArgs::of_text(words),
        }
    }

    /// True if the file exists, is intact, and was made from these sources and settings.
    pub fn is_done(path: &Path, sources: &[Source]) -> bool {
        Library::open(path).is_ok_and(|library| {
            let p = library.provenance();
            p.tool == TOOL && p.sources == sources && library.check_sums().is_ok()
        })
    }

    /// Fails if the settings name joints that a skeleton does not have.
    pub fn check(&self, skeleton: &Skeleton, file: &str) -> Result<(), BakeFault> {
        self.of_skeleton(skeleton, file).map(|_| ())
    }

    /// Bakes a clip with these settings.
    pub fn build(
        &self,
        clip: &Clip,
        skeleton: &Skeleton,
        name: String,
        file: &str,
    ) -> Result<Baked, BakeFault> {
        let settings = self.of_skeleton(skeleton, file)?;
        let needed = bake_memory(clip, skeleton).map_err(fault(file))?;
        // Waits for other clips while there is not as much. A clip is baked by its thread alone.
        let Some(_part) = BAKING.take(needed) else {
            return Err(BakeFault::Memory { file: file.to_owned(), clip: name, needed });
        };
        let (clip, report) = match self.exact {
            true => (clip.clone(), self.measure(clip, clip, skeleton, file)?),
            false => bake(clip, skeleton, &settings).map_err(fault(file))?,
        };
        Ok(Baked { clip, name, report, shell: settings.shell })
    }

    /// Largest error of a scalar, relative to its range or to 1. Exact clips in a different lane order may
    /// have additional keys, hence the tolerance.
    pub fn scalar_error(&self) -> f32 {
        match self.exact {
            true => 1e-6,
            false => BakeOptions::default().scalar_error,
        }
    }

    /// Measures a built clip against its exact original.
    pub fn measure(
        &self,
        exact: &Clip,
        built: &Clip,
        skeleton: &Skeleton,
        file: &str,
    ) -> Result<ErrorReport, BakeFault> {
        let settings = self.of_skeleton(skeleton, file)?;
        measure_error(exact, built, skeleton, &settings).map_err(fault(file))
    }

    /// Measures a built clip against an animation of the file that `rig` was built from, metres.
    pub fn measure_source(
        &self,
        source: (&RawScene, usize),
        built: &Clip,
        rig: &Rig,
        file: &str,
    ) -> Result<f32, BakeFault> {
        let settings = self.of_skeleton(rig.skeleton(), file)?;
        measure_source(source, built, rig, &settings).map_err(fault(file))
    }

    fn of_skeleton(&self, skeleton: &Skeleton, file: &str) -> Result<BakeOptions, BakeFault> {
        let mut options = BakeOptions {
            max_error: self.max_error.metres(skeleton, file)?,
            shell: self.shell.metres(skeleton, file)?,
            ..BakeOptions::default()
        };
        self.quality.add_to(&mut options, skeleton, file)?;
        Ok(options)
    }

    /// Provenance of a clip and its measured error.
    pub fn origin(&self, source: usize, clip: usize, baked: &Baked) -> ClipOrigin {
        ClipOrigin {
            source: source as u32,
            clip: clip as u32,
            max_error: baked.report.max,
            shell: baked.shell,
        }
    }

    pub fn provenance(sources: Vec<Source>, clips: Vec<ClipOrigin>) -> Provenance {
        Provenance { tool: TOOL.to_owned(), sources, clips }
    }
}

fn fault(file: &str) -> impl Fn(phalanx::bake::BakeError) -> BakeFault + '_ {
    move |source| BakeFault::Error { file: file.to_owned(), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::retarget::TranslationMode;

    #[test]
    fn a_text_tells_what_measuring_needs() {
        let json = r#"{"Arm/Hand = \n": {"max_error": 0.0002}, "Head": {"shell": "2%"}}"#;
        let settings = Settings {
            max_error: Length::Percent(3.3e-3),
            shell: Length::Metres(0.05),
            exact: false,
            up: UpAxis::Z,
            form: ClipForm::default(),
            prefix: false,
            quality: Quality::of_text(json).unwrap(),
            import: ImportArgs {
                trim: true,
                lenient: true,
                unit: Some(0.0254),
                ..ImportArgs::default()
            },
            binding: BindingArgs {
                translations: Some(TranslationMode::AnimationScaled),
                root_scale: Some(0.3),
            },
        };
        let bound = settings.text_bound("own");
        assert!(Settings::is_bound(&bound), "{bound}");
        assert_eq!(Settings::of_text(&bound, 0.05), settings);
        // Options of binding do not matter to other inputs.
        let settings = Settings { binding: BindingArgs::default(), ..settings };
        let text = settings.text("own");
        assert!(!text.contains('\n') && !Settings::is_bound(&text));
        let bound = settings.text_bound("own");
        assert_eq!(Settings::shared(&bound), text);
        assert_ne!(Settings::shared(&settings.text_bound("scan")), text);
        assert_eq!(Settings::of_text(&text, 0.05), settings);
        let exact = Settings {
            import: ImportArgs { lenient: true, ..ImportArgs::default() },
            exact: true,
            quality: Quality::default(),
            max_error: Length::Metres(BakeOptions::default().max_error),
            ..settings
        };
        assert_eq!(Settings::of_text(&exact.text("x"), 0.05), exact);
        assert!(Quality::of_text(r#"{"Head": {"sheel": 1}}"#).is_none());
    }
}
