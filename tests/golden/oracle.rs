//! The oracle against every golden file: the reference has to be right before anything is compared with it.

use libtest_mimic::Trial;
use phalanx_testkit::compare;
use phalanx_testkit::compare::{Category, Tallies, Tally};
use phalanx_testkit::oracle;
use phalanx_testkit::trials;

/// Golden numbers are stored with 7 significant digits: half a unit of the last one is 5e-7 of a number
/// just over a power of ten. Observed: see the table that the test prints.
fn tolerance(_: Category) -> f64 {
    1e-6
}

pub fn trials(tallies: &Tallies) -> Vec<Trial> {
    compare::golden_names()
        .into_iter()
        .map(|(golden, model)| {
            let tallies = tallies.clone();
            let needs = [golden.clone(), model.clone()];
            trials::trial(
                format!("oracle_agrees_with_{model}"),
                &needs.each_ref().map(String::as_str),
                move || {
                    let scene = oracle::Scene::load(&trials::needed(&model)?)?;
                    compare::structure(&golden, &scene)?;
                    let mut tally = Tally::new(model, tolerance);
                    compare::check(&golden, &scene, &mut tally)?;
                    Ok(tallies.add(tally)?)
                },
            )
        })
        .collect()
}
