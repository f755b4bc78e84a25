//! One character: what plays, its settings, its pose.

use crate::kit::defaults;
use crate::{INSTANCE, SPACE, World};
use phalanx_c::*;

impl World<'_> {
    pub fn play_options(&mut self) -> phx_play_options {
        let source = &mut self.source;
        let [x, y] = source.vector();
        phx_play_options {
            speed: source.f32(),
            loop_mode: source.index(3),
            repetitions: if source.one_of(2) { PHX_NONE } else { 1 + source.index(4) % 5 },
            at_end: source.index(3),
            end_seconds: source.unit(),
            time: source.f64(),
            weight: source.unit(),
            fade_in: source.unit(),
            parameter: phx_parameter { x, y },
            ..defaults(PHX_PLAY_OPTIONS)
        }
    }

    fn cross_fade(&mut self) -> phx_cross_fade {
        let names = self.texts(2);
        let (markers, marker_count) = self.array(&names);
        phx_cross_fade {
            seconds: self.source.unit(),
            kind: self.source.index(2),
            warp: self.source.flag(),
            sync: self.source.index(3),
            markers,
            marker_count,
            ..defaults(PHX_CROSS_FADE)
        }
    }

    pub fn instance_calls(&mut self) {
        let (mut who, mut layer) = (self.id(INSTANCE), self.source.index(1 + self.calls % 3));
        let mut action = self.playable();
        if !self.playing.is_empty() && !self.source.one_of(3) {
            let one = self.source.below(self.playing.len());
            (who, layer, action) = self.playing[one];
        }
        match self.source.below(32) {
            n @ 0..8 => {
                let options = self.play_options();
                let options = self.options(options);
                let plays = match n {
                    0 | 1 => on_crowd!(self, phx_instance_play(who, layer, action, options)),
                    2 | 3 => on_crowd!(self, phx_instance_add(who, layer, action, options)),
                    4 => on_crowd!(self, phx_instance_restart(who, layer, action, options)),
                    5 => {
                        let seconds = self.source.unit();
                        on_crowd!(self, phx_instance_fade_to(who, layer, action, seconds, options))
                    }
                    _ => {
                        let (to, fade) = (self.playable(), self.cross_fade());
                        let fade = self.options(fade);
                        on_crowd!(
                            self,
                            phx_instance_cross_fade(who, layer, action, to, fade, options)
                        )
                    }
                };
                if plays {
                    self.playing.push((who, layer, action));
                }
            }
            8 => {
                let (weight, seconds) = (self.source.unit(), self.source.unit());
                on_crowd!(self, phx_instance_fade(who, layer, action, weight, seconds));
            }
            9 => {
                let layer = if self.source.one_of(3) { PHX_NONE } else { layer };
                let action = if self.source.one_of(3) { 0 } else { action };
                let seconds = self.source.unit();
                on_crowd!(self, phx_instance_stop(who, layer, action, seconds));
            }
            10 => {
                let out = self.info::<phx_bounds>();
                on_crowd!(self, phx_instance_bounds(who, out.heap.ptr_mut()), out);
            }
            11 => {
                let (joint, out) = (self.source.index(15), self.out::<phx_matrix>(1));
                on_crowd!(self, phx_instance_model_matrix(who, joint, out.heap.ptr_mut()), out);
            }
            12 => {
                let needed = self.joints_of(who);
                let room = self.room(needed);
                let out = self.out::<phx_matrix>(room);
                on_crowd!(self, phx_instance_model_matrices(who, out.heap.ptr_mut(), room), out);
            }
            13 => {
                let (channel, out) = (self.source.index(2), self.out::<f32>(4));
                on_crowd!(self, phx_instance_channel(who, channel, out.heap.ptr_mut()), out);
            }
            14 => {
                let room = self.source.below(9);
                let (out, count) = (self.out::<f32>(room), self.counter());
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                on_crowd!(self, phx_instance_scalars(who, at, room, n), out, count);
            }
            15 => {
                let speed = self.source.f32();
                on_crowd!(self, phx_instance_set_speed(who, layer, action, speed));
            }
            16 => {
                let time = self.source.f64();
                on_crowd!(self, phx_instance_set_time(who, layer, action, time));
            }
            17 => {
                let phase = self.source.f64();
                on_crowd!(self, phx_instance_set_phase(who, layer, action, phase));
            }
            18 => {
                let paused = self.source.flag();
                on_crowd!(self, phx_instance_set_paused(who, layer, action, paused));
            }
            19 => {
                let (mode, passes) = (self.source.index(3), self.source.index(4));
                on_crowd!(self, phx_instance_set_loop(who, layer, action, mode, passes));
            }
            20 => {
                let (end, seconds) = (self.source.index(3), self.source.unit());
                on_crowd!(self, phx_instance_set_at_end(who, layer, action, end, seconds));
            }
            21 => {
                let space = if self.source.one_of(2) { self.id(SPACE) } else { action };
                let [x, y] = self.source.vector();
                on_crowd!(self, phx_instance_set_parameter(who, layer, space, x, y));
            }
            22 => {
                let (weight, seconds) = (self.source.unit(), self.source.unit());
                on_crowd!(self, phx_instance_fade_layer(who, layer, weight, seconds));
            }
            23 => {
                let speed = self.source.f32();
                on_crowd!(self, phx_instance_set_layer_speed(who, layer, speed));
            }
            24 => {
                let speed = self.source.f32();
                on_crowd!(self, phx_instance_set_character_speed(who, speed));
            }
            25 => {
                let world = self.matrix();
                let world = self.one(world);
                on_crowd!(self, phx_instance_set_world(who, world));
            }
            26 => {
                let out = self.info::<phx_instance_info>();
                on_crowd!(self, phx_instance_describe(who, out.heap.ptr_mut()), out);
            }
            27 => {
                let out = self.info::<phx_action_state>();
                on_crowd!(self, phx_instance_action(who, layer, action, out.heap.ptr_mut()), out);
            }
            28 => {
                let room = self.source.below(6);
                let (out, count) = (self.out::<u64>(room), self.counter());
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                on_crowd!(self, phx_instance_actions(who, layer, at, room, n), out, count);
            }
            29 => {
                let out = self.info::<phx_layer_state>();
                on_crowd!(self, phx_instance_layer(who, layer, out.heap.ptr_mut()), out);
            }
            30 => {
                on_crowd!(self, phx_instance_rest_springs(who));
            }
            _ => {
                let joint = self.source.index(16);
                let joint = if joint == 15 { PHX_NONE } else { joint };
                on_crowd!(self, phx_instance_clear_override(who, joint));
            }
        }
    }

    /// The joints of a character, or 1 if it is unknown.
    pub fn joints_of(&mut self, who: u64) -> usize {
        let mut info: phx_instance_info =
            // SAFETY: numbers alone.
            unsafe { std::mem::zeroed() };
        info.size = size_of_val(&info);
        // SAFETY: the place is valid.
        match unsafe { phx_instance_describe(self.crowd, who, &mut info) } {
            PHX_OK => self.joints_of_rig(info.rig),
            _ => 1,
        }
    }

    pub fn joints_of_rig(&mut self, id: u64) -> usize {
        let mut rig = std::ptr::null_mut();
        // SAFETY: places are valid, and the handle is freed once.
        unsafe {
            if phx_crowd_rig(self.crowd, id, &mut rig) != PHX_OK {
                return 1;
            }
            let mut info: phx_rig_info = std::mem::zeroed();
            info.size = size_of_val(&info);
            assert_eq!(phx_rig_describe(rig, &mut info), PHX_OK);
            assert_eq!(phx_rig_free(rig), PHX_OK);
            info.joint_count as usize
        }
    }
}
