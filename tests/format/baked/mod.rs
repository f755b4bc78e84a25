//! Baked clips and their disk form: the error that is reported is the error that there is, sizes, what
//! comes back from bytes, and what bytes are refused.

mod arbitrary;
mod carried;
mod codec;
mod error;
pub mod made;
pub mod scaled;
mod settings;
mod sizes;
mod support;

use libtest_mimic::{Failed, Trial};
use phalanx::bake::BakeOptions;
use phalanx_testkit::trials;

/// A test without models.
type Plain = fn() -> Result<(), Failed>;

const MODELS: [&str; 6] =
    ["pab.glb", "Fox.glb", "CesiumMan.glb", "robot.glb", "bl_humanoid.glb", "mannequin.glb"];

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in MODELS {
        let test = move || error::model(file, &BakeOptions::default());
        trials.push(trials::trial(format!("{file}: error"), &[file], test));
        let test = move || codec::model(file);
        trials.push(trials::trial(format!("{file}: codec"), &[file], test));
    }
    for file in ["mannequin.glb", "pab.glb"] {
        let test = move || scaled::models(file);
        trials.push(trials::trial(format!("{file}: below another scale"), &[file], test));
    }
    trials.push(Trial::ignorable_test("files whose stated errors are bounds", carried::complete));
    for path in carried::files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(format!("{name}: the stated error is a bound"), move || {
            carried::model(&path)
        }));
    }
    // A fox of 150 units is one of centimetres.
    let centimetres = BakeOptions { max_error: 0.01, shell: 3.0, ..BakeOptions::default() };
    let test = move || error::model("Fox.glb", &centimetres);
    trials.push(trials::trial("Fox.glb: error in centimetres", &["Fox.glb"], test));
    let models: [(&str, &str, Plain); 7] = [
        ("measured against the file", "mannequin.glb", carried::other_curves),
        ("joints of their own quality", "pab.glb", error::joint_quality),
        ("sizes beside ACL's", "pab.glb", sizes::beside_acl),
        ("any number of threads", "mannequin.glb", settings::threads),
        ("what the baker makes", "mannequin.glb", settings::pinned),
        ("tracks that need more than 16 bits", "pab.glb", error::finer_than_16_bits),
        ("what baking leaves alone", "mannequin.glb", settings::what_stays),
    ];
    for (name, file, test) in models {
        trials.push(trials::trial(name, &[file], test));
    }
    let plain: [(&str, Plain); 13] = [
        ("every kind of track", error::every_kind),
        ("codec: units of model space", codec::units),
        ("below any scales", scaled::scales),
        ("hidden at first", scaled::hidden_at_first),
        ("wide turns", scaled::wide_turns),
        ("splines that swing", scaled::swings),
        ("key times that nobody needs", settings::unused_timelines),
        ("what is refused", settings::refusals),
        ("codec: every kind of block", codec::every_kind),
        ("codec: truncated, extended, of another skeleton", codec::quartet),
        ("codec: filled up", codec::filling),
        ("codec: changed at random", codec::mutations),
        ("codec: arbitrary clips", arbitrary::clips),
    ];
    trials.extend(plain.map(|(name, test)| Trial::test(name, test)));
    trials
}
