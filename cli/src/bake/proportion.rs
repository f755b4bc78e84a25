//! The error and the shell of a bake relative to a model's size. Both are in metres by default, whatever the unit of
//! the model.

use super::Settings;
use super::settings::Baked;
use crate::text;
use phalanx::bake::BakeOptions;
use phalanx::rig::{Aabb, Rig};
use phalanx::runtime::clip_bounds;
use phalanx::skeleton::Skeleton;

/// An error that is a larger share of the model's longest side can be seen: 0.1 mm of 2 cm.
const LARGE_ERROR: f32 = 0.005;

/// A shell beyond these shares of the longest side measures joints where nothing is drawn, at a cost in bytes, or not
/// where it is drawn: 3 cm of 3 cm and of 15 m.
const SHELL: [f32; 2] = [0.002, 1.0];

/// The default error and shell of a bake as shares of a person of 2 m.
const USUAL: [&str; 2] = ["0.005%", "1.5%"];

/// Whether the default error is a large share of a model with this longest side.
pub fn is_tiny(longest: f32) -> bool {
    longest > 0.0 && BakeOptions::default().max_error > LARGE_ERROR * longest
}

/// The advice that `info` prints for a tiny model.
pub fn hint(longest: f32) -> String {
    let error = BakeOptions::default().max_error;
    let [max_error, shell] = USUAL;
    format!(
        "  is tiny: the default error of `bake`, {}, is {} of its longest side\n  \
         bake it with --max-error {max_error} --shell {shell}\n",
        length(error),
        share(error / longest)
    )
}

/// Warnings if the error or the shell of a bake does not fit the size of a rig. Empty for exact bakes.
pub fn notes(settings: &Settings, file: &str, rig: &Rig) -> Vec<String> {
    let metres = [settings.max_error, settings.shell].map(|l| l.metres(rig.skeleton(), file));
    match (longest_side(rig), metres) {
        (Some(longest), [Ok(error), Ok(shell)]) if !settings.exact => {
            of_size([error, shell], file, longest)
        }
        _ => Vec::new(),
    }
}

/// Describes the clips of a file whose stated error exceeds the max error. Stated errors include the noise that
/// building removes, the rounding of f32, and the changes by binding; the baker controls none of these. `None` for
/// exact bakes and with settings of single joints.
pub fn missed(
    settings: &Settings,
    file: &str,
    skeleton: &Skeleton,
    baked: &[Baked],
) -> Option<String> {
    let asked = settings.max_error.metres(skeleton, file).ok()?;
    if settings.exact || !settings.quality.is_empty() {
        return None;
    }
    let over = baked.iter().filter(|b| b.report.max > asked);
    let worst = over.clone().max_by(|a, b| a.report.max.total_cmp(&b.report.max))?;
    Some(format!(
        "{}: {} of {} more than the max error, {}: up to {}, {} more, clip {}; rounding of f32, what binding changes and \
         motions that import takes for noise are part of it",
        file,
        over.count(),
        match baked.len() {
            1 => "1 clip states".to_owned(),
            clips => format!("{clips} clips state"),
        },
        length(asked),
        length(worst.report.max),
        share(worst.report.max / asked - 1.0),
        text::name(Some(&worst.name))
    ))
}

fn of_size([max_error, distance]: [f32; 2], file: &str, longest: f32) -> Vec<String> {
    let (error, shell) = (max_error / longest, distance / longest);
    let size = length(longest);
    let [usual_error, usual_shell] = USUAL;
    let mut notes = Vec::new();
    if error > LARGE_ERROR {
        notes.push(format!(
            "{file}: the max error, {}, is {} of the model's longest side, {size}; --max-error {usual_error} is usual",
            length(max_error),
            share(error)
        ));
    }
    let [least, most] = SHELL;
    if !(least..=most).contains(&shell) {
        notes.push(format!(
            "{file}: the shell, {}, is {} of the model's longest side, {size}; --shell {usual_shell} is usual",
            length(distance),
            share(shell)
        ));
    }
    notes
}

/// The longest side of the rest pose: of the meshes, else of the joints. `None` if there is nothing to measure.
fn longest_side(rig: &Rig) -> Option<f32> {
    let mut size = clip_bounds(rig, None).ok()??.mesh;
    if size.is_empty() {
        size = Aabb::EMPTY;
        let places = rig.skeleton().rest_models();
        places.iter().for_each(|m| size.add(m.translation.into()));
    }
    let longest = (size.half_size() * 2.0).max_element();
    (longest > 0.0 && longest.is_finite()).then_some(longest)
}

/// A length in a unit in which it is a number of few digits.
fn length(metres: f32) -> String {
    let units = [(1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")];
    let fits = |(unit, _): &&(f32, &str)| metres >= 0.0999 * unit;
    let (unit, name) = units.iter().find(fits).unwrap_or(&units[3]);
    format!("{} {name}", digits(metres / unit))
}

fn share(share: f32) -> String {
    format!("{}%", digits(100.0 * share))
}

/// Two significant digits, and all before the point.
fn digits(v: f32) -> String {
    let places = match v {
        v if v >= 9.95 => 0,
        v if v >= 0.995 => 1,
        v if v >= 0.0995 => 2,
        _ => 4,
    };
    let text = format!("{v:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_shares_are_short() {
        let lengths = [150.0, 2.0, 0.1, 0.03, 0.002, 0.0001, 1e-7, 2e-12].map(length);
        let wanted = ["150 m", "2 m", "0.1 m", "30 mm", "2 mm", "0.1 mm", "0.1 µm", "0.002 nm"];
        assert_eq!(lengths, wanted);
        assert_eq!([0.05, 0.0002, 15.0].map(share), ["5%", "0.02%", "1500%"]);
    }
}
