//! What is read: orders of channels, units, End Sites, roots, and what files write differently.

use super::{Matrix, PAIR, about, close, matrix, product, sound, turned};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::ImportOptions;
use phalanx::import::bvh::{is_bvh, read_slice};
use phalanx::import::raw::{Interpolation, RawChannel, RawScene, RawTrack};
use phalanx::import::{Severity, UpAxis};
use phalanx::playback::{PoseAction, evaluate_pose};
use std::fmt::Write;

fn track(scene: &RawScene, node: usize, channel: RawChannel) -> Option<&RawTrack> {
    let mut tracks = scene.clips[0].tracks.iter();
    tracks.find(|t| t.node == node && t.channel == channel)
}

fn names(scene: &RawScene) -> Vec<&str> {
    scene.nodes.iter().map(|n| n.name.as_deref().unwrap()).collect()
}

/// All sequences of different letters of a text, of any length.
fn arrangements(letters: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for from in 0.. {
        let Some(head) = all.get(from).cloned() else {
            break;
        };
        let more = letters.chars().filter(|c| !head.contains(*c));
        all.extend(more.map(|c| format!("{head}{c}")));
    }
    all
}

/// Every order and number of rotations, between and beside positions in every order: lower case is a position.
#[test]
fn channels_come_in_any_order_and_number() {
    let mut seen = 0;
    let degrees = |c: char| match c {
        'X' => 37.0,
        'Y' => -121.5,
        _ => 64.25,
    };
    let metres = |c: char| match c {
        'x' => 0.5,
        'y' => -0.75,
        _ => 2.5,
    };
    for order in arrangements("XYZ") {
        for places in ["", "x", "zy", "yxz", "zyx"] {
            // The positions before, after, and one by one between the rotations.
            let mixed: String = (0..3)
                .flat_map(|i| [order.chars().nth(i), places.chars().nth(i)])
                .flatten()
                .collect();
            for channels in [format!("{places}{order}"), format!("{order}{places}"), mixed] {
                let mut text = "HIERARCHY ROOT r { OFFSET 1 2 3 CHANNELS ".to_owned();
                write!(text, "{}", channels.len()).unwrap();
                for c in channels.chars() {
                    let kind = if c.is_uppercase() { "rotation" } else { "position" };
                    write!(text, " {}{kind}", c.to_ascii_uppercase()).unwrap();
                }
                text += " } MOTION Frames: 1 Frame Time: 1\n";
                for c in channels.chars() {
                    let value = if c.is_uppercase() { degrees(c) } else { metres(c) };
                    write!(text, "{value} ").unwrap();
                }
                let (scene, _) =
                    read_slice(text.as_bytes(), "r", &ImportOptions::default()).unwrap();
                if channels.is_empty() {
                    assert_eq!(scene.clips, []);
                    continue;
                }
                let rotation = track(&scene, 0, RawChannel::Rotation);
                assert_eq!(rotation.is_some(), !order.is_empty());
                if let Some(track) = rotation {
                    let unit: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                    let turns = order.chars().map(|c| about(c, degrees(c)));
                    let expected = turns.fold(unit, |all, turn| product(&all, &turn));
                    let found = matrix(&track.values);
                    let same = close(found.as_flattened(), expected.as_flattened(), 5e-7);
                    assert!(same, "{channels}: {found:?}, not {expected:?}");
                }
                let translation = track(&scene, 0, RawChannel::Translation);
                assert_eq!(translation.is_some(), !places.is_empty());
                if let Some(track) = translation {
                    // What has no channel keeps the offset.
                    let of = |c: char, offset: f64| match places.contains(c) {
                        true => metres(c) as f32,
                        false => offset as f32,
                    };
                    assert_eq!(track.values, [of('x', 1.0), of('y', 2.0), of('z', 3.0)]);
                }
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 16 * 15 - 3);
}

/// Through the builders to model space, against products of matrices in f64.
#[test]
fn joints_are_where_forward_kinematics_puts_them() {
    let scene = sound(PAIR);
    let rig = build_rig(scene, &BuildOptions::default()).unwrap();
    let of = |turns: [(char, f64); 3]| {
        let [a, b, c] = turns.map(|(axis, degrees)| about(axis, degrees));
        product(&product(&a, &b), &c)
    };
    let frames = [
        ([0.0, 1.0, 0.0], [10.0, 20.0, 30.0], [5.0, 6.0, 7.0]),
        ([0.5, 1.0, 0.25], [-10.0, 40.0, -30.0], [50.0, -60.0, 70.0]),
    ];
    for (frame, (place, [z, x, y], [ly, lz, lx])) in frames.into_iter().enumerate() {
        let hips = of([('Z', z), ('X', x), ('Y', y)]);
        let leg = product(&hips, &of([('Y', ly), ('Z', lz), ('X', lx)]));
        let knee = turned(&hips, [0.0, -0.5, 0.25]);
        let knee: [f64; 3] = std::array::from_fn(|i| place[i] + knee[i]);
        let foot = turned(&leg, [0.0, -0.25, 0.0]);
        let foot: [f64; 3] = std::array::from_fn(|i| knee[i] + foot[i]);
        let action = PoseAction { clip: 0, time: 0.25 * frame as f32, weight: 1.0 };
        let pose = evaluate_pose(&rig, &[action]).unwrap();
        for (node, expected) in [place, knee, foot].into_iter().enumerate() {
            let found = pose.worlds[node].transform_point3(glam::Vec3::ZERO);
            let found = found.to_array().map(f64::from);
            assert!(close(&found, &expected, 1e-6), "{node}: {found:?}, not {expected:?}");
        }
    }
}

#[test]
fn joints_end_sites_and_the_clip() {
    let scene = sound(PAIR);
    assert_eq!(names(&scene), ["Hips", "Leg", "Leg_end"]);
    let parents: Vec<_> = scene.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    assert_eq!(scene.nodes[2].local.translation.to_array(), [0.0, -0.25, 0.0]);
    // An End Site is a node, and no joint.
    assert_eq!(scene.skins[0].joints, [0, 1]);
    assert_eq!((scene.scenes.clone(), scene.default_scene), (vec![vec![0]], Some(0)));
    let clip = &scene.clips[0];
    assert_eq!((clip.name.as_deref(), clip.duration), (Some("take"), 0.25));
    assert!(clip.tracks.iter().all(|t| t.times == [0.0, 0.25]));
    assert!(clip.tracks.iter().all(|t| t.interpolation == Interpolation::Linear));
    let rig = build_rig(scene, &BuildOptions::default()).unwrap();
    assert_eq!(rig.skeleton().names(), ["Hips", "Leg"]);
    assert_eq!((rig.nodes().len(), rig.palette_len()), (3, 2));
    // Bound at rest: the palette of the rest pose is the identity.
    let pose = evaluate_pose(&rig, &[]).unwrap();
    for row in pose.palettes.concat() {
        assert_eq!(row, phalanx::math::Affine3x4::default());
    }
}

#[test]
fn centimetres_become_metres_and_rotations_stay() {
    let metres = sound(PAIR);
    let options = ImportOptions { unit: 0.01, ..ImportOptions::default() };
    let (hundredth, report) = read_slice(PAIR.as_bytes(), "take.bvh", &options).unwrap();
    let near = |a: f32, b: f32| (a - 0.01 * b).abs() <= 1e-9;
    for (a, b) in hundredth.nodes.iter().zip(&metres.nodes) {
        let (a, b) = (a.local.translation.to_array(), b.local.translation.to_array());
        assert!(a.iter().zip(b).all(|(a, b)| near(*a, b)), "{a:?}");
    }
    for (a, b) in hundredth.clips[0].tracks.iter().zip(&metres.clips[0].tracks) {
        match a.channel {
            RawChannel::Rotation => assert_eq!(a.values, b.values),
            _ => assert!(a.values.iter().zip(&b.values).all(|(a, b)| near(*a, *b))),
        }
    }
    // 75 units are no skeleton of 7.5 mm.
    assert_eq!(report.len(), 1);
    let says = report[0].to_string();
    assert!(
        says.starts_with("note: unit: the skeleton is 0.7500 units in size, which is 0.0075 m"),
        "{says}"
    );
    assert!(!says.contains("in centimetres"), "{says}");
}

#[test]
fn a_doubtful_unit_is_noted_with_the_likely_one() {
    let text = |size: &str| {
        format!(
            "HIERARCHY ROOT a {{ OFFSET 0 0 0 JOINT b {{ OFFSET {size} 0 1 }} }} MOTION Frames: 0 Frame Time: 1"
        )
    };
    let note = |size: &str, unit: f64| {
        let options = ImportOptions { unit, ..ImportOptions::default() };
        let (_, report) = read_slice(text(size).as_bytes(), "x", &options).unwrap();
        let entry = report.iter().find(|e| e.place == "unit");
        entry.map(|e| {
            assert_eq!(e.severity, Severity::Note);
            e.message.clone()
        })
    };
    let says = note("170", 1.0).unwrap();
    assert!(
        says.contains("170.0000 units") && says.contains("in centimetres (unit 0.01) it is 1.70 m"),
        "{says}"
    );
    let says = note("1.8", 0.01).unwrap();
    assert!(says.contains("in metres (unit 1) it is 1.80 m"), "{says}");
    let says = note("70", 1.0).unwrap();
    assert!(says.contains("in inches (unit 0.0254) it is 1.78 m"), "{says}");
    // An adult of the CMU collection; a person of 70 or 60 inches is none, although that unit would fit the latter.
    for (size, metres) in [("31", "1.75"), ("25", "1.41"), ("40", "2.26")] {
        let says = note(size, 1.0).unwrap();
        let guess = format!("in units of the CMU collection (unit 0.0564) it is {metres} m");
        assert!(says.contains(&guess), "{says}");
    }
    let says = note("60", 1.0).unwrap();
    assert!(says.contains("in inches (unit 0.0254) it is 1.52 m"), "{says}");
    let says = note("100", 1.0).unwrap();
    assert!(says.contains("in centimetres (unit 0.01) it is 1.00 m"), "{says}");
    let says = note("0.002", 0.01).unwrap();
    assert!(says.contains("0.0100 m"), "{says}");
    for fine in [("1.7", 1.0), ("170", 0.01), ("14", 1.0), ("-0.4", 1.0)] {
        assert_eq!(note(fine.0, fine.1), None, "{fine:?}");
    }
}

#[test]
fn z_up_is_that_of_the_importer() {
    let options = ImportOptions { up_axis: UpAxis::Z, ..ImportOptions::default() };
    let (scene, _) = read_slice(PAIR.as_bytes(), "take.bvh", &options).unwrap();
    let mut expected = sound(PAIR);
    expected.convert_up_axis(UpAxis::Z);
    assert_eq!(scene, expected);
    assert_eq!(scene.nodes[1].local.translation.to_array(), [0.0, -0.25, -0.5]);
}

/// Every way to write the same file.
#[test]
fn other_spellings_mean_the_same() {
    let expected = sound(PAIR);
    let upper = |text: &str| text.replace("ROOT", "Root").replace("End Site", "END SITE");
    let spelt = [
        PAIR.replace('\n', "\r\n"),
        PAIR.replace('\n', "\r"),
        PAIR.replace('\t', "    ").replace(' ', "\t \t"),
        PAIR.replace('\n', "\n \n\t\n"),
        format!("\u{feff}{PAIR}\n\n"),
        PAIR.trim_end().to_owned(),
        // DOS ends a text with 0x1A, CP/M fills its last record with it.
        format!("{PAIR}\u{1a}"),
        format!("{}\u{1a}", PAIR.trim_end()),
        format!("{PAIR}\n\u{1a}\u{1a}\u{1a}\r\n"),
        upper(PAIR),
        PAIR.replace("OFFSET", "offset").replace("CHANNELS", "Channels"),
        PAIR.replace("HIERARCHY", "hierarchy").replace("MOTION", "Motion"),
        PAIR.replace("Xposition", "XPOSITION").replace("Zrotation", "ZRotation"),
        PAIR.replace("Frames:", "frames").replace("Frame Time:", "frame time :"),
        PAIR.replace("Hips\n{", "Hips {").replace("Leg\n\t{", "Leg{"),
        PAIR.replace("Hips\n", "Hips  \t\n"),
        PAIR.replace("0.5 1 0\n", "+5e-1 1 0.0\n").replace("-0.5 0.25", "-.5 25E-2"),
    ];
    for text in spelt {
        assert_eq!(sound(&text), expected, "{text:?}");
    }
    // The hierarchy on one line; frames keep theirs.
    let (head, frames) = PAIR.split_once("0 1 0 10").unwrap();
    let one_line = format!("{}\n0 1 0 10{frames}", head.replace(['\n', '\t'], " "));
    assert_eq!(sound(&one_line), expected);
}

#[test]
fn names_are_kept_as_they_are() {
    let text = "HIERARCHY\nROOT mixamorig:Hips (main) {\nOFFSET 0 1 0\nJOINT  Armature|Left Up Leg.001 \n{ OFFSET 0 0 0\n\
        JOINT Ärmel 袖\n{ OFFSET 0 1 0 } JOINT JOINT\n{ OFFSET 0 1 0 } } }\nMOTION\nFrames: 0\nFrame Time: 1";
    let (scene, _) = read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap();
    let expected = ["mixamorig:Hips (main)", "Armature|Left Up Leg.001", "Ärmel 袖", "JOINT"];
    assert_eq!(names(&scene), expected);
    // Another encoding than UTF-8 is reported.
    let text = b"HIERARCHY ROOT H\xfcfte { OFFSET 0 1 0 } MOTION Frames: 0 Frame Time: 1";
    let (scene, report) = read_slice(text, "x", &ImportOptions::default()).unwrap();
    assert_eq!(names(&scene), ["H\u{fffd}fte"]);
    let says = report[0].to_string();
    assert_eq!(says, "repaired: joint 0: its name is not UTF-8 and became \"H\u{fffd}fte\"");
}

/// Names that several joints have are reported with the indices of the joints, without End Sites.
#[test]
fn names_that_occur_twice_are_reported() {
    let joint = |name: &str, below: &str| {
        format!("JOINT {name}\n{{ OFFSET 0 1 0 {below} End Site {{ OFFSET 0 1 0 }} }}\n")
    };
    let note = |text: &str| {
        let text = format!(
            "HIERARCHY\nROOT Hips\n{{ OFFSET 0 1 0\n{text} }}\nMOTION\nFrames: 0\nFrame Time: 1"
        );
        let (scene, report) = read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap();
        let entry = report.into_iter().find(|e| e.place == "joints");
        (build_rig(scene, &BuildOptions::default()).unwrap(), entry)
    };
    let two = joint("Left", &joint("Hand", "")) + &joint("Right", &joint("Hand", ""));
    let (rig, entry) = note(&two);
    let entry = entry.unwrap();
    assert_eq!(entry.severity, Severity::Note);
    assert_eq!(
        entry.message,
        "names that occur more than once: \"Hand\" (joints 2 and 4); a path (PARENT/NAME) or the index of the joint \
         finds each, the name alone none"
    );
    assert_eq!(entry.items, ["\"Hand\" (joints 2 and 4)"]);
    let skeleton = rig.skeleton();
    assert!(skeleton.joint("Hand").is_err());
    assert_eq!(skeleton.joint("Right/Hand"), Ok(4));
    assert_eq!([2, 4].map(|j| skeleton.names()[j].as_str()), ["Hand", "Hand"]);
    // Siblings have one path.
    let (rig, entry) = note(&(joint("Toe", "") + &joint("Toe", "")));
    let says = entry.unwrap().message;
    assert!(
        says.contains("\"Toe\" (joints 1 and 2); the index of the joint finds each; a path (PARENT/NAME) does not"),
        "{says}"
    );
    assert!(rig.skeleton().joint("Hips/Toe").is_err());
    let (_, entry) = note(&(joint("A", "") + &joint("B", "")));
    assert_eq!(entry, None);
}

#[test]
fn several_roots_are_several_trees() {
    let text = "HIERARCHY\nROOT A { OFFSET 0 1 0 CHANNELS 1 Xrotation }\nROOT B { OFFSET 1 0 0 CHANNELS 1 Yposition\n\
        End Site { OFFSET 0 1 0 }\nEnd Site { OFFSET 0 2 0 CHANNELS 0 } }\nMOTION\nFrames: 2\nFrame Time: 0.5\n90 3\n0 4\n";
    let scene = sound(text);
    assert_eq!(scene.scenes, [[0, 1]]);
    assert_eq!(names(&scene), ["A", "B", "B_end", "B_end"]);
    let moved = track(&scene, 1, RawChannel::Translation).unwrap();
    assert_eq!(moved.values, [1.0, 3.0, 0.0, 1.0, 4.0, 0.0]);
    let rig = build_rig(scene, &BuildOptions::default()).unwrap();
    assert_eq!(rig.skeleton().names(), ["A", "B"]);
    assert_eq!(rig.roots(), [0, 1]);
}

#[test]
fn files_without_motion_are_skeletons() {
    let none =
        "HIERARCHY ROOT a { OFFSET 0 1 0 JOINT b { OFFSET 0 1 0 } } MOTION Frames: 0 Frame Time: 1";
    let still = none.replace("Frames: 0", "Frames: 16777216");
    for (text, says) in [(none, "there are no frames"), (&still, "no joint has channels")] {
        let (scene, report) = read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap();
        assert_eq!(scene.clips, []);
        assert!(report[0].message.starts_with(says), "{:?}", report);
        let rig = build_rig(scene, &BuildOptions::default()).unwrap();
        assert_eq!(rig.skeleton().len(), 2);
    }
    // One frame is a clip of one pose.
    let one = PAIR.replace("Frames: 2", "Frames: 1");
    let scene = sound(&one[..one.find("0.5 1 0.25").unwrap()]);
    assert_eq!(scene.clips[0].duration, 0.0);
    build_rig(scene, &BuildOptions::default()).unwrap();
}

/// Many turns and jumps of Euler angles are one rotation.
#[test]
fn angles_beyond_a_turn_are_those_within() {
    let frames = "0 1 0 10 20 30 5 6 7\n0 1 0 370 -700 30 725 6 -353\n";
    let (head, _) = PAIR.split_once("0 1 0 10").unwrap();
    let scene = sound(&format!("{head}{frames}"));
    for track in scene.clips[0].tracks.iter().filter(|t| t.channel == RawChannel::Rotation) {
        let [a, b] = [&track.values[..4], &track.values[4..]].map(matrix);
        assert!(close(a.as_flattened(), b.as_flattened(), 1e-6), "{a:?} {b:?}");
    }
}

#[test]
fn files_are_told_by_their_first_word() {
    assert!(is_bvh(PAIR.as_bytes()) && is_bvh(b"\r\n\t hierarchy\n"));
    assert!(is_bvh("\u{feff}HIERARCHY".as_bytes()));
    for other in [&b""[..], b"HIERARCHYX", b"{}", b"glTF\x02\0\0\0", b"MOTION"] {
        assert!(!is_bvh(other), "{other:?}");
    }
    // Only the first 256 bytes count, as in `is_bvh_file`.
    assert!(is_bvh(&[&[b' '; 246][..], PAIR.as_bytes()].concat()));
    assert!(!is_bvh(&[&[b' '; 256][..], PAIR.as_bytes()].concat()));
}

/// The seeds of the fuzz target, without the byte that chooses options.
#[test]
fn seeds_are_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/bvh");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let (scene, _) = read_slice(&bytes[1..], "seed", &ImportOptions::default()).unwrap();
        build_rig(scene, &BuildOptions::default()).unwrap();
        seen += 1;
    }
    assert_eq!(seen, 5);
}

/// Some writers put names on lines of their own.
#[test]
fn names_on_later_lines() {
    let expected = sound(PAIR);
    let text = PAIR
        .replace("ROOT Hips", "ROOT\r\n\r\n  Hips")
        .replace("JOINT Leg", "JOINT \n\t Leg ")
        .replace("End Site", "End\n\t\tSite");
    assert_eq!(sound(&text), expected);
    // Words of the format are names where a brace follows.
    let text = PAIR.replace("JOINT Leg", "JOINT\nEnd");
    assert_eq!(names(&sound(&text)), ["Hips", "End", "End_end"]);
}
