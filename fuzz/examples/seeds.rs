//! Writes the seeds of `snapshot`, and those of `playback` and `roundtrip` as the bytes from which the `arbitrary` crate builds their
//! inputs: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`. A change to the types of those
//! targets needs the same change here; bytes that no longer match are read as other values, and nothing
//! fails.

use phalanx::crowd::{BoneBuffer, PlayOptions};
use phalanx::playback::{Mixer, PoseSpace};
use phalanx_testkit::lively::{Dice, Lively, layers, travelling};
use std::fs;
use std::path::Path;

/// Source of the next value.
#[derive(Clone)]
enum Part {
    /// Bytes read from the front.
    Front(Vec<u8>),
    /// Text read from the front, with its length read from the end.
    Text(&'static str),
}

#[derive(Clone, Default)]
struct Bytes(Vec<Part>);

impl Bytes {
    fn new() -> Self {
        Self::default()
    }

    fn put(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Part::Front(bytes.as_ref().to_vec()));
        self
    }

    fn text(mut self, text: &'static str) -> Self {
        self.0.push(Part::Text(text));
        self
    }

    fn f32(self, v: f32) -> Self {
        self.put(v.to_le_bytes())
    }

    fn numbers<const N: usize>(self, numbers: [f32; N]) -> Self {
        numbers.into_iter().fold(self, Self::f32)
    }

    fn f64(self, v: f64) -> Self {
        self.put(v.to_le_bytes())
    }

    fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Variant `n` of an enum with `count` variants.
    fn variant(self, n: u64, count: u64) -> Self {
        let v = ((n << 32).div_ceil(count)) as u32;
        self.put(v.to_le_bytes())
    }

    /// A vector: the byte before each element marks that another one follows.
    fn list(mut self, elements: impl IntoIterator<Item = Self>) -> Self {
        for element in elements {
            self = self.put([1]).with(element);
        }
        self.put([0])
    }

    /// Assembles the bytes from the last part to the first, since the remaining length determines how many
    /// bytes a text's length takes.
    fn done(self) -> Vec<u8> {
        let mut data = Vec::new();
        for part in self.0.iter().rev() {
            match part {
                Part::Front(bytes) => data.splice(..0, bytes.iter().copied()).for_each(drop),
                Part::Text(text) => {
                    data.splice(..0, text.bytes()).for_each(drop);
                    match data.len() {
                        0 => {}
                        1..256 => data.push(text.len() as u8),
                        _ => data.extend((text.len() as u16).to_be_bytes()),
                    }
                }
            }
        }
        data
    }
}

/// The `Options` of `playback`.
#[derive(Clone, Copy)]
struct Options {
    speed: f32,
    mode: u8,
    repetitions: Option<u32>,
    weight: f32,
    fade_in: f32,
    parameter: [f32; 2],
    fades: Option<f32>,
}

const PLAIN: Options = Options {
    speed: 1.0,
    mode: 1,
    repetitions: None,
    weight: 1.0,
    fade_in: 0.0,
    parameter: [0.0; 2],
    fades: None,
};

fn options(o: Options) -> Bytes {
    let bytes = Bytes::new().f32(o.speed).put([o.mode]);
    let bytes = match o.repetitions {
        Some(n) => bytes.put([1]).put(n.to_le_bytes()),
        None => bytes.put([0]),
    };
    let bytes = bytes.put([0]).f64(0.0).f32(o.weight);
    let bytes = bytes.f32(o.fade_in).numbers(o.parameter);
    match o.fades {
        Some(seconds) => bytes.put([1]).f32(seconds),
        None => bytes.put([0]),
    }
}

/// A variant of `playback`'s `Play`, by its index.
fn play(n: u64, arguments: Bytes) -> Bytes {
    Bytes::new().variant(n, 18).with(arguments)
}

fn call(n: u64) -> Bytes {
    Bytes::new().variant(n, 33)
}

fn spawn() -> Bytes {
    call(0)
}

/// A call of `Play` on an instance's layer and motion.
fn on(instance: u8, layer: u8, motion: u8, what: Bytes) -> Bytes {
    call(2).put([instance, layer, motion]).with(what)
}

fn advance(dt: f64) -> Bytes {
    call(4).f64(dt)
}

fn evaluate() -> Bytes {
    call(5)
}

/// Two-bone inverse kinematics of the default chain.
fn add_ik(pole: Option<[f32; 3]>, soft: f32) -> Bytes {
    let bytes = call(14).put([0, 0, 0]);
    let bytes = match pole {
        Some([x, y, z]) => bytes.put([1]).f32(x).f32(y).f32(z),
        None => bytes.put([0]),
    };
    bytes.put([0, 0]).f32(soft).f32(1.0).f32(0.0).put([0])
}

/// A look of one joint with a limit and a speed.
fn add_look(joint: u16, limit: f32, speed: f32) -> Bytes {
    let joint = Bytes::new().put([1]).put(joint.to_le_bytes()).f32(1.0);
    let bytes = call(22).with(joint).put([0, 0, 0, 0, 0]);
    bytes.f32(limit).f32(0.25).put([1]).f32(speed)
}

/// A target of the first instance: a space and a position, without rotation and normal.
fn target(modifier: u8, of: Bytes, weight: f32) -> Bytes {
    call(16).put([modifier, 0]).with(of).put([0, 0]).f32(weight)
}

/// Slopes of two heights below the first instance's feet, for the first modifier.
fn grounds(heights: [f32; 2], weight: f32) -> Bytes {
    let slope = |bytes: Bytes, height| bytes.f32(height).f32(0.3).f32(1.0).f32(-0.2);
    heights.into_iter().fold(call(24).put([0, 0]), slope).f32(weight)
}

fn on_mixer(layer: u8, motion: u8, what: Bytes) -> Bytes {
    call(12).put([layer, motion]).with(what)
}

fn update(dt: f64) -> Bytes {
    call(13).f64(dt)
}

fn calls() -> Vec<(&'static str, Vec<Bytes>)> {
    let plain = || options(PLAIN);
    let once = Options { mode: 0, repetitions: Some(2), ..PLAIN };
    let back = Options { speed: -1.5, mode: 2, fade_in: 0.2, ..PLAIN };
    let cross = |to: u8, sync: u8| {
        let fade = Bytes::new().put([to]).f32(0.3).put([1, sync]);
        play(4, fade.with(plain()))
    };
    let nan = Bytes::new().f32(f32::NAN);
    vec![
        (
            "fades",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                advance(0.1),
                evaluate(),
                on(0, 0, 3, play(3, Bytes::new().f32(0.5).with(plain()))),
                advance(0.25),
                evaluate(),
                on(0, 0, 1, cross(2, 1)),
                advance(0.2),
                on(0, 0, 2, play(5, Bytes::new().f32(0.25).f32(0.1))),
                advance(3.0),
                evaluate(),
                on(0, 0, 2, play(6, Bytes::new().f32(0.4))),
                advance(1.0),
                evaluate(),
            ],
        ),
        (
            "layers",
            vec![
                spawn(),
                spawn(),
                on(0, 0, 1, play(1, plain())),
                on(0, 1, 4, play(2, options(back))),
                on(1, 2, 0, play(2, options(once))),
                on(0, 1, 4, play(15, Bytes::new().f32(0.5).f32(0.2))),
                advance(0.15),
                evaluate(),
                call(9),
                on(0, 1, 4, play(16, Bytes::new().f32(0.0))),
                on(1, 0, 0, play(17, Bytes::new().f32(2.0))),
                advance(12.0),
                call(3).put([1, 0]),
                call(11).put([0, 5, 0]),
                evaluate(),
                call(10),
                evaluate(),
                call(1).put([0]),
                evaluate(),
            ],
        ),
        (
            "spaces",
            vec![
                spawn(),
                call(7).put([1, 3]).f32(2.0),
                on(0, 0, 11, play(0, plain())),
                on(0, 0, 11, play(14, Bytes::new().numbers([0.7, 0.0]))),
                advance(0.4),
                evaluate(),
                on(0, 0, 11, play(13, Bytes::new().f64(0.5))),
                call(6).put([1]),
                call(8).put([0]),
                advance(0.4),
                evaluate(),
            ],
        ),
        (
            "planes",
            vec![
                spawn(),
                spawn(),
                call(30)
                    .put([1, 2, 3, 0, 1])
                    .numbers([0.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, -1.0])
                    .put([0])
                    .f32(0.5),
                on(0, 0, 11, play(0, plain())),
                on(1, 0, 11, play(0, options(Options { parameter: [0.3, 0.3], ..PLAIN }))),
                advance(0.1),
                call(31).put([0, 0, 0]).numbers([0.5, 0.25]),
                advance(0.2),
                call(9),
                evaluate(),
                on(0, 0, 11, play(14, Bytes::new().numbers([-9.0, 0.5]))),
                advance(0.4),
                evaluate(),
                call(32).put([1]),
                on(1, 0, 2, play(0, options(Options { fades: Some(0.3), ..once }))),
                advance(0.1),
                call(10),
                advance(1.5),
                evaluate(),
            ],
        ),
        (
            "mixer",
            vec![
                on_mixer(0, 5, play(0, options(once))),
                on_mixer(1, 2, play(0, options(back))),
                update(0.1),
                on_mixer(1, 2, play(11, Bytes::new().put([2, 1]).put(3u32.to_le_bytes()))),
                on_mixer(0, 5, play(12, Bytes::new().f64(0.9))),
                update(-0.7),
                on_mixer(0, 5, play(9, Bytes::new().put([1]))),
                update(1e9),
                on_mixer(0, 0, play(8, Bytes::new().f32(0.1))),
                update(0.05),
                update(0.2),
            ],
        ),
        (
            "modifiers",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                add_ik(None, 0.0),
                add_ik(Some([0.0, 0.0, 1.0]), 0.1),
                target(0, Bytes::new().put([0]).f32(-0.1).f32(0.4).f32(0.2), 1.0),
                call(17).put([1, 0]).f32(0.5).f32(0.3),
                target(1, Bytes::new().put([1, 0, 0]).f32(0.3).f32(0.5).f32(0.0), 0.7),
                advance(0.1),
                evaluate(),
                call(18)
                    .put([0, 3, 0])
                    .f32(0.0)
                    .f32(0.6)
                    .f32(0.0)
                    .f32(0.8)
                    .put([0; 32])
                    .f32(0.5)
                    .put([1]),
                call(21).put([0, 9, 0, 0]),
                evaluate(),
                call(9),
                call(15).put([0]),
                advance(0.5),
                evaluate(),
                call(10),
                evaluate(),
            ],
        ),
        (
            "looks",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                add_look(6, 1.2, 2.0),
                target(0, Bytes::new().put([0]).f32(2.0).f32(1.4).f32(1.0), 1.0),
                advance(0.1),
                evaluate(),
                call(9),
                target(0, Bytes::new().put([1, 0, 0]).f32(-3.0).f32(1.0).f32(-0.5), 0.6),
                advance(0.1),
                call(17).put([0, 0]).f32(0.0).f32(0.3),
                advance(0.2),
                evaluate(),
                call(10),
                advance(1.0),
                evaluate(),
            ],
        ),
        (
            "feet",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                call(23).put([0]).f32(0.5).f32(0.5),
                grounds([0.1, -0.2], 1.0),
                advance(0.1),
                evaluate(),
                call(9),
                grounds([2.0, 0.0], 0.5),
                advance(0.1),
                evaluate(),
                call(10),
                evaluate(),
                call(15).put([0]),
                evaluate(),
            ],
        ),
        (
            "hook",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                // A hook on all joints, flagged.
                call(25).put([0]).f32(0.5),
                call(17).put([0, 0]).f32(1.0).f32(0.0),
                // The head turned, then an arm in model space.
                call(26)
                    .put([6, 0])
                    .numbers([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.1, 0.0, -1.0, 0.0, 0.0])
                    .put([0]),
                call(27)
                    .put([0])
                    .numbers([0.0, 0.1, 0.0, 0.0, 0.6, 0.0, 0.8, 1.0, 1.0, 1.0])
                    .put([0, 1])
                    .f32(0.5),
                advance(0.1),
                call(26)
                    .put([9, 0])
                    .numbers([0.0, 1.0, 0.0, 0.3, -1.0, 0.0, 0.0, 1.2, 0.0, 0.0, 1.0, 0.1])
                    .put([1]),
                call(9),
                call(28).put([0]).f32(0.0).f32(0.3),
                advance(0.5),
                evaluate(),
                call(10),
                call(27)
                    .put([0])
                    .numbers([0.5, 1.0, 0.0, 0.0, 0.0, 0.0, -2.0, 1.0, 1.0, 1.0])
                    .put([2, 0]),
                evaluate(),
                call(29).put([0]),
                evaluate(),
            ],
        ),
        (
            "refused",
            vec![
                spawn(),
                on(0, 0, 1, play(0, plain())),
                on(0, 0, 1, play(10, nan.clone())),
                on(0, 3, 1, play(0, plain())),
                on(0, 0, 1, play(6, nan)),
                advance(f64::INFINITY),
                advance(-0.1),
                evaluate(),
            ],
        ),
    ]
}

/// A node of `roundtrip`.
fn node(name: &'static str, parent: u8) -> Bytes {
    let bytes = Bytes::new().text(name).put([parent]);
    let bytes = bytes.f32(0.0).f32(0.3).f32(0.1);
    bytes.put([10, 0, 5, 100u8]).put([64, 64, 64u8])
}

fn track(node: u8, channel: u8, interpolation: u8, keys: usize, wave: f32) -> Bytes {
    let per_key = [3, 4, 3][usize::from(channel)] * if interpolation == 2 { 3 } else { 1 };
    let steps = (0..keys).map(|k| Bytes::new().put((7 + 3 * (k % 2) as u16).to_le_bytes()));
    let value = |i: usize| Bytes::new().f32(1.0 + 0.4 * (wave * i as f32).sin());
    let bytes = Bytes::new().put([node, channel, interpolation]);
    bytes.list(steps).list((0..keys * per_key).map(value))
}

fn animation(name: &'static str, tracks: Vec<Bytes>, max_error: f32) -> Bytes {
    let marker = |name, place: f32| Bytes::new().text(name).f32(place);
    let bytes = Bytes::new().text(name).list(tracks);
    let bytes = bytes.list([marker("left", 0.0), marker("right", 0.5)]);
    bytes.f32(max_error)
}

fn input(nodes: Vec<Bytes>, animations: Vec<Bytes>) -> Bytes {
    let bytes = Bytes::new().list(nodes).list(animations);
    let numbers = [1u64.to_le_bytes(), 2u64.to_le_bytes()].concat();
    bytes.text("tool").text("settings").put(numbers).put([1])
}

fn inputs() -> Vec<(&'static str, Bytes)> {
    let chain = |n: u8| (0..n).map(|i| node("joint", i.saturating_sub(1))).collect();
    let linear = vec![track(0, 0, 0, 6, 0.3), track(1, 1, 0, 6, 0.2)];
    let mixed = vec![
        track(0, 1, 1, 3, 2.0),
        track(1, 0, 2, 3, 0.1),
        track(2, 2, 0, 4, 0.5),
        track(2, 1, 0, 1, 0.0),
    ];
    let long = vec![track(1, 1, 0, 24, 0.05), track(18, 1, 0, 20, 0.04)];
    vec![
        ("linear", input(chain(3), vec![animation("walk", linear, 1e-3)])),
        ("mixed", input(chain(4), vec![animation("", mixed, 1e-2)])),
        ("long", input(chain(20), vec![animation("run", long, 1e-4)])),
        ("still", input(vec![node("", 255), node("é", 255)], Vec::new())),
    ]
}

fn main() -> std::io::Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let calls = calls().into_iter();
    let calls = calls.map(|(name, calls)| ("playback", name, Bytes::new().list(calls)));
    let inputs = inputs().into_iter();
    let inputs = inputs.map(|(name, input)| ("roundtrip", name, input));
    for (target, name, bytes) in calls.chain(inputs) {
        fs::create_dir_all(seeds.join(target))?;
        fs::write(seeds.join(target).join(name), bytes.done())?;
    }
    fs::create_dir_all(seeds.join("snapshot"))?;
    for (name, bytes) in snapshots() {
        fs::write(seeds.join("snapshot").join(name), bytes)?;
    }
    Ok(())
}

/// Crowds after few and many calls, and a mixer.
fn snapshots() -> [(&'static str, Vec<u8>); 4] {
    let crowd = |rounds: usize| {
        let (mut dice, mut buffer) = (Dice(4), BoneBuffer::new());
        let mut lively = Lively::new();
        for _ in 0..rounds {
            lively.round(&mut dice, &mut buffer);
        }
        lively.crowd.snapshot().to_bytes()
    };
    let rig = travelling();
    let mut mixer = Mixer::with_layers(rig.clone(), layers(&rig)).expect("the rig is valid");
    for clip in [0, 1] {
        let clip = mixer.clip_by_index(clip).expect("the rig has it");
        let fade = mixer.player().fade_to(0, clip, 0.5, &PlayOptions::default());
        fade.expect("the layer accepts it");
        mixer.advance(0.1).expect("the step is valid");
    }
    let pose = vec![phalanx::skeleton::Trs::IDENTITY; rig.skeleton().len()];
    mixer.player().set_pose(&pose, PoseSpace::Local).expect("a pose of the rig");
    mixer.player().fade_pose(0.5, 1.0).expect("there is a pose");
    let mixer = mixer.snapshot().to_bytes();
    [("empty", crowd(0)), ("few", crowd(6)), ("many", crowd(40)), ("mixer", mixer)]
}
