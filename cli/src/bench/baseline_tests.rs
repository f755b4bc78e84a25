//! Comparisons of synthetic rows.

use super::baseline::{Baseline, BaselineError, Comparison, Newer};
use super::row::{Kind, Row};

/// A row of the given time and noise, in nanoseconds.
fn row(workload: &str, ns_per_character: f64, noise: f64) -> Row {
    Row {
        kind: Kind::Chain,
        workload: workload.to_owned(),
        count: 100,
        clip_count: None,
        rigs: None,
        threads: 2,
        simd: "avx2".to_owned(),
        ns_per_character,
        min: ns_per_character,
        noise,
        samples: 9,
        advance_ns: None,
        requests_ns: None,
        worst_ns: None,
        bytes: None,
        gb_per_s: None,
        textbook_ns: None,
        textbook_min: None,
        textbook_noise: None,
        model: "fox.glb".to_owned(),
        joints: 24,
        clips: "Walk".to_owned(),
        additive: "Survey".to_owned(),
        mask: None,
        cpu: "abacus".to_owned(),
        cores: 4,
        rustc: "1".to_owned(),
        rustflags: String::new(),
        profile: "release".to_owned(),
    }
}

fn compare(then: Vec<Row>, now: &[Row], tolerance: f64) -> Result<Comparison, BaselineError> {
    let name = "this run";
    Baseline::of("then.csv", then).compare(Newer { name, rows: now }, tolerance)
}

/// Compares a row of 100 ± `noises[0]` with one of `now` ± `noises[1]`: whether it is a regression, and
/// the text of the comparison.
fn verdict(now: f64, noises: [f64; 2], tolerance: f64) -> (bool, String) {
    let then = vec![row("C1", 100.0, noises[0])];
    let now = [row("C1", now, noises[1])];
    let comparison = compare(then, &now, tolerance).unwrap();
    (comparison.regressions().is_some(), comparison.text())
}

#[test]
fn a_regression_is_beyond_the_tolerance_and_the_noise_of_both() {
    for (now, noises, tolerance, regression, message) in [
        (100.0, [0.0, 0.0], 5.0, false, "1 of 1 rows moved by no more"),
        (105.0, [0.0, 0.0], 5.0, false, "slower, tolerated"),
        (105.1, [0.0, 0.0], 5.0, true, "regression"),
        (105.1, [0.0, 0.0], 6.0, false, "slower, tolerated"),
        // Noise of either run, or of both together.
        (108.0, [3.0, 4.9], 5.0, true, "regression"),
        (108.0, [3.0, 5.0], 5.0, false, "1 of them are too noisy for 5%"),
        (108.0, [8.0, 0.0], 5.0, false, "too noisy"),
        (108.0, [0.0, 8.0], 5.0, false, "too noisy"),
        // Noise below the tolerance is not reported.
        (103.0, [2.0, 2.0], 5.0, false, "1 of 1 rows moved by no more"),
        (106.0, [2.0, 2.0], 5.0, true, "regression"),
        (50.0, [2.0, 2.0], 5.0, false, "faster"),
        (10_000.0, [0.0, 0.0], 5.0, true, "+9900.0%"),
        (100.1, [0.0, 0.0], 0.0, true, "regression"),
    ] {
        let (is, text) = verdict(now, noises, tolerance);
        let case = format!("{now}, {noises:?}, {tolerance}%: {text}");
        assert_eq!(is, regression, "{case}");
        assert!(text.contains(message), "{case}");
        assert_eq!(text.contains("too noisy"), message.contains("too noisy"), "{case}");
    }
}

#[test]
fn every_regression_is_named_with_both_times() {
    let then = ["C1", "C2", "C3"].map(|w| row(w, 2000.0, 1.0)).to_vec();
    let now = [row("C3", 3000.0, 1.0), row("C2", 1000.0, 1.0), row("C1", 2500.0, 1.0)];
    let regressions = compare(then, &now, 10.0).unwrap().regressions();
    assert_eq!(
        regressions.as_deref(),
        Some(
            "slower than then.csv by more than 10%: \
             C3 of 100 on 2 threads (2.00 µs to 3.00 µs, +50.0%), \
             C1 of 100 on 2 threads (2.00 µs to 2.50 µs, +25.0%)"
        )
    );
}

#[test]
fn rows_without_a_counterpart_are_named_and_not_compared() {
    let other_count = Row { count: 7, ..row("C2", 1.0, 0.0) };
    let then = vec![row("C1", 100.0, 0.0), row("C2", 100.0, 0.0)];
    let now = [row("C1", 100.0, 0.0), other_count];
    let comparison = compare(then, &now, 5.0).unwrap();
    let text = comparison.text();
    assert!(comparison.regressions().is_none());
    assert!(text.contains("only in the baseline: C2 of 100 on 2 threads\n"), "{text}");
    assert!(text.contains("not in the baseline: C2 of 7 on 2 threads\n"), "{text}");
    assert!(text.contains("1 of 1 rows"), "{text}");
}

#[test]
fn rows_of_something_else_have_nothing_in_common() {
    let then = || vec![row("C1", 100.0, 0.0), row("C2", 100.0, 0.0)];
    let differing: [fn(&mut Row); 6] = [
        |r| r.kind = Kind::Stage,
        |r| r.threads = 1,
        |r| r.simd = "portable".to_owned(),
        |r| r.model = "horse.glb".to_owned(),
        |r| r.clips = "Run".to_owned(),
        |r| r.mask = Some("Spine".to_owned()),
    ];
    for change in differing {
        let mut now = row("C1", 100.0, 0.0);
        change(&mut now);
        let error = compare(then(), &[now], 5.0).unwrap_err().to_string();
        let begin = "then.csv: none of its 2 rows matches a row of this run";
        assert!(error.starts_with(begin), "{error}");
    }
    // Rows of another machine are compared, with a note.
    let mut now = row("C1", 100.0, 0.0);
    now.cpu = "slide rule".to_owned();
    let text = compare(then(), &[now], 5.0).unwrap().text();
    let warning = "processor differs: baseline \"abacus\", here \"slide rule\"";
    assert!(text.contains(warning), "{text}");
}
