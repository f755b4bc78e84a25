//! The library on the test models, against golden poses, the reference evaluator and the scene graph's and
//! the textbook pipeline's own rules. Trials whose model is missing are ignored, unless models are required.

mod imported;
mod inertial;
mod library;
mod oracle;
mod root_motion;
mod scene;
mod spheres;
mod split;
mod textbook;
mod units;

use phalanx_testkit::compare::Tallies;
use phalanx_testkit::trials;

fn main() {
    let (oracle, library) = (Tallies::default(), Tallies::default());
    let mut all = oracle::trials(&oracle);
    all.extend(library::trials(&library));
    all.extend(imported::trials());
    all.extend(inertial::trials());
    all.extend(root_motion::trials());
    all.extend(scene::trials());
    all.extend(spheres::trials());
    all.extend(split::trials());
    all.extend(textbook::trials());
    all.extend(units::trials());
    trials::run_and(all, || {
        oracle.print();
        library.print();
    });
}
