//! `BindReport`: the bound joints, what was left, and the differences of the rest poses.

use crate::words::{plural, shorten};
use std::collections::HashSet;
use std::fmt;

/// The result of binding two skeletons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindReport {
    /// The bound joints, in the order of the target: indices of the joint of the source and of the target that follows it.
    pub bound: Vec<(u16, u16)>,
    /// Number of them whose names are equal without the part before the last `:` or `|`, without `mixamorig`, and without a
    /// final number such as `.001`. The number is kept if a skeleton has several joints that differ only in it, such as
    /// `spine` and `spine.001`.
    pub without_prefix: usize,
    /// Number of them whose names are equal without prefix and without case.
    pub without_case: usize,
    /// Number of them of which one has no name; the hierarchies are equal, joint by joint.
    pub by_index: usize,
    /// Names of the source's joints that no joint of the target has; the motion of those above bound joints is folded into
    /// the bound ones.
    pub source_left: Vec<String>,
    /// Names of the target's joints that no joint of the source has; these joints keep their rest pose.
    pub target_left: Vec<String>,
    /// Whether morph weights are bound by index, because no names of nodes are common.
    pub scalars_by_index: bool,
    /// Names that several joints share and that paths do not distinguish. These joints are not bound.
    pub ambiguous: Vec<String>,
    /// Name of the joint of the hips in the target; `None` if they have no usable height, and translations are not scaled.
    pub hips: Option<String>,
    /// Heights of the hips above the lowest bound joint in the rest poses of source and target, metres. Joints that are not
    /// bound do not count, as the other skeleton has none like them.
    pub hip_heights: [f64; 2],
    /// Whether the source's height follows from the lengths of its bones, because its rest pose does not stand.
    pub hips_by_lengths: bool,
    /// The scale of the root's translations.
    pub root_scale: f64,
    /// Name of the joint of the target whose rest translation differs most, relative to the bound joint above and along its
    /// axes.
    pub translation_joint: String,
    /// These translations in source and target, metres of model space: an armature may be scaled by 0.01.
    pub translations: [[f32; 3]; 2],
    /// Distance between the two translations, metres.
    pub translation_distance: f64,
    /// Name of the joint of the target whose rest rotation in model space differs most.
    pub rotation_joint: String,
    /// These rotations in source and target, xyzw.
    pub rotations: [[f32; 4]; 2],
    /// The angle between them, radians.
    pub rotation_angle: f64,
}

/// A line per finding. Names are cut after 40 characters.
impl fmt::Display for BindReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bound", plural(self.bound.len() as u64, "joint"))?;
        for (count, how) in [
            (self.without_prefix, "same name without prefix"),
            (self.without_case, "same name without prefix and case"),
            (self.by_index, "index, without names"),
        ] {
            if count > 0 {
                write!(f, ", {count} by the {how}")?;
            }
        }
        let sources: HashSet<u16> = self.bound.iter().map(|b| b.0).collect();
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
            Some(hips) if (self.root_scale - 1.0).abs() > 1e-6 => write!(
                f,
                "\nroot translations are scaled by {:.4}: \"{}\" is {:.4} m above the lowest bound joint in the clips' \
                 rest pose{}, {:.4} m here",
                self.root_scale,
                shorten(hips),
                self.hip_heights[0],
                if self.hips_by_lengths { " by the lengths of its bones" } else { "" },
                self.hip_heights[1]
            )?,
            Some(_) => {}
            None if self.bound.is_empty() => {}
            None => {
                write!(f, "\nno height of the hips was found: root translations are not scaled")?
            }
        }
        if self.translation_distance > 1e-6 {
            write!(
                f,
                "\nrest poses differ most in the translation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.4} m apart",
                shorten(&self.translation_joint),
                self.translations[0],
                self.translations[1],
                self.translation_distance
            )?;
        }
        if self.rotation_angle > 1e-6 {
            write!(
                f,
                "\nrest poses differ most in the model rotation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.2} degrees \
                 apart",
                shorten(&self.rotation_joint),
                self.rotations[0],
                self.rotations[1],
                self.rotation_angle.to_degrees()
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
    use crate::retarget::{BindOptions, Binding, RetargetError};
    use crate::skeleton::{Joint, Skeleton, Trs};

    fn named(name: &str) -> Skeleton {
        let joint = Joint { name: name.into(), parent: None, rest: Trs::IDENTITY };
        Skeleton::new(&[joint], None, Vec::new()).unwrap()
    }

    #[test]
    fn long_names_are_cut_and_one_is_singular() {
        let (long, cut) = ("x".repeat(41), format!("\"{}…\"", "x".repeat(40)));
        let report = BindReport {
            bound: vec![(0, 0)],
            source_left: vec![long.clone()],
            target_left: vec![long.clone()],
            ambiguous: vec![long.clone()],
            hips: Some(long.clone()),
            root_scale: 2.0,
            translation_joint: long.clone(),
            translation_distance: 1.0,
            rotation_joint: long.clone(),
            rotation_angle: 1.0,
            ..BindReport::default()
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
            Binding::new(&named(&long), &named(&"x".repeat(42)), &BindOptions::default())
                .unwrap_err(),
            RetargetError::FoldingWork { clip: long.clone(), joint: long.clone(), limit: 3 },
        ];
        for error in errors {
            let text = error.to_string();
            assert_eq!(text.matches(&cut).count(), 2, "{text}");
        }
    }
}
