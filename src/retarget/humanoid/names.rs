//! Joint names in the form that the tables compare.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A joint's name without namespace, prefix and separators, in lower case.
///
/// `mixamorig:LeftUpLeg` is `leftupleg`, `DEF-upper_arm.L` is `upperarml`, `Bip01 L Thigh` is `lthigh`.
pub(super) fn plain(name: &str) -> String {
    // The part before the last colon or bar is a namespace or the name of an armature.
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    let own = ["DEF-", "ORG-"].iter().find_map(|prefix| own.strip_prefix(prefix)).unwrap_or(own);
    let letters = own.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.'));
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    let digit = |c: char| c.is_ascii_digit();
    // Some programs leave out the colon behind Mixamo's namespace.
    if let Some(rest) = plain.strip_prefix("mixamorig") {
        return rest.trim_start_matches(digit).to_owned();
    }
    // Biped's name has its number behind it.
    match plain.strip_prefix("bip") {
        Some(rest) if rest.starts_with(digit) => rest.trim_start_matches(digit).to_owned(),
        _ => plain,
    }
}

/// Removes the common beginning or end of most names, and returns whether there was one: the name of a character or a rig
/// (`Character1_`, `Robot_`, `Biped `, `mHips`), or the kind of the joints (`_jnt`).
pub(super) fn cut_affixes(names: &mut [String]) -> bool {
    let first = |name: &str| {
        let mut words = words(name).into_iter();
        let end = words.next()?.end;
        let gap = words.next().filter(|word| is_gap(&name[word.clone()]));
        Some(gap.map_or(end, |gap| gap.end))
    };
    let last = |name: &str| {
        let mut words = words(name).into_iter().rev();
        let start = words.next()?.start;
        let gap = words.next().filter(|word| is_gap(&name[word.clone()]));
        // Without a gap the part is a number or a side.
        Some(gap?.start).filter(|_| start < name.len())
    };
    let prefix = most(names, |name| Some(&name[..first(name)?]));
    let suffix = most(names, |name| Some(&name[last(name)?..]));
    for name in names.iter_mut() {
        let own = prefix.as_deref().and_then(|p| name.strip_prefix(p));
        let own = own.filter(|own| !own.is_empty()).unwrap_or(name);
        let stem = suffix.as_deref().and_then(|s| own.strip_suffix(s));
        *name = stem.filter(|s| !s.is_empty()).unwrap_or(own).to_owned();
    }
    prefix.is_some() || suffix.is_some()
}

/// The part that three quarters of the names have; the root and a few others may have names of their own.
fn most(names: &[String], part: impl Fn(&str) -> Option<&str>) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let named = names.iter().filter(|n| !n.is_empty());
    for name in named.clone() {
        if let Some(part) = part(name).filter(|part| part.len() < name.len()) {
            *counts.entry(part).or_default() += 1;
        }
    }
    let (part, count) = counts.into_iter().max_by_key(|c| (c.1, std::cmp::Reverse(c.0)))?;
    (4 * count >= 3 * named.count() && count > 3).then(|| part.to_owned())
}

/// The words of a name, without the separators: `Ear`, `L` and `2` of `EarL2`.
fn words(name: &str) -> Vec<Range<usize>> {
    let kind = |c: char| match c {
        _ if !c.is_alphanumeric() => 0,
        _ if c.is_numeric() => 1,
        _ if c.is_uppercase() => 2,
        _ if c.is_lowercase() => 3,
        _ => 4,
    };
    let chars: Vec<(usize, i32)> = name.char_indices().map(|(at, c)| (at, kind(c))).collect();
    let mut starts: Vec<usize> = Vec::new();
    for (place, &(at, own)) in chars.iter().enumerate() {
        let before = place.checked_sub(1).map(|p| chars[p].1);
        let next = chars.get(place + 1).map(|c| c.1);
        let begins = match (before, own) {
            (None, _) => true,
            // The last capital belongs to the word behind it.
            (Some(2), 2) => next == Some(3),
            (Some(2), 3) => false,
            (Some(before), own) => before != own,
        };
        if begins {
            starts.push(at);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    starts.iter().copied().zip(ends).map(|(s, e)| s..e).collect()
}

fn is_gap(word: &str) -> bool {
    !word.contains(char::is_alphanumeric)
}

/// Words for left and right. The first two may be anywhere in a name, the others only as separate words.
const SIDES: [(&str, &str); 6] =
    [("left", "right"), ("左", "右"), ("l", "r"), ("lf", "rt"), ("lt", "rt"), ("lft", "rgt")];

/// A side that a name states.
pub(in crate::retarget) struct Side<'a> {
    pub left: bool,
    name: &'a str,
    at: Range<usize>,
    other: &'static str,
}

impl Side<'_> {
    pub fn other(&self) -> String {
        let word = &self.name[self.at.clone()];
        let upper = |c: char| c.is_uppercase();
        let other = match word {
            _ if word.chars().all(upper) => self.other.to_uppercase(),
            _ if word.starts_with(upper) => {
                let (first, rest) = self.other.split_at(1);
                first.to_uppercase() + rest
            }
            _ => self.other.to_owned(),
        };
        self.with(&other)
    }

    pub fn stem(&self) -> String {
        self.with("")
    }

    fn with(&self, word: &str) -> String {
        let Range { start, end } = self.at;
        format!("{}{word}{}", &self.name[..start], &self.name[end..])
    }
}

/// The sides that a name may state, the clearest first: `LeftHand`, `hair.L`, `EarL`, `LThumb`, `左耳`.
pub(in crate::retarget) fn sides(name: &str) -> Vec<Side<'_>> {
    let low = name.to_ascii_lowercase();
    let words = words(name);
    let mut all = Vec::new();
    for (number, (l, r)) in SIDES.into_iter().enumerate() {
        for (left, own, other) in [(true, l, r), (false, r, l)] {
            let mut add = |at: Range<usize>| all.push(Side { left, name, at, other });
            let word = words.iter().find(|word| &low[(*word).clone()] == own);
            match word {
                Some(word) => add(word.clone()),
                None if number < 2 => {
                    low.find(own).into_iter().for_each(|at| add(at..at + own.len()))
                }
                None => {}
            }
        }
    }
    all
}

/// A name without a word for the middle (`Spine1_M`, `C_neck`).
pub(super) fn without_middle(name: &str) -> Option<String> {
    let middle = |word: &Range<usize>| {
        ["m", "c", "mid", "center"].contains(&&*name[word.clone()].to_ascii_lowercase())
    };
    let at = words(name).into_iter().find(middle)?;
    Some(format!("{}{}", &name[..at.start], &name[at.end..]))
}

/// A name without the index that Sketchfab appends: `_0` and a number, as `Hips_01` and `LeftHand_010`.
pub(in crate::retarget) fn unindexed(name: &str) -> &str {
    index(name).map_or(name, |digits| &name[..name.len() - digits.len() - 2])
}

/// The digits of that index.
fn index(name: &str) -> Option<&str> {
    let (stem, digits) = name.rsplit_once("_0")?;
    let sound = !stem.is_empty() && !digits.is_empty();
    (sound && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

/// Whether names have Sketchfab's indices: three quarters of the names that are not empty, each a different one. Names of
/// other files may have such an end too, such as Unreal's `spine_01`.
pub(super) fn are_indexed(names: &[String]) -> bool {
    let named = names.iter().filter(|n| !n.is_empty()).count();
    let indices: Vec<&str> = names.iter().filter_map(|n| index(n)).collect();
    let each: HashSet<&str> = indices.iter().copied().collect();
    !indices.is_empty() && each.len() == indices.len() && 4 * indices.len() >= 3 * named
}

#[cfg(test)]
mod tests {
    use super::{are_indexed, cut_affixes, plain, sides, unindexed};

    #[test]
    fn names_have_another_side() {
        for (name, other) in [
            ("upperarm_twist_l", Some("upperarm_twist_r")),
            ("LeftHandPinky1", Some("RightHandPinky1")),
            ("Bip01 R Toe0Nub", Some("Bip01 L Toe0Nub")),
            ("hair.L.001", Some("hair.R.001")),
            ("r_ear", Some("l_ear")),
            ("EarL", Some("EarR")),
            ("EarR_01", Some("EarL_01")),
            ("HairR2", Some("HairL2")),
            ("LThumb", Some("RThumb")),
            ("lThumb1", Some("rThumb1")),
            ("HandLThumb", Some("HandRThumb")),
            ("EARLEFT", Some("EARRIGHT")),
            ("earleft", Some("earright")),
            ("lf_ear_jnt", Some("rt_ear_jnt")),
            ("左耳", Some("右耳")),
            ("耳L", Some("耳R")),
            ("RGBCurve", None),
            ("ABR", None),
            ("LEAF", None),
            ("Tail", None),
            ("roll", None),
            ("Größe", None),
            ("", None),
        ] {
            let found = sides(name);
            let found = found.first().map(|side| side.other());
            assert_eq!(found.as_deref(), other, "{name}");
        }
    }

    #[test]
    fn what_most_names_have_is_cut() {
        for (given, expected) in [
            (
                [
                    "Character1_Hips",
                    "Character1_Spine",
                    "Character1_LeftArm",
                    "Character1_Head",
                    "Root",
                ],
                ["1_Hips", "1_Spine", "1_LeftArm", "1_Head", "Root"],
            ),
            (
                ["hips_joint", "left_arm_joint", "head_joint", "neck_1_joint", "root"],
                ["hips", "left_arm", "head", "neck_1", "root"],
            ),
            (
                ["mPelvis", "mHipLeft", "mKneeLeft", "mHead", "m"],
                ["Pelvis", "HipLeft", "KneeLeft", "Head", "m"],
            ),
        ] {
            let mut names = given.map(str::to_owned);
            assert!(cut_affixes(&mut names));
            assert_eq!(names, expected);
        }
        let mut names = ["LeftArm", "RightArm", "Hips", "Spine", "Head"].map(str::to_owned);
        assert!(!cut_affixes(&mut names));
    }

    #[test]
    fn indices_of_sketchfab_are_left_out() {
        for (name, expected) in [
            ("mixamorig:Hips_01", "mixamorig:Hips"),
            ("Bip01_L_Thigh_010", "Bip01_L_Thigh"),
            ("spine_02_00", "spine_02"),
            ("Hips_1", "Hips_1"),
            ("_rootJoint", "_rootJoint"),
            ("Hips_0", "Hips_0"),
            ("_01", "_01"),
            ("", ""),
        ] {
            assert_eq!(unindexed(name), expected, "{name}");
        }
        let names = |all: &[&str]| all.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert!(are_indexed(&names(&["_rootJoint", "Hips_00", "Spine_01", "Head_02"])));
        assert!(!are_indexed(&names(&["pelvis", "spine_01", "spine_02", "thumb_01_l"])));
        assert!(!are_indexed(&names(&["spine_01", "neck_01", "head_02"])));
        assert!(!are_indexed(&names(&["", ""])));
    }

    #[test]
    fn prefixes_and_separators_are_left_out() {
        for (name, expected) in [
            ("mixamorig:LeftUpLeg", "leftupleg"),
            ("Armature|mixamorig9:Hips", "hips"),
            ("mixamorigLeftUpLeg", "leftupleg"),
            ("mixamorig_1_Hips", "hips"),
            ("DEF-upper_arm.L", "upperarml"),
            ("Bip01 L Thigh", "lthigh"),
            ("Bip001 R Finger01", "rfinger01"),
            ("Bip01", ""),
            ("J_Bip_L_UpperLeg", "jbiplupperleg"),
            ("Biped", "biped"),
            ("Größe_L", "größel"),
            ("", ""),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
