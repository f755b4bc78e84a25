//! `BindReport`: which joints were bound how, what was left, and how far the rest poses differ.

use super::names::BindMatch;
use std::fmt;

/// A joint of the target that takes its motion from a joint of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundJoint {
    /// Index of the joint in the source's skeleton.
    pub source: u16,
    /// Index of the joint in the target's skeleton.
    pub target: u16,
    /// How their names were found to be the same.
    pub how: BindMatch,
}

/// The largest difference of two rest poses in one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct RestDifference {
    /// Name of the joint in the target.
    pub joint: String,
    /// Its value in the source: translation in metres, or rotation xyzw.
    pub source: Vec<f32>,
    /// Its value in the target.
    pub target: Vec<f32>,
    /// How far they are apart: metres, or radians.
    pub apart: f64,
}

/// What the translations of the root are scaled by.
#[derive(Clone, Debug, PartialEq)]
pub struct HipHeights {
    /// Name of the joint in the target.
    pub joint: String,
    /// Its height above the lowest bound joint in the source's rest pose, metres.
    pub source: f64,
    /// The same in the target's.
    pub target: f64,
}

/// What binding two skeletons did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindReport {
    /// The joints that are bound, in the order of the target.
    pub bound: Vec<BoundJoint>,
    /// Names of the source's joints that no joint of the target has; the motion of those above bound joints is
    /// folded into these.
    pub source_left: Vec<String>,
    /// Names of the target's joints that no joint of the source has; they keep their rest pose.
    pub target_left: Vec<String>,
    /// Names that several joints share and that paths do not tell apart. They are not bound.
    pub ambiguous: Vec<String>,
    /// The heights of the hips; `None` if there is no such height, and translations are not scaled.
    pub hips: Option<HipHeights>,
    /// The scale of the root's translations.
    pub root_scale: f64,
    /// The largest difference of rest translations between bound joints, relative to their parents.
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

/// A line per finding.
impl fmt::Display for BindReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} joints bound", self.bound.len())?;
        for how in [BindMatch::WithoutPrefix, BindMatch::WithoutCase] {
            let count = self.count(how);
            if count > 0 {
                write!(f, ", {count} by the {how}")?;
            }
        }
        let list = |f: &mut fmt::Formatter<'_>, what: &str, names: &[String]| {
            if names.is_empty() {
                return Ok(());
            }
            let shown = names.iter().take(SHOWN).map(|n| format!("\"{n}\""));
            let shown: Vec<String> = shown.collect();
            let more = names.len().saturating_sub(SHOWN);
            write!(f, "\n{} {what}: {}", names.len(), shown.join(", "))?;
            if more > 0 {
                write!(f, " and {more} more")?;
            }
            Ok(())
        };
        list(
            f,
            "joints of the clips are not in the target",
            &self.source_left,
        )?;
        list(
            f,
            "joints of the target keep their rest pose",
            &self.target_left,
        )?;
        list(f, "names are ambiguous", &self.ambiguous)?;
        match &self.hips {
            Some(h) if (self.root_scale - 1.0).abs() > 1e-6 => write!(
                f,
                "\nroot translations are scaled by {:.4}: \"{}\" is {:.4} m high in the clips' rest pose, {:.4} m here",
                self.root_scale, h.joint, h.source, h.target
            )?,
            Some(_) => {}
            None => write!(
                f,
                "\nno height of the hips was found: root translations are not scaled"
            )?,
        }
        if let Some(d) = self.translation.as_ref().filter(|d| d.apart > 1e-6) {
            write!(
                f,
                "\nrest poses differ most in the translation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.4} m apart",
                d.joint, d.source, d.target, d.apart
            )?;
        }
        if let Some(d) = self.rotation.as_ref().filter(|d| d.apart > 1e-6) {
            write!(
                f,
                "\nrest poses differ most in the model rotation of \"{}\": {:.4?} in the clips, {:.4?} here, {:.2} degrees \
                 apart",
                d.joint,
                d.source,
                d.target,
                d.apart.to_degrees()
            )?;
        }
        Ok(())
    }
}

/// How many names a line shows.
const SHOWN: usize = 6;
