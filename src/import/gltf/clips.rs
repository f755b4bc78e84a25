//! Animations: samplers and channels to tracks.

use super::ImportOptions;
use super::accessor::Integers;
use super::buffers::{Buffers, at};
use super::document::{Animation, Channel, Sampler};
use super::error::{Fault, ImportFault as Kind, Lead, Within, count, invalid, label, shorten};
use super::limits::Notes;
use super::nodes::ZERO_LENGTH;
use super::scenes::Scenes;
use crate::clip::Marker;
use crate::import::markers::{of_extras, snap};
use crate::import::trim::{earlier, shift};
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawTrack};
use crate::words::{plural, were};
use ::gltf::json::accessor::Type;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Bytes of memory that a byte of JSON may need when parsed: a digit and its comma become
/// 32 bytes, a key of one letter a map node.
const JSON_BYTES_PER_BYTE: u64 = 32;

/// A sampler's key times after their checks: finite, and never decreasing.
struct Times {
    /// Time of each key, seconds.
    times: Vec<f32>,
    /// Number of keys with the time of the key before them.
    equal: usize,
    /// The first time that two keys share.
    jump: Option<f32>,
}

/// The begin and end of a clip, by the samplers that its channels use, seconds.
struct Span {
    /// Time of the first key; 0 for a clip without keys.
    begin: f32,
    /// Time subtracted from the file's times: `begin` if it is below 0, otherwise 0.
    shift: f32,
    /// Time of the last key, shifted.
    end: f32,
}

/// Keys of a track, and their indices in the file.
struct Keys {
    /// Key times, strictly increasing and not negative.
    times: Vec<f32>,
    /// Indices of the keys in the file; `None` if all keys are kept in order.
    kept: Option<Vec<usize>>,
}

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

    fn track(
        &mut self,
        channel: &Channel,
        samplers: &[Sampler],
        (node, property): (usize, RawChannel),
        span: &Span,
        place: &str,
    ) -> Result<Option<RawTrack>, Fault> {
        let sampler = at(samplers, channel.sampler, "sampler")?;
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(_) => {
                let fault = "interpolation of the sampler has a value that glTF does not define";
                return Err(invalid(fault).into());
            }
        };
        let times = self.times(sampler.input)?;
        if times.times.is_empty() {
            self.notes.dropped(place, "has no keys");
            return Ok(None);
        }
        let (shapes, expected, width) = match property {
            RawChannel::Translation | RawChannel::Scale => ([Type::Vec3], "VEC3", 3),
            RawChannel::Rotation => ([Type::Vec4], "VEC4", 4),
            RawChannel::Weights => {
                let width = self.nodes.get(node).map_or(0, |n| n.weights.len());
                ([Type::Scalar], "SCALAR", width)
            }
        };
        let info = self.buffers.info_of(sampler.output, &shapes, expected)?;
        let parts = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let per_key = parts * width / info.components();
        let wanted = times.times.len().saturating_mul(per_key);
        if info.count != wanted {
            return Err(count("values of the sampler's output", wanted as u64, info.count as u64))
                .within(|| format!("accessor {}", sampler.output));
        }
        // A quaternion of integers is meaningful only as fractions.
        let integers = match property {
            RawChannel::Rotation => Integers::Fractions,
            _ => Integers::AsDeclared,
        };
        let mut values = self.buffers.floats(sampler.output, integers)?;
        let row = parts * width;
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            let words = format!("key {} is {}", index / row.max(1), values[index]);
            return Err(invalid(words)).within(|| format!("accessor {}", sampler.output));
        }
        // With equal times, the charge covers the distinct times and the indices of kept keys.
        let words = if times.equal == 0 { 1 } else { 5 };
        self.buffers.memory.charge_for::<f32>(words * times.times.len())?;
        let keys = times.keys(span, interpolation);
        if let Some(kept) = &keys.kept {
            self.buffers.memory.charge_for::<f32>(kept.len() * row)?;
            values = (kept.iter())
                .flat_map(|&key| &values[key * row..(key + 1) * row])
                .copied()
                .collect();
        }
        if property == RawChannel::Rotation {
            self.mend_rotations(&mut values, parts, place);
        }
        Ok(Some(RawTrack { node, channel: property, interpolation, times: keys.times, values }))
    }

    /// Replaces keys without a direction by the previous key, the first one by the identity. Normalises the keys of splines,
    /// since builders keep their lengths; their tangents stay.
    fn mend_rotations(&mut self, values: &mut [f32], parts: usize, place: &str) {
        let mut previous = [0.0, 0.0, 0.0, 1.0];
        let mut mended = 0usize;
        for key in values.chunks_exact_mut(4 * parts) {
            // In a cubic key the value is between its tangents.
            let at = if parts == 3 { 4 } else { 0 };
            let q = &mut key[at..at + 4];
            let length = q.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
            if length < ZERO_LENGTH {
                q.copy_from_slice(&previous);
                mended += 1;
            } else {
                if parts == 3 {
                    q.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
                }
                previous.copy_from_slice(q);
            }
        }
        if mended > 0 {
            let message = format!(
                "{} of length 0 {} replaced by the previous key",
                plural(mended as u64, "rotation key"),
                were(mended as u64)
            );
            self.notes.repaired(place, message);
        }
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

/// Checks that times are finite and do not decrease.
fn check_times(times: Vec<f32>) -> Result<Times, Kind> {
    let (mut equal, mut jump) = (0, None);
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Kind::Times(format!("time {index} is {time}")));
        }
        match index.checked_sub(1).map(|before| times[before]) {
            Some(previous) if time < previous => {
                return Err(Kind::Times(format!("time {index} is {time}, after {previous}")));
            }
            Some(previous) if time == previous => {
                equal += 1;
                jump = jump.or(Some(time));
            }
            _ => {}
        }
    }
    Ok(Times { times, equal, jump })
}

impl Times {
    /// The keys of a track. Of several keys at one time the first and the last count, as a jump: the first is moved one step
    /// of f32 earlier. If nothing leads to it, as in step tracks and at the beginning of the clip, only the last counts.
    fn keys(&self, span: &Span, interpolation: Interpolation) -> Keys {
        let mut times = self.times.clone();
        if self.equal == 0 {
            if span.shift < 0.0 {
                shift(&mut times, span.shift);
            }
            return Keys { times, kept: None };
        }
        let all = &self.times;
        times.dedup();
        if span.shift < 0.0 {
            shift(&mut times, span.shift);
        }
        let mut keys = Keys { times: Vec::new(), kept: None };
        let mut kept = Vec::new();
        let mut first = 0;
        for time in times {
            let equal = all[first..].iter().take_while(|&&t| t == all[first]);
            let last = first + equal.count() - 1;
            let jumps = interpolation != Interpolation::Step && all[first] > span.begin;
            let before = time.next_down();
            if last > first && jumps && keys.times.last().is_none_or(|&t| t < before) {
                keys.times.push(before);
                kept.push(first);
            }
            keys.times.push(time);
            kept.push(last);
            first = last + 1;
        }
        keys.kept = Some(kept);
        keys
    }
}
