//! Animations: samplers and channels to tracks.

mod times;
mod track;

use super::ImportOptions;
use super::accessor::Integers;
use super::buffers::{Buffers, at};
use super::document::{Animation, Channel};
use super::error::{Fault, ImportFault as Kind, Lead, Within, label, shorten};
use super::limits::Notes;
use super::scenes::Scenes;
use crate::clip::Marker;
use crate::import::markers::{of_extras, snap};
use crate::import::trim::earlier;
use crate::raw::{RawChannel, RawClip, RawNode};
use ::gltf::json::accessor::Type;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use times::{Span, Times, check_times};

/// Bytes of memory that a byte of JSON may need when parsed: a digit and its comma become
/// 32 bytes, a key of one letter a map node.
const JSON_BYTES_PER_BYTE: u64 = 32;

/// Channels with a KHR_animation_pointer to something other than a node.
#[derive(Default)]
struct OtherPointers {
    /// Place of the first such channel, and its pointer.
    first: Option<(String, String)>,
    /// Places of all such channels, with their pointers.
    all: Vec<String>,
}

/// Limit on the characters of a pointer in an item of the report.
const POINTER: usize = 200;

struct Clips<'c, 's> {
    nodes: &'c [RawNode],
    scenes: &'c Scenes,
    pointers: OtherPointers,
    buffers: &'c mut Buffers<'s>,
    notes: &'c mut Notes,
    times: HashMap<usize, Rc<Times>>,
    /// Whether clips with keys below 0 s are moved; otherwise they are left out.
    shift: bool,
    matrix_nodes: HashSet<usize>,
}

/// Reads the animations, each with its index in the file. Animations with broken times are left out and reported.
pub(super) fn clips(
    list: Vec<Animation>,
    nodes: &[RawNode],
    scenes: &Scenes,
    options: &ImportOptions,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<(Vec<usize>, Vec<RawClip>), Fault> {
    let mut clips = Clips {
        nodes,
        scenes,
        pointers: OtherPointers::default(),
        buffers,
        notes,
        times: HashMap::new(),
        shift: options.trim || options.lenient,
        matrix_nodes: HashSet::new(),
    };
    let mut sources = Vec::with_capacity(list.len());
    let mut out = Vec::with_capacity(list.len());
    for (index, animation) in list.into_iter().enumerate() {
        let place = label("animation", index, animation.name.as_deref());
        if let Some(clip) = clips.clip(animation, &place).within(|| place)? {
            sources.push(index);
            out.push(clip);
        }
    }
    clips.report_pointers();
    Ok((sources, out))
}

/// The property and node of a pointer such as `/nodes/3/rotation`; `None` for all others.
fn of_pointer(pointer: &str) -> Option<(RawChannel, usize)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    // By RFC 6901 an index has no sign and no leading zeros.
    let index = node.bytes().all(|b| b.is_ascii_digit()) && (node == "0" || !node.starts_with('0'));
    let node = node.parse().ok().filter(|_| index)?;
    Some((property(path)?, node))
}

/// The property of a node that a path names.
fn property(path: &str) -> Option<RawChannel> {
    use RawChannel::{Rotation, Scale, Translation, Weights};
    let all = [Translation, Rotation, Scale, Weights];
    all.into_iter().find(|property| property.to_string() == path)
}

impl Clips<'_, '_> {
    /// Reads an animation; `None`, with a report entry, if its times are broken.
    fn clip(&mut self, animation: Animation, place: &str) -> Result<Option<RawClip>, Fault> {
        let Some(span) = self.span(&animation, place)? else { return Ok(None) };
        let mut tracks = Vec::with_capacity(animation.channels.len());
        let mut seen = HashSet::new();
        for (index, channel) in animation.channels.iter().enumerate() {
            let here = format!("{place}, channel {index}");
            let Some((node, property)) = self.target(channel, &here)? else { continue };
            if !seen.insert((node, property)) {
                let message = format!("node {node} already has a channel for {property}");
                self.notes.dropped(here, message);
                continue;
            }
            let track = self
                .track(channel, &animation.samplers, (node, property), &span, &here)
                .within(|| format!("channel {index}"))?;
            tracks.extend(track);
        }
        if tracks.is_empty() {
            let message = match animation.channels.is_empty() {
                true => "is an empty clip: it has no channels",
                false => "is an empty clip: none of its channels is read",
            };
            self.notes.note(place, message);
        }
        // Moved keys that would round to one time are kept one step of f32 apart.
        let lasts = tracks.iter().filter_map(|t| t.times.last().copied());
        let duration = lasts.fold(span.end, f32::max);
        let extras = animation.extras.map(|json| json.get().to_owned());
        let markers = match &extras {
            Some(text) => self.markers(text, duration, span.shift, place)?,
            None => Vec::new(),
        };
        Ok(Some(RawClip {
            name: animation.name,
            duration,
            tracks,
            extras,
            markers,
            trimmed: span.shift,
            ..RawClip::default()
        }))
    }

    /// The times of an animation, over the samplers that its channels use; `None`, with a report entry, if they are broken.
    /// Channels that are not read count, since the length of a clip in the file includes them.
    fn span(&mut self, animation: &Animation, place: &str) -> Result<Option<Span>, Fault> {
        let samplers = &animation.samplers;
        let mut used = vec![false; samplers.len()];
        // A missing sampler is reported where the channel is read.
        for index in animation.channels.iter().map(|c| c.sampler) {
            used.get_mut(index).into_iter().for_each(|used| *used = true);
        }
        let mut ends: Option<(f32, f32)> = None;
        let (mut equal, mut jump) = (0, None);
        for (index, sampler) in samplers.iter().enumerate().filter(|(i, _)| used[*i]) {
            let here = || format!("sampler {index}");
            at(&self.buffers.accessors, sampler.output, "output accessor").within(here)?;
            let times = match self.times(sampler.input).within(here) {
                Err(fault) if matches!(fault.kind, Kind::Times(_)) => {
                    let message = format!("is left out: {}{}", Lead(&fault.place), fault.kind);
                    self.notes.dropped(place, message);
                    return Ok(None);
                }
                times => times?,
            };
            if let (Some(&first), Some(&last)) = (times.times.first(), times.times.last()) {
                let (begin, end) = ends.unwrap_or((first, last));
                ends = Some((begin.min(first), end.max(last)));
            }
            equal += times.equal;
            jump = jump.or(times.jump.map(|time| (time, index)));
        }
        let (begin, end) = ends.unwrap_or_default();
        let shift = begin.min(0.0);
        if shift < 0.0 && !self.shift {
            let message = format!(
                "is left out: its first key is at {begin} s, below 0; trimming or reading leniently moves its keys, \
                 so that the first is at 0"
            );
            self.notes.dropped(place, message);
            return Ok(None);
        }
        if shift < 0.0 {
            let message = format!("moved, so that its first key, which was at {begin} s, is at 0");
            self.notes.repaired(place, message);
        }
        if let Some((time, sampler)) = jump {
            let message = format!(
                "{} the time of the key before; {} kept as {}, the first at {time} s of sampler {sampler}",
                match equal {
                    1 => "1 key has".to_owned(),
                    n => format!("{n} keys have"),
                },
                if equal == 1 { "it is" } else { "they are" },
                if equal == 1 { "a jump" } else { "jumps" },
            );
            self.notes.repaired(place, message);
        }
        self.unused(&used, place);
        Ok(Some(Span { begin, shift, end: earlier(end, shift) }))
    }

    /// Reports samplers that no channel uses.
    fn unused(&mut self, used: &[bool], place: &str) {
        let unused = used.iter().filter(|used| !**used).count();
        if let Some(first) = used.iter().position(|used| !used) {
            let message = match unused {
                1 => format!("sampler {first} is used by no channel and not read"),
                n => format!(
                    "{n} samplers are used by no channel and not read, the first is {first}"
                ),
            };
            self.notes.note(place, message);
        }
    }

    /// Reports the channels that do not animate a node: their number, and the first.
    fn report_pointers(&mut self) {
        let OtherPointers { first, all } = std::mem::take(&mut self.pointers);
        let Some((place, pointer)) = first else { return };
        let which = match (all.len(), pointer.is_empty()) {
            (1, true) => "animates by a pointer that it lacks".to_owned(),
            (1, false) => format!("animates {pointer:?}, which is no property of a node"),
            (n, _) => {
                format!("{n} channels animate no property of a node; the first of them {pointer:?}")
            }
        };
        self.notes.dropped(place, format!("{which} (KHR_animation_pointer)"));
        if all.len() > 1 {
            self.notes.items(all);
        }
    }

    /// The markers in an animation's extras, moved with its keys. Invalid ones are reported.
    fn markers(
        &mut self,
        extras: &str,
        duration: f32,
        shift: f32,
        place: &str,
    ) -> Result<Vec<Marker>, Fault> {
        let bytes = (extras.len() as u64).saturating_mul(JSON_BYTES_PER_BYTE);
        self.buffers.memory.charge(bytes)?;
        let found = serde_json::from_str(extras);
        let found = found.ok().and_then(|map| of_extras(&map));
        let mut markers = match found {
            Some(Ok(markers)) => markers,
            Some(Err(fault)) => {
                self.notes.dropped(place, format!("markers: {fault}"));
                Vec::new()
            }
            None => Vec::new(),
        };
        self.buffers.memory.release(bytes);
        let names: usize = markers.iter().map(|m| m.name.len()).sum();
        self.buffers.memory.charge(names as u64)?;
        self.buffers.memory.charge_for::<Marker>(markers.len())?;
        if shift < 0.0 {
            for marker in &mut markers {
                marker.time = (f64::from(marker.time) - f64::from(shift)) as f32;
            }
        }
        snap(&mut markers, duration);
        markers.retain(|m| {
            let within = (0.0..=duration).contains(&m.time);
            if !within {
                let name = shorten(&m.name);
                let message = format!("marker {name:?} at {} s is outside the clip", m.time);
                self.notes.dropped(place, message);
            }
            within
        });
        Ok(markers)
    }

    /// The target of a channel; `None`, with a report entry, if the import drops the channel.
    fn target(
        &mut self,
        channel: &Channel,
        place: &str,
    ) -> Result<Option<(usize, RawChannel)>, Fault> {
        let (property, node) = match channel.target.path.as_str() {
            "pointer" => {
                let pointer = channel.target.pointer().unwrap_or_default();
                let Some((property, node)) = of_pointer(&pointer) else {
                    let whole: String = pointer.chars().take(POINTER).collect();
                    let item = format!("{place}: {whole:?}");
                    self.buffers.memory.charge(item.len() as u64)?;
                    self.buffers.memory.charge_for::<String>(2)?;
                    self.pointers.all.push(item);
                    let first = || (place.to_owned(), shorten(&pointer));
                    self.pointers.first.get_or_insert_with(first);
                    return Ok(None);
                };
                (property, Some(node))
            }
            path => match property(path) {
                Some(property) => (property, channel.target.node),
                None => {
                    let message =
                        format!("animates {:?}, which glTF does not define", shorten(path));
                    self.notes.dropped(place, message);
                    return Ok(None);
                }
            },
        };
        let Some(node) = node else {
            self.notes.dropped(place, "has no target node");
            return Ok(None);
        };
        let target = at(self.nodes, node, "target node").within(|| short_channel(place))?;
        if property == RawChannel::Weights {
            if target.weights.is_empty() {
                let why = match self.scenes.is_undrawn(node) {
                    true => "is not in the default scene, so its mesh is not drawn",
                    false => "has no morph targets",
                };
                let message = format!("animates weights of node {node}, which {why}");
                self.notes.dropped(place, message);
                return Ok(None);
            }
        } else if target.matrix.is_some() && self.matrix_nodes.insert(node) {
            let message = format!("animates node {node}, whose matrix was decomposed for it");
            self.notes.note(place, message);
        }
        Ok(Some((node, property)))
    }

    /// The checked times of an accessor; read once for all samplers that use it.
    fn times(&mut self, accessor: usize) -> Result<Rc<Times>, Fault> {
        if let Some(times) = self.times.get(&accessor) {
            return Ok(times.clone());
        }
        self.buffers.info_of(accessor, &[Type::Scalar], "SCALAR")?;
        let times = self.buffers.floats(accessor, Integers::AsDeclared)?;
        let place = || format!("accessor {accessor}");
        let times = Rc::new(check_times(times).within(place)?);
        self.times.insert(accessor, times.clone());
        Ok(times)
    }
}

/// The last part of a place: `channel 3` of `animation 0, channel 3`.
fn short_channel(place: &str) -> String {
    place.rfind("channel ").map_or(place, |start| &place[start..]).to_owned()
}
