//! Animations: samplers and channels to tracks.

use super::accessor::Integers;
use super::buffers::{Buffers, at};
use super::document::{Animation, Channel, Sampler};
use super::error::{Fault, GltfErrorKind as Kind, Within, label, shorten};
use super::limits::Notes;
use super::nodes::ZERO_LENGTH;
use super::scenes::Scenes;
use crate::clip::Marker;
use crate::import::markers::{of_extras, snap};
use crate::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawTrack};
use crate::words::{plural, were};
use ::gltf::json::accessor::Type;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Bytes of memory that a byte of JSON may need when parsed: a digit and its comma become
/// 32 bytes, a key of one letter a map node.
const JSON_BYTES_PER_BYTE: u64 = 32;

/// A sampler's key times after their checks.
struct Times {
    /// Strictly increasing.
    times: Vec<f32>,
    /// Keys in the file; more than `times` if some had equal times.
    keys: usize,
    /// Indices of the keys that are kept, if not all.
    kept: Option<Vec<usize>>,
}

/// Channels that animate what is no node, by KHR_animation_pointer.
#[derive(Default)]
struct OtherPointers {
    /// The place of the first, and its pointer.
    first: Option<(String, String)>,
    /// The places of all, with their pointers.
    all: Vec<String>,
}

/// Characters of a pointer that an item of the report holds.
const POINTER: usize = 200;

struct Clips<'c, 's> {
    nodes: &'c [RawNode],
    scenes: &'c Scenes,
    pointers: OtherPointers,
    buffers: &'c mut Buffers<'s>,
    notes: &'c mut Notes,
    times: HashMap<usize, Rc<Times>>,
    matrix_nodes: HashSet<usize>,
}

/// Reads the animations.
pub(super) fn clips(
    list: Vec<Animation>,
    nodes: &[RawNode],
    scenes: &Scenes,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<RawClip>, Fault> {
    let mut clips = Clips {
        nodes,
        scenes,
        pointers: OtherPointers::default(),
        buffers,
        notes,
        times: HashMap::new(),
        matrix_nodes: HashSet::new(),
    };
    let mut out = Vec::with_capacity(list.len());
    for (index, animation) in list.into_iter().enumerate() {
        let place = label("animation", index, animation.name.as_deref());
        out.push(clips.clip(animation, &place).within(|| place)?);
    }
    clips.report_pointers();
    Ok(out)
}

/// The property and node of a pointer such as `/nodes/3/rotation`; `None` for all others.
fn of_pointer(pointer: &str) -> Option<(RawChannel, usize)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    // By RFC 6901 an index has no sign and no zeros before it.
    let index = node.bytes().all(|b| b.is_ascii_digit()) && (node == "0" || !node.starts_with('0'));
    let node = node.parse().ok().filter(|_| index)?;
    Some((property(path)?, node))
}

/// The property of a node that a path names.
fn property(path: &str) -> Option<RawChannel> {
    Some(match path {
        "translation" => RawChannel::Translation,
        "rotation" => RawChannel::Rotation,
        "scale" => RawChannel::Scale,
        "weights" => RawChannel::Weights,
        _ => return None,
    })
}

impl Clips<'_, '_> {
    fn clip(&mut self, animation: Animation, place: &str) -> Result<RawClip, Fault> {
        let mut duration = 0.0f32;
        for (index, sampler) in animation.samplers.iter().enumerate() {
            let place = || format!("sampler {index}");
            at(&self.buffers.accessors, sampler.output, "output accessor").within(place)?;
            let times = self.times(sampler.input).within(place)?;
            duration = duration.max(times.times.last().copied().unwrap_or(0.0));
        }
        let mut tracks = Vec::with_capacity(animation.channels.len());
        let mut seen = HashSet::new();
        for (index, channel) in animation.channels.iter().enumerate() {
            let here = format!("{place}, channel {index}");
            let Some((node, property)) = self.target(channel, &here)? else {
                continue;
            };
            if !seen.insert((node, property)) {
                let message = format!("node {node} already has a channel for {property}");
                self.notes.dropped(here, message);
                continue;
            }
            let track = self
                .track(channel, &animation.samplers, node, property, &here)
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
        let extras = animation.extras.map(|json| json.get().to_owned());
        let markers = match &extras {
            Some(text) => self.markers(text, duration, place)?,
            None => Vec::new(),
        };
        Ok(RawClip {
            name: animation.name,
            duration,
            tracks,
            extras,
            markers,
            trimmed: 0.0,
        })
    }

    /// Reports the channels that animate what is no node: how many, and the first.
    fn report_pointers(&mut self) {
        let OtherPointers { first, all } = std::mem::take(&mut self.pointers);
        let Some((place, pointer)) = first else {
            return;
        };
        let which = match (all.len(), pointer.is_empty()) {
            (1, true) => "animates by a pointer that it lacks".to_owned(),
            (1, false) => format!("animates {pointer:?}, which is no property of a node"),
            (n, _) => {
                format!("{n} channels animate no property of a node; the first of them {pointer:?}")
            }
        };
        self.notes
            .dropped(place, format!("{which} (KHR_animation_pointer)"));
        if all.len() > 1 {
            self.notes.items(all);
        }
    }

    /// The markers in an animation's extras. Those that cannot be used are reported.
    fn markers(&mut self, extras: &str, duration: f32, place: &str) -> Result<Vec<Marker>, Fault> {
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
        node: usize,
        property: RawChannel,
        place: &str,
    ) -> Result<Option<RawTrack>, Fault> {
        let sampler = at(samplers, channel.sampler, "sampler")?;
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(_) => {
                let what = "interpolation of the sampler";
                return Err(Kind::Unknown { what }.into());
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
        let parts = match interpolation {
            Interpolation::CubicSpline => 3,
            _ => 1,
        };
        let per_key = parts * width / info.components();
        let wanted = times.keys.saturating_mul(per_key);
        if info.count != wanted {
            return Err(Kind::Count {
                what: "values of the sampler's output",
                expected: wanted as u64,
                found: info.count as u64,
            })
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
            return Err(Kind::NotFinite {
                what: "key",
                index: index / row.max(1),
                value: values[index],
            })
            .within(|| format!("accessor {}", sampler.output));
        }
        if let Some(kept) = &times.kept {
            self.buffers.memory.charge_for::<f32>(kept.len() * row)?;
            values = (kept.iter())
                .flat_map(|&key| &values[key * row..(key + 1) * row])
                .copied()
                .collect();
        }
        if property == RawChannel::Rotation {
            self.mend_rotations(&mut values, parts, place);
        }
        self.buffers.memory.charge_for::<f32>(times.times.len())?;
        Ok(Some(RawTrack {
            node,
            channel: property,
            interpolation,
            times: times.times.clone(),
            values,
        }))
    }

    /// Replaces keys without a direction by the previous key, the first one by the identity.
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
        let times = self.read_times(accessor)?;
        let place = || format!("accessor {accessor}");
        let times = Rc::new(check_times(times).within(place)?);
        if let Some(kept) = &times.kept {
            let removed = (times.keys - kept.len()) as u64;
            let message = format!(
                "{} had the time of the next key and {} removed",
                plural(removed, "key"),
                were(removed)
            );
            self.notes.repaired(place(), message);
        }
        self.times.insert(accessor, times.clone());
        Ok(times)
    }

    fn read_times(&mut self, accessor: usize) -> Result<Vec<f32>, Fault> {
        self.buffers.info_of(accessor, &[Type::Scalar], "SCALAR")?;
        self.buffers.floats(accessor, Integers::AsDeclared)
    }
}

/// `channel 3` out of `animation 0, channel 3`.
fn short_channel(place: &str) -> String {
    match place.rfind("channel ") {
        Some(start) => place[start..].to_owned(),
        None => place.to_owned(),
    }
}

/// Checks that times are finite, not negative and do not decrease. Of equal neighbours the last is kept.
fn check_times(times: Vec<f32>) -> Result<Times, Kind> {
    let mut equal = 0;
    for (index, &time) in times.iter().enumerate() {
        if !time.is_finite() {
            return Err(Kind::NotFinite {
                what: "time",
                index,
                value: time,
            });
        }
        if time < 0.0 {
            return Err(Kind::TimeNegative { index, time });
        }
        match index.checked_sub(1).map(|before| times[before]) {
            Some(previous) if time < previous => {
                return Err(Kind::TimeOrder {
                    index,
                    time,
                    previous,
                });
            }
            Some(previous) if time == previous => equal += 1,
            _ => {}
        }
    }
    let keys = times.len();
    if equal == 0 {
        return Ok(Times {
            times,
            keys,
            kept: None,
        });
    }
    let kept: Vec<usize> = (0..keys)
        .filter(|&key| times.get(key + 1) != Some(&times[key]))
        .collect();
    Ok(Times {
        times: kept.iter().map(|&key| times[key]).collect(),
        keys,
        kept: Some(kept),
    })
}
