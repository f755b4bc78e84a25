//! Results of a retargeting, as text and as JSON.

use super::super::bake::Faults;
use super::super::text::{self, line, one_line, plural};
use phalanx::clip::Clip;
use phalanx::retarget::{FeetReport, Ground, RetargetReport};
use serde::Serialize;
use std::fmt::Write;

/// Everything that was written.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub files: Vec<FileSummary>,
    /// Inputs that failed.
    pub faults: Faults,
}

/// One output.
#[derive(Debug, Default, Serialize)]
pub struct FileSummary {
    pub file: String,
    pub bytes: u64,
    pub clips: Vec<ClipSummary>,
}

/// A clip of an output: the library's report.
#[derive(Debug, Serialize)]
pub struct ClipSummary {
    /// The input, as the provenance names it.
    source: String,
    name: String,
    duration: f32,
    keys: usize,
    bytes: usize,
    /// Where the humanoids of source and target come from.
    maps: [String; 2],
    bones: Vec<Bone>,
    by_name: Vec<String>,
    passed_on: Vec<String>,
    kept: Vec<String>,
    carried: Vec<String>,
    aligned: Vec<Aligned>,
    not_aligned: Vec<Aligned>,
    heights: [f64; 2],
    ratio: f64,
    ground: &'static str,
    /// Radians.
    between_keys: f64,
    left: Vec<String>,
    translations_kept: Vec<String>,
    translations_dropped: Vec<String>,
    scales_kept: Vec<String>,
    scales_dropped: Vec<String>,
    mirroring: Vec<String>,
    scalars_kept: usize,
    scalars_dropped: Vec<String>,
    root_motion: bool,
    feet: Option<Feet>,
}

#[derive(Debug, Serialize)]
struct Bone {
    bone: &'static str,
    source: String,
    target: String,
}

#[derive(Debug, Serialize)]
struct Aligned {
    bone: &'static str,
    degrees: f64,
}

/// Speeds in units of the target per second.
#[derive(Debug, Serialize)]
struct Feet {
    missing: Vec<Missing>,
    contacts: usize,
    seconds: f64,
    ground_velocity: [f64; 3],
    slide_before: f64,
    slide_after: f64,
    worst_before: f64,
    worst_after: f64,
    correction: f64,
    out_of_reach: usize,
}

/// A bone without which a foot is not planted.
#[derive(Debug, Serialize)]
struct Missing {
    /// `source` or `target`.
    side: &'static str,
    bone: &'static str,
}

impl From<&FeetReport> for Feet {
    fn from(f: &FeetReport) -> Self {
        let missing = f.missing.iter().map(|(side, bone)| Missing {
            side,
            bone: bone.name(),
        });
        Self {
            missing: missing.collect(),
            contacts: f.contacts,
            seconds: f.seconds,
            ground_velocity: f.ground_velocity,
            slide_before: f.slide_before,
            slide_after: f.slide_after,
            worst_before: f.worst_before,
            worst_after: f.worst_after,
            correction: f.correction,
            out_of_reach: f.out_of_reach,
        }
    }
}

impl ClipSummary {
    pub fn new(source: &str, name: &str, clip: &Clip, r: &RetargetReport) -> Self {
        let names = |bones: &[phalanx::retarget::HumanBone]| {
            bones.iter().map(|b| b.name().to_owned()).collect()
        };
        let bones = r.bones.iter().map(|(bone, source, target)| Bone {
            bone: bone.name(),
            source: source.clone(),
            target: target.clone(),
        });
        let aligned = |bones: &[(phalanx::retarget::HumanBone, f64)]| {
            let bones = bones.iter().map(|(bone, angle)| Aligned {
                bone: bone.name(),
                degrees: angle.to_degrees(),
            });
            bones.collect()
        };
        Self {
            source: source.to_owned(),
            name: name.to_owned(),
            duration: clip.duration(),
            keys: r.keys,
            bytes: clip.bytes(),
            maps: r.maps.map(|m| m.to_string()),
            bones: bones.collect(),
            by_name: r.by_name.clone(),
            passed_on: names(&r.passed_on),
            kept: names(&r.kept),
            carried: names(&r.carried),
            aligned: aligned(&r.aligned),
            not_aligned: aligned(&r.not_aligned),
            heights: r.heights,
            ratio: r.ratio,
            ground: match r.ground {
                Ground::Origin => "origin",
                _ => "reference",
            },
            between_keys: r.between_keys,
            left: r.left.clone(),
            translations_kept: r.translations_kept.clone(),
            translations_dropped: r.translations_dropped.clone(),
            scales_kept: r.scales_kept.clone(),
            scales_dropped: r.scales_dropped.clone(),
            mirroring: r.mirroring.clone(),
            scalars_kept: r.scalars_kept,
            scalars_dropped: r.scalars_dropped.clone(),
            root_motion: r.root_motion,
            feet: r.feet.as_ref().map(Feet::from),
        }
    }

    /// What is the same for all clips of an input: where bones come from, heights, and how rest poses differ.
    fn head(&self) -> Vec<String> {
        let ([source, target], [from, onto]) = (&self.maps, self.heights);
        let bones = plural(self.bones.len(), "bone");
        let first = format!(
            "{bones} (source: {source}; target: {target}), hips {from:.3} high in the source, {onto:.3} in the target"
        );
        let turned = self::turned("rest poses differ, aligned", &self.aligned);
        let left = self::turned("rest poses differ too much, not aligned", &self.not_aligned);
        [Some(first), turned, left].into_iter().flatten().collect()
    }

    /// What is worth a line of its own, besides the clip's figures.
    fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let missing = self.feet.iter().flat_map(|f| &f.missing);
        lines.extend(
            missing.map(|m| format!("a foot is not planted: the {} has no {}", m.side, m.bone)),
        );
        let reach = self.feet.as_ref().map_or(0, |f| f.out_of_reach);
        if reach > 0 {
            lines.push(format!(
                "a foot was out of reach of its leg in {}",
                text::plural(reach, "sample")
            ));
        }
        // The bound on the directions of bones.
        if self.between_keys > 1e-4 {
            let degrees = self.between_keys.to_degrees();
            lines.push(format!("between keys off by up to {degrees:.3} degrees"));
        }
        let mut list = |what: &str, names: &[String]| {
            if !names.is_empty() {
                let shown: Vec<String> = names.iter().take(LISTED).map(|n| one_line(n)).collect();
                let more = match names.len().saturating_sub(LISTED) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                lines.push(format!("{what}: {}{more}", shown.join(", ")));
            }
        };
        list("rotation passed on of", &self.passed_on);
        list("carried along", &self.carried);
        list("rotation dropped of", &self.left);
        list("translation kept of", &self.translations_kept);
        list("translation dropped of", &self.translations_dropped);
        list("scale dropped of", &self.scales_dropped);
        list("scale kept of", &self.scales_kept);
        list("mirroring scale at", &self.mirroring);
        list("no such weight or channel", &self.scalars_dropped);
        lines
    }
}

/// A line of bones with their angles; those that would be printed as 0° are counted. `None` if all would.
fn turned(what: &str, bones: &[Aligned]) -> Option<String> {
    let whole = bones.iter().map(|b| (b.bone, b.degrees.round()));
    let shown = whole.filter(|(_, degrees)| *degrees > 0.0);
    let mut shown: Vec<String> = shown
        .map(|(b, degrees)| format!("{b} {degrees}°"))
        .collect();
    let rest = bones.len() - shown.len();
    if shown.is_empty() {
        return None;
    }
    if rest > 0 {
        shown.push(format!("{rest} more by less than 0.5°"));
    }
    Some(format!("{what}: {}", shown.join(", ")))
}

/// Names in a line at most; JSON has them all.
const LISTED: usize = 6;

impl Summary {
    pub fn text(&self) -> String {
        let mut out = String::new();
        for file in &self.files {
            file.write(&mut out);
        }
        out
    }
}

impl FileSummary {
    fn write(&self, out: &mut String) {
        let (clips, bytes) = (
            plural(self.clips.len(), "clip"),
            text::bytes(self.bytes as f64),
        );
        line(
            out,
            format_args!("{}: {clips}, {bytes}", one_line(&self.file)),
        );
        let (mut head, mut said) = (Vec::new(), Vec::new());
        for clip in &self.clips {
            // Clips of one input have the same lines.
            let lines = clip.head();
            if lines != head {
                lines.iter().for_each(|l| line(out, format_args!("{l}")));
                head = lines;
            }
            let mut figures = format!(
                "  {}: {:.3} s, {}, {}",
                one_line(&clip.name),
                clip.duration,
                plural(clip.keys, "key"),
                text::bytes(clip.bytes as f64)
            );
            if clip.feet.as_ref().is_some_and(|f| f.contacts == 0) {
                figures += ", no contact of feet was found, none is planted";
            } else if let Some(feet) = &clip.feet {
                // Writing to a string cannot fail.
                let _ = write!(
                    figures,
                    ", {}, slide {:.4} to {:.4} m/s",
                    plural(feet.contacts, "contact"),
                    feet.slide_before,
                    feet.slide_after
                );
            }
            line(out, format_args!("{figures}"));
            for remark in clip.remarks() {
                // Clips of one file have the same remarks as a rule.
                if !said.contains(&remark) {
                    line(out, format_args!("    {remark}"));
                    said.push(remark);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_that_round_to_zero_are_counted() {
        let bones = |angles: &[f64]| -> Vec<Aligned> {
            let bone = "leftUpperArm";
            let angles = angles.iter();
            angles.map(|&degrees| Aligned { bone, degrees }).collect()
        };
        assert_eq!(turned("aligned", &bones(&[])), None);
        assert_eq!(turned("aligned", &bones(&[0.49, 0.001])), None);
        assert_eq!(
            turned("aligned", &bones(&[0.4, 44.6, 0.5])).as_deref(),
            Some("aligned: leftUpperArm 45°, leftUpperArm 1°, 1 more by less than 0.5°")
        );
    }
}
