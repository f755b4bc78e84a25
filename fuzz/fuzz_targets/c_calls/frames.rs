//! Frames, whole and in parts, hooks, tiers.

use crate::kit::{defaults, kit, message};
use crate::source::Heap;
use crate::{Out, RIG, World};
use phalanx_c::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A frame whose parts run.
pub struct Frame {
    handle: *mut phx_frame,
    parts: u32,
    // What the library writes to and calls with, until the end.
    _memory: Heap,
    _plan: Box<Plan>,
}

/// What a hook does.
struct Plan {
    crowd: *mut phx_crowd,
    /// The frame in parts that calls back.
    frame: AtomicPtr<phx_frame>,
    /// The pose of the last callback.
    pose: AtomicPtr<phx_pose>,
    joint: u32,
    matrix: phx_matrix,
    /// A bit for each kind of call.
    calls: u8,
}

fn no_fault(status: phx_status) -> phx_status {
    assert!((PHX_OK..PHX_ERROR_INTERNAL).contains(&status), "in a hook: {status}, {}", message());
    status
}

unsafe extern "C" fn hook(user: *mut c_void, who: u64, pose: *mut phx_pose, seconds: f64) {
    // SAFETY: frames get a plan, which stays until they end.
    let plan = unsafe { &*user.cast::<Plan>() };
    plan.pose.store(pose, Ordering::Relaxed);
    assert!(seconds >= 0.0);
    let (joint, bit) = (plan.joint, |n: u8| plan.calls & 1 << n != 0);
    let info = Heap::new(size_of::<phx_pose_info>(), 8, 0);
    let (matrix, trs) = (Heap::new(48, 4, 0), Heap::new(40, 4, 0));
    let set = Heap::of(&[plan.matrix]);
    // SAFETY: blocks have the bytes of what they are for, handles came from the library.
    unsafe {
        info.ptr_mut::<usize>().write(size_of::<phx_pose_info>());
        assert_eq!(no_fault(phx_pose_describe(pose, info.ptr_mut())), PHX_OK);
        if bit(0) {
            let trs = if bit(1) { null_mut() } else { trs.ptr_mut() };
            no_fault(phx_pose_local(pose, joint, trs, matrix.ptr_mut()));
        }
        if bit(1) {
            no_fault(phx_pose_set_local(pose, joint, set.ptr()));
        }
        if bit(2) {
            no_fault(phx_pose_set_model(pose, joint, set.ptr()));
            no_fault(phx_pose_set_model(pose, joint, null()));
        }
        if bit(3) {
            no_fault(phx_pose_model(pose, joint, matrix.ptr_mut()));
            no_fault(phx_pose_model(pose, joint, null_mut()));
            assert_eq!(phx_pose_describe(kit().freed.cast(), info.ptr_mut()), PHX_ERROR_STATE);
        }
        if bit(4) {
            let busy = [
                phx_crowd_advance(plan.crowd, 0.1),
                phx_instance_model_matrix(plan.crowd, who, 0, matrix.ptr_mut()),
                phx_crowd_evaluate(plan.crowd, null(), null_mut(), 0, null_mut()),
                phx_crowd_free(plan.crowd),
            ];
            assert_eq!(busy, [PHX_ERROR_BUSY; 4], "{}", message());
        }
        // Another crowd may be used, by one callback at a time.
        if bit(5) {
            let memory = Heap::new(15 * 48, 4, 0);
            let other = kit().other;
            no_fault(phx_crowd_evaluate(other, null(), memory.ptr_mut(), 15 * 48, null_mut()));
            no_fault(phx_instance_model_matrix(other, kit().foreign[4], 3, matrix.ptr_mut()));
            assert_eq!(phx_pose_describe(pose, info.ptr_mut()), PHX_OK, "{}", message());
        }
        let frame = plan.frame.load(Ordering::Relaxed);
        if bit(6) && !frame.is_null() {
            no_fault(phx_frame_part(frame, joint % 4));
            assert_eq!(phx_pose_describe(pose, info.ptr_mut()), PHX_OK, "{}", message());
        }
        if bit(7) && !frame.is_null() {
            assert_ne!(no_fault(phx_frame_end(frame)), PHX_OK, "a frame ends outside its hooks");
        }
    }
}

impl World<'_> {
    pub fn end_frame(&mut self) {
        if let Some(frame) = self.frame.take() {
            assert!(call!(self, phx_frame_end(frame.handle)));
            self.dead.push(frame.handle.cast());
            assert!(!call!(self, phx_frame_end(frame.handle)), "a frame ends once");
            assert!(!call!(self, phx_frame_part(frame.handle, 0)), "a frame has ended");
        }
    }

    fn plan(&mut self) -> Box<Plan> {
        Box::new(Plan {
            crowd: self.crowd,
            frame: AtomicPtr::new(null_mut()),
            pose: AtomicPtr::new(null_mut()),
            joint: self.source.index(15),
            matrix: self.matrix(),
            calls: self.source.byte(),
        })
    }

    fn frame_options(&mut self, plan: &Plan) -> *const phx_frame_options {
        let options = phx_frame_options {
            format: self.source.index(2),
            align: self.source.pick(&[0, 0, 1, 4, 64, 65_536, 65_537]),
            keep: self.source.flag(),
            parts: self.source.pick(&[0, 1, 2, 3, 8, u32::MAX]),
            hook: if self.source.one_of(4) { None } else { Some(hook) },
            user: (&raw const *plan).cast_mut().cast(),
            ..defaults(PHX_FRAME_OPTIONS)
        };
        self.options(options)
    }

    /// Memory of so many bytes as the last frame needed, or other memory, or none.
    fn memory(&mut self) -> (Out, usize) {
        let needed = self.needed.min(1 << 20);
        let bytes = match self.source.wrong(4) {
            true => self.source.pick(&[0, 1, needed / 2, needed.saturating_sub(1), needed + 13]),
            false => needed,
        };
        let memory = self.out::<f32>(bytes.div_ceil(4));
        let bytes = if self.source.wrong(30) { usize::MAX } else { bytes };
        (memory, bytes)
    }

    /// The memory that the next frame needs, after one that said it.
    fn learn(&mut self, stats: &Out) {
        if !stats.heap.is_null() && !stats.heap.intact(0) {
            let stats: phx_frame_stats = stats.heap.read();
            self.needed = stats.bytes as usize;
        }
    }

    fn evaluate(&mut self) {
        let plan = self.plan();
        let (options, (memory, bytes)) = (self.frame_options(&plan), self.memory());
        let stats = Out { unless: PHX_ERROR_SHORT, ..self.out::<phx_frame_stats>(1) };
        let (at, out) = (memory.heap.ptr_mut(), stats.heap.ptr_mut());
        on_crowd!(self, phx_crowd_evaluate(options, at, bytes, out), memory, stats);
        self.learn(&stats);
        let (pose, info) = (plan.pose.into_inner(), self.info::<phx_pose_info>());
        if !pose.is_null() {
            let known = call!(self, phx_pose_describe(pose, info.heap.ptr_mut()), info);
            assert!(!known, "a pose ends with its callback");
        }
    }

    fn begin_frame(&mut self) {
        let plan = self.plan();
        let (options, (memory, bytes)) = (self.frame_options(&plan), self.memory());
        let stats = Out { unless: PHX_ERROR_SHORT, ..self.out::<phx_frame_stats>(1) };
        let handle = self.out::<*mut phx_frame>(1);
        let (at, out, place) = (memory.heap.ptr_mut(), stats.heap.ptr_mut(), handle.heap.ptr_mut());
        if on_crowd!(self, phx_frame_begin(options, at, bytes, out, place), memory, stats, handle) {
            let handle = handle.heap.read();
            plan.frame.store(handle, Ordering::Relaxed);
            let parts = match stats.heap.is_null() {
                true => 8,
                false => stats.heap.read::<phx_frame_stats>().parts,
            };
            self.frame = Some(Frame { handle, parts, _memory: memory.heap, _plan: plan });
        }
        self.learn(&stats);
    }

    /// Parts in any order, some twice, and calls that must be refused between.
    fn part(&mut self) {
        let (right, parts) = match &self.frame {
            Some(frame) => (frame.handle, frame.parts as usize),
            None => (null_mut(), 1),
        };
        let (frame, part) = (self.handle(right), self.source.index(parts + 1));
        let ran = call!(self, phx_frame_part(frame, part));
        if ran {
            let again = unsafe { phx_frame_part(frame, part) };
            assert_eq!(again, PHX_ERROR_STATE, "a part runs once");
        }
        assert!(!ran || (part as usize) < parts.max(8), "there is no part {part}");
    }

    pub fn frame_calls(&mut self) {
        match self.source.below(16) {
            0..4 => self.evaluate(),
            4 | 5 => self.begin_frame(),
            6 | 7 => self.part(),
            8 => {
                // Wrong handles, then the right one.
                let frame = self.handle(null_mut());
                call!(self, phx_frame_end(frame));
                self.end_frame();
            }
            9 => self.set_tiers(),
            10 => {
                let (size, room) = (self.source.f32(), self.source.below(9));
                let (out, count) = (self.out::<phx_tier>(room), self.counter());
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                call!(self, phx_tiers_default(size, at, room, n), out, count);
            }
            11 => {
                let mut views = Vec::new();
                for _ in 0..self.source.below(3) {
                    let mut clip_from_world = [0.0; 16];
                    clip_from_world[0] = self.source.f32();
                    clip_from_world[5] = self.source.f32();
                    clip_from_world[11] = self.source.f32();
                    clip_from_world[15] = self.source.f32();
                    let height = self.source.pick(&[1080.0, 1.0, 0.0, 1e9]);
                    views.push(phx_view { clip_from_world, height, shadows: self.source.flag() });
                }
                let (views, count) = self.array(&views);
                on_crowd!(self, phx_crowd_set_views(views, count));
            }
            12 => {
                let budget = self.source.pick(&[0, 1, 3, 100, usize::MAX]);
                on_crowd!(self, phx_crowd_set_budget(budget));
            }
            13 => {
                let alive = self.ids[crate::INSTANCE].len();
                let count = self.room(alive);
                let heights: Vec<f32> = (0..count).map(|_| 50.0 * self.source.f32()).collect();
                let (rig, (heights, count)) = (self.id(RIG), self.array(&heights));
                on_crowd!(self, phx_crowd_set_importances(rig, heights, count));
            }
            14 => {
                let room = self.source.below(9);
                let (out, count) = (self.out::<phx_tier_stats>(room), self.counter());
                let frame = self.info::<phx_tier_frame>();
                let (at, n) = (out.heap.ptr_mut(), count.heap.ptr_mut());
                let whole = frame.heap.ptr_mut();
                on_crowd!(self, phx_crowd_tier_stats(at, room, n, whole), out, count, frame);
            }
            _ => {
                let (pose, joint) = (self.kit.freed.cast::<phx_pose>(), self.source.index(15));
                let (trs, matrix) = (self.out::<phx_trs>(1), self.out::<phx_matrix>(1));
                let (at, m) = (trs.heap.ptr_mut(), matrix.heap.ptr_mut());
                call!(self, phx_pose_local(pose, joint, at, m), trs, matrix);
                call!(self, phx_pose_model(pose, joint, m), matrix);
                let set = self.matrix();
                let set = self.one(set);
                call!(self, phx_pose_set_local(pose, joint, set));
                call!(self, phx_pose_set_model(null_mut(), joint, set));
            }
        }
    }

    fn set_tiers(&mut self) {
        let mut tiers = Vec::new();
        for i in 0..self.source.below(5) {
            let names = if self.source.one_of(4) { self.texts(2) } else { Vec::new() };
            let (leave_out, leave_out_count) = self.array(&names);
            let height =
                if self.source.wrong(4) { self.source.f32() } else { 400.0 / (i + 1) as f32 };
            tiers.push(phx_tier {
                height,
                rate: self.source.pick(&[1, 2, 4, 8, 16, 1, 3, 257]),
                interpolate: self.source.flag(),
                shared_error: if self.source.one_of(2) { 0.0 } else { self.source.unit() },
                level: if self.source.one_of(3) { self.source.index(3) } else { PHX_NONE },
                leave_out,
                leave_out_count,
                springs: self.source.flag(),
                ..defaults(PHX_TIER)
            });
        }
        let wrong = self.source.wrong(8);
        if let (true, Some(last)) = (wrong, tiers.last_mut()) {
            last.size = self.source.pick(&[0, 8, usize::MAX, size_of::<phx_tier>() + 8]);
        }
        let (tiers, count) = match tiers.is_empty() {
            true => (null(), 0),
            false => self.array(&tiers),
        };
        let tiers = phx_tiers {
            tiers,
            count,
            hysteresis: self.source.unit(),
            max_age: self.source.index(40),
            shadows: if self.source.one_of(3) { self.source.index(3) } else { PHX_NONE },
            ..defaults(PHX_TIERS)
        };
        let tiers = self.options(tiers);
        on_crowd!(self, phx_crowd_set_tiers(tiers));
    }
}
