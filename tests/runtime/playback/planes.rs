//! Blend spaces in a plane, against triangles found by brute force in f64.

use phalanx::playback::{BlendSpace, BlendSpaceId, ClipId, Mixer, PlayOptions, PlaybackError};
use phalanx_testkit::lively::Dice;
use phalanx_testkit::oracle::blend_space::in_plane;
use phalanx_testkit::ruler;

/// A number in [-1, 1] with 12 bits.
fn number(dice: &mut Dice) -> f64 {
    dice.below(4096) as f64 / 2048.0 - 1.0
}

/// A mixer whose clips hold a joint at these places.
fn standing(places: &[[f64; 3]]) -> (Mixer, Vec<ClipId>) {
    let clips = places.iter().enumerate().map(|(i, place)| {
        let place = place.map(|v| v as f32);
        ruler::between(&format!("c{i}"), 1.0, place, place)
    });
    let mixer = Mixer::new(ruler::with_clips(clips.collect())).unwrap();
    let clips = (0..places.len()).map(|i| mixer.clip_by_index(i).unwrap()).collect();
    (mixer, clips)
}

fn plane(mixer: &mut Mixer, points: &[[f64; 2]], clips: &[ClipId]) -> BlendSpaceId {
    let points: Vec<_> =
        points.iter().zip(clips).map(|(p, &clip)| (p.map(|v| v as f32), clip)).collect();
    mixer.add_blend_space(BlendSpace::plane(&points)).unwrap()
}

/// Where the joint stands at a value, and the clips that have a weight.
fn at(mixer: &mut Mixer, space: BlendSpaceId, value: [f64; 2]) -> ([f64; 3], Vec<ClipId>) {
    mixer.player().set_parameter(0, space, value.map(|v| v as f32)).unwrap();
    let place = ruler::place(mixer.evaluate()).map(f64::from);
    (place, mixer.playing().clips().collect())
}

fn apart<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Weights, the clips that have them and the value that reads back, inside and outside; 20 sets of 3 to 22 points.
#[test]
fn weights_are_those_of_triangles_whose_circles_are_empty() {
    let mut dice = Dice(3);
    let mut outside = 0;
    for set in 0..20 {
        let n = 3 + set;
        let points: Vec<_> = (0..n).map(|_| [(); 2].map(|()| 3.0 * number(&mut dice))).collect();
        let places: Vec<_> = (0..n).map(|_| [(); 3].map(|()| number(&mut dice))).collect();
        let (mut mixer, clips) = standing(&places);
        let space = plane(&mut mixer, &points, &clips);
        mixer.player().play(0, space, &PlayOptions::default()).unwrap();
        mixer.advance(0.1).unwrap();
        for k in 0..200 {
            let scale = if k % 4 == 0 { 9.0 } else { 2.5 };
            let value = [(); 2].map(|()| scale * number(&mut dice));
            let weights = in_plane(&points, value);
            let sum = |of: &dyn Fn(usize) -> f64| {
                weights.iter().enumerate().map(|(i, w)| w * of(i)).sum::<f64>()
            };
            let (place, playing) = at(&mut mixer, space, value);
            let expected = [0, 1, 2].map(|axis| sum(&|i| places[i][axis]));
            assert!(apart(place, expected) < 2e-6, "{set} {value:?}: {place:?} {expected:?}");
            assert!((1..=3).contains(&playing.len()));
            for (weight, clip) in weights.iter().zip(&clips) {
                assert!(*weight < 1e-6 || playing.contains(clip), "{set} {value:?}");
            }
            let nearest = [0, 1].map(|axis| sum(&|i| points[i][axis]));
            let reads = mixer.playing().action(0, space).unwrap().parameter.unwrap();
            assert!(apart([reads.x, reads.y].map(f64::from), nearest) < 2e-6, "{reads:?}");
            outside += usize::from(apart(nearest, value) > 1e-3);
        }
        // At a point its clip plays alone.
        for (i, &point) in points.iter().enumerate() {
            let (place, playing) = at(&mut mixer, space, point);
            assert!(apart(place, places[i]) < 1e-6 && playing == [clips[i]], "{set} {i}");
        }
    }
    assert!((400..3600).contains(&outside), "{outside}");
}

/// Along straight ways through all triangles and beyond them, for points in general position and for grids, whose points
/// lie on common circles and lines.
#[test]
fn the_pose_is_continuous_in_the_value() {
    let mut dice = Dice(5);
    let grid = |n: usize| (0..n * n).map(move |i| [(i % n) as f64 - 1.0, (i / n) as f64 - 1.0]);
    let ring = |n: usize| {
        (0..n).map(move |i| (i as f64 * std::f64::consts::TAU / n as f64).sin_cos().into())
    };
    let sets: [Vec<[f64; 2]>; 4] = [
        grid(3).collect(),
        grid(5).collect(),
        ring(8).chain([[0.0; 2]]).collect(),
        (0..12).map(|_| [(); 2].map(|()| number(&mut dice))).collect(),
    ];
    for points in sets {
        // Linear places: wherever triangles lie, the joint stands at the value itself.
        let linear: Vec<_> = points.iter().map(|&[x, y]| [x, y, 0.0]).collect();
        let (mut mixer, clips) = standing(&linear);
        let space = plane(&mut mixer, &points, &clips);
        mixer.player().play(0, space, &PlayOptions::default()).unwrap();
        mixer.advance(0.1).unwrap();
        let places: Vec<_> =
            (0..points.len()).map(|_| [(); 3].map(|()| number(&mut dice))).collect();
        let (mut other, clips) = standing(&places);
        let bent = plane(&mut other, &points, &clips);
        other.player().play(0, bent, &PlayOptions::default()).unwrap();
        other.advance(0.1).unwrap();
        let within = |v: f64| (-1.0..=1.0).contains(&v);
        let mut inside = 0;
        for _ in 0..6 {
            let [from, to] = [(); 2].map(|()| [(); 2].map(|()| 1.6 * number(&mut dice)));
            let mut last: Option<[[f64; 3]; 2]> = None;
            for k in 0..=400 {
                let t = f64::from(k) / 400.0;
                let value = [0, 1].map(|i| from[i] + (to[i] - from[i]) * t);
                let now = [at(&mut mixer, space, value).0, at(&mut other, bent, value).0];
                let square = points.len() == 9 && points[0] == [-1.0; 2];
                if square && value.into_iter().all(within) {
                    assert!(apart(now[0], [value[0], value[1], 0.0]) < 2e-6, "{value:?}");
                    inside += 1;
                }
                if let Some(last) = last {
                    let step = apart(from, to) / 400.0;
                    // Of the slope: places differ by at most √12; the narrowest triangle here is 0.01 high.
                    for (now, last) in now.into_iter().zip(last) {
                        assert!(
                            apart(now, last) < 350.0 * step + 1e-5,
                            "{value:?} {now:?} {last:?}"
                        );
                    }
                }
                last = Some(now);
            }
        }
        assert!(points[0] != [-1.0; 2] || points.len() != 9 || inside > 200);
    }
}

#[test]
fn what_forms_no_triangles_is_refused_with_both_points() {
    let (mut mixer, clips) = standing(&[[0.0; 3]; 65]);
    let mut refused = |points: &[[f32; 2]]| {
        let points: Vec<_> = points.iter().zip(&clips).map(|(&p, &clip)| (p, clip)).collect();
        match mixer.add_blend_space(BlendSpace::plane(&points)).unwrap_err() {
            PlaybackError::BlendSpace { what } => what,
            other => panic!("{other}"),
        }
    };
    let what = refused(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1e-6]]);
    let both = what.contains("(\"c1\") of a mixer (\"ruler\") at [1.0, 0.0]")
        && what.contains("(\"c3\") of a mixer (\"ruler\") at [1.0, 1e-6]");
    assert!(both, "{what}");
    let what = refused(&[[0.0, -0.0], [1.0, 1.0], [4.0, 4.0], [-2.0, -2.0]]);
    assert!(what.contains("lie on one line: clip 0 (\"c0\")"), "{what}");
    let what = refused(&[[0.0, 0.0], [1.0, 1e-6], [4.0, 0.0]]);
    assert!(what.contains("clip 1 (\"c1\")") && what.contains("beside"), "{what}");
    assert!(refused(&[[1.0; 2]; 3]).contains("at one point"));
    assert!(refused(&[[0.0; 2], [1.0; 2]]).contains("needs 3 clips, and this one has 2"));
    assert!(refused(&[]).contains("no clips"));
    let many: Vec<_> = (0..65).map(|i| ([(i % 8) as f32, (i / 8) as f32], clips[i])).collect();
    assert_eq!(
        mixer.add_blend_space(BlendSpace::plane(&many)),
        Err(PlaybackError::Limit { what: "clips of one blend space", count: 65, limit: 64 })
    );
    mixer.add_blend_space(BlendSpace::plane(&many[..64])).unwrap();
    let bad = [[0.0, f32::NAN], [2e9, 0.0]].map(|at| {
        let points = [([0.0; 2], clips[0]), ([1.0; 2], clips[1]), (at, clips[2])];
        mixer.add_blend_space(BlendSpace::plane(&points)).unwrap_err()
    });
    assert!(
        bad.iter().all(|error| matches!(error, PlaybackError::Value { what: "parameter", .. }))
    );
    let slow = BlendSpace::line(&[(0.0, clips[0])]).following(-1.0);
    let error = mixer.add_blend_space(slow).unwrap_err();
    assert!(matches!(error, PlaybackError::Value { what: "following", .. }), "{error}");
}
