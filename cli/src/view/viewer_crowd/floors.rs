//! The ground under the characters in the window.

use super::super::super::crowd::floor;
use super::super::super::error::CliError;
use super::{Playing, ViewerCrowd};

impl ViewerCrowd {
    /// Measures the floors of the clips that the characters play, and of the rest pose.
    pub(super) fn measure_floors(&mut self) -> Result<(), CliError> {
        let (one, points);
        let clips = match self.playing {
            Playing::Rest => &[][..],
            Playing::Clip(clip) => {
                one = [clip];
                &one
            }
            Playing::Mixed => &self.mixed,
            Playing::Pad => {
                points =
                    self.pad.iter().flat_map(|pad| &pad.points).map(|p| p.1).collect::<Vec<_>>();
                &points
            }
        };
        let wanted = clips.iter().copied().map(Some).chain([None]);
        let measured = self.floors.measure(&self.source, wanted);
        measured.map_err(|source| CliError::Pose {
            file: self.source.name().to_owned(),
            source: Box::new(source),
        })
    }

    /// Puts every character's lowest point on the ground: the floor of its clip, or during a fade a height between the
    /// floors of the clips.
    pub(super) fn stand(&mut self) -> Result<(), CliError> {
        self.sinking = false;
        for (place, &instance) in self.instances.iter().enumerate() {
            let (height, fades) = self.floors.below(&self.crowd, instance)?;
            self.sinking |= fades;
            let world = floor::on_ground(self.formation.place(place), height);
            self.crowd.set_world(instance, world)?;
        }
        Ok(())
    }
}
