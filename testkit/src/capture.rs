//! Motion capture made in code: BVH texts of any length.

use std::fmt::Write;

/// Degrees of a swinging joint at a frame of [`take`].
pub fn swing(frame: usize, joint: usize) -> f64 {
    40.0 * (0.02 * frame as f64 + joint as f64).sin()
}

/// A BVH text: a chain of joints `j0`, `j1`, … 0.2 m apart that [`swing`] about Z, the first of which walks 0.1 mm
/// along X in every frame. Numbers have a thousandth of a degree.
pub fn take(joints: usize, frames: usize, frame_time: f64) -> String {
    let mut text = "HIERARCHY\n".to_owned();
    // Writing to a string does not fail.
    for joint in 0..joints {
        let (word, channels) = match joint {
            0 => ("ROOT", "2 Xposition Zrotation"),
            _ => ("JOINT", "1 Zrotation"),
        };
        let _ = writeln!(text, "{word} j{joint} {{ OFFSET 0 0.2 0 CHANNELS {channels}");
    }
    text += &"}\n".repeat(joints);
    let _ = writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: {frame_time}");
    for frame in 0..frames {
        let _ = write!(text, "{:.4}", 1e-4 * frame as f64);
        for joint in 0..joints {
            let _ = write!(text, " {:.3}", swing(frame, joint));
        }
        text.push('\n');
    }
    text
}
