//! [`ClipList`]: what can be played, by name, and a filter over it.

use super::super::text;
use super::pad;
use super::viewer_crowd::Playing;
use phalanx::rig::Rig;

/// Number of clips from which the list has a filter.
pub const FILTERED_FROM: usize = 13;

/// Entries with their names, and the filter.
#[derive(Clone, Debug, Default)]
pub struct ClipList {
    entries: Vec<(Playing, String)>,
    /// Only entries whose names contain this are listed; upper and lower case are the same.
    pub filter: String,
}

impl ClipList {
    /// The rest pose, the mixture, the pad and the clips of a rig.
    pub fn new(rig: &Rig) -> Self {
        let mut entries = vec![(Playing::Rest, "(rest pose)".to_owned())];
        if !rig.clips().is_empty() {
            entries.push((Playing::Mixed, "(a different clip each)".to_owned()));
        }
        if !pad::clips(rig).is_empty() {
            entries.push((Playing::Pad, "(clips on a pad)".to_owned()));
        }
        let clips = rig.clips().iter().enumerate();
        entries.extend(clips.map(|(i, clip)| {
            let name = match clip.name() {
                "" => format!("clip {i}"),
                name => text::one_line(name),
            };
            (Playing::Clip(i), name)
        }));
        Self { entries, filter: String::new() }
    }

    /// True if the list is long enough to have a filter.
    pub fn is_long(&self) -> bool {
        let clips = self.entries.iter();
        let clips = clips.filter(|e| matches!(e.0, Playing::Clip(_)));
        clips.count() >= FILTERED_FROM
    }

    /// The entries that pass the filter.
    pub fn listed(&self) -> impl Iterator<Item = &(Playing, String)> {
        let wanted = self.filter.to_lowercase();
        let passes = move |name: &str| wanted.is_empty() || name.to_lowercase().contains(&wanted);
        self.entries.iter().filter(move |e| passes(&e.1))
    }

    /// Name of an entry.
    pub fn name(&self, playing: Playing) -> &str {
        let entry = self.entries.iter().find(|e| e.0 == playing);
        entry.map_or("", |e| &e.1)
    }

    /// The listed entry at an offset from another one, around the ends of the list. From an entry that is not
    /// listed it is the first or the last one.
    pub fn step(&self, from: Playing, by: isize) -> Option<Playing> {
        let listed: Vec<Playing> = self.listed().map(|e| e.0).collect();
        let now = listed.iter().position(|&e| e == from);
        let next = match now {
            Some(now) => now as isize + by,
            None if by > 0 => by - 1,
            None => by,
        };
        let next = next.checked_rem_euclid(listed.len() as isize)?;
        listed.get(next as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ClipList {
        ClipList::new(&phalanx::import::mannequin().unwrap())
    }

    #[test]
    fn filters_ignore_case_and_steps_stay_within() {
        let mut list = list();
        let all = list.listed().count();
        list.filter = "WALK".into();
        let names: Vec<_> = list.listed().map(|e| e.1.clone()).collect();
        assert_eq!(names, ["Walk", "Walk_RootMotion"]);
        let [walk, root] = [0, 1].map(|i| list.listed().nth(i).unwrap().0);
        assert_eq!(list.step(walk, 1), Some(root));
        assert_eq!(list.step(root, 1), Some(walk));
        // What plays need not be listed.
        assert_eq!(list.step(Playing::Rest, 1), Some(walk));
        assert_eq!(list.step(Playing::Rest, -1), Some(root));
        list.filter = "no such clip".into();
        assert_eq!(list.step(walk, 1), None);
        list.filter.clear();
        assert_eq!(list.listed().count(), all);
    }

    #[test]
    fn short_lists_have_no_filter() {
        let mut list = list();
        assert!(!list.is_long());
        for clip in list.listed().count() - 3..FILTERED_FROM {
            assert!(!list.is_long());
            list.entries.push((Playing::Clip(clip), "more".into()));
        }
        assert!(list.is_long());
    }
}
