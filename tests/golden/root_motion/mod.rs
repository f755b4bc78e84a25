//! Root motion: what is taken out of clips, against the oracle and against rigid motions of its own in
//! f64, over wraps, directions and a thousand loops.

mod files;
mod keys;
mod loops;
mod made;
mod refusals;
mod support;

use libtest_mimic::{Failed, Trial};
use phalanx_testkit::trials;

/// A test without models.
type Plain = fn() -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    // How many clips travel without and with turns: those of the other files stay where they are.
    for (file, travelling) in [
        ("mannequin.glb", [1, 2]),
        ("pab.glb", [4, 4]),
        ("robot.glb", [1, 1]),
        ("greenman.glb", [0, 0]),
        ("Fox.glb", [0, 0]),
    ] {
        for rotation in [false, true] {
            let turns = if rotation { "taken out" } else { "left in" };
            let name = format!("{file}: motion and what stays in place, turns {turns}");
            let travelling = travelling[usize::from(rotation)];
            let test = move || files::whole(file, rotation, travelling);
            trials.push(trials::trial(name, &[file], test));
        }
    }
    let plain: [(&str, Plain); 7] = [
        ("the mannequin walks at its stated speed", files::walk_speed),
        ("the mannequin turns a quarter", files::turn_left),
        ("deltas compose over wraps and directions", loops::deltas_compose),
        ("a thousand loops do not drift", loops::drift),
        ("steps, splines and scaled parents", keys::made_scenes),
        ("what is refused", refusals::refusals),
        ("hashes and sizes", refusals::hashes),
    ];
    trials.extend(plain.map(|(name, test)| Trial::test(name, test)));
    trials
}
