//! What is refused, one by one: each with its line, its column, and both numbers.

use super::PAIR;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::ImportError;
use phalanx::import::ImportFault;
use phalanx::import::ImportOptions;
use phalanx::import::bvh::read_slice;
use phalanx::import::read_path;
use std::time::Instant;

const MAX_BVH_JOINTS: usize = 65_535;

/// The error of a text, without the file's name.
fn error(text: impl AsRef<[u8]>) -> String {
    let read = read_slice(text.as_ref(), "take.bvh", &ImportOptions::default());
    let error = read.map(|_| ()).expect_err("the file is refused").to_string();
    let rest = error.strip_prefix("take.bvh: ").expect("the file is named");
    assert!(!rest.contains('\n'), "one line: {rest}");
    rest.to_owned()
}

/// The pair with a part replaced.
fn with(old: &str, new: &str) -> String {
    assert_eq!(PAIR.matches(old).count(), 1, "{old:?} is in the text once");
    PAIR.replace(old, new)
}

/// Columns are counted behind a byte order mark, which editors do not show.
#[test]
fn columns_behind_a_byte_order_mark() {
    let marked = |text: &str| error(format!("\u{feff}{text}"));
    let said = "line 1, column 1: a BVH file begins with HIERARCHY, this one with \"HIERARCHX\"";
    assert_eq!(marked("HIERARCHX"), said);
    for text in [
        "HIERARCHY ROT a",
        "HIERARCHY\nROT a",
        "\r\n HIERARCHY\r\n  ROT a",
        "\rHIERARCHY\r\r ROT a",
    ] {
        assert_eq!(marked(text), error(text));
    }
    // CR LF ends one line, two CRs end two.
    assert!(error("\r\n HIERARCHY\r\n  ROT a").starts_with("line 3, column 3: "));
    assert!(error("\rHIERARCHY\r\r ROT a").starts_with("line 4, column 2: "));
    assert!(marked("HIERARCHY ROT a").starts_with("line 1, column 11: "));
    assert!(marked("HIERARCHY\nROT a").starts_with("line 2, column 1: "));
    // The mark is one at the beginning alone.
    assert!(marked("\u{feff}HIERARCHY").starts_with("line 1, column 1: "));
}

#[test]
fn counts_of_values() {
    let short = with("0.5 1 0.25 -10 40 -30 50 -60 70", "0.5 1 0.25 -10 40 -30 50 -60");
    let said = "line 20, column 29: frame 1 has 8 values, the joints have 9 channels";
    assert_eq!(error(short), said);
    let long = with("30 5 6 7\n", "30 5 6 7 8 9\n");
    let said = "line 19, column 22: frame 0 has 11 values, the joints have 9 channels";
    assert_eq!(error(long), said);
    // No values at all for a joint without channels.
    let none = "HIERARCHY ROOT a { OFFSET 0 1 0 } MOTION Frames: 2 Frame Time: 1\n1 2\n\n2\n";
    let said = "line 2, column 1: frame 0 has 2 values, the joints have 0 channels";
    assert_eq!(error(none), said);
}

#[test]
fn counts_of_frames() {
    let more = with("Frames: 2", "Frames: 3");
    assert_eq!(error(more), "line 21, column 1: 3 frames are declared, there are 2");
    let fewer = with("Frames: 2", "Frames: 1");
    assert_eq!(error(fewer), "line 20, column 1: 1 frame is declared, there are 2");
    let huge = with("Frames: 2", "Frames: 16777217");
    assert_eq!(error(huge), "line 17, column 9: frames: 16777217, the limit is 16777216");
    // Declared, but not there: nothing is reserved for them.
    let lie = with("Frames: 2", "Frames: 16777216");
    assert_eq!(error(lie), "line 21, column 1: 16777216 frames are declared, there are 2");
    for (count, said) in [
        ("-1", "the number of frames is -1, expected a whole number from 0 to 16777216"),
        ("1.5", "the number of frames is 1.5, expected a whole number from 0 to 16777216"),
        (
            "99999999999999999999999",
            "the number of frames is 1e23, expected a whole number from 0 to 16777216",
        ),
        ("two", "the number of frames is \"two\", expected a number"),
        ("nan", "the number of frames is NaN, expected a finite number"),
    ] {
        let text = with("Frames: 2", &format!("Frames: {count}"));
        assert_eq!(error(text), format!("line 17, column 9: {said}"));
    }
    let read =
        read_slice(with("Frames: 2", "Frames: -1").as_bytes(), "x", &ImportOptions::default());
    let kind = place_and_kind(read.unwrap_err()).1;
    let words = "the number of frames is -1, expected a whole number from 0 to 16777216";
    assert_eq!(kind.to_string(), words);
    assert_eq!(
        error(with("CHANNELS 3", "CHANNELS -3")),
        "line 9, column 12: the number of channels is -3, expected a whole number from 0 to 6"
    );
}

/// Where a text is wrong, and what is wrong there.
fn place_and_kind(error: ImportError) -> (String, ImportFault) {
    match error {
        ImportError::Fault { place, fault, .. } => (place, fault),
        other => panic!("{other}"),
    }
}

/// 0x1A ends a text; within one it is a character like others.
#[test]
fn the_end_of_dos_within_a_text() {
    assert_eq!(
        error(with("0.5 1 0.25 -10", "\u{1a} 1 0.25 -10")),
        "line 20, column 1: a position is \"\\u{1a}\", expected a number"
    );
    assert_eq!(error("\u{1a}"), "the file is empty");
}

/// Frames that have one time as f32 are refused before any is read: with the frame, and both distances.
#[test]
fn frames_that_f32_does_not_tell_apart() {
    let read = |frames: usize, frame_time: f64| {
        let text = PAIR[..PAIR.find("Frames:").unwrap()].to_owned();
        let text = format!("{text}Frames: {frames}\nFrame Time: {frame_time}\n");
        read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap_err()
    };
    // Times of f32 are 1/512 s apart up to 32,768 s, and 1/256 s from there on: less than 4 ms, more than 3.9 ms.
    let frames = 8_500_000;
    let ends = |error| place_and_kind(error).1.to_string().ends_with("declared, there are 0");
    assert!(ends(read(frames, 0.004)));
    let error = read(frames, 0.0039);
    let (place, kind) = place_and_kind(error);
    assert_eq!(place, "line 18, column 13");
    let ImportFault::FramesMeet { frame, seconds, step, frame_time, frames: of } = kind else {
        panic!("{kind}");
    };
    assert_eq!((step, frame_time, of), (1.0 / 256.0, 0.0039, frames));
    assert_eq!(seconds, frame as f64 * frame_time);
    let time = |k: usize| (k as f64 * frame_time) as f32;
    assert_eq!(time(frame), time(frame - 1));
    assert!((1..frame).all(|k| time(k - 1) < time(k)));
    // As many frames as it says are fine.
    assert!(ends(read(frame, 0.0039)));
    // At 120 Hz 36 hours are, 37 are not. Whole seconds count to the limit of frames.
    assert!(ends(read(36 * 3600 * 120, 1.0 / 120.0)));
    let says = read(37 * 3600 * 120, 1.0 / 120.0).to_string();
    assert!(
        says.contains("times of f32 are 0.015625 s apart there, the frame time is 0.008333333333333333 s; of the 15984000"),
        "{says}"
    );
    assert!(ends(read(1 << 24, 1.0)));
}

#[test]
fn frame_times() {
    for time in ["0", "-0.1", "1e-7", "10001", "1e300"] {
        let said = format!(
            "line 18, column 13: the frame time is {time} s, allowed are 0.000001 to 10000 s"
        );
        assert_eq!(error(with("Time: 0.25", &format!("Time: {time}"))), said);
    }
    let said = "line 18, column 13: the frame time is NaN, expected a finite number";
    assert_eq!(error(with("Time: 0.25", "Time: nan")), said);
    let said = "line 18, column 18: expected the end of the line, found \"s\"";
    assert_eq!(error(with("Time: 0.25", "Time: 0.25 s")), said);
}

#[test]
fn numbers() {
    for (value, said) in [
        ("NaN", "a position is NaN, expected a finite number"),
        ("-inf", "a position is -inf, expected a finite number"),
        ("1e999", "a position is inf, expected a finite number"),
        ("2e12", "a position is 2e12, the limit is 1e12"),
        ("1,5", "a position is \"1,5\", expected a number"),
        ("1.#QNAN", "a position is \"1.#QNAN\", expected a number"),
        ("0x10", "a position is \"0x10\", expected a number"),
    ] {
        let text = with("0.5 1 0.25 -10", &format!("0.5 {value} 0.25 -10"));
        assert_eq!(error(text), format!("line 20, column 5: {said}"));
    }
    let said = "line 20, column 12: a rotation is inf, expected a finite number";
    assert_eq!(error(with("0.25 -10 40", "0.25 infinity 40")), said);
    let said = "line 4, column 13: an offset is -3e12, the limit is 1e12";
    assert_eq!(error(with("OFFSET 0.5 1 0", "OFFSET 0.5 -3e12 0")), said);
    let said = "line 8, column 17: an offset is \"CHANNELS\", expected a number";
    assert_eq!(error(with("0 -0.5 0.25\n\t\tCH", "0 -0.5 CH")), said);
    // A unit that lifts a number over the limit.
    let options = ImportOptions { unit: 1e13, ..ImportOptions::default() };
    let read = read_slice(PAIR.as_bytes(), "x", &options).unwrap_err();
    let (_, kind) = place_and_kind(read);
    assert!(kind.to_string().ends_with(", the limit is 1e12"), "{kind}");
    for unit in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = ImportOptions { unit, ..ImportOptions::default() };
        let read = read_slice(PAIR.as_bytes(), "x", &options).unwrap_err();
        assert_eq!(
            read.to_string(),
            format!("x: the unit is {unit} m, expected a finite number above 0")
        );
    }
    // The largest numbers that are read make no clip that is not finite.
    let text = with("0.25 -10 40", "0.25 1e300 40").replace("0.5 1 0.25", "1e12 1 0.25");
    let (scene, _) = read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap();
    let values = scene.clips[0].tracks.iter().flat_map(|t| &t.values);
    assert!(values.clone().all(|v| v.is_finite()));
    build_rig(scene, &BuildOptions::default()).unwrap();
}

#[test]
fn words() {
    let cases = [
        (with("ROOT Hips", "JOINT Hips"), "line 2, column 1: expected ROOT, found \"JOINT\""),
        (with("ROOT Hips", "ROOT"), "line 3, column 1: expected the name of a joint, found \"{\""),
        (
            with("JOINT Leg\n\t{", "JOINT\n"),
            "line 8, column 3: expected the name of a joint, found \"OFFSET\"",
        ),
        (with("Leg\n\t{", "\nLeg\n"), "line 9, column 3: expected {, found \"OFFSET\""),
        (
            "HIERARCHY\nROOT\n".to_owned(),
            "line 3, column 1: expected the name of a joint, found the end",
        ),
        (with("Leg\n\t{", "Leg\n"), "line 8, column 3: expected {, found \"OFFSET\""),
        (with("\t\tOFFSET 0 -0.5 0.25\n", ""), "line 13, column 2: expected OFFSET, found \"}\""),
        (
            with("OFFSET 0.5 1 0\n", "OFFSET 0.5 1 0 OFFSET 1 1 1\n"),
            "line 4, column 17: the joint has a second OFFSET",
        ),
        (
            with("CHANNELS 3 Yrotation", "CHANNELS 0 CHANNELS 3 Yrotation"),
            "line 9, column 14: the joint has a second CHANNELS",
        ),
        (
            with("Yrotation Zrotation Xrotation", "Yrotation Zrotation Yrotation"),
            "line 9, column 34: the joint has a second Yrotation",
        ),
        (
            with("3 Yrotation Zrotation", "3 Yrotation Wrotation"),
            "line 9, column 24: unknown channel \"Wrotation\", expected Xposition to Zposition or Xrotation to Zrotation",
        ),
        (
            with("3 Yrotation", "2 Yrotation"),
            "line 9, column 34: expected OFFSET, CHANNELS, JOINT, End Site or }, found \"Xrotation\"",
        ),
        (
            with("3 Yrotation", "4 Yrotation"),
            "line 10, column 3: unknown channel \"End\", expected Xposition to Zposition or Xrotation to Zrotation",
        ),
        (
            with("3 Yrotation", "7 Yrotation"),
            "line 9, column 12: channels of a joint: 7, the limit is 6",
        ),
        (
            with("3 Yrotation", "18446744073709551615 Yrotation"),
            "line 9, column 12: channels of a joint: 18446744073709551615, the limit is 6",
        ),
        (
            with("OFFSET 0 -0.25 0", "CHANNELS 1 Xrotation"),
            "line 12, column 13: channels of an End Site: 1, the limit is 0",
        ),
        (
            with("OFFSET 0 -0.25 0", "JOINT x"),
            "line 12, column 4: expected OFFSET or } of the End Site, found \"JOINT\"",
        ),
        (
            with("}\nMOTION", "MOTION"),
            "line 15, column 1: expected OFFSET, CHANNELS, JOINT, End Site or }, found \"MOTION\"",
        ),
        (
            with("}\nMOTION", "}}\nMOTION"),
            "line 15, column 2: expected ROOT or MOTION, found \"}\"",
        ),
        (with("Frames: 2", "Farmes: 2"), "line 17, column 1: expected Frames:, found \"Farmes\""),
        (
            with("Frame Time", "Frame Rate"),
            "line 18, column 7: expected Frame Time:, found \"Rate\"",
        ),
    ];
    for (text, said) in cases {
        assert_eq!(error(&text), said, "{text}");
    }
}

#[test]
fn other_files() {
    assert_eq!(error(""), "the file is empty");
    assert_eq!(error(" \r\n\t"), "the file is empty");
    let begins = "line 1, column 1: a BVH file begins with HIERARCHY, this one with";
    assert_eq!(error("glTF\x02\0\0\0"), format!("{begins} \"glTF\\u{{2}}\\0\\0\\0\""));
    assert_eq!(error([0xff_u8; 300]), format!("{begins} \"{}...\"", "\u{fffd}".repeat(40)));
    assert_eq!(error("x".repeat(1 << 20)), format!("{begins} \"{}...\"", "x".repeat(40)));
    assert_eq!(error("MOTION"), format!("{begins} \"MOTION\""));
    // In UTF-16.
    let wide: Vec<u8> = PAIR.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(error(wide).starts_with(begins));
    let missing = read_path("/nonexistent/x.bvh".as_ref(), &ImportOptions::default()).unwrap_err();
    assert!(missing.to_string().starts_with("/nonexistent/x.bvh: cannot be read: "), "{missing}");
    let folder = read_path("/".as_ref(), &ImportOptions::default()).unwrap_err();
    assert_eq!(folder.to_string(), "/: cannot be read: not a regular file");
}

/// Every truncation is an error, but those of the last number and of the end of the line.
#[test]
fn truncations() {
    let last = PAIR.rfind("70").unwrap();
    for length in 0..PAIR.len() {
        let read = read_slice(&PAIR.as_bytes()[..length], "x", &ImportOptions::default());
        assert_eq!(read.is_ok(), length > last, "{length}");
    }
}

/// Every byte replaced by others: errors, or scenes that the builders take or refuse.
#[test]
fn single_bytes() {
    for at in 0..PAIR.len() {
        for byte in [b' ', b'}', b'{', b'9', b'-', b'\n', 0, 0xff] {
            let mut bytes = PAIR.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok((scene, _)) = read_slice(&bytes, "x", &ImportOptions::default()) {
                let _ = build_rig(scene, &BuildOptions::default());
            }
        }
    }
}

/// End Sites repeat the name of their joint, so its length is bounded.
#[test]
fn long_names() {
    let named = |bytes: usize| {
        let name = "n".repeat(bytes);
        let ends = "End Site\n{\nOFFSET 0 0 0\n}\n".repeat(3);
        format!(
            "HIERARCHY\nROOT {name}\n{{\nOFFSET 0 0 0\n{ends}}}\nMOTION\nFrames: 0\nFrame Time: 1\n"
        )
    };
    let said = "line 2, column 6: bytes of a name: 1025, the limit is 1024";
    assert_eq!(error(named(1025)), said);
    assert!(read_slice(named(1024).as_bytes(), "x", &ImportOptions::default()).is_ok());
}

/// Nesting is a list here: no depth overflows the stack, and joints have a limit.
#[test]
fn a_hundred_thousand_nested_joints() {
    let nested = |joints: usize| {
        let mut text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n".to_owned();
        text += &"JOINT a\n{\nOFFSET 0 0 0\n".repeat(joints - 1);
        text += &"}\n".repeat(joints);
        text + "MOTION\nFrames: 0\nFrame Time: 1\n"
    };
    let line = 2 + 3 * MAX_BVH_JOINTS;
    let said = format!("line {line}, column 1: joints and End Sites: 65536, the limit is 65535");
    // The first joint takes a line more than the others.
    assert_eq!(error(nested(100_000)), said);
    let begun = Instant::now();
    let (scene, _) =
        read_slice(nested(MAX_BVH_JOINTS).as_bytes(), "x", &ImportOptions::default()).unwrap();
    let rig = build_rig(scene, &BuildOptions::default()).unwrap();
    assert_eq!(rig.skeleton().len(), MAX_BVH_JOINTS);
    assert!(begun.elapsed().as_secs() < 60);
    // Braces alone.
    let braces = format!("HIERARCHY ROOT a {}", "{".repeat(1_000_000));
    assert!(error(braces).contains("expected OFFSET, CHANNELS, JOINT, End Site or }, found \"{\""));
}

#[test]
fn memory_is_limited_if_asked() {
    let options = ImportOptions { memory_limit: Some(71), ..ImportOptions::default() };
    // Two frames of a translation and two rotations with their times: 4 + 5 + 5 floats.
    let read = read_slice(PAIR.as_bytes(), "x", &options).unwrap_err();
    assert_eq!(read.to_string(), "x: memory of the import in bytes: 112 needed, the limit is 71");
    let options = ImportOptions { memory_limit: Some(112), ..options };
    assert!(read_slice(PAIR.as_bytes(), "x", &options).is_ok());
}
