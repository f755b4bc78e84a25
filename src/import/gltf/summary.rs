//! What the report says of a file as a whole: clips that begin late or were cut, and names that occur twice.

use super::error::{Fault, label, shorten};
use super::limits::{MemoryLimit, Notes};
use crate::import::raw::{RawChannel, RawClip, RawNode, RawScene, RawSkin};

/// Names, clips and indices that a message lists; it counts the rest, and the entry's items are all.
pub(super) const LISTED: usize = 4;

/// Bytes that an item of an entry may take: a name that is shortened may have 40 characters that are escaped.
pub(super) const ITEM: usize = 512;

/// Bytes that an index in an item may take, as a string of its own before it is joined.
const INDEX: usize = 64;

/// By node: whether it becomes a joint: joints of skins, animated nodes, and all above them.
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

/// Reports clips that begin late; if `trim`, cuts them.
pub(super) fn late_clips(
    scene: &mut RawScene,
    trim: bool,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let firsts = (0..scene.clips.len()).map(|clip| (clip, scene.first_key(clip)));
    let late: Vec<(usize, f32)> = firsts
        .filter_map(|(clip, first)| Some((clip, first.filter(|&f| f > 0.0)?)))
        .collect();
    let Some(&(one, _)) = late.first() else {
        return Ok(());
    };
    if trim {
        scene.trim_clips();
    }
    let clip_of = |clip: usize| label("animation", clip, scene.clips[clip].name.as_deref());
    match (&late[..], trim) {
        ([(_, first)], false) => notes.note(
            clip_of(one),
            format!(
                "begins late, its first key is at {first} s; trimming (--trim) cuts what is before it"
            ),
        ),
        ([(_, first)], true) => notes.repaired(
            clip_of(one),
            format!("cut before its first key, which was at {first} s"),
        ),
        (several, _) => {
            memory.charge((several.len() * ITEM) as u64)?;
            let each = several.iter();
            let items: Vec<String> = each
                .map(|&(c, first)| format!("{} at {first} s", clip_of(c)))
                .collect();
            let each = list(&items[..items.len().min(LISTED)], items.len());
            match trim {
                false => notes.note(
                    "animations",
                    format!(
                        "{} begin late: {each}; trimming (--trim) cuts what is before their first keys",
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

/// Reports names that several clips, joints or meshes have.
pub(super) fn repeated_names(
    scene: &RawScene,
    memory: &mut MemoryLimit,
    notes: &mut Notes,
) -> Result<(), Fault> {
    let joint = animated_or_joint(&scene.nodes, &scene.skins, &scene.clips);
    let clips = scene.clips.iter().map(|c| c.name.as_deref());
    let joints = scene.nodes.iter().zip(&joint);
    let joints = joints.map(|(n, joint)| n.name.as_deref().filter(|_| *joint));
    let meshes = scene.meshes.iter().map(|m| m.name.as_deref());
    let clips = repeated(clips, "animations", memory)?;
    let joints = repeated(joints, "nodes", memory)?;
    let meshes = repeated(meshes, "meshes", memory)?;
    let all = [
        ("clips", clips, "a name finds the first, an index each"),
        (
            "joints",
            joints,
            "a path (PARENT/NAME) or an index finds each, the name alone none",
        ),
        ("meshes", meshes, "an index finds each"),
    ];
    for (place, names, how) in all {
        if let Some((names, items)) = names {
            notes.note(
                place,
                format!("names that occur more than once: {names}; {how}"),
            );
            notes.items(items);
        }
    }
    Ok(())
}

/// The names that occur more than once, with the indices that have them, in the order of the file: the first of
/// them in words, and all of them.
fn repeated<'n>(
    names: impl Iterator<Item = Option<&'n str>>,
    what: &str,
    memory: &mut MemoryLimit,
) -> Result<Option<(String, Vec<String>)>, Fault> {
    let count = names.size_hint().1.unwrap_or(0);
    memory.charge_for::<(&str, usize)>(count)?;
    let named = names.enumerate();
    let named = named.filter_map(|(i, name)| Some((name.filter(|n| !n.is_empty())?, i)));
    let mut named: Vec<(&str, usize)> = named.collect();
    named.sort_unstable();
    let mut groups: Vec<&[(&str, usize)]> = named.chunk_by(|a, b| a.0 == b.0).collect();
    groups.retain(|g| g.len() > 1);
    groups.sort_unstable_by_key(|g| g[0].1);
    let indices: usize = groups.iter().map(|g| g.len()).sum();
    memory.charge((groups.len() * ITEM + indices * INDEX) as u64)?;
    let text = |group: &[(&str, usize)], shown: usize| {
        let shown = group.iter().take(shown);
        let shown: Vec<String> = shown.map(|(_, i)| i.to_string()).collect();
        let indices = list(&shown, group.len());
        format!("{:?} ({what} {indices})", shorten(group[0].0))
    };
    let shown = groups.iter().take(LISTED);
    let shown: Vec<String> = shown.map(|g| text(g, LISTED)).collect();
    let items: Vec<String> = groups.iter().map(|g| text(g, usize::MAX)).collect();
    memory.release((count * size_of::<(&str, usize)>()) as u64);
    Ok((!items.is_empty()).then(|| (list(&shown, items.len()), items)))
}

/// `a`, `a and b`, or `a, b, c, d and 5 more` of `count` items of which the first are shown.
pub(super) fn list(shown: &[String], count: usize) -> String {
    match (shown, count.saturating_sub(shown.len())) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([others @ .., last], 0) => format!("{} and {last}", others.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
