//! The options that say which pose is meant: `--clip`, `--blend` and `--loop`, and the seconds of `--time`.
//! They are the same in every command.

use super::error::CliError;
use super::model::Model;
use super::text;
use clap::{Args, ValueEnum};
use phalanx::playback::{LoopMode, PoseAction};
use std::str::FromStr;

/// Largest time, positive or negative, in seconds: 30 years, within which an f64 separates microseconds.
const MAX_TIME: f64 = 1e9;

/// The clips of a pose.
#[derive(Debug, Args)]
pub struct ActionArgs {
    /// Clip, by exact name or index; default: the rest pose
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// A clip at a time with a weight; repeat it to blend several on one layer. The last two colons separate,
    /// so the clip's name may contain colons
    #[arg(long, value_name = "CLIP:TIME:WEIGHT", conflicts_with = "clip")]
    blend: Vec<BlendArg>,
    /// What happens beyond a clip's ends
    #[arg(long = "loop", value_name = "MODE", default_value = "once")]
    loop_mode: Loop,
}

/// Loop modes by their command-line names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Loop {
    /// Hold the first or last pose
    Once,
    /// Start over: time modulo duration
    Repeat,
    /// Play forth and back
    Pingpong,
}

impl From<Loop> for LoopMode {
    fn from(mode: Loop) -> Self {
        match mode {
            Loop::Once => Self::Once,
            Loop::Repeat => Self::Repeat,
            Loop::Pingpong => Self::PingPong,
        }
    }
}

/// An argument in the form `CLIP:TIME:WEIGHT`.
#[derive(Clone, Debug, PartialEq)]
struct BlendArg {
    clip: String,
    time: f64,
    weight: f32,
}

impl FromStr for BlendArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.rsplitn(3, ':');
        let (Some(weight), Some(time), Some(clip)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(FORM.into());
        };
        let value: f32 = weight
            .parse()
            .map_err(|_| format!("\"{}\" is not a weight; {FORM}", quoted(weight)))?;
        let most = phalanx::runtime::MAX_ACTION_WEIGHT;
        if !(0.0..=most).contains(&value) {
            return Err(format!("the weight {} is not a number from 0 to {most}", quoted(weight)));
        }
        Ok(Self {
            clip: clip.to_owned(),
            time: seconds(time).map_err(|e| format!("{e}; {FORM}"))?,
            weight: value,
        })
    }
}

/// Says how `--blend` is written: clips' names contain colons, too.
const FORM: &str = "expected CLIP:TIME:WEIGHT, of which the last two colons separate";

/// Largest number of columns of an argument that is repeated in an error.
const REPEATED: usize = 40;

/// An argument for an error, on one line and shortened.
fn quoted(argument: &str) -> String {
    text::shorten(&text::one_line(argument), REPEATED)
}

/// Parses a time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time.abs() <= MAX_TIME => Ok(time),
        Ok(time) if time.is_finite() => Err(format!(
            "{} s is too long, the limit is {MAX_TIME} s in both directions",
            quoted(text)
        )),
        _ => Err(format!("\"{}\" is not a finite number of seconds", quoted(text))),
    }
}

/// The clips of a model that are meant, with their times and weights.
#[derive(Clone, Debug)]
pub struct Actions {
    all: Vec<Action>,
    mode: LoopMode,
    /// True if all clips last as long as the first.
    pub in_step: bool,
}

/// A clip that plays.
#[derive(Clone, Debug)]
struct Action {
    clip: usize,
    name: String,
    /// The time of the clip at time 0, in seconds.
    start: f64,
    weight: f32,
    duration: f64,
}

impl ActionArgs {
    /// Finds the clips.
    pub fn find(&self, model: &Model) -> Result<Actions, CliError> {
        let single = self.clip.as_ref().map(|clip| (clip, 0.0, 1.0));
        let blended = self.blend.iter().map(|b| (&b.clip, b.time, b.weight));
        let action = |(clip, start, weight): (&String, f64, f32)| {
            let clip = model.find_clip(clip)?;
            let found = model.rig.clips().get(clip);
            let name = found.map(|c| c.name()).filter(|name| !name.is_empty());
            Ok(Action {
                clip,
                name: name.map_or_else(|| format!("clip {clip}"), text::short),
                start,
                weight,
                duration: found.map_or(0.0, |c| c.duration()).into(),
            })
        };
        Ok(Actions {
            all: single.into_iter().chain(blended).map(action).collect::<Result<_, CliError>>()?,
            mode: self.loop_mode.into(),
            in_step: false,
        })
    }
}

impl Actions {
    /// The clips at a time in seconds, which is added to the times of the clips.
    pub fn at(&self, time: f64) -> Vec<PoseAction> {
        let at = |a: &Action| PoseAction {
            clip: a.clip,
            time: self.clip_time(a, time) as f32,
            weight: a.weight,
        };
        self.all.iter().map(at).collect()
    }

    fn clip_time(&self, action: &Action, time: f64) -> f64 {
        let speed = match self.all.first() {
            Some(first) if self.in_step && first.duration > 0.0 => action.duration / first.duration,
            _ => 1.0,
        };
        let time = action.start + time * speed;
        self.mode.clip_time(time, action.duration)
    }

    /// Index of the first clip.
    pub fn first(&self) -> Option<usize> {
        self.all.first().map(|a| a.clip)
    }

    /// The phase of the first clip, from 0 to 1.
    pub fn phase(&self, time: f64) -> f64 {
        match self.all.first() {
            Some(first) if first.duration > 0.0 => self.clip_time(first, time) / first.duration,
            _ => 0.0,
        }
    }

    /// Seconds until the first clip has ended, or begins again.
    pub fn duration(&self) -> f64 {
        let once = self.all.first().map_or(0.0, |a| a.duration);
        match self.mode {
            LoopMode::PingPong => 2.0 * once,
            _ => once,
        }
    }

    /// True if the clip continues beyond its ends.
    pub fn repeats(&self) -> bool {
        !self.all.is_empty() && self.mode != LoopMode::Once
    }

    /// Names of the clips, on one line, with their weights unless all are 1.
    pub fn name(&self) -> String {
        if self.all.is_empty() {
            return "rest pose".into();
        }
        let whole = self.all.iter().all(|a| a.weight == 1.0);
        let name = |a: &Action| match whole {
            true => a.name.clone(),
            false => format!("{} {}", weight(a.weight), a.name),
        };
        let names: Vec<String> = self.all.iter().map(name).collect();
        names.join(" + ")
    }

    /// The time to show: the clip's time if there is one clip, else the time itself.
    pub fn shown_time(&self, time: f64) -> Option<f64> {
        match &self.all[..] {
            [] => None,
            [only] => Some(self.clip_time(only, time)),
            _ => Some(time),
        }
    }
}

/// A weight with up to three decimals.
fn weight(weight: f32) -> String {
    let text = format!("{weight:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blend_is_split_from_the_right() {
        let parse = |text: &str| text.parse::<BlendArg>();
        let blend = parse("a:b: c:0.5:1").unwrap();
        assert_eq!((blend.clip.as_str(), blend.time, blend.weight), ("a:b: c", 0.5, 1.0));
        assert_eq!(parse(":0:0").unwrap().clip, "");
        assert_eq!(parse("x:-1:0.25").unwrap().time, -1.0);
        for bad in
            ["", "x", "x:1", "x:1:", "x::1", "x:1:-1", "x:1:nan", "x:inf:1", "x:1:1e99", "x:1e10:1"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_are_bounded_and_say_how_a_blend_is_written() {
        let many = "9".repeat(300);
        let error = seconds(&many).unwrap_err();
        assert!(error.len() < 150 && error.contains("is too long"), "{error}");
        let parse = |text: &str| text.parse::<BlendArg>().unwrap_err();
        let error = parse("Armature:Walk:0.5");
        assert!(error.contains("\"Walk\" is not"), "{error}");
        assert!(error.contains("CLIP:TIME:WEIGHT"), "{error}");
        assert!(parse(&format!("Walk:0:{}", "x".repeat(300))).len() < 150);
    }

    #[test]
    fn weights_are_shown_unless_all_are_one() {
        let action = |name: &str, weight| Action {
            clip: 0,
            name: name.into(),
            start: 0.0,
            weight,
            duration: 1.0,
        };
        let named = |all: Vec<Action>| {
            let (mode, in_step) = (LoopMode::Once, false);
            Actions { all, mode, in_step }.name()
        };
        assert_eq!(named(Vec::new()), "rest pose");
        assert_eq!(named(vec![action("Walk", 1.0)]), "Walk");
        assert_eq!(named(vec![action("Walk", 0.5)]), "0.5 Walk");
        let blend = vec![action("Walk", 1.0 / 3.0), action("Jog", 1.0)];
        assert_eq!(named(blend), "0.333 Walk + 1 Jog");
    }
}
