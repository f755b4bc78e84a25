//! "Did you mean": the names of clips and joints that resemble one that does not exist.

use crate::words::{plural, shorten};
use thiserror::Error;

/// Largest number of names suggested.
const MOST: usize = 4;

/// The most names that an error compares with one that does not exist: a look-up that fails takes no more than some
/// milliseconds.
pub(crate) const MOST_NAMES: usize = 1024;

/// Similarity from which a name is suggested, from 0 to 1: two letters of five may differ.
const LEAST: f64 = 0.6;

/// Characters compared; the work of comparing grows with their square.
const COMPARED: usize = 64;

/// Likeness of a whole name from which names of which only a part resembles are not suggested.
const SURE: f64 = 0.75;

/// Longest text, in characters, that is looked for everywhere in a name, not only at its ends.
const ANYWHERE: usize = 24;

/// Names shorter than this count as no part of another name.
const LEAST_PART: usize = 3;

/// No clip or joint has a name, or several joints do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No clip has that name.
    #[error("rig \"{rig}\" has no clip \"{wanted}\"{}", hint(near))]
    NoClip {
        /// The rig's name, cut short.
        rig: String,
        /// The name that was looked for, cut short.
        wanted: String,
        /// Names that resemble it, the most alike first; at most four.
        near: Vec<String>,
    },
    /// No joint has that name or path.
    #[error("there is no joint \"{}\"{}", shorten(name), hint(near))]
    NoJoint {
        /// The name or path.
        name: String,
        /// Names of joints that resemble it, the most alike first; at most four.
        near: Vec<String>,
    },
    /// Several joints match.
    #[error(
        "\"{name}\" matches {count} joints, among them {} (joint {}) and {} (joint {}); {}",
        paths[0], joints[0], paths[1], joints[1], cure(paths), name = shorten(.name)
    )]
    SeveralJoints {
        /// The name or path.
        name: String,
        /// How many match.
        count: usize,
        /// The paths of two of them.
        paths: [String; 2],
        /// The indices of these two.
        joints: [usize; 2],
    },
    /// The skeleton has fewer joints.
    #[error("joint {joint} is out of range, the skeleton has {}", plural(*.joints as u64, "joint"))]
    JointIndex {
        /// The index.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
}

/// Advice on how to name one of two joints of the same name.
fn cure(paths: &[String; 2]) -> &'static str {
    match paths[0] == paths[1] {
        true => "their paths are equal, an index finds each",
        false => "a path or an index finds each",
    }
}

impl LookupError {
    pub(crate) fn no_clip<'a>(
        rig: &str,
        wanted: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let near = near(wanted, names.into_iter().take(MOST_NAMES));
        Self::NoClip {
            rig: shorten(rig),
            wanted: shorten(wanted),
            near: near.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The names most like `wanted`, best first, without duplicates.
pub fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = folded(wanted);
    // Of a path, the joint itself is compared.
    let end = wanted.rsplit(['/', ':']).next().unwrap_or_default();
    let mut found: Vec<(Likeness, &str)> = names
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| {
            let folded = folded(name);
            let whole = likeness(&wanted, &folded);
            (whole.max(likeness(end, &folded)), name)
        })
        .filter(|(likeness, _)| likeness.share >= LEAST)
        .collect();
    if found.iter().any(|(l, _)| !l.of_part && l.share >= SURE) {
        found.retain(|(l, _)| !l.of_part);
    }
    found.sort_by(|a, b| b.0.share.total_cmp(&a.0.share).then_with(|| a.1.cmp(b.1)));
    found.dedup_by_key(|(_, name)| *name);
    found.truncate(MOST);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Names as a question, if there are any: `did you mean "Walk" or "Run"?` They are given in quotes.
pub fn question(quoted: &[String]) -> Option<String> {
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

/// The end of a message about a name that does not exist: `; did you mean "Walk"?`, or nothing.
pub(crate) fn hint(near: &[String]) -> String {
    let quoted: Vec<String> = near.iter().map(|n| format!("\"{}\"", shorten(n))).collect();
    question(&quoted).map_or_else(String::new, |question| format!("; {question}"))
}

fn folded(name: &str) -> String {
    name.chars().take(COMPARED).flat_map(char::to_lowercase).collect()
}

/// How much a name resembles what is wanted.
#[derive(Clone, Copy)]
struct Likeness {
    /// The resemblance, 0 to 1.
    share: f64,
    /// True if only a part of the name resembles it, with other letters.
    of_part: bool,
}

impl Likeness {
    fn of_whole(share: f64) -> Self {
        let of_part = false;
        Self { share, of_part }
    }

    fn max(self, other: Self) -> Self {
        if other.share > self.share { other } else { self }
    }
}

/// Both are in lower case.
fn likeness(wanted: &str, name: &str) -> Likeness {
    if wanted == name {
        return Likeness::of_whole(1.0);
    }
    let (shorter, longer) = if wanted.len() < name.len() { (wanted, name) } else { (name, wanted) };
    let share = shorter.len() as f64 / longer.len().max(1) as f64;
    if shorter.chars().count() >= LEAST_PART && longer.contains(shorter) {
        return Likeness::of_whole(0.8 + 0.15 * share);
    }
    let [wanted, name]: [Vec<char>; 2] = [wanted, name].map(|text| text.chars().collect());
    let whole = Likeness::of_whole(agreement(&wanted, &name));
    // "Hadn" is not far from the end of "LeftHand", nor "Haed" from the middle of "b_Head_05".
    let letters = wanted.len();
    let spare = name.len().saturating_sub(letters);
    if letters <= LEAST_PART || spare == 0 {
        return whole;
    }
    let step = if letters <= ANYWHERE { 1 } else { spare };
    let parts = (0..=spare).step_by(step);
    let parts = parts.map(|at| agreement(&wanted, &name[at..at + letters]));
    whole.max(Likeness { share: 0.9 * parts.fold(0.0, f64::max), of_part: true })
}

/// The share of letters that agree, from 0 to 1, by the edit distance: letters inserted, left out or changed, and
/// neighbours swapped (optimal string alignment).
fn agreement(a: &[char], b: &[char]) -> f64 {
    // Rows of the table of distances between beginnings of `a` and of `b`: the last but one, the last, the next.
    let mut two = vec![0; b.len() + 1];
    let mut one: Vec<usize> = (0..=b.len()).collect();
    let mut next = two.clone();
    for (i, x) in a.iter().enumerate() {
        next[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = one[j] + usize::from(x != y);
            let mut least = changed.min(one[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && (a[i - 1], b[j - 1]) == (*y, *x) {
                least = least.min(two[j - 1] + 1);
            }
            next[j + 1] = least;
        }
        (two, one, next) = (one, next, two);
    }
    1.0 - one[b.len()] as f64 / a.len().max(b.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("walk", "walk", 0),
            ("walk", "wlak", 1),
            ("walk", "wak", 1),
            ("walk", "wallk", 1),
            ("walk", "talk", 1),
            ("kitten", "sitting", 3),
            ("abcd", "badc", 2),
            ("ca", "abc", 3),
            ("体操", "操体", 1),
        ] {
            let [x, y]: [Vec<char>; 2] = [a, b].map(|text| text.chars().collect());
            let most = x.len().max(y.len()).max(1) as f64;
            let want = 1.0 - f64::from(edits) / most;
            assert_eq!(agreement(&x, &y), want, "{a} {b}");
            assert_eq!(agreement(&y, &x), want, "{b} {a}");
        }
    }

    const CLIPS: [&str; 6] = ["Idle", "Walk", "Run", "LookAround", "Walk_RootMotion", "Walk"];

    #[test]
    fn misspelt_names_are_found() {
        for (wanted, best) in [
            ("walk", "Walk"),
            ("Wlak", "Walk"),
            ("Moonwalk", "Walk"),
            ("idel", "Idle"),
            ("look_around", "LookAround"),
            ("RUN", "Run"),
        ] {
            assert_eq!(near(wanted, CLIPS).first(), Some(&best), "{wanted}");
        }
        assert_eq!(near("walk", CLIPS), ["Walk", "Walk_RootMotion"]);
        for nothing in ["", "11", "Swim", "xyz", "体"] {
            assert!(near(nothing, CLIPS).is_empty(), "{nothing}");
        }
        assert!(near("walk", ["", "体"]).is_empty());
    }

    #[test]
    fn joints_are_found_by_parts_and_paths() {
        let joints = ["Hips", "LeftHand", "RightHand", "RightHandThumb1", "Head"];
        assert_eq!(near("Hand", joints)[..2], ["LeftHand", "RightHand"]);
        assert_eq!(near("Hadn", joints)[..2], ["LeftHand", "RightHand"]);
        assert_eq!(near("Arm/lefthand", joints)[0], "LeftHand");
        // A name with one typing error is meant, not others that have it as a part.
        assert_eq!(near("RightHnad", joints), ["RightHand"]);
        assert_eq!(near("Haed", ["b_Hip_01", "b_Head_05"]), ["b_Head_05"]);
        assert_eq!(near("Armature:lefthadn", joints), ["LeftHand"]);
        let asked = |wanted: &str| {
            let near = near(wanted, joints).into_iter().map(|n| format!("\"{n}\""));
            question(&near.collect::<Vec<_>>())
        };
        assert_eq!(
            asked("Hand").unwrap(),
            "did you mean \"LeftHand\", \"RightHand\" or \"RightHandThumb1\"?"
        );
        assert_eq!(asked("hips").unwrap(), "did you mean \"Hips\"?");
        assert_eq!(asked("Tail"), None);
    }

    #[test]
    fn the_number_of_names_is_bounded() {
        let names: Vec<String> = (0..1000).map(|i| format!("joint{i}")).collect();
        assert_eq!(near("joint", names.iter().map(String::as_str)).len(), MOST);
        let long = "x".repeat(1 << 20);
        assert_eq!(near(&long, [long.as_str()]).len(), 1);
    }
}
