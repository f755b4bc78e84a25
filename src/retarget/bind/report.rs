//! `BindReport`: the bound joints, what was left, and the differences of the rest poses.

use super::names::BindMatch;
use crate::words::{plural, shorten};
use std::collections::HashSet;
use std::fmt;

/// A joint of the target that takes its motion from a joint of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundJoint {
    /// Index of the joint in the source's skeleton.
    pub source: u16,
    /// Index of the joint in the target's skeleton.
    pub target: u16,
    /// The rule by which their names are the same.
    pub how: BindMatch,
}

/// The largest difference of two rest poses in one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct RestDifference {
    /// Name of the joint in the target.
    pub joint: String,
    /// Value in the source: translation in metres of model space, or rotation xyzw.
    pub source: Vec<f32>,
    /// Value in the target.
    pub target: Vec<f32>,
    /// Distance of both values: metres, or radians.
    pub apart: f64,
}

/// The heights that scale the translations of the root.
#[derive(Clone, Debug, PartialEq)]
pub struct HipHeights {
    /// Name of the joint in the target.
    pub joint: String,
    /// Height above the lowest bound joint in the source's rest pose, metres. Joints that are not bound do not count, as the
    /// other skeleton has none like them.
    pub source: f64,
    /// Height above the lowest bound joint in the target's rest pose, metres.
    pub target: f64,
    /// Whether the source's height follows from the lengths of its bones, because its rest pose does not stand.
    pub by_lengths: bool,
}

/// The result of binding two skeletons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindReport {
    /// The bound joints, in the order of the target.
    pub bound: Vec<BoundJoint>,
    /// Names of the source's joints that no joint of the target has; the motion of those above bound joints is folded into
    /// the bound ones.
    pub source_left: Vec<String>,
    /// Names of the target's joints that no joint of the source has; these joints keep their rest pose.
    pub target_left: Vec<String>,
    /// Whether morph weights are bound by index, because no names of nodes are common.
    pub scalars_by_index: bool,
    /// Names that several joints share and that paths do not distinguish. These joints are not bound.
    pub ambiguous: Vec<String>,
    /// The heights of the hips; `None` if they have no usable height, and translations are not scaled.
    pub hips: Option<HipHeights>,
    /// The scale of the root's translations.
    pub root_scale: f64,
    /// The largest difference of rest translations between bound joints, relative to the bound joints above and along their
    /// axes. Lengths are in model space: an armature may be scaled by 0.01.
    pub translation: Option<RestDifference>,
    /// The largest difference of rest rotations between bound joints, in model space.
    pub rotation: Option<RestDifference>,
}

impl BindReport {
    /// The numbers of joints bound in each way.
    pub fn count(&self, how: BindMatch) -> usize {
        self.bound.iter().filter(|b| b.how == how).count()
    }
}

/// A line per finding. Names are cut after 40 characters.
impl fmt::Display for BindReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bound", plural(self.bound.len() as u64, "joint"))?;
        for how in [BindMatch::WithoutPrefix, BindMatch::WithoutCase, BindMatch::Index] {
            let count = self.count(how);
            if count > 0 {
                write!(f, ", {count} by the {how}")?;
            }
        }
        let sources: HashSet<u16> = self.bound.iter().map(|b| b.source).collect();
        match self.bound.len() - sources.len() {
            0 => {}
            copies => write!(f, ", {copies} of them in copies of the clips' skeleton")?,
        }
        list(
            f,
            ["joint of the clips is", "joints of the clips are"],
            "not in the target",
            &self.source_left,
        )?;
        list(
            f,
            ["joint of the target keeps its", "joints of the target keep their"],
            "rest pose",
            &self.target_left,
        )?;
        list(f, ["name is", "names are"], "ambiguous", &self.ambiguous)?;
        if self.scalars_by_index {
            f.write_str("\nmorph weights are bound by index: no name of theirs is the same")?;
        }
        match &self.hips {
            Some(h) if (self.root_scale - 1.0).abs() > 1e-6 => write!(
                f,
                "\nroot translations are scaled by {:.4}: \"{}\" is {:.4} m above the lowest bound joint in the clips' \
                 rest pose{}, {:.4} m here",
                self.root_scale,
                shorten(&h.joint),
                h.source,
                if h.by_lengths { " by the lengths of its bones" } else { "" },
                h.target
            )?,
            Some(_) => {}
            None if self.bound.is_empty() => {}
            None => {
                write!(f, "\nno height of the hips was found: root translations are not scaled")?
            }
        }
        if let Some(d) = self.translation.as_ref().filter(|d| d.apart > 1e-6) {
            write!(
                f,
                "\nrest poses differ most in the translation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.4} m apart",
                shorten(&d.joint),
                d.source,
                d.target,
                d.apart
            )?;
        }
        if let Some(d) = self.rotation.as_ref().filter(|d| d.apart > 1e-6) {
            write!(
                f,
                "\nrest poses differ most in the model rotation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.2} degrees \
                 apart",
                shorten(&d.joint),
                d.source,
                d.target,
                d.apart.to_degrees()
            )?;
        }
        Ok(())
    }
}

/// Number of names that a line shows.
const SHOWN: usize = 6;

/// Writes a line of names with their number; nothing without names. `of` is the wording for one name and for several.
fn list(f: &mut fmt::Formatter<'_>, of: [&str; 2], what: &str, names: &[String]) -> fmt::Result {
    if names.is_empty() {
        return Ok(());
    }
    let of = of[usize::from(names.len() > 1)];
    let shown = names.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|n| format!("\"{}\"", shorten(n))).collect();
    write!(f, "\n{} {of} {what}: {}", names.len(), shown.join(", "))?;
    match names.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retarget::RetargetError;

    #[test]
    fn long_names_are_cut_and_one_is_singular() {
        let (long, cut) = ("x".repeat(41), format!("\"{}…\"", "x".repeat(40)));
        let difference = || RestDifference {
            joint: long.clone(),
            source: vec![0.0],
            target: vec![1.0],
            apart: 1.0,
        };
        let report = BindReport {
            bound: vec![BoundJoint { source: 0, target: 0, how: BindMatch::Exact }],
            source_left: vec![long.clone()],
            target_left: vec![long.clone()],
            scalars_by_index: false,
            ambiguous: vec![long.clone()],
            hips: Some(HipHeights {
                joint: long.clone(),
                source: 1.0,
                target: 2.0,
                by_lengths: false,
            }),
            root_scale: 2.0,
            translation: Some(difference()),
            rotation: Some(difference()),
        };
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "1 joint bound");
        let lists = [
            "1 joint of the clips is not in the target",
            "1 joint of the target keeps its rest pose",
            "1 name is ambiguous",
        ];
        for (line, list) in lines[1..].iter().zip(lists) {
            assert_eq!(*line, format!("{list}: {cut}"));
        }
        assert_eq!(text.matches(&cut).count(), 6, "{text}");
        assert!(!text.contains(&long), "{text}");
        let errors = [
            RetargetError::NothingInCommon {
                source_joints: 1,
                first_source: long.clone(),
                target_joints: 2,
                first_target: long.clone(),
            },
            RetargetError::FoldingWork { clip: long.clone(), joint: long.clone(), limit: 3 },
        ];
        for error in errors {
            let text = error.to_string();
            assert_eq!(text.matches(&cut).count(), 2, "{text}");
        }
    }
}
