//! `JointRef`: how users name a joint: by name, by path where names are doubled, or by index.

use super::Skeleton;
use thiserror::Error;

/// A joint by name, path or index.
///
/// A path is names separated by `/`, from a root or from any joint on the way: of two joints `Hand`,
/// `LeftArm/Hand` is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointRef<'a> {
    /// Its name, if no other joint has it, or the end of its path.
    Name(&'a str),
    /// Its index.
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

/// Why a joint was not found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JointRefError {
    /// No joint has that name or path.
    #[error("there is no joint \"{name}\"")]
    Name {
        /// The name or path.
        name: String,
    },
    /// Several joints have it.
    #[error("\"{name}\" is {count} joints, among them {}", paths.join(" and "))]
    Several {
        /// The name or path.
        name: String,
        /// How many.
        count: usize,
        /// The paths of two of them.
        paths: [String; 2],
    },
    /// The skeleton has fewer joints.
    #[error("there is no joint {joint}, the skeleton has {joints}")]
    Index {
        /// The index.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
}

impl Skeleton {
    /// Finds a joint by name, path or index. A name counts before a path that looks like it.
    ///
    /// # Errors
    /// If there is none, or several of that name or path.
    pub fn joint<'a>(&self, joint: impl Into<JointRef<'a>>) -> Result<usize, JointRefError> {
        let name = match joint.into() {
            JointRef::Index(joint) if joint < self.len() => return Ok(joint),
            JointRef::Index(joint) => {
                let joints = self.len();
                return Err(JointRefError::Index { joint, joints });
            }
            JointRef::Name(name) => name,
        };
        let named = |&j: &usize| self.names()[j] == name;
        let named = self.only(name, (0..self.len()).filter(named));
        if let Ok(Some(found)) = named {
            return Ok(found);
        }
        // A whole path tells apart what its end does not; that of a root is its name.
        let whole = |&j: &usize| self.path(j) == name;
        if let Some(found) = self.only(name, (0..self.len()).filter(whole))? {
            return Ok(found);
        }
        named?;
        let ends = |&j: &usize| name.contains('/') && ends_with(&self.path(j), name);
        self.only(name, (0..self.len()).filter(ends))?
            .ok_or_else(|| JointRefError::Name { name: name.into() })
    }

    fn only(
        &self,
        name: &str,
        mut found: impl Iterator<Item = usize>,
    ) -> Result<Option<usize>, JointRefError> {
        let Some(first) = found.next() else {
            return Ok(None);
        };
        match found.next() {
            None => Ok(Some(first)),
            Some(second) => Err(JointRefError::Several {
                name: name.into(),
                count: 2 + found.count(),
                paths: [self.path(first), self.path(second)],
            }),
        }
    }
}

fn ends_with(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|b| b.is_empty() || b.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Joint, Trs};

    #[test]
    fn names_paths_and_indices() {
        let names = [
            ("hips", None),
            ("left", Some(0)),
            ("hand", Some(1)),
            ("right", Some(0)),
            ("hand", Some(3)),
            ("a/b", Some(0)),
            ("hand", Some(3)),
        ];
        let joints = names.map(|(name, parent)| Joint {
            name: name.into(),
            parent,
            rest: Trs::IDENTITY,
        });
        let s = Skeleton::new(&joints, None, vec![]).unwrap();
        assert_eq!(s.joint("hips"), Ok(0));
        assert_eq!(s.joint("left/hand"), Ok(2));
        assert_eq!(s.joint("hips/left/hand"), Ok(2));
        assert_eq!(s.joint("a/b"), Ok(5), "a name with a slash");
        assert_eq!(s.joint(6), Ok(6));
        let several = |name: &str, n| match s.joint(name) {
            Err(JointRefError::Several { count, paths, .. }) => {
                assert_eq!(count, n, "{name}");
                assert!(paths[0] == "hips/left/hand" || paths[0] == "hips/right/hand");
            }
            other => panic!("{name}: {other:?}"),
        };
        several("hand", 3);
        several("right/hand", 2);
        several("hips/right/hand", 2);
        for missing in ["", "eft/hand", "hand/", "/", "Hips", "hips/hand"] {
            let name = missing.to_string();
            assert_eq!(s.joint(missing), Err(JointRefError::Name { name }));
        }
        let out = JointRefError::Index {
            joint: 7,
            joints: 7,
        };
        assert_eq!(s.joint(7), Err(out));
    }
}
