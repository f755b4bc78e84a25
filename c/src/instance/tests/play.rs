//! Actions start, fade and stop as in the library.

use super::*;

#[test]
fn actions_start_fade_and_stop_as_in_the_library() {
    let mut pair = Pair::new();
    let Ids { who, walk, jog, additive, space, .. } = pair.ids.clone();
    let (who, c) = (who[1], who[1].to_bits());
    let (cw, cj, ca, cs) = (walk.to_bits(), jog.to_bits(), additive.to_bits(), space_bits(space));
    let (odd_c, odd) = odd();
    let plain = PlayOptions::default();
    // SAFETY: pointers of this test.
    unsafe {
        pair.both(
            "play",
            |h| phx_instance_play(h, c, 0, cw, null()),
            |t| t.player(who)?.play(0, walk, &plain),
        );
        pair.both(
            "add",
            |h| phx_instance_add(h, c, 0, cs, &odd_c),
            |t| t.player(who)?.add(0, space, &odd),
        );
        pair.advance(0.2);
        pair.both(
            "play with options",
            |h| phx_instance_play(h, c, 0, cj, &odd_c),
            |t| t.player(who)?.play(0, jog, &odd),
        );
        pair.advance(0.2);
        pair.both(
            "restart",
            |h| phx_instance_restart(h, c, 0, cj, &odd_c),
            |t| t.player(who)?.restart(0, jog, &odd),
        );
        pair.both(
            "fade to",
            |h| phx_instance_fade_to(h, c, 0, cw, 0.4, &odd_c),
            |t| t.player(who)?.fade_to(0, walk, 0.4, &odd),
        );
        pair.both(
            "play on the second layer",
            |h| phx_instance_play(h, c, 1, ca, null()),
            |t| t.player(who)?.play(1, additive, &plain),
        );
        pair.advance(0.6);
        pair.both(
            "fade",
            |h| phx_instance_fade(h, c, 1, ca, -0.5, 2.0),
            |t| t.player(who)?.fade(1, additive, -0.5, 2.0),
        );
        pair.both(
            "stop one",
            |h| phx_instance_stop(h, c, 0, cw, 0.3),
            |t| t.player(who)?.stop(0, walk, 0.3),
        );
        pair.both(
            "stop a layer",
            |h| phx_instance_stop(h, c, 1, 0, 0.2),
            |t| t.player(who)?.stop_layer(1, 0.2),
        );
        pair.both(
            "stop one everywhere",
            |h| phx_instance_stop(h, c, PHX_NONE, ca, 0.0),
            |t| t.player(who)?.stop(1, additive, 0.0),
        );
        pair.both(
            "stop all",
            |h| phx_instance_stop(h, c, PHX_NONE, 0, 0.0),
            |t| t.player(who)?.stop_all(0.0),
        );

        for (name, status, layer, playable, seconds) in [
            ("a clip that does not play", PHX_ERROR_NOT_FOUND, 0, cw, 0.0),
            ("one that plays nowhere", PHX_ERROR_NOT_FOUND, PHX_NONE, cw, 0.0),
            ("a layer that is not there", PHX_ERROR_NOT_FOUND, 2, 0, 0.0),
            ("no id", PHX_ERROR_ID, PHX_NONE, 5, 0.0),
            ("seconds of nan", PHX_ERROR_VALUE, PHX_NONE, 0, f32::NAN),
            ("seconds below 0", PHX_ERROR_VALUE, 0, 0, -1.0),
        ] {
            pair.refused(name, status, |h| phx_instance_stop(h, c, layer, playable, seconds));
        }
        let default = phx_play_options::DEFAULT;
        let with = |change: fn(&mut phx_play_options)| {
            let mut options = default;
            change(&mut options);
            options
        };
        for (name, status, layer, playable, options) in [
            ("an additive clip on a blending layer", PHX_ERROR_VALUE, 0, ca, default),
            ("a layer that is not there", PHX_ERROR_NOT_FOUND, 2, cw, default),
            ("an instance as a clip", PHX_ERROR_ID, 0, c, default),
            ("a speed of nan", PHX_ERROR_VALUE, 0, cw, with(|o| o.speed = f32::NAN)),
            ("a loop mode", PHX_ERROR_VALUE, 0, cw, with(|o| o.loop_mode = 3)),
            ("an end", PHX_ERROR_VALUE, 0, cw, with(|o| o.at_end = 3)),
            ("no passes", PHX_ERROR_VALUE, 0, cw, with(|o| o.repetitions = 0)),
            ("a weight", PHX_ERROR_VALUE, 0, cw, with(|o| o.weight = 1.5)),
            ("a fade", PHX_ERROR_VALUE, 0, cw, with(|o| o.fade_in = -1.0)),
            ("a time", PHX_ERROR_VALUE, 0, cw, with(|o| o.time = f64::INFINITY)),
            ("a size", PHX_ERROR_STRUCT_SIZE, 0, cw, with(|o| o.size -= 8)),
        ] {
            pair.refused(name, status, |h| phx_instance_play(h, c, layer, playable, &options));
            pair.refused(name, status, |h| phx_instance_add(h, c, layer, playable, &options));
            pair.refused(name, status, |h| phx_instance_restart(h, c, layer, playable, &options));
            pair.refused(name, status, |h| {
                phx_instance_fade_to(h, c, layer, playable, 0.5, &options)
            });
        }
        for (options, words) in [
            (with(|o| o.loop_mode = 3), "the loop mode is 3, beyond 2"),
            (with(|o| o.at_end = 4), "the behaviour at the end is 4, beyond 2"),
        ] {
            assert_eq!(phx_instance_play(pair.handle, c, 0, cw, &options), PHX_ERROR_VALUE);
            assert_eq!(crate::border::said(), words);
        }
        pair.refused("seconds of nan", PHX_ERROR_VALUE, |h| {
            phx_instance_fade_to(h, c, 0, cw, f32::NAN, null())
        });
        for clip in [0, 1, 2, 3] {
            let clip = pair.twin.clip_by_index(who.rig(), clip).unwrap().to_bits();
            assert_eq!(phx_instance_add(pair.handle, c, 0, clip, null()), PHX_OK);
        }
        pair.refused("a full layer", PHX_ERROR_LIMIT, |h| phx_instance_add(h, c, 0, cw, null()));
    }
}

#[test]
fn crossfades_are_those_of_the_library() {
    let (names, nine) = (["left", "right"], ["a", "b", "c", "d", "e", "f", "g", "left", "right"]);
    let texts = |names: &[&'static str]| names.iter().map(|name| phx_text::of(name)).collect();
    let (two, many): (Vec<_>, Vec<_>) = (texts(&names), texts(&nine));
    let ended = [phx_text { data: c"left".as_ptr(), length: PHX_NUL }, phx_text::of("right")];
    let plain = CrossFade { seconds: 0.5, ..CrossFade::default() };
    let fade = |kind, sync, markers: &[phx_text]| phx_cross_fade {
        seconds: 0.5,
        kind,
        sync,
        markers: markers.as_ptr(),
        marker_count: markers.len(),
        ..phx_cross_fade::DEFAULT
    };
    let cases = [
        (fade(PHX_FADE_BLEND, PHX_SYNC_NONE, &[]), plain),
        (
            fade(PHX_FADE_INERTIAL, PHX_SYNC_PHASE, &[]),
            CrossFade { kind: FadeKind::Inertial, sync: Sync::Phase, ..plain },
        ),
        (
            phx_cross_fade { warp: 2, ..fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &[]) },
            CrossFade { warp: true, sync: Sync::Markers(&[]), ..plain },
        ),
        (
            fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &two),
            CrossFade { sync: Sync::Markers(&names), ..plain },
        ),
        (
            fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &ended),
            CrossFade { sync: Sync::Markers(&names), ..plain },
        ),
        (
            fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &many),
            CrossFade { sync: Sync::Markers(&nine), ..plain },
        ),
    ];
    let (odd_c, odd) = odd();
    let mut seen = Vec::new();
    let play = |pair: &mut Pair| {
        let (who, walk) = (pair.ids.who[0], pair.ids.walk);
        pair.both(
            "play",
            // SAFETY: a handle.
            |h| unsafe { phx_instance_play(h, who.to_bits(), 0, walk.to_bits(), null()) },
            |t| t.player(who)?.play(0, walk, &PlayOptions::default()),
        );
        pair.advance(0.35);
    };
    for (c, rust) in &cases {
        let mut pair = Pair::new();
        let Ids { who, walk, jog, .. } = pair.ids.clone();
        play(&mut pair);
        pair.both(
            "cross fade",
            // SAFETY: pointers of this test.
            |h| unsafe {
                let (from, to) = (walk.to_bits(), jog.to_bits());
                phx_instance_cross_fade(h, who[0].to_bits(), 0, from, to, c, &odd_c)
            },
            |t| t.player(who[0])?.cross_fade(0, walk, jog, *rust, &odd),
        );
        seen.push(pair.snapshot());
    }
    // The kinds of fades differ, the three lists of the same markers do not.
    assert!((0..3).all(|i| seen[i] != seen[i + 1]) && seen[3] == seen[4] && seen[4] == seen[5]);

    let mut pair = Pair::new();
    play(&mut pair);
    let Ids { who, walk, jog, .. } = pair.ids.clone();
    let (c, from, to) = (who[0].to_bits(), walk.to_bits(), jog.to_bits());
    let nobodys = [phx_text::of("tail")];
    let broken = [phx_text { data: c"\xff".as_ptr(), length: 1 }];
    let base = cases[0].0;
    for (name, status, from, fade) in [
        ("what does not play", PHX_ERROR_NOT_FOUND, to, base),
        ("a kind", PHX_ERROR_VALUE, from, phx_cross_fade { kind: 2, ..base }),
        ("a sync", PHX_ERROR_VALUE, from, phx_cross_fade { sync: 3, ..base }),
        ("seconds", PHX_ERROR_VALUE, from, phx_cross_fade { seconds: f32::NAN, ..base }),
        ("a size", PHX_ERROR_STRUCT_SIZE, from, phx_cross_fade { size: 4, ..base }),
        (
            "markers that no clip has",
            PHX_ERROR_VALUE,
            from,
            fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &nobodys),
        ),
        ("bytes", PHX_ERROR_UTF8, from, fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &broken)),
        (
            "no array",
            PHX_ERROR_NULL,
            from,
            phx_cross_fade { markers: null(), ..fade(PHX_FADE_BLEND, PHX_SYNC_MARKERS, &two) },
        ),
    ] {
        // SAFETY: pointers of this test.
        pair.refused(name, status, |h| unsafe {
            phx_instance_cross_fade(h, c, 0, from, jog.to_bits(), &fade, null())
        });
    }
}
