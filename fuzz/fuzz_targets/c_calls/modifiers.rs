//! Modifiers, targets, overrides, poses, watched joints.

use crate::kit::defaults;
use crate::source::touch;
use crate::{INSTANCE, MODIFIER, RIG, World};
use phalanx_c::*;
use std::ptr::null;

impl World<'_> {
    fn targets(&mut self, count: usize) -> Vec<phx_target> {
        let source = &mut self.source;
        let mut one = || phx_target {
            space: source.index(3),
            joint: source.index(9),
            position: source.vector(),
            has_rotation: source.flag(),
            rotation: source.rotation(),
            has_normal: source.flag(),
            normal: source.vector(),
        };
        (0..count).map(|_| one()).collect()
    }

    fn grounds(&mut self, count: usize) -> Vec<phx_ground> {
        let one = |[height, x, y, z]: [f32; 4]| phx_ground { height, normal: [x, 1.0 + y, z] };
        (0..count).map(|_| one(self.source.vector())).collect()
    }

    fn weights(&mut self, count: usize) -> (*const f32, usize) {
        let n = if self.source.one_of(3) { 0 } else { self.each(count) };
        let weights: Vec<f32> = (0..n).map(|_| self.source.unit()).collect();
        if weights.is_empty() { (null(), 0) } else { self.array(&weights) }
    }

    fn joints(&mut self, most: usize) -> Vec<u32> {
        let count = self.source.below(most + 1);
        let mut joints: Vec<u32> = (0..count).map(|_| self.source.index(15)).collect();
        if !self.source.wild {
            joints.sort();
            joints.dedup();
        }
        joints
    }

    pub fn two_bone_ik(&mut self) -> phx_two_bone_ik {
        let end = self.source.pick(&[5, 8, 11, 14, 2, PHX_NONE]);
        let source = &mut self.source;
        phx_two_bone_ik {
            end: if source.one_of(4) { source.index(15) } else { end },
            pole: source.index(3),
            pole_direction: source.vector(),
            pole_joint: source.index(9),
            axis: if source.one_of(3) { source.vector() } else { [0.0; 3] },
            soft: source.unit(),
            stretch: 1.0 + source.unit(),
            twist: source.f32(),
            end_rotation: source.index(2),
            normal_axis: if source.one_of(3) { source.vector() } else { [0.0; 3] },
            middle: if source.wrong(4) { source.index(9) } else { PHX_NONE },
            upper: if source.wrong(4) { source.index(9) } else { PHX_NONE },
            ..defaults(PHX_TWO_BONE_IK)
        }
    }

    /// Feet, or null.
    pub fn feet(&mut self) -> *const phx_feet {
        let mut feet = Vec::new();
        for ankle in [5, 8] {
            if self.source.one_of(8) {
                continue;
            }
            let leg = self.two_bone_ik();
            let (leg, by) = (self.options(leg), self.source.one_of(2));
            let none = phx_text { data: null(), length: 0 };
            feet.push(phx_foot {
                ankle: if self.source.wrong(4) { self.source.index(15) } else { ankle },
                leg: if self.source.one_of(3) { leg } else { null() },
                down: if by { self.text() } else { none },
                up: if by { self.text() } else { none },
            });
        }
        if self.source.wrong(16) {
            feet.extend(feet.first().copied().into_iter().cycle().take(8));
        }
        let (feet, count) = self.array(&feet);
        let feet = phx_feet {
            pelvis: self.source.index(2),
            feet,
            count,
            reach: self.source.unit(),
            tilt: self.source.unit(),
            ..defaults(PHX_FEET)
        };
        self.options(feet)
    }

    fn aim(&mut self) -> phx_aim {
        let joints = if self.source.one_of(2) { vec![1, 2] } else { self.joints(3) };
        let shares: Vec<f32> = joints.iter().map(|_| self.source.unit()).collect();
        let shares = if self.source.one_of(2) { self.exactly(&shares) } else { null() };
        let (joints, count) = match self.source.wrong(16) {
            true => (null(), joints.len()),
            false => (self.exactly(&joints), joints.len()),
        };
        let source = &mut self.source;
        let mut axis = || if source.one_of(3) { source.vector() } else { [0.0; 3] };
        let (forward, up, up_axis) = (axis(), axis(), axis());
        phx_aim {
            joints,
            shares,
            count,
            forward,
            up,
            up_axis,
            limit: source.unit(),
            soft: source.unit(),
            speed: if source.one_of(2) { f32::INFINITY } else { source.f32() },
            ..defaults(PHX_AIM)
        }
    }

    fn hook(&mut self) -> phx_hook {
        let joints = self.joints(4);
        let (joints, count) = match self.source.one_of(2) {
            true => self.array(&joints),
            false => (null(), 0),
        };
        phx_hook { joints, count, reach: self.source.unit(), ..defaults(PHX_HOOK) }
    }

    fn springs(&mut self) -> phx_springs {
        let mut colliders = Vec::new();
        for _ in 0..self.source.below(3) {
            colliders.push(phx_spring_collider {
                joint: self.source.index(9),
                shape: self.source.index(3),
                a: self.source.vector(),
                b: self.source.vector(),
                radius: self.source.unit(),
            });
        }
        let mut chains = Vec::new();
        for first in [9, 12, 1] {
            if self.source.one_of(3) {
                continue;
            }
            let mut joints = Vec::new();
            for joint in first..first + self.source.below(4) as u32 {
                joints.push(phx_spring_joint {
                    joint: if self.source.wrong(6) { self.source.index(15) } else { joint },
                    has_tail: self.source.flag(),
                    tail: self.source.vector(),
                    radius: self.source.unit(),
                    stiffness: self.source.unit(),
                    gravity: self.source.vector(),
                    drag: self.source.unit(),
                });
            }
            let count = self.source.below(3);
            let own: Vec<u32> = (0..count).map(|_| self.source.index(2)).collect();
            let ((joints, joint_count), (own, own_count)) = (self.array(&joints), self.array(&own));
            let center = if self.source.one_of(3) { self.source.index(9) } else { PHX_NONE };
            chains.push(phx_spring_chain {
                joints,
                joint_count,
                colliders: own,
                collider_count: own_count,
                center,
            });
        }
        let (chains, chain_count) = self.array(&chains);
        let (colliders, collider_count) = self.array(&colliders);
        let teleport = if self.source.one_of(3) { self.source.f32() } else { 2.0 };
        phx_springs {
            chains,
            chain_count,
            colliders,
            collider_count,
            teleport,
            ..defaults(PHX_SPRINGS)
        }
    }

    fn add_modifier(&mut self) {
        let (rig, out) = (self.id(RIG), self.out::<u64>(1));
        let at = out.heap.ptr_mut();
        let added = match self.source.below(5) {
            0 => {
                let ik = self.two_bone_ik();
                let ik = self.options(ik);
                on_crowd!(self, phx_crowd_add_two_bone_ik(rig, ik, at), out)
            }
            1 => {
                let aim = self.aim();
                let aim = self.options(aim);
                on_crowd!(self, phx_crowd_add_aim(rig, aim, at), out)
            }
            2 => {
                let feet = self.feet();
                on_crowd!(self, phx_crowd_add_feet(rig, feet, at), out)
            }
            3 => {
                let hook = self.hook();
                let hook = self.options(hook);
                on_crowd!(self, phx_crowd_add_hook(rig, hook, at), out)
            }
            _ => {
                let springs = self.springs();
                let springs = self.options(springs);
                on_crowd!(self, phx_crowd_add_springs(rig, springs, at), out)
            }
        };
        if added {
            let modifier = out.heap.read();
            self.ids[MODIFIER].push(modifier);
            // Without weights modifiers do nothing.
            let who = self.instances();
            for who in who {
                on_crowd!(self, phx_instance_fade_modifier(who, modifier, 1.0, 0.0));
            }
        }
    }

    pub fn modifier_calls(&mut self) {
        let (who, modifier) = (self.id(INSTANCE), self.id(MODIFIER));
        match self.source.below(20) {
            0..5 => self.add_modifier(),
            5 => {
                if on_crowd!(self, phx_crowd_remove_modifier(modifier)) {
                    self.forget(MODIFIER, modifier);
                }
            }
            6 => {
                let target = self.targets(1)[0];
                let target = self.one(target);
                on_crowd!(self, phx_instance_set_target(who, modifier, target));
            }
            7 => {
                let (target, weight) = (self.out::<phx_target>(1), self.out::<f32>(1));
                let (at, w) = (target.heap.ptr_mut(), weight.heap.ptr_mut());
                on_crowd!(self, phx_instance_target(who, modifier, at, w), target, weight);
            }
            8 => {
                let count = self.room(2);
                let grounds = self.grounds(count);
                let (grounds, count) = self.array(&grounds);
                on_crowd!(self, phx_instance_set_grounds(who, modifier, grounds, count));
            }
            9 => {
                let (weight, seconds) = (self.source.unit(), self.source.unit());
                on_crowd!(self, phx_instance_fade_modifier(who, modifier, weight, seconds));
            }
            10 => {
                let (joint, matrix) = (self.source.index(15), self.matrix());
                let (matrix, space) = (self.one(matrix), self.source.index(3));
                let weight = self.source.unit();
                on_crowd!(self, phx_instance_set_override(who, joint, matrix, space, weight));
            }
            11 => {
                let (rig, joints) = (self.id(RIG), self.joints(3));
                let ((joints, count), stage) = (self.array(&joints), self.source.index(2));
                match self.source.one_of(3) {
                    true => on_crowd!(self, phx_crowd_unwatch(rig, joints, count, stage)),
                    false => on_crowd!(self, phx_crowd_watch(rig, joints, count, stage)),
                };
            }
            12 => {
                let (stage, out) = (self.source.index(2), self.info::<phx_watched>());
                if on_crowd!(self, phx_instance_watched(who, stage, out.heap.ptr_mut()), out) {
                    let watched: phx_watched = out.heap.read();
                    touch(watched.joints, watched.count);
                    touch(watched.models, watched.count);
                }
            }
            _ => self.pose_calls(),
        }
    }

    /// Arrays for many characters.
    fn pose_calls(&mut self) {
        let who = self.instances();
        let many = who.len();
        let (ids, count) = self.array(&who);
        let (rig, modifier) = (self.id(RIG), self.id(MODIFIER));
        match self.source.below(8) {
            0 => {
                let n = self.each(many);
                let targets = self.targets(n);
                let ((targets, n), (weights, w)) = (self.array(&targets), self.weights(many));
                on_crowd!(
                    self,
                    phx_instances_set_targets(ids, count, modifier, targets, n, weights, w)
                );
            }
            1 => {
                let n = self.room(2 * many);
                let grounds = self.grounds(n);
                let ((grounds, n), (weights, w)) = (self.array(&grounds), self.weights(many));
                on_crowd!(
                    self,
                    phx_instances_set_grounds(ids, count, modifier, grounds, n, weights, w)
                );
            }
            2 => {
                let room = self.room(6 * many);
                let out = self.out::<f32>(room);
                let at = out.heap.ptr_mut();
                on_crowd!(self, phx_instances_foot_positions(ids, count, modifier, at, room), out);
            }
            3 => {
                let joints = self.joints(3);
                let n = self.room(joints.len() * many);
                let matrices: Vec<_> = (0..n).map(|_| self.matrix()).collect();
                let ((joints, j), (matrices, n)) = (self.array(&joints), self.array(&matrices));
                let (space, (weights, w)) = (self.source.index(3), self.weights(many));
                on_crowd!(
                    self,
                    phx_instances_set_overrides(
                        rig, joints, j, ids, count, matrices, n, space, weights, w
                    )
                );
            }
            4 => {
                let needed = self.joints_of_rig(rig) * many;
                let n = self.room(needed);
                let one = self.trs();
                let mut poses = vec![one; n];
                poses.iter_mut().take(4).for_each(|pose| *pose = self.trs());
                let ((poses, n), space) = (self.array(&poses), self.source.index(3));
                let (weights, w) = self.weights(many);
                on_crowd!(
                    self,
                    phx_instances_set_poses(rig, ids, count, poses, n, space, weights, w)
                );
            }
            5 => {
                let (weight, seconds) = (self.source.unit(), self.source.unit());
                match self.source.one_of(3) {
                    true => on_crowd!(self, phx_instances_clear_poses(ids, count)),
                    false => on_crowd!(self, phx_instances_fade_poses(ids, count, weight, seconds)),
                };
            }
            n => {
                let joints = self.joints(4);
                let room = self.room(joints.len() * many);
                let ((joints, j), stage) = (self.array(&joints), self.source.index(2));
                if n == 6 {
                    let out = self.out::<phx_trs>(room);
                    let at = out.heap.ptr_mut();
                    on_crowd!(
                        self,
                        phx_instances_local_poses(rig, joints, j, ids, count, stage, at, room),
                        out
                    );
                } else {
                    let out = self.out::<phx_matrix>(room);
                    let at = out.heap.ptr_mut();
                    on_crowd!(
                        self,
                        phx_instances_model_poses(rig, joints, j, ids, count, stage, at, room),
                        out
                    );
                }
            }
        }
    }
}
