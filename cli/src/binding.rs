//! [`BindingArgs`]: how the clips of `--clips` are bound.

use clap::Args;
use phalanx::retarget::{BindOptions, TranslationMode};
use std::ops::RangeInclusive;

/// Options of binding, for all commands that take `--clips`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct BindingArgs {
    /// Translations of bound joints other than the root: `same-offset`, from the clips where both rest poses have the
    /// same offset and otherwise from the model's, is the default; `skeleton`, from the model's rest pose; `animation`,
    /// from the clips; `animation-scaled`, by the lengths of the bones; `animation-relative`, the rest pose moved as in
    /// the clips
    #[arg(long, value_name = "MODE", requires = "clips", value_parser = translations)]
    pub translations: Option<TranslationMode>,
    /// Factor of the root's translations in clips that are bound; default: the ratio of the heights of the hips
    #[arg(
        long,
        value_name = "FACTOR",
        requires = "clips",
        allow_negative_numbers = true,
        value_parser = root_scale
    )]
    pub root_scale: Option<f32>,
}

/// The modes by name.
const MODES: [(&str, TranslationMode); 5] = [
    ("same-offset", TranslationMode::SameOffset),
    ("skeleton", TranslationMode::Skeleton),
    ("animation", TranslationMode::Animation),
    ("animation-scaled", TranslationMode::AnimationScaled),
    ("animation-relative", TranslationMode::AnimationRelative),
];

/// Scales that the library binds with.
const SCALES: RangeInclusive<f32> = 1e-6..=1e6;

/// Words of both options in the settings that a file states.
const WORDS: [&str; 2] = ["translations=", "root-scale="];

/// Stands before the mode that is the default. With an option clips of an equal skeleton are bound, too, so the words
/// tell whether it was given.
const DEFAULT: &str = "default-translations=";

fn translations(text: &str) -> Result<TranslationMode, String> {
    let mode = MODES.iter().find(|(name, _)| *name == text);
    mode.map(|(_, mode)| *mode).ok_or_else(|| {
        let names = MODES.map(|(name, _)| name);
        format!("expected {} or {}", names[..4].join(", "), names[4])
    })
}

fn root_scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(scale) if SCALES.contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.000001 to 1000000".into()),
    }
}

impl BindingArgs {
    /// The library's options.
    pub fn options(self) -> BindOptions {
        BindOptions {
            translations: self.translations.unwrap_or_default(),
            root_scale: self.root_scale,
        }
    }

    /// The options, each a word with a space before it. The mode is named where it is the default, too: outputs of
    /// before another one became that are not skipped.
    pub fn text(self) -> String {
        let mode = self.translations.unwrap_or_default();
        let name = MODES.iter().find(|(_, m)| *m == mode).map_or("", |m| m.0);
        let word = match self.translations {
            Some(_) => WORDS[0],
            None => DEFAULT,
        };
        let scale = self.root_scale.map(|s| format!(" {}{s}", WORDS[1]));
        format!(" {word}{name}{}", scale.unwrap_or_default())
    }

    /// The options as settings text.
    pub fn of_text(text: &str) -> Self {
        let value = |name: &str| text.split(' ').find_map(|word| word.strip_prefix(name));
        Self {
            translations: value(WORDS[0]).and_then(|v| translations(v).ok()),
            root_scale: value(WORDS[1]).and_then(|v| root_scale(v).ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        let modes = MODES.iter().map(|(_, mode)| Some(*mode));
        for translations in modes.chain([None]) {
            for root_scale in [None, Some(1.0), Some(0.1), Some(1e-6), Some(123_456.79)] {
                let given = BindingArgs { translations, root_scale };
                let text = format!("exact up=y{} bound", given.text());
                assert_eq!(BindingArgs::of_text(&text), given, "{text}");
            }
        }
        assert_eq!(BindingArgs::default().text(), " default-translations=same-offset");
    }

    #[test]
    fn scales_are_those_of_the_library() {
        for scale in ["1e-6", "1000000", "0.5"] {
            assert!(root_scale(scale).is_ok(), "{scale}");
        }
        for scale in ["0", "-1", "nan", "inf", "1e7", "9e-7", ""] {
            assert!(root_scale(scale).is_err(), "{scale}");
        }
    }
}
