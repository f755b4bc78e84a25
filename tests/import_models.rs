//! Import of the test models: what the golden poses say of them, and that they need few repairs.

#[allow(dead_code)] // Shared with the tests of files made in code.
#[path = "import/evaluate.rs"]
mod evaluate;
#[path = "import/golden.rs"]
mod golden;

fn main() {
    let needs = &["golden/pab.json", "pab.glb", "bl_rider.glb"];
    let trials = vec![
        trials::trial("models_mean_what_their_golden_poses_say", needs, || {
            golden::models_mean_what_their_golden_poses_say();
            Ok(())
        }),
        trials::trial("models_need_few_repairs", needs, || {
            golden::models_need_few_repairs();
            Ok(())
        }),
    ];
    trials::run(trials);
}
use phalanx_testkit::trials;
