//! The settings and choices of a retargeting, as the report and the written file name them.

use super::super::text::one_line;
use super::RetargetArgs;
use super::character::{Character, Chosen};
use clap::Args;
use phalanx::retarget::{Alignment, Ground, HumanoidMap, MapOrigin, RetargetOptions};
use serde::Serialize;
use std::path::Path;

/// Options of the planting of feet.
#[derive(Debug, Args)]
pub struct PlantArgs {
    /// Keep feet that stand in the source from sliding, by bending the legs
    #[arg(long)]
    plant_feet: bool,
    /// With --plant-feet: how far above its lowest place a foot stands at most, as a share of the height of the
    /// source's hips. Default: 0.05
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, requires = "plant_feet", value_parser = positive)]
    plant_height: Option<f64>,
    /// With --plant-feet: how fast a foot that stands moves along the ground at most, in heights of the source's hips
    /// per second. Default: 0.35
    #[arg(long, value_name = "SPEED", allow_hyphen_values = true, requires = "plant_feet", value_parser = positive)]
    plant_speed: Option<f64>,
    /// With --plant-feet: seconds over which a correction fades in and out. Default: 0.1
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, requires = "plant_feet", value_parser = positive)]
    plant_fade: Option<f64>,
}

impl PlantArgs {
    pub fn apply(&self, options: RetargetOptions) -> RetargetOptions {
        RetargetOptions {
            plant_feet: self.plant_feet,
            plant_height: self.plant_height.unwrap_or(options.plant_height),
            plant_speed: self.plant_speed.unwrap_or(options.plant_speed),
            plant_fade: self.plant_fade.unwrap_or(options.plant_fade),
            ..options
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it must be a finite number above 0".to_owned()),
    }
}

/// Bind poses that differ by more from the rest pose are offered. Degrees.
const BIND: f64 = 5.0;

/// The settings of an input's clips.
#[derive(Clone, Debug, Serialize)]
pub struct Applied {
    /// The character's file.
    onto: String,
    /// Origin of the source's humanoid: a file, the model's extension, a table of names, or the shape.
    map: String,
    onto_map: String,
    /// `rest`, `bind`, or a clip and its time.
    reference: String,
    onto_reference: String,
    /// Whether these were found, and not asked for.
    #[serde(skip)]
    references_found: [bool; 2],
    /// The largest angles of a bone between rest and bind poses that were not chosen, degrees.
    #[serde(skip)]
    pub bind_degrees: [f64; 2],
    align: &'static str,
    scale: &'static str,
    /// `auto`, `reference` or `origin`.
    ground: &'static str,
    mirror: bool,
    /// Null without planting.
    plant_feet: Option<Planting>,
}

/// Thresholds of the planting of feet.
#[derive(Clone, Debug, Serialize)]
struct Planting {
    /// Share of the height of the source's hips.
    height: f64,
    /// Heights of the source's hips per second.
    speed: f64,
    /// Seconds.
    fade: f64,
}

impl Applied {
    pub fn new(
        args: &RetargetArgs,
        options: &RetargetOptions,
        (from, onto): (&Character, &Character),
        poses: &[Chosen; 2],
    ) -> Self {
        // Without `--onto` source and target have the same map.
        let onto_map = match args.onto {
            Some(_) => &args.onto_map,
            None => &args.map,
        };
        Self {
            onto: onto.model.file.clone(),
            map: origin(&from.map, args.map.as_deref()),
            onto_map: origin(&onto.map, onto_map.as_deref()),
            reference: poses[0].name.clone(),
            onto_reference: poses[1].name.clone(),
            references_found: [0, 1].map(|side| !poses[side].given),
            bind_degrees: [0, 1].map(|side| poses[side].bind_angle.to_degrees()),
            align: match options.alignment {
                Alignment::None => "none",
                Alignment::Limbs => "limbs",
                Alignment::LimbsAndFingers => "fingers",
            },
            scale: match options.keep_scales {
                true => "keep",
                false => "drop",
            },
            ground: ground(options.ground),
            mirror: options.mirror,
            plant_feet: options.plant_feet.then_some(Planting {
                height: options.plant_height,
                speed: options.plant_speed,
                fade: options.plant_fade,
            }),
        }
    }

    /// The maps of source and target.
    pub fn maps(&self) -> [&str; 2] {
        [&self.map, &self.onto_map]
    }

    /// Lines about reference poses that were found, and about bind poses that differ.
    pub fn remarks(&self) -> Vec<String> {
        let sides = [
            ("source", "--reference", &self.reference),
            ("target", "--onto-reference", &self.onto_reference),
        ];
        let mut lines = Vec::new();
        for (side, (name, option, reference)) in sides.into_iter().enumerate() {
            let degrees = self.bind_degrees[side];
            match (self.references_found[side], reference.as_str()) {
                (true, "rest") if degrees > BIND => lines.push(format!(
                    "bind and rest pose of the {name} differ by up to {degrees:.0}°; {option} bind takes the bind pose"
                )),
                (true, "rest") => {}
                (true, "bind") => lines.push(format!(
                    "the reference of the {name} is its bind pose; {option} rest takes the rest pose"
                )),
                (true, found) => lines.push(format!(
                    "the rest pose of the {name} does not stand; its reference is {found}",
                    found = one_line(found)
                )),
                _ => {}
            }
        }
        lines
    }

    /// All of it on one line, as `NAME=VALUE`.
    pub fn text(&self) -> String {
        let planting = self.plant_feet.as_ref().map(|feet| {
            format!(
                "plant-feet plant-height={} plant-speed={} plant-fade={}",
                feet.height, feet.speed, feet.fade
            )
        });
        let pairs = [
            ("onto", &*self.onto),
            ("map", &*self.map),
            ("onto-map", &*self.onto_map),
            ("reference", &*self.reference),
            ("onto-reference", &*self.onto_reference),
            ("align", self.align),
            ("scale", self.scale),
            ("ground", self.ground),
        ];
        let mut words: Vec<String> =
            pairs.iter().map(|(k, v)| format!("{k}={}", word(v))).collect();
        words.extend(self.mirror.then(|| "mirror".to_owned()));
        words.extend(planting);
        words.join(" ")
    }
}

/// The name of a ground option.
pub fn ground(ground: Ground) -> &'static str {
    match ground {
        Ground::Auto => "auto",
        Ground::Reference => "reference",
        Ground::Origin => "origin",
    }
}

/// A value, in quotes if it has spaces.
fn word(value: &str) -> String {
    match value.is_empty() || value.contains(char::is_whitespace) {
        true => format!("\"{value}\""),
        false => value.to_owned(),
    }
}

fn origin(map: &HumanoidMap, file: Option<&Path>) -> String {
    match (map.origin(), file) {
        (MapOrigin::Given, Some(file)) => format!("file {}", file.display()),
        (origin, _) => origin.to_string(),
    }
}
