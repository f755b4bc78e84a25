//! The blend spaces of a library.

use super::{INSTANCE, Library};
use crate::playback::action::Action;
use crate::playback::blend_space::{MAX_SPACES, Members, Point, Space};
use crate::playback::error::PlaybackError;
use crate::playback::ids::{BlendSpaceId, ClipId, Source};
use crate::playback::options::check_parameter;
use crate::words::{plural, shorten};

impl Library {
    /// The clips of a motion at a parameter, and the length of a pass over it.
    pub fn members_of(&self, source: Source, parameter: f32) -> (Members, f64) {
        match source {
            Source::Clip(clip) => {
                let members = Members { clip, ..Members::NOTHING };
                let length = self.clips.get(clip).map_or(0.0, |c| c.duration().into());
                (members, length)
            }
            Source::Space(space) => {
                let space = self.spaces.get(space);
                (space.map_or(Members::NOTHING, |s| s.at(parameter)), 1.0)
            }
        }
    }

    fn space(&self, space: BlendSpaceId) -> Result<&Space, PlaybackError> {
        let found = self.spaces.find(space.index, space.generation);
        found.filter(|_| space.owner == self.owner).ok_or_else(|| {
            let why = space.owner.unknown_to(self.owner, INSTANCE);
            let rig = shorten(self.rig.name());
            PlaybackError::UnknownSpace { space, why, rig }
        })
    }

    /// The clips of a blend space and their values, in ascending order.
    pub fn points(
        &self,
        space: BlendSpaceId,
    ) -> Result<impl Iterator<Item = (f32, ClipId)>, PlaybackError> {
        let points = self.space(space)?.points.iter();
        Ok(points.map(|p| (p.parameter, self.clip_id(p.clip))))
    }

    pub fn space_id(&self, index: u16) -> BlendSpaceId {
        BlendSpaceId::new(self.owner, index, self.spaces.generation(index))
    }

    pub(super) fn space_index(&self, space: BlendSpaceId) -> Result<u16, PlaybackError> {
        self.space(space).map(|_| space.index)
    }

    /// Adds a blend space. Returns its handle, and whether undone clips were returned to the state.
    pub fn add_space(
        &mut self,
        points: &[(f32, ClipId)],
    ) -> Result<(BlendSpaceId, bool), PlaybackError> {
        let mut space = Space { points: Vec::new() };
        let mut kind = None;
        for &(parameter, clip) in points {
            check_parameter(parameter)?;
            let Some(data) = self.clip(clip) else {
                return Err(self.unknown_clip(clip, "the blend space"));
            };
            let known = *kind.get_or_insert(data.kind());
            let last = space.points.last().map(|p: &Point| p.parameter);
            if data.kind() != known || last.is_some_and(|last| last >= parameter) {
                let name = self.name_of(clip.into());
                return Err(PlaybackError::BlendSpace {
                    what: match last.filter(|_| data.kind() == known) {
                        Some(last) => format!(
                            "values must ascend, and that of {name} is {parameter:?} after {last:?}"
                        ),
                        None => {
                            format!(
                                "clips must be of one kind, and {name} is of another than the first"
                            )
                        }
                    },
                });
            }
            space.points.push(Point { parameter, clip: clip.index });
        }
        if space.points.is_empty() {
            return Err(PlaybackError::BlendSpace { what: "it has no clips".into() });
        }
        let clips: Vec<u16> = space.points.iter().map(|p| p.clip).collect();
        let what = "blend spaces of one rig";
        let same = |a: &Space, b: &Space| a == b;
        let (index, _) = self.spaces.add_again(space, same, what, MAX_SPACES)?;
        let adopted = self.adopt_clips(clips);
        Ok((self.space_id(index), adopted))
    }

    /// Removes a blend space. `playing` are the actions of all instances.
    pub fn remove_space<'p>(
        &mut self,
        id: BlendSpaceId,
        playing: impl Iterator<Item = &'p Action>,
    ) -> Result<(), PlaybackError> {
        let index = self.space_index(id)?;
        let actions = playing.filter(|a| a.source() == Source::Space(index)).count();
        if actions > 0 {
            let users = plural(actions as u64, "action");
            return Err(PlaybackError::InUse { name: self.name_of(id.into()), users });
        }
        self.spaces.take(index);
        Ok(())
    }
}
