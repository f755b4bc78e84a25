//! Every call on one character beside the library's own, and what each refuses.

mod play;
mod state;

use super::*;
use crate::base::*;
use crate::crowd::CrowdState;
use phalanx::build::{AdditiveReference, BuildOptions, build_additive, build_rig, raw_joints};
use phalanx::clip::Marker;
use phalanx::crowd::*;
use phalanx::rig::Rig;
use phalanx::skeleton::{ChannelValue, UserChannel};
use std::mem::zeroed;
use std::ptr::{from_mut, null, null_mut};
use std::sync::{Arc, OnceLock};

/// A crowd of a handle, and a twin with the same ids that the library's own calls change.
pub(crate) struct Pair {
    pub handle: *mut phx_crowd,
    pub twin: Crowd,
    pub ids: Ids,
}

#[derive(Clone)]
pub(crate) struct Ids {
    /// Of `rig`: layer 0 blends, layer 1 adds.
    pub who: Vec<InstanceId>,
    pub walk: ClipId,
    pub jog: ClipId,
    pub additive: ClipId,
    pub space: BlendSpaceId,
    /// Of a rig with user channels.
    pub talker: InstanceId,
}

fn rigs() -> &'static [Arc<Rig>; 2] {
    static RIGS: OnceLock<[Arc<Rig>; 2]> = OnceLock::new();
    RIGS.get_or_init(|| {
        let rig = phalanx::import::mannequin().unwrap();
        let mut raw = raw_joints(&rig);
        raw.nodes.iter_mut().for_each(|node| node.mesh = None);
        raw.channels = [
            ("grip", ChannelValue::Float(0.25)),
            ("look", ChannelValue::Quaternion([0.0, 0.6, 0.0, 0.8])),
        ]
        .map(|(name, rest)| UserChannel { name: name.into(), rest })
        .into();
        [rig, build_rig(raw, &BuildOptions::default()).unwrap()].map(Arc::new)
    })
}

/// The handle of a crowd, made without its constructor.
fn handle_of(crowd: Crowd) -> *mut phx_crowd {
    new::<phx_crowd>(CrowdState::new(crowd, None))
}

fn filled(tag: u16) -> (Crowd, Ids) {
    let [rig, talking] = rigs();
    let mut crowd = Crowd::with_tag(tag).unwrap();
    let layers = [false, true].map(|additive| LayerOptions { additive, ..LayerOptions::default() });
    let id = crowd.add_rig_with_layers(rig.clone(), layers.into()).unwrap();
    let [walk, jog] = [("Walk", 0.5), ("Jog", 0.3667)].map(|(name, right)| {
        let clip = rig.clips()[rig.clip_named(name).unwrap()].as_ref().clone();
        let markers = vec![Marker::new("left", 0.0), Marker::new("right", right)];
        crowd.add_clip(id, Arc::new(clip.with_markers(markers).unwrap())).unwrap()
    });
    let wave = build_additive(rig, 1, AdditiveReference::Rest).unwrap();
    let additive = crowd.add_clip(id, Arc::new(wave)).unwrap();
    let space = crowd.add_blend_space(id, &[(1.4, walk), (2.7, jog)]).unwrap();
    let mut who = Vec::new();
    crowd.spawn_many(id, 3, &mut who).unwrap();
    let talking = crowd.add_rig(talking.clone()).unwrap();
    let talker = crowd.spawn(talking).unwrap();
    (crowd, Ids { who, walk, jog, additive, space, talker })
}

impl Pair {
    pub fn new() -> Self {
        let ((crowd, ids), (twin, _)) = (filled(7), filled(7));
        Self { handle: handle_of(crowd), twin, ids }
    }

    pub fn snapshot(&self) -> CrowdSnapshot {
        // SAFETY: a handle.
        unsafe { share(self.handle) }.unwrap().crowd.snapshot()
    }

    /// Calls both: they succeed, change something, and leave the same.
    pub fn both(
        &mut self,
        name: &str,
        c: impl FnOnce(*mut phx_crowd) -> phx_status,
        rust: impl FnOnce(&mut Crowd) -> Result<(), CrowdError>,
    ) {
        let before = self.snapshot();
        assert_eq!(c(self.handle), PHX_OK, "{name}");
        rust(&mut self.twin).unwrap();
        let after = self.snapshot();
        assert!(after != before, "{name} changes nothing");
        assert!(after == self.twin.snapshot(), "{name} does something else than the library");
    }

    /// Refused with this status, and nothing has changed.
    pub fn refused(
        &self,
        name: &str,
        status: phx_status,
        c: impl FnOnce(*mut phx_crowd) -> phx_status,
    ) {
        let before = self.snapshot();
        assert_eq!(c(self.handle), status, "{name}");
        assert!(self.snapshot() == before, "{name} changes something");
    }

    pub fn advance(&mut self, seconds: f64) {
        let step = |crowd: &mut Crowd| {
            crowd.advance(seconds).unwrap();
            crowd.evaluate(&mut BoneBuffer::new());
        };
        // SAFETY: a handle.
        step(&mut unsafe { lend(self.handle) }.unwrap().crowd);
        step(&mut self.twin);
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: a handle.
        unsafe { free(self.handle) }.unwrap();
    }
}

/// Options with no number at its default, and the library's.
pub(crate) fn odd() -> (phx_play_options, PlayOptions) {
    let size = size_of::<phx_play_options>();
    let c = phx_play_options {
        size,
        speed: 1.5,
        loop_mode: PHX_LOOP_PING_PONG,
        repetitions: 3,
        at_end: PHX_END_FADE_OUT,
        end_seconds: 0.25,
        time: 0.3,
        weight: 0.75,
        fade_in: 0.5,
        parameter: phx_parameter { x: 2.0, y: 0.5 },
    };
    let rust = PlayOptions {
        speed: 1.5,
        loop_mode: LoopMode::PingPong,
        repetitions: Some(3),
        at_end: AtEnd::FadeOut(0.25),
        time: 0.3,
        weight: 0.75,
        fade_in: 0.5,
        parameter: Parameter { x: 2.0, y: 0.5 },
    };
    (c, rust)
}

#[test]
fn settings_are_those_of_the_library() {
    let mut pair = Pair::new();
    let Ids { who, walk, space, .. } = pair.ids.clone();
    let (who, c, cw, cs) = (who[2], who[2].to_bits(), walk.to_bits(), space_bits(space));
    let nan = f32::NAN;
    let mut world = phx_matrix { rows: [[0.0; 4]; 3] };
    (0..3).for_each(|i| (world.rows[i][i], world.rows[i][3]) = (2.0, i as f32));
    let broken = phx_matrix { rows: [[nan; 4]; 3] };
    // SAFETY: pointers of this test.
    unsafe {
        pair.both(
            "play",
            |h| phx_instance_play(h, c, 0, cw, null()),
            |t| t.player(who)?.play(0, walk, &PlayOptions::default()),
        );
        pair.both(
            "add",
            |h| phx_instance_add(h, c, 0, cs, null()),
            |t| t.player(who)?.add(0, space, &PlayOptions::default()),
        );
        pair.both(
            "speed",
            |h| phx_instance_set_speed(h, c, 0, cw, -2.0),
            |t| t.player(who)?.set_speed(0, walk, -2.0),
        );
        pair.both(
            "time",
            |h| phx_instance_set_time(h, c, 0, cw, 7.3),
            |t| t.player(who)?.set_time(0, walk, 7.3),
        );
        pair.both(
            "phase",
            |h| phx_instance_set_phase(h, c, 0, cs, 2.25),
            |t| t.player(who)?.set_phase(0, space, 2.25),
        );
        pair.both(
            "paused",
            |h| phx_instance_set_paused(h, c, 0, cw, 2),
            |t| t.player(who)?.set_paused(0, walk, true),
        );
        pair.both(
            "resumed",
            |h| phx_instance_set_paused(h, c, 0, cw, 0),
            |t| t.player(who)?.set_paused(0, walk, false),
        );
        pair.both(
            "loop",
            |h| phx_instance_set_loop(h, c, 0, cw, PHX_LOOP_PING_PONG, 5),
            |t| t.player(who)?.set_loop(0, walk, LoopMode::PingPong, Some(5)),
        );
        pair.both(
            "endless",
            |h| phx_instance_set_loop(h, c, 0, cw, PHX_LOOP_REPEAT, PHX_NONE),
            |t| t.player(who)?.set_loop(0, walk, LoopMode::Repeat, None),
        );
        pair.both(
            "at end",
            |h| phx_instance_set_at_end(h, c, 0, cw, PHX_END_FADE_OUT, 0.5),
            |t| t.player(who)?.set_at_end(0, walk, AtEnd::FadeOut(0.5)),
        );
        pair.both(
            "parameter",
            |h| phx_instance_set_parameter(h, c, 0, cs, 2.0, 0.0),
            |t| t.player(who)?.set_parameter(0, space, 2.0),
        );
        pair.both(
            "layer weight",
            |h| phx_instance_fade_layer(h, c, 1, -0.25, 0.75),
            |t| t.player(who)?.fade_layer(1, -0.25, 0.75),
        );
        pair.both(
            "layer speed",
            |h| phx_instance_set_layer_speed(h, c, 0, 3.0),
            |t| t.player(who)?.set_layer_speed(0, 3.0),
        );
        pair.both(
            "character speed",
            |h| phx_instance_set_character_speed(h, c, 0.5),
            |t| t.player(who)?.set_character_speed(0.5),
        );
        pair.both(
            "world",
            |h| phx_instance_set_world(h, c, &world),
            |t| t.set_world(who, phalanx::math::Affine3x4 { rows: world.rows }),
        );

        type Call<'a> = &'a dyn Fn(*mut phx_crowd) -> phx_status;
        let (bad, none) = (PHX_ERROR_VALUE, PHX_ERROR_NOT_FOUND);
        let calls: [(phx_status, Call<'_>); 22] = [
            (bad, &|h| phx_instance_set_speed(h, c, 0, cw, nan)),
            (none, &|h| phx_instance_set_speed(h, c, 1, cw, 1.0)),
            (bad, &|h| phx_instance_set_time(h, c, 0, cw, f64::NAN)),
            (none, &|h| phx_instance_set_time(h, c, 2, cw, 1.0)),
            (bad, &|h| phx_instance_set_phase(h, c, 0, cw, 1e10)),
            (none, &|h| phx_instance_set_phase(h, c, 1, cw, 1.0)),
            (none, &|h| phx_instance_set_paused(h, c, 1, cw, 1)),
            (bad, &|h| phx_instance_set_loop(h, c, 0, cw, 3, 1)),
            (bad, &|h| phx_instance_set_loop(h, c, 0, cw, PHX_LOOP_REPEAT, 0)),
            (none, &|h| phx_instance_set_loop(h, c, 1, cw, PHX_LOOP_REPEAT, 1)),
            (bad, &|h| phx_instance_set_at_end(h, c, 0, cw, 3, 0.0)),
            (bad, &|h| phx_instance_set_at_end(h, c, 0, cw, PHX_END_FADE_OUT, -1.0)),
            (bad, &|h| phx_instance_set_parameter(h, c, 0, cs, 0.0, nan)),
            (none, &|h| phx_instance_set_parameter(h, c, 1, cs, 0.0, 0.0)),
            (PHX_ERROR_ID, &|h| phx_instance_set_parameter(h, c, 0, cw, 0.0, 0.0)),
            (bad, &|h| phx_instance_fade_layer(h, c, 0, -0.5, 0.0)),
            (none, &|h| phx_instance_fade_layer(h, c, 9, 0.5, 0.0)),
            (bad, &|h| phx_instance_set_layer_speed(h, c, 0, nan)),
            (bad, &|h| phx_instance_set_character_speed(h, c, 1e7)),
            (bad, &|h| phx_instance_set_world(h, c, &broken)),
            (PHX_ERROR_NULL, &|h| phx_instance_set_world(h, c, null())),
            (bad, &|h| phx_instance_fade(h, c, 0, cw, nan, 0.0)),
        ];
        for (i, (status, call)) in calls.into_iter().enumerate() {
            pair.refused(&format!("refusal {i}"), status, call);
        }
    }
}

#[test]
fn every_call_checks_its_crowd_and_its_character() {
    let mut pair = Pair::new();
    let Ids { who, walk, space, talker, .. } = pair.ids.clone();
    let (w, s) = (walk.to_bits(), space_bits(space));
    let world = phx_matrix { rows: [[1.0; 4]; 3] };
    // SAFETY: structs of numbers.
    let (mut info, mut action, mut layer, mut bounds) = unsafe {
        let mut structs: (phx_instance_info, phx_action_state, phx_layer_state, phx_bounds) =
            (zeroed(), zeroed(), zeroed(), zeroed());
        structs.0.size = size_of::<phx_instance_info>();
        structs.1.size = size_of::<phx_action_state>();
        structs.2.size = size_of::<phx_layer_state>();
        structs.3.size = size_of::<phx_bounds>();
        structs
    };
    let (info, action, layer, bounds) =
        (from_mut(&mut info), from_mut(&mut action), from_mut(&mut layer), from_mut(&mut bounds));
    let (mut room, mut models, mut count) = ([0_u64; 8], [world; 64], 0);
    let (room, models, count) = (room.as_mut_ptr(), models.as_mut_ptr(), from_mut(&mut count));
    type Call<'a> = &'a dyn Fn(*mut phx_crowd, u64) -> phx_status;
    // SAFETY: pointers of this test, and a handle.
    let calls: [Call<'_>; 27] = unsafe {
        [
            &|h, i| phx_instance_play(h, i, 0, w, null()),
            &|h, i| phx_instance_add(h, i, 0, s, null()),
            &|h, i| phx_instance_restart(h, i, 0, w, null()),
            &|h, i| phx_instance_fade_to(h, i, 0, w, 0.0, null()),
            &|h, i| phx_instance_cross_fade(h, i, 0, w, s, null(), null()),
            &|h, i| phx_instance_fade(h, i, 0, s, 1.0, 0.0),
            &|h, i| phx_instance_set_speed(h, i, 0, s, 1.0),
            &|h, i| phx_instance_set_time(h, i, 0, s, 1.0),
            &|h, i| phx_instance_set_phase(h, i, 0, s, 1.0),
            &|h, i| phx_instance_set_paused(h, i, 0, s, 0),
            &|h, i| phx_instance_set_loop(h, i, 0, s, PHX_LOOP_REPEAT, 2),
            &|h, i| phx_instance_set_at_end(h, i, 0, s, PHX_END_STOP, 0.0),
            &|h, i| phx_instance_set_parameter(h, i, 0, s, 1.0, 1.0),
            &|h, i| phx_instance_fade_layer(h, i, 0, 1.0, 0.0),
            &|h, i| phx_instance_set_layer_speed(h, i, 0, 1.0),
            &|h, i| phx_instance_set_character_speed(h, i, 1.0),
            &|h, i| phx_instance_set_world(h, i, &world),
            &|h, i| phx_instance_describe(h, i, info),
            &|h, i| phx_instance_action(h, i, 0, s, action),
            &|h, i| phx_instance_actions(h, i, 0, room, 8, count),
            &|h, i| phx_instance_layer(h, i, 0, layer),
            &|h, i| phx_instance_bounds(h, i, bounds),
            &|h, i| phx_instance_model_matrix(h, i, 0, models),
            &|h, i| phx_instance_model_matrices(h, i, models, 64),
            &|h, i| phx_instance_scalars(h, i, room.cast(), 8, count),
            &|h, i| phx_instance_stop(h, i, 0, s, 0.0),
            // The mannequin has no channels: those of the other rig's character.
            &|h, i| {
                let talking = i == who[0].to_bits();
                phx_instance_channel(h, if talking { talker.to_bits() } else { i }, 0, room.cast())
            },
        ]
    };
    let good = who[0].to_bits();
    let stranger = filled(8).1.who[0].to_bits();
    let gone = who[2].to_bits();
    pair.both(
        "despawn",
        // SAFETY: a handle.
        |h| match unsafe { lend(h) }.unwrap().crowd.despawn(who[2]) {
            Ok(()) => PHX_OK,
            Err(_) => PHX_ERROR_ID,
        },
        |t| t.despawn(who[2]),
    );
    let freed = handle_of(Crowd::new());
    // SAFETY: a handle.
    unsafe { free(freed) }.unwrap();
    for (i, call) in calls.iter().enumerate() {
        let name = |what| format!("call {i}: {what}");
        assert_eq!(call(pair.handle, good), PHX_OK, "{}", name("all is right"));
        assert_eq!(call(null_mut(), good), PHX_ERROR_NULL, "{}", name("no crowd"));
        assert_eq!(call(freed, good), PHX_ERROR_HANDLE, "{}", name("freed"));
        for (what, id) in [("0", 0), ("a clip", w), ("a stranger", stranger), ("gone", gone)] {
            pair.refused(&name(what), PHX_ERROR_ID, |h| call(h, id));
        }
        // SAFETY: a handle.
        let held = unsafe { lend(pair.handle) };
        assert_eq!(call(pair.handle, good), PHX_ERROR_BUSY, "{}", name("in use"));
        drop(held);
    }
}

#[test]
fn options_are_set_to_their_defaults() {
    // SAFETY: structs of numbers and pointers.
    unsafe {
        let mut options: phx_play_options = zeroed();
        let size = size_of_val(&options);
        let to = from_mut(&mut options).cast();
        assert_eq!(phx_options_init(PHX_PLAY_OPTIONS, to, size), PHX_OK);
        assert_eq!(PlayOptions::try_from(options).unwrap(), PlayOptions::default());
        assert_eq!(options.size, size);
        let mut fade = phx_cross_fade { marker_count: 3, ..zeroed() };
        let size = size_of_val(&fade);
        assert_eq!(phx_options_init(PHX_CROSS_FADE, from_mut(&mut fade).cast(), size), PHX_OK);
        assert_eq!((fade.size, fade.marker_count), (size, 0));
    }
}
