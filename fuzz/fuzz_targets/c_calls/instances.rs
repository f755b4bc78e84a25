//! Many characters, by arrays.

use crate::{SPACE, World};
use phalanx_c::*;

impl World<'_> {
    pub fn instances_calls(&mut self) {
        let who = self.instances();
        let many = who.len();
        let (ids, count) = self.array(&who);
        let layer = self.source.index(2);
        let some = self.each(many);
        let actions = self.playables(some);
        let (actions, action_count) = self.array(&actions);
        match self.source.below(10) {
            0 | 1 => {
                let n = match self.source.one_of(3) {
                    true => 0,
                    false => self.each(many),
                };
                let options: Vec<_> = (0..n).map(|_| self.play_options()).collect();
                let (options, n) = self.play_array(options);
                on_crowd!(
                    self,
                    phx_instances_play(ids, count, layer, actions, action_count, options, n)
                );
            }
            2 => {
                let (w, s) = (self.each(many), self.each(many));
                let weights: Vec<f32> = (0..w).map(|_| self.source.unit()).collect();
                let seconds: Vec<f32> = (0..s).map(|_| self.source.unit()).collect();
                let ((weights, w), (seconds, s)) = (self.array(&weights), self.array(&seconds));
                let n = action_count;
                on_crowd!(
                    self,
                    phx_instances_fade(ids, count, layer, actions, n, weights, w, seconds, s)
                );
            }
            3 => {
                let n = self.each(many);
                let speeds: Vec<f32> = (0..n).map(|_| self.source.f32()).collect();
                let (speeds, n) = self.array(&speeds);
                on_crowd!(
                    self,
                    phx_instances_set_speeds(ids, count, layer, actions, action_count, speeds, n)
                );
            }
            4 => {
                let (mode, passes) = (self.source.index(3), self.source.index(4));
                let n = action_count;
                on_crowd!(
                    self,
                    phx_instances_set_loops(ids, count, layer, actions, n, mode, passes)
                );
            }
            5 => {
                let n = self.each(many);
                let times: Vec<f64> = (0..n).map(|_| self.source.f64()).collect();
                let (times, n) = self.array(&times);
                on_crowd!(
                    self,
                    phx_instances_set_times(ids, count, layer, actions, action_count, times, n)
                );
            }
            6 => {
                let (s, p) = (self.each(many), self.each(many));
                let spaces: Vec<u64> = (0..s).map(|_| self.id(SPACE)).collect();
                let parameter = |[x, y]: [f32; 2]| phx_parameter { x, y };
                let at: Vec<_> = (0..p).map(|_| parameter(self.source.vector())).collect();
                let ((spaces, s), (at, p)) = (self.array(&spaces), self.array(&at));
                on_crowd!(self, phx_instances_set_parameters(ids, count, layer, spaces, s, at, p));
            }
            7 => {
                let n = self.room(many);
                let worlds: Vec<_> = (0..n).map(|_| self.matrix()).collect();
                let ((worlds, n), teleport) = (self.array(&worlds), self.source.flag());
                on_crowd!(self, phx_instances_set_worlds(ids, count, worlds, n, teleport));
            }
            8 => {
                let n = self.room(many);
                let mut flags = self.source.bytes(n);
                flags.resize(n, 1);
                let (flags, n) = self.array(&flags);
                match self.source.one_of(2) {
                    true => on_crowd!(self, phx_instances_set_visible(ids, count, flags, n)),
                    false => on_crowd!(self, phx_instances_set_scheduled(ids, count, flags, n)),
                };
            }
            _ => {
                let n = self.room(many);
                let out = self.out::<phx_shown>(n);
                on_crowd!(self, phx_instances_shown(ids, count, out.heap.ptr_mut(), n), out);
            }
        }
    }

    /// Options, each with its size; their number is right, as only the first wrong size ends the reading of them.
    fn play_array(
        &mut self,
        mut options: Vec<phx_play_options>,
    ) -> (*const phx_play_options, usize) {
        let wrong = self.source.wrong(6);
        if let (true, Some(last)) = (wrong, options.last_mut()) {
            last.size = self.source.pick(&[0, 8, usize::MAX, size_of::<phx_play_options>() + 8]);
        }
        let count = options.len();
        (self.exactly(&options), count)
    }
}
