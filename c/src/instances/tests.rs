//! Every call on many characters beside the library's own, and what each refuses.

use super::*;
use crate::instance::tests::{Ids, Pair, odd};
use phalanx::crowd::{BoneBuffer, LoopMode, Parameter};
use phalanx::math::Affine3x4;
use std::ptr::{null, null_mut};

/// Three characters that play on layer 0, as ids of C, with values of each kind.
struct Fixture {
    pair: Pair,
    bits: Vec<u64>,
    playables: Vec<u64>,
    motions: Vec<Playable>,
}

impl Fixture {
    /// The first and the last walk, the other jogs; all play the space beside.
    fn new() -> Self {
        let mut pair = Pair::new();
        let Ids { who, walk, jog, space, .. } = pair.ids.clone();
        let motions: Vec<Playable> = vec![walk.into(), jog.into(), walk.into()];
        let playables: Vec<u64> = motions.iter().map(|&motion| playable_bits(motion)).collect();
        let bits: Vec<u64> = who.iter().map(|who| who.to_bits()).collect();
        let plain = [PlayOptions::default()];
        let (i, p) = (bits.as_ptr(), playables.as_ptr());
        // SAFETY: pointers of this test.
        pair.both(
            "play one each with the defaults",
            |h| unsafe { phx_instances_play(h, i, 3, 0, p, 3, null(), 0) },
            |t| t.play_many(&who, 0, &motions, &plain),
        );
        for &one in &who {
            pair.both(
                "add",
                // SAFETY: a handle.
                |h| unsafe {
                    let space = space_bits(space);
                    crate::instance::phx_instance_add(h, one.to_bits(), 0, space, null())
                },
                |t| t.player(one)?.add(0, space, &plain[0]),
            );
        }
        Self { pair, bits, playables, motions }
    }
}

#[test]
fn arrays_do_what_the_library_does() {
    let Fixture { mut pair, bits, playables, motions } = Fixture::new();
    let Ids { who, walk, jog, space, .. } = pair.ids.clone();
    let (i, p) = (bits.as_ptr(), playables.as_ptr());
    let (odd_c, odd) = odd();
    let mut each_c = [odd_c; 3];
    let mut each = [odd; 3];
    (each_c[1].speed, each[1].speed) = (-0.5, -0.5);
    let (weights, seconds) = ([0.25_f32, 0.5, 0.75], [0.0_f32, 1.0, 2.0]);
    let (speeds, times) = ([-1.0_f32, 0.5, 4.0], [0.1_f64, 0.2, -7.0]);
    let (cw, cj, cs) = (walk.to_bits(), jog.to_bits(), space_bits(space));
    let parameters = [1.5_f32, 2.0, 2.5].map(|x| phx_parameter { x, y: 0.0 });
    let worlds = [1.0_f32, 2.0, 3.0].map(|scale| {
        let mut rows = [[0.0; 4]; 3];
        (0..3).for_each(|k| (rows[k][k], rows[k][3]) = (scale, 10.0 * scale));
        phx_matrix { rows }
    });
    let affine = worlds.map(Affine3x4::from);
    let flags = [0_u8, 2, 255];
    // SAFETY: pointers of this test.
    unsafe {
        pair.both(
            "play one for all",
            |h| phx_instances_play(h, i, 3, 0, &cj, 1, &odd_c, 1),
            |t| t.play_many(&who, 0, &[jog], &[odd]),
        );
        pair.both(
            "play with options each",
            |h| phx_instances_play(h, i, 3, 0, &cw, 1, each_c.as_ptr(), 3),
            |t| t.play_many(&who, 0, &[walk], &each),
        );
        pair.both(
            "fade one each",
            |h| phx_instances_fade(h, i, 3, 0, &cw, 1, weights.as_ptr(), 3, seconds.as_ptr(), 3),
            |t| t.fade_many(&who, 0, &[walk], &weights, &seconds),
        );
        pair.both(
            "fade one for all",
            |h| phx_instances_fade(h, i, 3, 0, &cw, 1, &0.125, 1, &0.0, 1),
            |t| t.fade_many(&who, 0, &[walk], &[0.125], &[0.0]),
        );
        let all =
            |t: &mut Crowd, set: &dyn Fn(&mut Player<'_>, usize) -> Result<(), CrowdError>| {
                (0..3).try_for_each(|k| set(&mut t.player(who[k])?, k))
            };
        pair.both(
            "speeds one each",
            |h| phx_instances_set_speeds(h, i, 3, 0, p, 3, speeds.as_ptr(), 3),
            |t| {
                // The one that jogs walked last: it plays both.
                all(t, &|player, k| player.set_speed(0, motions[k], speeds[k]))
            },
        );
        pair.both(
            "speeds one for all",
            |h| phx_instances_set_speeds(h, i, 3, 0, &cw, 1, &2.5, 1),
            |t| all(t, &|player, _| player.set_speed(0, walk, 2.5)),
        );
        pair.both(
            "loops one each",
            |h| phx_instances_set_loops(h, i, 3, 0, p, 3, PHX_LOOP_REPEAT, 4),
            |t| all(t, &|player, k| player.set_loop(0, motions[k], LoopMode::Repeat, Some(4))),
        );
        pair.both(
            "loops one for all",
            |h| phx_instances_set_loops(h, i, 3, 0, &cw, 1, PHX_LOOP_REPEAT, PHX_NONE),
            |t| all(t, &|player, _| player.set_loop(0, walk, LoopMode::Repeat, None)),
        );
        pair.both(
            "times one each",
            |h| phx_instances_set_times(h, i, 3, 0, p, 3, times.as_ptr(), 3),
            |t| t.set_times(&who, 0, &motions, &times),
        );
        pair.both(
            "parameters one each",
            |h| phx_instances_set_parameters(h, i, 3, 0, &cs, 1, parameters.as_ptr(), 3),
            |t| t.set_parameters(&who, 0, &[space], &parameters.map(Parameter::from)),
        );
        pair.both(
            "worlds",
            |h| phx_instances_set_worlds(h, i, 3, worlds.as_ptr(), 3, 0),
            |t| t.set_worlds(&who, &affine),
        );
        pair.both(
            "teleport",
            |h| phx_instances_set_worlds(h, i, 1, &worlds[2], 1, 1),
            |t| t.teleport_many(&who[..1], &affine[2..]),
        );
        pair.both(
            "visible",
            |h| phx_instances_set_visible(h, i, 3, flags.as_ptr(), 3),
            |t| t.set_visible_many(&who, &[false, true, true]),
        );
        pair.both(
            "scheduled",
            |h| phx_instances_set_scheduled(h, i, 3, flags.as_ptr(), 3),
            |t| t.set_scheduled_many(&who, &[false, true, true]),
        );
        // Nothing to do is no failure.
        pair.refused("nobody", PHX_OK, |h| phx_instances_play(h, null(), 0, 0, &cw, 1, null(), 0));
        pair.refused("nobody", PHX_OK, |h| phx_instances_set_worlds(h, null(), 0, null(), 0, 0));
        pair.refused("nobody", PHX_OK, |h| {
            phx_instances_set_speeds(h, null(), 0, 0, null(), 0, null(), 0)
        });
    }
}

#[test]
fn what_a_frame_shows_comes_for_many() {
    let Fixture { pair, bits, .. } = Fixture::new();
    let Ids { who, talker, .. } = pair.ids.clone();
    // SAFETY: pointers of this test.
    unsafe {
        let mut shown = [phx_shown { from: 77, ..std::mem::zeroed() }; 3];
        let read = |bits: &[u64], out: *mut phx_shown| {
            phx_instances_shown(pair.handle, bits.as_ptr(), bits.len(), out, 3)
        };
        // Before a frame there is nothing to see.
        assert_eq!(read(&bits, shown.as_mut_ptr()), PHX_OK);
        assert!(shown.iter().all(|s| (s.in_picture, s.from, s.detail) == (0, 0, PHX_NONE)));
        // A frame without memory is one all the same.
        let refused =
            crate::frame::phx_crowd_evaluate(pair.handle, null(), null_mut(), 0, null_mut());
        assert_eq!(refused, PHX_ERROR_SHORT);
        assert_eq!(read(&bits, shown.as_mut_ptr()), PHX_OK);
        assert!(shown.iter().all(|s| s.in_picture == 1));
        lend(pair.handle).unwrap().crowd.evaluate(&mut BoneBuffer::new());
        let mixed = [talker.to_bits(), bits[2], bits[0]];
        assert_eq!(read(&mixed, shown.as_mut_ptr()), PHX_OK);
        for (shown, who) in shown.iter().zip([talker, who[2], who[0]]) {
            let rows = share(pair.handle).unwrap().crowd.palette_range(who).unwrap();
            assert_eq!(shown.from as usize..(shown.from + shown.row_count) as usize, rows);
            assert_eq!((shown.in_picture, shown.to, shown.factor), (1, shown.from, 0.0));
        }
        let before = shown;
        assert_eq!(read(&[bits[0], 3], shown.as_mut_ptr()), PHX_ERROR_ID);
        assert_eq!(read(&bits, null_mut()), PHX_ERROR_NULL);
        let short = phx_instances_shown(pair.handle, bits.as_ptr(), 3, shown.as_mut_ptr(), 2);
        assert_eq!(short, PHX_ERROR_SHORT);
        // More room is no fault, and what is beyond is left.
        let more = phx_instances_shown(pair.handle, mixed.as_ptr(), 2, shown.as_mut_ptr(), 3);
        assert_eq!(more, PHX_OK);
        assert_eq!(shown, before, "nothing is written");
    }
}

#[test]
fn a_call_that_is_refused_for_one_changes_none() {
    let Fixture { pair, bits, playables, .. } = Fixture::new();
    let (i, p) = (bits.as_ptr(), playables.as_ptr());
    let gone = [bits[0], 1 << 40, bits[2]];
    let clips = [playables[0], 0, playables[2]];
    let (cw, ca) = (playables[0], pair.ids.additive.to_bits());
    let nan = f32::NAN;
    let (last, last_f64) = ([1.0, 1.0, nan], [1.0, 1.0, f64::NAN]);
    let pars = [0.0, 0.0, nan].map(|x| phx_parameter { x, y: 0.0 });
    let worlds = [0.0, 0.0, nan].map(|x| phx_matrix { rows: [[x; 4]; 3] });
    let space = space_bits(pair.ids.space);
    let one = phx_play_options::DEFAULT;
    let wrong = [one, phx_play_options { loop_mode: 9, ..one }, one];
    let sizes = [one, one, phx_play_options { size: 8, ..one }];
    let no_size = phx_play_options { size: 0, ..one };
    let (bad, id, none, size) =
        (PHX_ERROR_VALUE, PHX_ERROR_ID, PHX_ERROR_NOT_FOUND, PHX_ERROR_STRUCT_SIZE);
    type Call<'a> = &'a dyn Fn(*mut phx_crowd) -> phx_status;
    // SAFETY: pointers of this test.
    unsafe {
        let calls: [(phx_status, Call<'_>); 38] = [
            (id, &|h| phx_instances_play(h, gone.as_ptr(), 3, 0, &cw, 1, null(), 0)),
            (id, &|h| phx_instances_play(h, i, 3, 0, clips.as_ptr(), 3, null(), 0)),
            (bad, &|h| phx_instances_play(h, i, 3, 0, p, 2, null(), 0)),
            (bad, &|h| phx_instances_play(h, i, 3, 0, &ca, 1, null(), 0)),
            (bad, &|h| phx_instances_play(h, i, 3, 0, p, 3, wrong.as_ptr(), 3)),
            (bad, &|h| phx_instances_play(h, i, 3, 0, p, 3, wrong.as_ptr(), 0)),
            (size, &|h| phx_instances_play(h, i, 3, 0, p, 3, sizes.as_ptr(), 3)),
            (size, &|h| phx_instances_play(h, i, 3, 0, p, 3, &no_size, 1)),
            (PHX_ERROR_NULL, &|h| phx_instances_play(h, i, 3, 0, p, 3, null(), 3)),
            (PHX_ERROR_NULL, &|h| phx_instances_play(h, i, 3, 0, null(), 3, null(), 0)),
            (PHX_ERROR_NULL, &|h| phx_instances_play(h, null(), 3, 0, p, 3, null(), 0)),
            (none, &|h| phx_instances_play(h, i, 3, 2, p, 3, null(), 0)),
            (bad, &|h| phx_instances_fade(h, i, 3, 0, p, 3, last.as_ptr(), 3, &1.0, 1)),
            (bad, &|h| phx_instances_fade(h, i, 3, 0, p, 3, &1.0, 1, last.as_ptr(), 3)),
            (bad, &|h| phx_instances_fade(h, i, 3, 0, p, 3, last.as_ptr(), 2, &1.0, 1)),
            (none, &|h| phx_instances_fade(h, i, 3, 0, &cw, 1, &1.0, 1, &1.0, 1)),
            (bad, &|h| phx_instances_set_speeds(h, i, 3, 0, p, 3, last.as_ptr(), 3)),
            (bad, &|h| phx_instances_set_speeds(h, i, 3, 0, p, 3, last.as_ptr(), 2)),
            (bad, &|h| phx_instances_set_speeds(h, i, 3, 0, p, 2, &2.0, 1)),
            (none, &|h| phx_instances_set_speeds(h, i, 3, 0, &cw, 1, &2.0, 1)),
            (none, &|h| phx_instances_set_speeds(h, i, 3, 2, p, 3, &2.0, 1)),
            (id, &|h| phx_instances_set_speeds(h, gone.as_ptr(), 3, 0, p, 3, &2.0, 1)),
            (PHX_ERROR_NULL, &|h| phx_instances_set_speeds(h, i, 3, 0, p, 3, null(), 1)),
            (bad, &|h| phx_instances_set_loops(h, i, 3, 0, p, 3, 3, 1)),
            (bad, &|h| phx_instances_set_loops(h, i, 3, 0, p, 3, PHX_LOOP_REPEAT, 0)),
            (none, &|h| phx_instances_set_loops(h, i, 3, 0, &cw, 1, PHX_LOOP_ONCE, 1)),
            (bad, &|h| phx_instances_set_loops(h, i, 3, 0, p, 2, PHX_LOOP_ONCE, 1)),
            (bad, &|h| phx_instances_set_times(h, i, 3, 0, p, 3, last_f64.as_ptr(), 3)),
            (none, &|h| phx_instances_set_times(h, i, 3, 0, &cw, 1, &1.0, 1)),
            (bad, &|h| phx_instances_set_parameters(h, i, 3, 0, &space, 1, pars.as_ptr(), 3)),
            (id, &|h| phx_instances_set_parameters(h, i, 3, 0, &cw, 1, pars.as_ptr(), 1)),
            (bad, &|h| phx_instances_set_worlds(h, i, 3, worlds.as_ptr(), 3, 0)),
            (bad, &|h| phx_instances_set_worlds(h, i, 3, worlds.as_ptr(), 3, 1)),
            (PHX_ERROR_NULL, &|h| phx_instances_set_worlds(h, i, 3, null(), 3, 1)),
            (id, &|h| phx_instances_set_visible(h, gone.as_ptr(), 3, [0; 3].as_ptr(), 3)),
            (PHX_ERROR_NULL, &|h| phx_instances_set_visible(h, i, 3, null(), 3)),
            (id, &|h| phx_instances_set_scheduled(h, gone.as_ptr(), 3, [0; 3].as_ptr(), 3)),
            (PHX_ERROR_NULL, &|h| phx_instances_set_scheduled(h, i, 3, null(), 3)),
        ];
        let (room, flags) = ([phx_matrix { rows: [[0.0; 4]; 3] }; 4], [0_u8; 4]);
        for count in [0, 2, 4] {
            let status = if count < 3 { PHX_ERROR_SHORT } else { PHX_ERROR_VALUE };
            let calls: [Call<'_>; 4] = [
                &|h| phx_instances_set_worlds(h, i, 3, room.as_ptr(), count, 0),
                &|h| phx_instances_set_worlds(h, i, 3, room.as_ptr(), count, 1),
                &|h| phx_instances_set_visible(h, i, 3, flags.as_ptr(), count),
                &|h| phx_instances_set_scheduled(h, i, 3, flags.as_ptr(), count),
            ];
            for (n, call) in calls.into_iter().enumerate() {
                pair.refused(&format!("{count} values, call {n}"), status, call);
                let said = said().contains(&format!(": {count} for 3 "));
                assert!(said, "{count} values, call {n}");
            }
        }
        for (n, (status, call)) in calls.into_iter().enumerate() {
            pair.refused(&format!("refusal {n}"), status, call);
            assert_eq!(call(null_mut()), PHX_ERROR_NULL, "refusal {n}: no crowd");
        }
    }
}

/// A call from a destructor of a thread's values finds those of the library gone.
#[test]
fn threads_that_end_make_calls() {
    struct Last(Option<Box<dyn Fn()>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.iter().for_each(|call| call());
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Last> = const { std::cell::RefCell::new(Last(None)) };
    }
    let Fixture { pair, bits, .. } = Fixture::new();
    let rig = pair.ids.who[0].rig().to_bits();
    let handle = pair.handle.expose_provenance();
    let (send, receive) = std::sync::mpsc::channel();
    let run = move || {
        let all = move || {
            let crowd = std::ptr::with_exposed_provenance_mut(handle);
            // SAFETY: pointers of this test.
            let statuses = unsafe {
                [
                    phx_instances_set_visible(crowd, bits.as_ptr(), 3, [1; 3].as_ptr(), 3),
                    crate::modifiers::phx_crowd_watch(crowd, rig, &0, 1, PHX_STAGE_AFTER),
                ]
            };
            send.send(statuses).unwrap();
        };
        // It is dropped last, as it was there first.
        LAST.with_borrow_mut(|last| last.0 = Some(Box::new(all)));
        LAST.with_borrow(|last| last.0.iter().for_each(|call| call()));
    };
    std::thread::spawn(run).join().unwrap();
    assert_eq!(receive.iter().collect::<Vec<_>>(), [[PHX_OK; 2]; 2]);
}
