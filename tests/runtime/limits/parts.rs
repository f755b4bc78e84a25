//! Limits of what is made of parts, as readers of files make it: clips, channels, scenes, poses.

use super::refused::small;
use phalanx::build::BuildError;
use phalanx::clip::{
    Block, BlockKind, Channel, Clip, ClipParts, Encoding, MAX_IRREGULAR_KEYS, MAX_KEYS,
};
use phalanx::math::{Affine3x4, Row};
use phalanx::playback::{PlaybackError, evaluate_pose};
use phalanx::scene::{SceneError, SceneGraph};
use phalanx::skeleton::{ChannelValue, Joint, MAX_LENGTH, MAX_WORLD, Skeleton, Trs, UserChannel};
use phalanx_testkit::rigs::built;

const ROTATION_SQUARES: [f32; 2] = [0.5, 2.0];
const MAX_SCALAR: f32 = 1.0e12;
const LEAST_ROTATION_DOT: f32 = -0.1;
const MAX_SHARING: usize = 16;

fn chain(joints: usize) -> Skeleton {
    let joint = |j: usize| Joint {
        name: format!("joint{j}"),
        parent: j.checked_sub(1),
        rest: Trs::IDENTITY,
    };
    let joints: Vec<Joint> = (0..joints).map(joint).collect();
    Skeleton::new(&joints, None, Vec::new()).expect("a chain")
}

fn block(kind: BlockKind, encoding: Encoding) -> Block {
    Block { block: 0, kind, encoding, hold: 0, moving: 0, timeline: 0, first_row: 0 }
}

/// A clip of one block with keys at 0 and 1 s; a row has its value in every lane.
fn parts(channel: Channel, block: Block, rows: &[f32]) -> ClipParts {
    let rows: Vec<Row> = rows.iter().map(|&v| Row([v; 16])).collect();
    let mut parts = ClipParts {
        name: "clip".into(),
        duration: 1.0,
        timelines: vec![vec![0.0, 1.0]],
        rows,
        ..ClipParts::default()
    };
    parts.channels[channel as usize] = vec![block];
    parts
}

/// A turn between two keys, the second with this dot product to the first and this square of its length.
fn turn(kind: BlockKind, dot: f32, square: f32) -> Result<Clip, BuildError> {
    let second = [0.0, (square - dot * dot).sqrt(), 0.0, dot];
    let keys = [[0.0, 0.0, 0.0, 1.0], second];
    let rows = match kind {
        BlockKind::Cubic => keys.map(|k| [[0.0; 4], k, [0.0; 4]].concat()).concat(),
        _ => keys.concat(),
    };
    let block = block(kind, Encoding::Float);
    Clip::new(parts(Channel::Rotation, block, &rows), &chain(2))
}

/// A clip with one timeline that no block uses.
fn keys(times: Vec<f32>) -> Result<Clip, BuildError> {
    let parts = ClipParts { duration: 1.0, timelines: vec![times], ..ClipParts::default() };
    Clip::new(parts, &chain(2))
}

#[test]
fn even_timelines_may_be_longer_than_others() {
    // Squares are not evenly spaced.
    let squares = |keys: u32| (0..keys).map(|k| (f64::from(k) * f64::from(k)) as f32).collect();
    assert_eq!(keys(squares(4000)).unwrap().hint_count(), 1);
    let odd = |keys: u32| (0..keys).map(|k| k as f32 + 0.4 * (k % 2) as f32).collect();
    assert_eq!(keys(odd(65_535)).unwrap().hint_count(), 1);
    let count = |refused: Result<Clip, BuildError>| match refused {
        Err(BuildError::Limit { needed, limit, .. }) => [needed as usize, limit as usize],
        other => panic!("{other:?}"),
    };
    assert_eq!(count(keys(odd(65_536))), [65_536, MAX_IRREGULAR_KEYS]);
    let even = |keys: u32| (0..keys).map(|k| k as f32).collect();
    let clip = keys(even(65_536)).unwrap();
    assert_eq!(clip.hint_count(), 0);
    assert_eq!(keys(even(MAX_KEYS as u32)).unwrap().hint_count(), 0);
    let more = even(MAX_KEYS as u32 + 1);
    assert_eq!(count(keys(more)), [MAX_KEYS + 1, MAX_KEYS]);
    let few = keys(vec![0.0]).unwrap_err().to_string();
    assert!(few.contains("timeline 0 has 1 key, at least 2 are needed"), "{few}");
}

#[test]
fn rotations_between_keys_have_a_direction() {
    let [low, high] = ROTATION_SQUARES;
    for kind in [BlockKind::Linear, BlockKind::Slerp] {
        for (dot, square) in [(-0.09, 1.0), (0.5, low * 1.01), (0.5, high * 0.99)] {
            assert!(turn(kind, dot, square).is_ok(), "{kind:?}, {dot}, {square}");
        }
        let cases = [
            (-0.11, 1.0, LEAST_ROTATION_DOT, "product with the key before"),
            (0.5, low * 0.99, low, "square of the length"),
            (0.5, high * 1.01, high, "square of the length"),
        ];
        for (dot, square, wanted, what) in cases {
            let error = turn(kind, dot, square).expect_err(what);
            let named = matches!(&error, BuildError::Beyond { limit, place, .. }
                if *limit == wanted && place.contains(what));
            assert!(named, "{error}");
            let text = error.to_string();
            assert!(text.contains("rotation of joint 0 \"joint0\", key 1"), "{text}");
        }
    }
    // Samples of splines are guarded, so what moves may pass through anything; what stands still may not.
    assert!(turn(BlockKind::Cubic, 0.0, 0.0).is_ok());
    let still = block(BlockKind::Cubic, Encoding::Float);
    let still = parts(Channel::Rotation, still, &[0.0; 24]);
    assert!(matches!(Clip::new(still, &chain(2)), Err(BuildError::Beyond { .. })));
}

#[test]
fn ranges_of_packed_keys_are_limited() {
    let range = |reach: f32| {
        let encoding = Encoding::Packed { first: 0, lanes: 4 };
        let block = block(BlockKind::Linear, encoding);
        let mut parts = parts(Channel::Translation, block, &[0.0; 4]);
        let mut step = [0.0; 16];
        step[1] = reach / 65_535.0;
        let zero = Row([0.0; 16]);
        parts.rows = vec![zero, zero, zero, Row(step)];
        parts.packed = vec![0; 2 * 3 * 4 + 12];
        Clip::new(parts, &chain(4))
    };
    assert!(range(MAX_LENGTH * 0.999).is_ok());
    let error = range(MAX_LENGTH * 1.001).expect_err("one of the integers may be 65,535");
    assert!(error.to_string().contains("the range of lane 1"), "{error}");
}

#[test]
fn scales_of_a_clip_multiply_down_the_chain() {
    // Both joints of the chain are scaled by the same.
    let scaled = |by: f32| {
        let block = block(BlockKind::Constant, Encoding::Float);
        Clip::new(parts(Channel::Scale, block, &[by; 3]), &chain(2))
    };
    assert!(scaled(0.999e6).is_ok());
    let refused = scaled(1.001e6);
    let named = matches!(&refused, Err(BuildError::Beyond { place, .. }) if place.ends_with("scales down to joint 1 \"joint1\""));
    assert!(named, "{refused:?}");
}

#[test]
fn blocks_may_share_rows_but_not_without_end() {
    let shared = |blocks: u16, keys: usize| {
        let mut parts = parts(Channel::Translation, block(BlockKind::Linear, Encoding::Float), &[]);
        parts.timelines = vec![(0..keys).map(|k| k as f32 / keys as f32).collect()];
        parts.rows = vec![Row([0.0; 16]); 3 * keys];
        let one = parts.channels[Channel::Translation as usize][0];
        let all = (0..blocks).map(|block| Block { block, ..one });
        parts.channels[Channel::Translation as usize] = all.collect();
        Clip::new(parts, &chain(usize::from(blocks) * 16))
    };
    assert!(shared(20, 1000).is_ok());
    let refused = shared(100, 1000);
    let limit_of = |e: &BuildError| match e {
        BuildError::Limit { needed, limit, .. } => Some((*needed as usize, *limit as usize)),
        _ => None,
    };
    let numbers = refused.as_ref().err().and_then(limit_of);
    // 65,536 rows may be read whatever there is.
    assert_eq!(numbers, Some((300_000, 3000 * MAX_SHARING + 65_536)));
}

#[test]
fn user_channels_have_the_limit_of_scalars() {
    let with = |rest: f32| {
        let name = "grip".to_owned();
        let rest = ChannelValue::Float(rest);
        chain(1).with_channels(vec![UserChannel { name, rest }])
    };
    assert!(with(-MAX_SCALAR).is_ok());
    let refused = with(MAX_SCALAR.next_up()).map(|_| ());
    let named =
        matches!(&refused, Err(BuildError::Beyond { place, .. }) if place.contains("\"grip\""));
    assert!(named, "{refused:?}");
}

#[test]
fn nodes_of_a_scene_have_the_limit_of_worlds() {
    let moved = |x: f32| {
        let mut m = Affine3x4::IDENTITY;
        m.rows[0][3] = x;
        m
    };
    let mut scene = SceneGraph::new();
    let node = scene.add(None, moved(MAX_WORLD)).unwrap();
    let beyond = moved(-MAX_WORLD.next_up());
    for refused in [scene.add(node, beyond).map(|_| ()), scene.set_local(node, beyond)] {
        let named = matches!(refused, Err(SceneError::Beyond { value, limit, .. })
            if value == -MAX_WORLD.next_up() && limit == MAX_WORLD);
        assert!(named, "{refused:?}");
    }
    assert_eq!(*scene.local(node).unwrap(), moved(MAX_WORLD));
}

#[test]
fn poses_that_are_not_finite_are_rejected() {
    let rig = built(small());
    let sound = evaluate_pose(&rig, &[]).unwrap();
    assert_eq!(sound.check_finite(&rig), Ok(()));
    let checked = |change: fn(&mut phalanx::playback::EvaluatedPose)| {
        let mut pose = sound.clone();
        change(&mut pose);
        pose.check_finite(&rig)
    };
    let fault = |what, node| Err(PlaybackError::NotFinite { what, node });
    assert_eq!(checked(|p| p.locals[3].scale.y = f32::INFINITY), fault("the local transform", 3));
    assert_eq!(checked(|p| p.worlds[4].rows[1][3] = f32::NAN), fault("the world matrix", 4));
    assert_eq!(
        checked(|p| p.palettes[0][2].rows[0][0] = f32::NEG_INFINITY),
        fault("the palette row", 2)
    );
    assert_eq!(checked(|p| p.pose.scalars[0].0[0] = f32::NAN), fault("a morph weight", 3));
}
