//! Rigs and clips of arrays, and the numbers that they share with crowds.

use crate::World;
use crate::kit::defaults;
use phalanx_c::*;
use std::ptr::null;

impl World<'_> {
    pub fn matrix(&mut self) -> phx_matrix {
        let source = &mut self.source;
        if source.one_of(3) {
            return phx_matrix { rows: std::array::from_fn(|_| source.vector()) };
        }
        let [x, y, z] = source.vector();
        phx_matrix { rows: [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, y], [0.0, 0.0, 1.0, z]] }
    }

    pub fn trs(&mut self) -> phx_trs {
        let source = &mut self.source;
        let scale = if source.one_of(3) { source.vector() } else { [1.0; 3] };
        phx_trs { translation: source.vector(), rotation: source.rotation(), scale }
    }

    pub fn markers(&mut self) -> (*const phx_marker, usize) {
        let mut markers = Vec::new();
        for _ in 0..self.source.below(3) {
            markers.push(phx_marker { name: self.text(), time: self.source.unit() });
        }
        self.array(&markers)
    }

    fn track(&mut self) -> phx_track {
        let (channel, interpolation) = (self.source.index(3), self.source.index(3));
        let keys = 1 + self.source.below(3);
        let wild = self.source.wrong(4);
        let times: Vec<f32> = match wild {
            true => (0..keys).map(|_| self.source.f32()).collect(),
            false => (0..keys).map(|key| key as f32 / 2.0).collect(),
        };
        let numbers = if channel == PHX_CHANNEL_ROTATION { 4 } else { 3 };
        let count = keys * numbers * if interpolation == PHX_CUBIC { 3 } else { 1 };
        let count = self.room(count);
        let values: Vec<f32> = (0..count).map(|_| 0.5 + self.source.f32()).collect();
        let ((times, key_count), (values, value_count)) = (self.array(&times), self.array(&values));
        let joint = self.source.index(15);
        phx_track { joint, channel, interpolation, times, key_count, values, value_count }
    }

    pub fn clip_arrays(&mut self) -> phx_clip_arrays {
        let mut tracks = Vec::new();
        for _ in 0..self.source.below(3) {
            tracks.push(self.track());
        }
        let ((tracks, track_count), (markers, marker_count)) =
            (self.array(&tracks), self.markers());
        phx_clip_arrays {
            name: self.text(),
            duration: if self.source.one_of(3) { self.source.f32() } else { 1.0 },
            tracks,
            track_count,
            markers,
            marker_count,
            ..defaults(PHX_CLIP_ARRAYS)
        }
    }

    /// Arrays of a rig of a few joints.
    pub fn rig_arrays(&mut self) -> phx_rig_arrays {
        let joints = self.source.below(6);
        let parent = |joint: usize| (joint as u32).checked_sub(1).unwrap_or(PHX_NONE);
        let mut parents: Vec<u32> = (0..joints).map(parent).collect();
        if self.source.wrong(3) && joints > 0 {
            let at = self.source.below(joints);
            parents[at] = self.source.index(joints);
        }
        let rest: Vec<_> = (0..joints).map(|_| self.trs()).collect();
        let mut names = Vec::new();
        for _ in 0..joints {
            names.push(self.text());
        }
        let named = self.source.one_of(2);
        let mut skins = Vec::new();
        for _ in 0..self.source.below(3) {
            let slots: Vec<u32> = (0..joints).map(|_| self.source.index(joints)).collect();
            let inverse: Vec<_> = (0..joints).map(|_| self.matrix()).collect();
            let bound = self.source.one_of(2);
            skins.push(phx_skin_arrays {
                name: self.text(),
                // Both have the count of the slots.
                joints: self.exactly(&slots),
                inverse_bind: if bound { self.exactly(&inverse) } else { null() },
                count: joints,
            });
        }
        let mut clips = Vec::new();
        for _ in 0..self.source.below(3) {
            clips.push(self.clip_arrays());
        }
        if let (true, Some(last)) = (self.source.wrong(6), clips.last_mut()) {
            last.size = self.source.pick(&[0, 8, usize::MAX, size_of::<phx_clip_arrays>() + 8]);
        }
        let (skins, skin_count) = self.array(&skins);
        phx_rig_arrays {
            name: self.text(),
            joint_count: joints,
            joint_names: if named { self.exactly(&names) } else { null() },
            parents: self.exactly(&parents),
            rest: self.exactly(&rest),
            skins,
            skin_count,
            clip_count: clips.len(),
            clips: self.exactly(&clips),
            ..defaults(PHX_RIG_ARRAYS)
        }
    }
}
