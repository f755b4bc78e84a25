//! "Did you mean": the names of clips and joints that resemble one that does not exist.

use super::text;

/// Largest number of names suggested.
const MOST: usize = 4;

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

/// The suggestion as a question, if any name is similar: `did you mean "Walk" or "Run"?`
pub fn did_you_mean<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = near(wanted, names);
    let quoted: Vec<String> = near.iter().map(|n| text::name(Some(n))).collect();
    let (last, others) = quoted.split_last()?;
    Some(match others {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", others.join(", ")),
    })
}

fn folded(name: &str) -> String {
    name.chars()
        .take(COMPARED)
        .flat_map(char::to_lowercase)
        .collect()
}

/// How much a name resembles what is wanted.
#[derive(Clone, Copy)]
struct Likeness {
    /// From 0 to 1.
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
        match other.share > self.share {
            true => other,
            false => self,
        }
    }
}

/// Both are in lower case.
fn likeness(wanted: &str, name: &str) -> Likeness {
    if wanted == name {
        return Likeness::of_whole(1.0);
    }
    let (shorter, longer) = match wanted.len() < name.len() {
        true => (wanted, name),
        false => (name, wanted),
    };
    let share = shorter.len() as f64 / longer.len().max(1) as f64;
    if shorter.chars().count() >= LEAST_PART && longer.contains(shorter) {
        return Likeness::of_whole(0.8 + 0.15 * share);
    }
    let whole = strsim::normalized_damerau_levenshtein(wanted, name);
    let whole = Likeness::of_whole(whole);
    // "Hadn" is not far from the end of "LeftHand", nor "Haed" from the middle of "b_Head_05".
    let letters = wanted.chars().count();
    let name: Vec<char> = name.chars().collect();
    let spare = name.len().saturating_sub(letters);
    if letters <= LEAST_PART || spare == 0 {
        return whole;
    }
    let step = if letters <= ANYWHERE { 1 } else { spare };
    let parts = (0..=spare).step_by(step).map(|at| {
        let part: String = name[at..at + letters].iter().collect();
        strsim::normalized_damerau_levenshtein(wanted, &part)
    });
    whole.max(Likeness {
        share: 0.9 * parts.fold(0.0, f64::max),
        of_part: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIPS: [&str; 6] = [
        "Idle",
        "Walk",
        "Run",
        "LookAround",
        "Walk_RootMotion",
        "Walk",
    ];

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
        assert_eq!(
            did_you_mean("Hand", joints).unwrap(),
            "did you mean \"LeftHand\", \"RightHand\" or \"RightHandThumb1\"?"
        );
        assert_eq!(
            did_you_mean("hips", joints).unwrap(),
            "did you mean \"Hips\"?"
        );
        assert_eq!(did_you_mean("Tail", joints), None);
    }

    #[test]
    fn the_number_of_names_is_bounded() {
        let names: Vec<String> = (0..1000).map(|i| format!("joint{i}")).collect();
        assert_eq!(near("joint", names.iter().map(String::as_str)).len(), MOST);
        let long = "x".repeat(1 << 20);
        assert_eq!(near(&long, [long.as_str()]).len(), 1);
    }
}
