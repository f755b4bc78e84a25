//! `JointRef`: a joint by name, by path where names are ambiguous, or by index.

use super::Skeleton;
use crate::suggest::{LookupError, MOST_NAMES, near};

/// A joint by name, path or index.
///
/// A path is names separated by `/`, from a root or from any joint of the chain: of two joints named
/// `Hand`, `LeftArm/Hand` is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointRef<'a> {
    /// A name that no other joint has, or the end of a path.
    Name(&'a str),
    /// An index.
    Index(usize),
}

impl<'a> From<&'a str> for JointRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for JointRef<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for JointRef<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// How a name matches a joint's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathMatch {
    None,
    /// The name ends the path, after a `/`.
    End,
    Whole,
}

impl Skeleton {
    /// Finds a joint by name, path or index. An equal name wins over a path with the same text.
    ///
    /// # Errors
    /// If no joint matches, or several do.
    pub fn joint<'a>(&self, joint: impl Into<JointRef<'a>>) -> Result<usize, LookupError> {
        let joints = self.len();
        let name = match joint.into() {
            JointRef::Index(joint) if joint < joints => return Ok(joint),
            JointRef::Index(joint) => return Err(LookupError::JointIndex { joint, joints }),
            JointRef::Name(name) => name,
        };
        let named = self.only(name, (0..joints).filter(|&j| self.names()[j] == name));
        if let Ok(Some(found)) = named {
            return Ok(found);
        }
        // A whole path can be unique where an end is not; the whole path of a root is its name.
        let whole = |&j: &usize| self.path_match(j, name) == PathMatch::Whole;
        if let Some(found) = self.only(name, (0..joints).filter(whole))? {
            return Ok(found);
        }
        named?;
        let is_path = name.contains('/');
        let ends = |&j: &usize| is_path && self.path_match(j, name) != PathMatch::None;
        self.only(name, (0..joints).filter(ends))?.ok_or_else(|| {
            let names = self.names().iter().take(MOST_NAMES).map(String::as_str);
            let near = near(name, names).into_iter().map(str::to_owned).collect();
            let name = name.into();
            LookupError::NoJoint { name, near }
        })
    }

    /// Finds a joint by a text that a user wrote: a name or a path; if no joint matches, the text is read as an index.
    ///
    /// # Errors
    /// As [`Skeleton::joint`].
    pub fn joint_of_text(&self, text: &str) -> Result<usize, LookupError> {
        match (self.joint(text), text.parse::<usize>()) {
            (Err(LookupError::NoJoint { .. }), Ok(index)) => self.joint(index),
            (found, _) => found,
        }
    }

    fn only(
        &self,
        name: &str,
        mut found: impl Iterator<Item = usize>,
    ) -> Result<Option<usize>, LookupError> {
        let Some(first) = found.next() else {
            return Ok(None);
        };
        match found.next() {
            None => Ok(Some(first)),
            Some(second) => Err(LookupError::SeveralJoints {
                name: name.into(),
                count: 2 + found.count(),
                paths: [self.path(first), self.path(second)],
                joints: [first, second],
            }),
        }
    }

    /// Compares a name with a joint's path from the end, in at most as many steps as the name has bytes.
    fn path_match(&self, joint: usize, name: &str) -> PathMatch {
        let (mut rest, mut at) = (name, joint);
        loop {
            let own = self.names()[at].as_str();
            let Some(above) = rest.strip_suffix(own) else {
                let before = own.strip_suffix(rest);
                return match before.is_some_and(|b| b.ends_with('/')) {
                    true => PathMatch::End,
                    false => PathMatch::None,
                };
            };
            let parent = Some(usize::from(self.parents()[at])).filter(|&p| p < self.len());
            let Some(parent) = parent else {
                return match above.is_empty() {
                    true => PathMatch::Whole,
                    false => PathMatch::None,
                };
            };
            if above.is_empty() {
                return PathMatch::End;
            }
            match above.strip_suffix('/') {
                Some(above) => (rest, at) = (above, parent),
                None => return PathMatch::None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Joint, Trs};

    #[test]
    fn joints_are_found_by_name_path_and_index() {
        let names = [
            ("hips", None),
            ("left", Some(0)),
            ("hand", Some(1)),
            ("right", Some(0)),
            ("hand", Some(3)),
            ("a/b", Some(0)),
            ("hand", Some(3)),
        ];
        let joints =
            names.map(|(name, parent)| Joint { name: name.into(), parent, rest: Trs::IDENTITY });
        let s = Skeleton::new(&joints, None, vec![]).unwrap();
        assert_eq!(s.joint("hips"), Ok(0));
        assert_eq!(s.joint("left/hand"), Ok(2));
        assert_eq!(s.joint("hips/left/hand"), Ok(2));
        assert_eq!(s.joint("a/b"), Ok(5), "a name with a slash");
        assert_eq!(s.joint(6), Ok(6));
        let several = |name: &str, n| match s.joint(name) {
            Err(LookupError::SeveralJoints { count, paths, joints, .. }) => {
                assert_eq!(count, n, "{name}");
                assert_eq!(joints.map(|j| s.path(j)), paths);
                assert!(paths[0] == "hips/left/hand" || paths[0] == "hips/right/hand");
            }
            other => panic!("{name}: {other:?}"),
        };
        several("hand", 3);
        several("right/hand", 2);
        several("hips/right/hand", 2);
        // The message says how to name each joint: a path does not help siblings.
        let says = s.joint("hand").unwrap_err().to_string();
        assert_eq!(
            says,
            "\"hand\" matches 3 joints, among them hips/left/hand (joint 2) and hips/right/hand (joint 4); a path or an \
             index finds each"
        );
        let says = s.joint("right/hand").unwrap_err().to_string();
        assert_eq!(
            says,
            "\"right/hand\" matches 2 joints, among them hips/right/hand (joint 4) and hips/right/hand (joint 6); their \
             paths are equal, an index finds each"
        );
        assert_eq!(s.joint_of_text("4"), Ok(4));
        assert_eq!(s.joint_of_text("left/hand"), Ok(2));
        let out = s.joint_of_text("7");
        assert!(matches!(out, Err(LookupError::JointIndex { joint: 7, .. })));
        assert!(s.joint_of_text("-1").is_err() && s.joint("4").is_err());
        for missing in ["", "eft/hand", "hand/", "/", "Hips", "hips/hand"] {
            let none = matches!(s.joint(missing), Err(LookupError::NoJoint { name, .. }) if name == missing);
            assert!(none, "{missing}");
        }
        let out = LookupError::JointIndex { joint: 7, joints: 7 };
        assert_eq!(s.joint(7), Err(out));
        // The whole path of a root is its name.
        let root = Joint { name: "hand".into(), parent: None, rest: Trs::IDENTITY };
        let s = Skeleton::new(&[&joints[..], &[root]].concat(), None, vec![]).unwrap();
        assert_eq!(s.joint("hand"), Ok(7));
    }

    /// Checks `path_match` against string comparison with the whole path.
    #[test]
    fn paths_match_as_their_text_does() {
        let names = ["a", "b", "", "a/b", "/", "b", "a/", "bb"];
        let mut seed = 0u64;
        let mut next = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for _ in 0..200 {
            let joints: Vec<Joint> = (0..6)
                .map(|j| Joint {
                    name: names[next(names.len())].into(),
                    parent: (j > 0 && next(5) > 0).then(|| next(j)),
                    rest: Trs::IDENTITY,
                })
                .collect();
            let s = Skeleton::new(&joints, None, Vec::new()).unwrap();
            let paths: Vec<String> = (0..6).map(|j| s.path(j)).collect();
            let ends = paths.iter().flat_map(|p| (0..=p.len()).map(|at| &p[at..]));
            let extra = ["x/a", "/a", "a//b"].into_iter();
            for name in ends.chain(extra) {
                for (j, path) in paths.iter().enumerate() {
                    let before = path.strip_suffix(name);
                    let end = before.is_some_and(|b| b.is_empty() || b.ends_with('/'));
                    let wanted = match (path == name, end) {
                        (true, _) => PathMatch::Whole,
                        (_, true) => PathMatch::End,
                        _ => PathMatch::None,
                    };
                    assert_eq!(s.path_match(j, name), wanted, "{name:?} of {path:?}");
                }
            }
        }
    }
}
