//! Results of a retargeting, as text and as JSON.

use super::super::bake::Faults;
use super::super::findings::FileReport;
use super::super::text::{self, line, one_line, plural};
use super::applied::{Applied, ground};
use phalanx::clip::Clip;
use phalanx::retarget::{FeetReport, RetargetReport};
use serde::Serialize;

/// Everything that was written.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub files: Vec<FileSummary>,
    /// Inputs that failed.
    pub faults: Faults,
    /// The import reports of the character and of the inputs.
    pub imports: Vec<FileReport>,
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
    settings: Applied,
    /// How the humanoids of source and target were found; their files are in `settings`.
    maps: [String; 2],
    bones: Vec<Bone>,
    by_name: Vec<String>,
    passed_on: Vec<String>,
    kept: Vec<String>,
    carried: Vec<String>,
    aligned: Vec<Aligned>,
    not_aligned: Vec<Aligned>,
    /// The largest angles of a bone between rest and bind poses of source and target that were not chosen.
    bind_degrees: [f64; 2],
    /// Whether the soles of the source's reference pose are turned along with its spread legs.
    tilted: bool,
    /// Whether toes of source and target point backwards.
    swapped: [bool; 2],
    /// Whether reference poses of source and target do not stand.
    lying: [bool; 2],
    heights: [f64; 2],
    ratio: f64,
    ground: &'static str,
    /// Radians.
    between_keys: f64,
    left: Vec<String>,
    translations_kept: Vec<String>,
    translations_dropped: Vec<String>,
    scales_kept: Vec<String>,
    scales_approximated: Vec<Between>,
    scales_dropped: Vec<String>,
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

/// A joint whose axes differ from the target's.
#[derive(Debug, Serialize)]
struct Between {
    joint: String,
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
    world_before: f64,
    world_after: f64,
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
        let missing = f.missing.iter().map(|(side, bone)| Missing { side, bone: bone.name() });
        Self {
            missing: missing.collect(),
            contacts: f.contacts,
            seconds: f.seconds,
            ground_velocity: f.ground_velocity,
            slide_before: f.slide[0],
            slide_after: f.slide[1],
            world_before: f.world[0],
            world_after: f.world[1],
            worst_before: f.worst[0],
            worst_after: f.worst[1],
            correction: f.correction,
            out_of_reach: f.out_of_reach,
        }
    }
}

impl Feet {
    fn text(&self) -> String {
        let [x, y, z] = self.ground_velocity;
        // Of a clip that moves on, the ground stands but for rounding.
        let moving = [x, y, z].iter().any(|v| v.abs() >= 5e-4);
        let ground = match moving {
            true => format!(
                ", the ground moves {x:.3} {y:.3} {z:.3} m/s, in the world slide is {:.4} to {:.4} m/s",
                self.world_before, self.world_after
            ),
            false => String::new(),
        };
        format!(
            ", {} of {:.3} s, slide {:.4} to {:.4} m/s, at most {:.4} to {:.4} m/s, moved by at most {:.4} m{ground}",
            plural(self.contacts, "contact"),
            self.seconds,
            self.slide_before,
            self.slide_after,
            self.worst_before,
            self.worst_after,
            self.correction
        )
    }
}

impl ClipSummary {
    /// The summary of a clip. `source` and `name`: the input, and the clip's name in the output.
    pub fn new(
        (source, name): (&str, &str),
        clip: &Clip,
        applied: &Applied,
        r: &RetargetReport,
    ) -> Self {
        let names = |bones: &[phalanx::retarget::HumanBone]| {
            bones.iter().map(|b| b.name().to_owned()).collect()
        };
        let bones = r.bones.iter().map(|(bone, source, target)| Bone {
            bone: bone.name(),
            source: source.clone(),
            target: target.clone(),
        });
        let aligned = |bones: &[(phalanx::retarget::HumanBone, f64)]| {
            let bones = bones
                .iter()
                .map(|(bone, angle)| Aligned { bone: bone.name(), degrees: angle.to_degrees() });
            bones.collect()
        };
        Self {
            source: source.to_owned(),
            name: name.to_owned(),
            duration: clip.duration(),
            keys: r.keys,
            bytes: clip.bytes(),
            settings: applied.clone(),
            maps: r.maps.map(|m| m.to_string()),
            bones: bones.collect(),
            by_name: r.by_name.clone(),
            passed_on: names(&r.passed_on),
            kept: names(&r.kept),
            carried: names(&r.carried),
            aligned: aligned(&r.aligned),
            not_aligned: aligned(&r.not_aligned),
            bind_degrees: applied.bind_degrees,
            tilted: r.tilted,
            swapped: r.swapped,
            lying: r.lying,
            heights: r.heights,
            ratio: r.ratio,
            ground: ground(r.ground),
            between_keys: r.between_keys,
            left: r.left.clone(),
            translations_kept: r.translations_kept.clone(),
            translations_dropped: r.translations_dropped.clone(),
            scales_kept: r.scales_kept.clone(),
            scales_approximated: (r.scales_approximated.iter())
                .map(|(joint, angle)| Between { joint: joint.clone(), degrees: angle.to_degrees() })
                .collect(),
            scales_dropped: r.scales_dropped.clone(),
            scalars_kept: r.scalars_kept,
            scalars_dropped: r.scalars_dropped.clone(),
            root_motion: r.root_motion,
            feet: r.feet.as_ref().map(Feet::from),
        }
    }

    /// The lines that all clips of an input share: settings, origins of bones, heights, and differences of rest poses.
    fn head(&self) -> Vec<String> {
        let ([source, target], [from, onto]) = (self.settings.maps(), self.heights);
        let bones = plural(self.bones.len(), "bone");
        let settings = format!("settings: {}", one_line(&self.settings.text()));
        let first = format!(
            "{bones} (source: {}; target: {}), hips {from:.3} high in the source, {onto:.3} in the target, ratio {:.4}",
            one_line(source),
            one_line(target),
            self.ratio
        );
        let turned = self::turned("rest poses differ, aligned", &self.aligned);
        let left = self::turned("rest poses differ too much, not aligned", &self.not_aligned);
        let mut lines = vec![settings, first];
        lines.extend(self.settings.remarks());
        let names = ["source", "target"];
        let lying = self.lying.iter().zip(names).filter(|side| *side.0);
        lines.extend(
            lying.map(|(_, side)| format!("the reference pose of the {side} does not stand")),
        );
        let sides = self.swapped.iter().zip(names);
        lines.extend(sides.filter(|s| *s.0).map(|(_, side)| {
            format!("the sides of the {side} are swapped: its toes point backwards if its left side is on the left")
        }));
        lines.extend([turned, left].into_iter().flatten());
        lines
    }

    /// The line of the clip; with its input if there are several.
    fn figures(&self, several: bool) -> String {
        let mut figures = format!(
            "  {}: {:.3} s, {}, {}",
            text::short(&self.name),
            self.duration,
            plural(self.keys, "key"),
            text::bytes(self.bytes as f64)
        );
        if several {
            figures += &format!(", of {}", one_line(&self.source));
        }
        match &self.feet {
            Some(feet) if feet.contacts == 0 => {
                figures += ", no contact of feet was found, none is planted";
            }
            Some(feet) => figures += &feet.text(),
            None => {}
        }
        figures
    }

    /// The remarks that follow the figures of the clip, one line each.
    fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let missing = self.feet.iter().flat_map(|f| &f.missing);
        lines.extend(
            missing.map(|m| format!("a foot is not planted: the {} has no {}", m.side, m.bone)),
        );
        let reach = self.feet.as_ref().map_or(0, |f| f.out_of_reach);
        if reach > 0 {
            lines
                .push(format!("a foot was out of reach of its leg in {}", plural(reach, "sample")));
        }
        if self.ground == "origin" {
            lines.push("the source stands on the origin (ground: origin)".to_owned());
        }
        if self.tilted {
            lines.push(
                "the soles of the source's reference pose are turned along with its spread legs"
                    .to_owned(),
            );
        }
        if self.root_motion {
            lines.push("root motion scaled".to_owned());
        }
        if self.scalars_kept > 0 {
            let kept = plural(self.scalars_kept, "weight and channel number");
            lines.push(format!("{kept} kept"));
        }
        // The bound on the directions of bones.
        if self.between_keys > 1e-4 {
            let degrees = self.between_keys.to_degrees();
            lines.push(format!("between keys off by up to {degrees:.3} degrees"));
        }
        let mut list = |what: &str, names: &[String]| {
            if !names.is_empty() {
                let shown: Vec<String> =
                    names.iter().take(LISTED).map(|n| text::short(n)).collect();
                let more = match names.len().saturating_sub(LISTED) {
                    0 => String::new(),
                    n => format!(" and {n} more"),
                };
                lines.push(format!("{what}: {}{more}", shown.join(", ")));
            }
        };
        list("followed by name", &self.by_name);
        list("kept in the reference pose", &self.kept);
        list("rotation passed on of", &self.passed_on);
        list("carried along", &self.carried);
        list("rotation dropped of", &self.left);
        list("translation kept of", &self.translations_kept);
        list("translation dropped of", &self.translations_dropped);
        list("scale dropped of", &self.scales_dropped);
        list("scale kept of", &self.scales_kept);
        let between = self.scales_approximated.iter();
        let between = between.map(|b| format!("{} (axes {:.1}° apart)", b.joint, b.degrees));
        list("scale approximated of", &between.collect::<Vec<String>>());
        list("no such weight or channel", &self.scalars_dropped);
        lines
    }
}

/// A line of bones with their angles. Angles that would be printed as 0° are only counted; `None` if all would.
fn turned(what: &str, bones: &[Aligned]) -> Option<String> {
    let whole = bones.iter().map(|b| (b.bone, b.degrees.round()));
    let shown = whole.filter(|(_, degrees)| *degrees > 0.0);
    let mut shown: Vec<String> = shown.map(|(b, degrees)| format!("{b} {degrees}°")).collect();
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
        let (clips, bytes) = (plural(self.clips.len(), "clip"), text::bytes(self.bytes as f64));
        line(out, format_args!("{}: {clips}, {bytes}", one_line(&self.file)));
        let several = self.clips.iter().any(|c| c.source != self.clips[0].source);
        let (mut head, mut said) = (Vec::new(), Vec::new());
        for clip in &self.clips {
            // Clips of one input have the same lines.
            let lines = clip.head();
            if lines != head {
                lines.iter().for_each(|l| line(out, format_args!("{l}")));
                head = lines;
            }
            let figures = clip.figures(several);
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
