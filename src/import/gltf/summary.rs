//! Report entries about a file as a whole: clips that begin late or were cut, and names that occur twice.

use super::error::{Fault, label};
use super::limits::{MemoryLimit, Notes};
use crate::import::repeated::Repeated;
pub(super) use crate::import::repeated::{LISTED, list};
use crate::raw::{RawChannel, RawClip, RawNode, RawScene, RawSkin};
use std::collections::HashSet;

/// Largest size of an item of an entry, bytes: a shortened name may have 40 characters that are escaped.
pub(super) const ITEM: usize = 512;

/// Largest memory of an index in an item, bytes, as a string before it is joined.
const INDEX: usize = 64;

/// For each node, whether it becomes a joint: joints of skins, animated nodes, and all nodes above them.
pub(super) fn animated_or_joint(
    nodes: &[RawNode],
    skins: &[RawSkin],
    clips: &[RawClip],
) -> Vec<bool> {
    let mut joint = vec![false; nodes.len()];
    let tracks = clips.iter().flat_map(|c| &c.tracks);
    let moved = tracks.filter(|t| t.channel != RawChannel::Weights);
    let skinned = skins.iter().flat_map(|s| &s.joints).copied();
    for node in skinned.chain(moved.map(|t| t.node)) {
        let mut next = Some(node);
        while let Some(n) = next.filter(|&n| !joint[n]) {
            joint[n] = true;
            next = nodes[n].parent;
        }
    }
    joint
}

/// Reports clips that begin late, by their indices in the file; if `trim`, cuts them.
pub(super) fn late_clips(
    scene: &mut RawScene,
    sources: &[usize],
    trim: bool,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let firsts = (0..scene.clips.len()).map(|clip| (clip, scene.first_key(clip)));
    let late: Vec<(usize, f32)> =
        firsts.filter_map(|(clip, first)| Some((clip, first.filter(|&f| f > 0.0)?))).collect();
    let Some(&(one, _)) = late.first() else { return Ok(()) };
    if trim {
        scene.trim_clips();
    }
    let clip_of =
        |clip: usize| label("animation", sources[clip], scene.clips[clip].name.as_deref());
    match (&late[..], trim) {
        ([(_, first)], false) => notes.note(
            clip_of(one),
            format!("begins late, its first key is at {first} s; trimming cuts what is before it"),
        ),
        ([(_, first)], true) => notes
            .repaired(clip_of(one), format!("cut before its first key, which was at {first} s")),
        (several, _) => {
            memory.charge((several.len() * ITEM) as u64)?;
            let each = several.iter();
            let items: Vec<String> =
                each.map(|&(c, first)| format!("{} at {first} s", clip_of(c))).collect();
            let each = list(&items[..items.len().min(LISTED)], items.len());
            match trim {
                false => notes.note(
                    "animations",
                    format!(
                        "{} begin late: {each}; trimming cuts what is before their first keys",
                        several.len()
                    ),
                ),
                true => notes.repaired(
                    "animations",
                    format!("{} were cut before their first keys: {each}", several.len()),
                ),
            }
            notes.items(items);
        }
    }
    Ok(())
}

/// Reports names that several clips, joints or meshes have, and those that joints share with other nodes.
pub(super) fn repeated_names(
    scene: &RawScene,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let joint = animated_or_joint(&scene.nodes, &scene.skins, &scene.clips);
    let clips = scene.clips.iter().map(|c| (c.name.as_deref(), None));
    let joints = scene.nodes.iter().zip(&joint);
    let joints = joints.map(|(n, joint)| (n.name.as_deref().filter(|_| *joint), n.parent));
    let meshes = scene.meshes.iter().map(|m| (m.name.as_deref(), None));
    let first =
        |names: &Repeated<'_>| names.message("animations", "a name finds the first, an index each");
    note("clips", "animations", clips, first, memory, notes)?;
    let how = |names: &Repeated<'_>| names.joints_message("nodes");
    note("joints", "nodes", joints, how, memory, notes)?;
    let shared = shared_names(&scene.nodes, &joint, memory)?;
    let nodes = scene.nodes.iter().map(|n| n.name.as_deref());
    let nodes = nodes.map(|name| (name.filter(|name| shared.contains(name)), None));
    let how = |names: &Repeated<'_>| {
        let how = "not all nodes of one name are joints: look-ups find the joints alone";
        names.message("nodes", how)
    };
    note("nodes", "nodes", nodes, how, memory, notes)?;
    let index = |names: &Repeated<'_>| names.message("meshes", "an index finds each");
    note("meshes", "meshes", meshes, index, memory, notes)
}

/// The names that both joints and other nodes have.
fn shared_names<'n>(
    nodes: &'n [RawNode],
    joint: &[bool],
    memory: &mut MemoryLimit,
) -> Result<HashSet<&'n str>, Fault> {
    // A set takes up to twice its items, and a byte each.
    memory.charge_for::<[&str; 4]>(nodes.len())?;
    let names = |joints: bool| -> HashSet<&'n str> {
        let nodes = nodes.iter().zip(joint).filter(|(_, joint)| **joint == joints);
        nodes.filter_map(|(n, _)| n.name.as_deref()).collect()
    };
    let (joints, others) = (names(true), names(false));
    let shared = joints.intersection(&others).copied().collect();
    memory.release((nodes.len() * size_of::<[&str; 4]>()) as u64);
    Ok(shared)
}

/// An entry with all names that occur more than once, if there are any.
fn note<'n>(
    place: &str,
    what: &str,
    names: impl Iterator<Item = (Option<&'n str>, Option<usize>)>,
    message: impl Fn(&Repeated<'n>) -> String,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let count = names.size_hint().1.unwrap_or(0);
    memory.charge_for::<(&str, usize, Option<usize>)>(count)?;
    let repeated = Repeated::of(names);
    let (groups, indices) = repeated.counts();
    memory.charge((groups * ITEM + indices * INDEX) as u64)?;
    memory.release((count * size_of::<(&str, usize, Option<usize>)>()) as u64);
    if !repeated.is_empty() {
        notes.note(place, message(&repeated));
        notes.items(repeated.items(what));
    }
    Ok(())
}
