//! The blend spaces of a library.

use super::{INSTANCE, Library};
use crate::playback::action::Action;
use crate::playback::blend_space::space::{MAX_MEMBERS, MAX_SPACES, Place, Point, Space};
use crate::playback::blend_space::{BlendSpace, Form, Parameter, Walked};
use crate::playback::error::PlaybackError;
use crate::playback::ids::{BlendSpaceId, ClipId, Source};
use crate::playback::options::{check_parameter, check_seconds};
use crate::words::{plural, shorten};

impl Library {
    /// The place of a motion at a parameter, and the length of a pass over it.
    pub fn place_of(&self, source: Source, parameter: Parameter) -> (Place, f64) {
        match source {
            Source::Clip(clip) => (Place::default(), self.motions.duration(clip)),
            Source::Space(space) => {
                let space = self.motions.spaces.get(space);
                (space.map_or(Place::default(), |s| s.place(parameter)), 1.0)
            }
        }
    }

    fn space(&self, space: BlendSpaceId) -> Result<&Space, PlaybackError> {
        let found = self.motions.spaces.find(space.index, space.generation);
        found.filter(|_| space.owner == self.owner).ok_or_else(|| {
            let why = space.owner.unknown_to(self.owner, INSTANCE);
            let rig = shorten(self.rig.name());
            PlaybackError::UnknownSpace { space, why, rig }
        })
    }

    /// The clips of a blend space and their values.
    pub fn points(
        &self,
        space: BlendSpaceId,
    ) -> Result<impl Iterator<Item = (Parameter, ClipId)>, PlaybackError> {
        let points = self.space(space)?.points().iter();
        Ok(points.map(|p| (p.at.into(), self.clip_id(p.clip))))
    }

    pub fn space_id(&self, index: u16) -> BlendSpaceId {
        BlendSpaceId::new(self.owner, index, self.motions.spaces.generation(index))
    }

    pub(super) fn space_index(&self, space: BlendSpaceId) -> Result<u16, PlaybackError> {
        self.space(space).map(|_| space.index)
    }

    /// Adds a blend space. Returns its handle, and whether undone clips were returned to the state.
    pub fn add_space(&mut self, of: &BlendSpace) -> Result<(BlendSpaceId, bool), PlaybackError> {
        check_seconds("following", of.seconds)?;
        let points = self.points_of(of)?;
        let name = |clip: u16| self.name_of(self.clip_id(clip).into());
        let space = Space::new(points, of.form.kind(), of.seconds, name)?;
        if space.kind.plane {
            let loaded = self.motions.clips.iter().map(|(_, clip)| &**clip);
            Self::check_scales(&self.rig, &self.layers, loaded, MAX_MEMBERS)?;
        }
        let clips: Vec<u16> = space.points().iter().map(|p| p.clip).collect();
        let what = "blend spaces of one rig";
        let same = |a: &Space, b: &Space| a == b;
        let (index, _) = self.motions.spaces.add_again(space, same, what, MAX_SPACES)?;
        let adopted = self.adopt_clips(clips);
        Ok((self.space_id(index), adopted))
    }

    /// The points of a blend space, checked and measured.
    fn points_of(&self, of: &BlendSpace) -> Result<Vec<Point>, PlaybackError> {
        let refused = |what| Err(PlaybackError::BlendSpace { what });
        let walked = Walked::new(&self.rig, of.feet.clone())?;
        let speeds = of.form.kind().speeds;
        let (mut points, mut velocities, mut first) = (Vec::new(), Vec::new(), None);
        for (i, &id) in of.clips.iter().enumerate() {
            let at = match &of.form {
                Form::Line(values) => [values[i], 0.0],
                Form::Plane(values) => values[i],
                Form::Speed | Form::Velocity => [0.0; 2],
            };
            check_parameter(at.into())?;
            let Some(clip) = self.clip(id) else {
                return Err(self.unknown_clip(id, "the blend space"));
            };
            let name = || self.name_of(id.into());
            if *first.get_or_insert(clip.kind()) != clip.kind() {
                let name = name();
                return refused(format!(
                    "clips must be of one kind, and {name} is of another than the first"
                ));
            }
            let seconds = clip.duration();
            if speeds && seconds <= 0.0 {
                return refused(format!("{} lasts {seconds:?} s, so it has no speed", name()));
            }
            let share = if speeds { Space::share(seconds) } else { 1.0 };
            points.push(Point { at, clip: id.index, share });
            velocities.push(if speeds { walked.velocity(clip)? } else { [0.0; 2] });
        }
        if of.form == Form::Velocity {
            for (point, v) in points.iter_mut().zip(&velocities) {
                point.at = v.map(|v| v as f32);
            }
        }
        if of.form == Form::Speed {
            let square = |v: &[f64; 2]| v[0] * v[0] + v[1] * v[1];
            let fastest = velocities.iter().fold([0.0; 2], |fastest, v| {
                if square(v) > square(&fastest) { *v } else { fastest }
            });
            let speed = square(&fastest).sqrt();
            if speed == 0.0 && points.len() > 1 {
                return refused(
                    "no clip travels: none has root motion or feet that were measured".into(),
                );
            }
            for (point, v) in points.iter_mut().zip(&velocities) {
                let along = v[0] * fastest[0] + v[1] * fastest[1];
                point.at[0] = if speed > 0.0 { (along / speed) as f32 } else { 0.0 };
            }
            points.sort_by(|a, b| a.at[0].total_cmp(&b.at[0]));
        }
        points.iter().try_for_each(|p| check_parameter(p.at.into()))?;
        Ok(points)
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
        self.motions.spaces.take(index);
        Ok(())
    }
}
