//! Rigs, clips, blend spaces and characters of the crowd, time, events, snapshots.

use crate::kit::defaults;
use crate::source::{Heap, touch};
use crate::{CLIP, INSTANCE, MODIFIER, MOST_INSTANCES, RIG, SPACE, World};
use phalanx_c::*;
use std::ptr::null;

impl World<'_> {
    pub fn crowd_calls(&mut self) {
        match self.source.below(26) {
            0 => self.new_crowd(),
            1 => self.free_crowd(),
            2 => {
                let out = self.info::<phx_crowd_info>();
                on_crowd!(self, phx_crowd_describe(out.heap.ptr_mut()), out);
            }
            3 => self.add_rig(),
            4 => {
                let rig = self.id(RIG);
                if on_crowd!(self, phx_crowd_remove_rig(rig)) {
                    self.forget(RIG, rig);
                }
            }
            5 => {
                let (rig, out) = (self.id(RIG), self.out::<*mut phx_rig>(1));
                if on_crowd!(self, phx_crowd_rig(rig, out.heap.ptr_mut()), out) {
                    self.rigs.push(out.heap.read());
                }
            }
            6 => {
                let options = phx_rig_options {
                    events: self.source.index(16),
                    track_root_motion: self.source.flag(),
                    apply_root_motion: self.source.flag(),
                    ..defaults(PHX_RIG_OPTIONS)
                };
                let (rig, options) = (self.id(RIG), self.options(options));
                on_crowd!(self, phx_crowd_set_rig_options(rig, options));
            }
            7 => {
                let (rig, clip, out) = (self.id(RIG), self.clip(), self.out::<u64>(1));
                if on_crowd!(self, phx_crowd_add_clip(rig, clip, out.heap.ptr_mut()), out) {
                    self.ids[CLIP].push(out.heap.read());
                }
            }
            8 => {
                let clip = self.id(CLIP);
                if on_crowd!(self, phx_crowd_remove_clip(clip)) {
                    self.forget(CLIP, clip);
                }
            }
            9 => {
                let (clip, out) = (self.id(CLIP), self.out::<*mut phx_clip>(1));
                if on_crowd!(self, phx_crowd_clip(clip, out.heap.ptr_mut()), out) {
                    self.clips.push(out.heap.read());
                }
            }
            10 => {
                let (rig, name, out) = (self.id(RIG), self.text(), self.out::<u64>(1));
                let at = out.heap.ptr_mut();
                if on_crowd!(self, phx_crowd_clip_named(rig, name.data, name.length, at), out) {
                    self.ids[CLIP].push(out.heap.read());
                }
            }
            11 => self.clip_at(),
            12 | 13 => self.add_space(),
            14 => {
                let space = self.id(SPACE);
                if on_crowd!(self, phx_crowd_remove_space(space)) {
                    self.forget(SPACE, space);
                }
            }
            15 => {
                let (space, room) = (self.id(SPACE), self.source.below(4));
                let (out, count) = (self.out::<phx_space_point>(room), self.counter());
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                on_crowd!(self, phx_crowd_space_points(space, at, room, n), out, count);
            }
            16 => self.spawn(),
            17 => {
                let who = self.instances();
                let (data, count) = self.array(&who);
                if on_crowd!(self, phx_crowd_despawn(data, count)) && count > 0 {
                    who.iter().for_each(|&id| self.forget(INSTANCE, id));
                }
            }
            18 => {
                let playable = if self.source.one_of(2) { 0 } else { self.playable() };
                let room = self.source.below(8);
                let (out, count) = (self.out::<u64>(room), self.counter());
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                on_crowd!(self, phx_crowd_instances(playable, at, room, n), out, count);
            }
            19..22 => {
                let seconds = self.source.f64();
                on_crowd!(self, phx_crowd_advance(seconds));
            }
            22 => {
                let (out, count) = (self.out::<*const phx_event>(1), self.out::<usize>(1));
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                if on_crowd!(self, phx_crowd_events(at, n), out, count) {
                    touch(out.heap.read::<*const phx_event>(), count.heap.read());
                }
            }
            23 => {
                let (rig, out) = (self.id(RIG), self.info::<phx_root_motion>());
                if on_crowd!(self, phx_crowd_root_motion(rig, out.heap.ptr_mut()), out) {
                    let moves: phx_root_motion = out.heap.read();
                    touch(moves.instances, moves.count);
                    touch(moves.translations, 3 * moves.count);
                    touch(moves.rotations, 4 * moves.count);
                }
            }
            24 => {
                let (out, size) = (self.out::<*const u8>(1), self.out::<usize>(1));
                let (at, n) = (out.heap.ptr_mut(), size.heap.ptr_mut());
                if on_crowd!(self, phx_crowd_snapshot(at, n), out, size) {
                    let (data, size): (*const u8, usize) = (out.heap.read(), size.heap.read());
                    // SAFETY: the library says that the bytes are there.
                    self.saved = unsafe { std::slice::from_raw_parts(data, size) }.to_vec();
                }
            }
            _ => self.restore(),
        }
    }

    /// A second crowd, which is freed at once.
    fn new_crowd(&mut self) {
        let pool = if self.source.one_of(2) { self.kit.pool } else { std::ptr::null_mut() };
        let options = phx_crowd_options {
            tag: self.source.index(1024),
            pool: self.handle(pool),
            ..defaults(PHX_CROWD_OPTIONS)
        };
        let (options, out) = (self.options(options), self.out::<*mut phx_crowd>(1));
        if call!(self, phx_crowd_new(options, out.heap.ptr_mut()), out) {
            let crowd = out.heap.read::<*mut phx_crowd>();
            assert!(call!(self, phx_crowd_free(crowd)));
            assert!(!call!(self, phx_crowd_free(crowd)), "a crowd is freed once");
            self.dead.push(crowd.cast());
        }
    }

    /// Frees the crowd if a frame is not running, and begins another.
    fn free_crowd(&mut self) {
        if self.source.one_of(8) || self.frame.is_some() {
            let crowd = self.crowd;
            let freed = call!(self, phx_crowd_free(crowd));
            assert_eq!(freed, self.frame.is_none(), "a crowd is not freed during a frame");
            if freed {
                self.dead.push(crowd.cast());
                for kind in 0..5 {
                    self.stale.extend(self.ids[kind].drain(..));
                }
                self.begin();
            }
        }
    }

    pub fn add_rig(&mut self) {
        let rig = self.rig();
        let mut layers = Vec::new();
        for _ in 0..self.source.below(4) {
            let joints = [15, 3, 2, 47][self.source.below(4)];
            let mask: Vec<f32> = (0..joints).map(|joint| (joint % 3) as f32 / 2.0).collect();
            let (mask, mask_count) = match self.source.one_of(3) {
                true => self.array(&mask),
                false => (null(), 0),
            };
            layers.push(phx_layer_options {
                additive: self.source.flag() & u32::from(self.source.one_of(3)),
                fill: self.source.index(2),
                mask,
                mask_count,
                ..defaults(PHX_LAYER_OPTIONS)
            });
        }
        if self.source.wrong(16) {
            let first = layers.first().copied();
            layers.resize(17, first.unwrap_or_else(|| defaults(PHX_LAYER_OPTIONS)));
        }
        let wrong = self.source.wrong(8);
        if let (true, Some(last)) = (wrong, layers.last_mut()) {
            last.size = self.source.pick(&[0, 8, usize::MAX, size_of::<phx_layer_options>() + 8]);
        }
        let ((layers, count), out) = (self.array(&layers), self.out::<u64>(1));
        if on_crowd!(self, phx_crowd_add_rig(rig, layers, count, out.heap.ptr_mut()), out) {
            self.ids[RIG].push(out.heap.read());
        }
    }

    /// One thing of each kind, made by calls that are right.
    pub fn furnish(&mut self) {
        let layer: phx_layer_options = defaults(PHX_LAYER_OPTIONS);
        let (crowd, layers, mut ids) = (self.crowd, [layer; 2], [0; 7]);
        let [rig, walk, nod, still, space, legs, hook] = &mut ids;
        let foot =
            |ankle| phx_foot { ankle, leg: null(), down: phx_text::empty(), up: phx_text::empty() };
        let feet = [foot(5), foot(8)];
        let feet = phx_feet { pelvis: 0, feet: feet.as_ptr(), count: 2, ..defaults(PHX_FEET) };
        // SAFETY: arrays have their counts, and places are valid.
        let made = unsafe {
            let rig_made = phx_crowd_add_rig(crowd, self.kit.rigs[0], layers.as_ptr(), 2, rig);
            let clips = [walk, nod, still].into_iter().zip(0..).map(|(clip, index)| {
                let found = phx_crowd_clip_at(crowd, *rig, index, clip);
                (
                    found,
                    phx_space_point { clip: *clip, at: phx_parameter { x: index as f32, y: 0.0 } },
                )
            });
            let (found, points): (Vec<_>, Vec<_>) = clips.unzip();
            let line = phx_space_options {
                points: points.as_ptr(),
                count: 2,
                ..defaults(PHX_SPACE_OPTIONS)
            };
            [
                rig_made,
                found.iter().sum(),
                phx_crowd_add_space(crowd, *rig, &line, space),
                phx_crowd_add_feet(crowd, *rig, &feet, legs),
                phx_crowd_add_hook(crowd, *rig, null(), hook),
            ]
        };
        assert_eq!(made, [PHX_OK; 5]);
        let [rig, walk, nod, still, space, legs, hook] = ids;
        self.ids[RIG].push(rig);
        self.ids[CLIP].extend([walk, nod, still]);
        self.ids[SPACE].push(space);
        self.ids[MODIFIER].extend([legs, hook]);
    }

    pub fn clip_at(&mut self) {
        let (rig, index, out) = (self.id(RIG), self.source.index(3), self.out::<u64>(1));
        if on_crowd!(self, phx_crowd_clip_at(rig, index, out.heap.ptr_mut()), out) {
            self.ids[CLIP].push(out.heap.read());
        }
    }

    fn add_space(&mut self) {
        let mut points = Vec::new();
        for i in 0..self.source.below(5) {
            let [x, y] = self.source.vector();
            let line = self.source.one_of(2);
            let at = phx_parameter { x: if line { i as f32 } else { x }, y };
            points.push(phx_space_point { clip: self.id(CLIP), at });
        }
        let (points, count) = self.array(&points);
        let measured = self.source.one_of(4);
        let options = phx_space_options {
            kind: self.source.index(4),
            following: self.source.f32(),
            points,
            count,
            measured_by: if measured { self.feet() } else { null() },
            ..defaults(PHX_SPACE_OPTIONS)
        };
        let (rig, options, out) = (self.id(RIG), self.options(options), self.out::<u64>(1));
        if on_crowd!(self, phx_crowd_add_space(rig, options, out.heap.ptr_mut()), out) {
            self.ids[SPACE].push(out.heap.read());
        }
    }

    pub fn spawn(&mut self) {
        let room = MOST_INSTANCES.saturating_sub(self.ids[INSTANCE].len());
        let count = match self.source.one_of(16) {
            true => usize::from(self.source.byte()),
            false => 1 + self.source.below(4),
        };
        let count = count.min(room);
        let (rig, out) = (self.id(RIG), self.out::<u64>(count));
        let at = out.heap.ptr_mut();
        if out.heap.is_null() && self.source.one_of(2) {
            on_crowd!(self, phx_crowd_spawn(rig, usize::MAX, at), out);
        } else if on_crowd!(self, phx_crowd_spawn(rig, count, at), out) && count > 0 {
            let ids = self.read_ids(&out.heap, count);
            self.ids[INSTANCE].extend(ids);
        }
    }

    fn read_ids(&self, heap: &Heap, count: usize) -> Vec<u64> {
        // SAFETY: the call has written so many ids.
        unsafe { std::slice::from_raw_parts(heap.ptr::<u64>(), count) }.to_vec()
    }

    /// Restores the snapshot, whole, cut or damaged, or some bytes.
    fn restore(&mut self) {
        if self.saved.is_empty() && self.frame.is_none() {
            self.saved = self.snapshot();
        }
        let mut bytes = self.saved.clone();
        if self.source.wild {
            match self.source.below(4) {
                0 => {
                    let cut = self.source.u64() as usize % (bytes.len() + 1);
                    bytes.truncate(cut);
                }
                1 => bytes = self.source.bytes(40),
                2 => bytes.push(0),
                _ => {
                    for _ in 0..1 + self.source.below(4) {
                        let at = self.source.u64() as u16 as usize % bytes.len().max(1);
                        let with = self.source.byte();
                        bytes.get_mut(at).into_iter().for_each(|byte| *byte = with);
                    }
                }
            }
        }
        let (data, size) = self.array(&bytes);
        if on_crowd!(self, phx_crowd_restore(data, size)) {
            let mut count = 0;
            // SAFETY: the crowd is alive, and the array has the room that it states.
            let alive = unsafe {
                assert_eq!(
                    phx_crowd_instances(self.crowd, 0, std::ptr::null_mut(), 0, &mut count),
                    PHX_OK
                );
                let heap = Heap::new(8 * count, 8, 0);
                let status = phx_crowd_instances(self.crowd, 0, heap.ptr_mut(), count, &mut count);
                assert_eq!(status, PHX_OK);
                self.read_ids(&heap, count)
            };
            let gone = std::mem::replace(&mut self.ids[INSTANCE], alive);
            self.stale.extend(gone);
        }
    }
}
