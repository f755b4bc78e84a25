//! The table of cases: groups that are sampled in turn, and the aims between their cases.

use super::case::{Case, Kind};
use super::measure::Figure;
use crate::Workload;

/// Sizes of the crowds and of the libraries; the aims are for the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Characters of the largest crowds, at least 200. The others have 2/5 and 1/10 of it.
    pub count: usize,
    /// Clips of the largest library, at least 3. The others have 1/10, 1/100 and 3.
    pub clips: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { count: 10_000, clips: 3_000 }
    }
}

/// Cases whose samples are taken in turn.
#[derive(Clone, Debug)]
pub struct Group {
    /// A short name.
    pub name: &'static str,
    /// The cases.
    pub cases: Vec<Case>,
    /// Numbers that are computed from the figures of the cases, with their aims.
    pub aims: Vec<Aim>,
}

/// A number that is read from the figures of a group, by indices of its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Median time per character of the first case, over the second.
    Ratio(usize, usize),
    /// Median time per character of the first case less that of the second, in nanoseconds.
    More(usize, usize),
    /// Largest over median of the least times per frame of all replays.
    WorstFrame(usize),
    /// How many times as fast the second is as the first; at least, not at most.
    Speed(usize, usize),
    /// The share of a frame that runs on one thread: of the same case on one thread and on n threads. With sums T1
    /// and Tn of the least times per frame, Amdahl's law gives (n · Tn / T1 − 1) / (n − 1).
    SerialShare(usize, usize),
}

/// A number and its aim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The number.
    pub measured: Measured,
    /// Upper bound of the number, or lower bound for [`Measured::Speed`]. `None` without an aim.
    pub limit: Option<f64>,
}

impl Aim {
    /// The number, from the figures of the group's cases; `None` if it was not measured.
    pub fn value(&self, figures: &[Figure]) -> Option<f64> {
        let median = |case: usize| figures.get(case).map(|f| f.summary.median);
        match self.measured {
            Measured::Ratio(case, of) | Measured::Speed(case, of) => {
                Some(median(case)? / median(of)?)
            }
            Measured::More(case, of) => Some(median(case)? - median(of)?),
            Measured::WorstFrame(case) => figures.get(case)?.worst_over_median(),
            Measured::SerialShare(one, many) => {
                let n = figures.get(many)?.case.threads as f64;
                let total = |case: usize| figures.get(case).map(|f| f.frames.iter().sum::<f64>());
                let share = (n * total(many)? / total(one)? - 1.0) / (n - 1.0);
                share.is_finite().then_some(share)
            }
        }
    }

    /// Whether a number keeps the aim; `None` without an aim.
    pub fn kept(&self, value: f64) -> Option<bool> {
        let limit = self.limit?;
        Some(match self.measured {
            Measured::Speed(..) => value >= limit,
            _ => value <= limit,
        })
    }

    /// Labels of the measured case and of the case that it is compared with. For cases of one kind they hold only the
    /// difference.
    pub fn label(&self, cases: &[Case]) -> [String; 2] {
        let of = |case: usize| cases.get(case).map(Case::to_string).unwrap_or_default();
        let threads = |case: usize| match cases.get(case).map_or(1, |case| case.threads) {
            1 => "1 thread".to_owned(),
            n => format!("{n} threads"),
        };
        match self.measured {
            Measured::More(a, b) => [of(a), format!("more than {}", of(b))],
            Measured::Ratio(a, b) => [of(a), difference(cases.get(b), cases.get(a))],
            Measured::WorstFrame(a) => [format!("worst frame of {}", of(a)), "its median".into()],
            Measured::Speed(a, b) => [format!("speed of {}", of(b)), threads(a)],
            Measured::SerialShare(a, b) => [format!("serial share of {}", of(a)), threads(b)],
        }
    }
}

/// A case as against another one.
fn difference(case: Option<&Case>, other: Option<&Case>) -> String {
    let (Some(case), Some(other)) = (case, other) else {
        return String::new();
    };
    match (case.kind, other.kind) {
        (a, b) if a == b && case.rigs != other.rigs => "1 rig".into(),
        (a, b) if a == b => format!("{} clips", case.clips),
        (Kind::AllJoints(seconds), Kind::AllJoints(_)) => format!("{seconds} s"),
        (Kind::Cubic(_), Kind::Cubic(_)) => "zeros".into(),
        (Kind::Evaluate, _) => "evaluate".into(),
        _ => case.to_string(),
    }
}

/// All groups. At other sizes than the default, numbers are computed but have no aims.
pub fn groups(sizes: &Sizes) -> Vec<Group> {
    let aims = *sizes == Sizes::default();
    let at_most = |measured, limit: f64| Aim { measured, limit: aims.then_some(limit) };
    let without_aim = |measured| Aim { measured, limit: None };
    let few = sizes.count / 10;
    let c1 = Case::new(Kind::Workload(Workload::C1), few);
    let simple = |name, of: Case, case: Case, limit| Group {
        name,
        cases: vec![of, case],
        aims: vec![at_most(Measured::Ratio(1, 0), limit)],
    };
    vec![
        Group {
            name: "workloads",
            cases: Workload::ALL.map(|w| Case::new(Kind::Workload(w), few)).into(),
            aims: Vec::new(),
        },
        variety(sizes, &at_most),
        churn(sizes, c1, &at_most),
        Group {
            name: "attachments",
            cases: [Kind::Evaluate, Kind::Swords, Kind::FullMirrors]
                .map(|kind| Case::new(kind, few))
                .into(),
            aims: vec![at_most(Measured::Ratio(1, 0), 1.35), without_aim(Measured::Ratio(2, 0))],
        },
        Group {
            name: "joints",
            cases: [Kind::Evaluate, Kind::Watched].map(|kind| Case::new(kind, few)).into(),
            aims: vec![without_aim(Measured::Ratio(1, 0))],
        },
        Group {
            name: "overrides",
            cases: vec![c1, Case::new(Kind::Overrides, few), Case::new(Kind::OverrideBatch, few)],
            aims: [1, 2].map(|case| at_most(Measured::Ratio(case, 0), 1.2)).into(),
        },
        Group {
            name: "pose",
            cases: vec![
                c1,
                Case::new(Kind::Legs, few),
                Case::new(Kind::AllPoses, few),
                Case { threads: 2, ..Case::new(Kind::Legs, few) },
                Case::new(Kind::LookAt, few),
                Case::new(Kind::Feet, few),
                Case { threads: 2, ..Case::new(Kind::Feet, few) },
                Case::new(Kind::Hook, few),
                Case::new(Kind::SetPoses, few),
                Case { threads: 2, ..Case::new(Kind::Hook, few) },
                Case { threads: 2, ..Case::new(Kind::SetPoses, few) },
                Case { clips: 9, ..Case::new(Kind::Thirds, few) },
                Case { clips: 9, ..Case::new(Kind::Plane, few) },
                Case::new(Kind::Springs(false), few),
                Case::new(Kind::Springs(true), few),
                Case::new(Kind::Workload(Workload::C2), few),
                Case::new(Kind::Inertial, few),
            ],
            aims: vec![
                at_most(Measured::More(1, 0), 250.0),
                at_most(Measured::More(2, 0), 400.0),
                at_most(Measured::Speed(1, 3), 1.8),
                at_most(Measured::More(4, 0), 120.0),
                at_most(Measured::More(5, 0), 400.0),
                at_most(Measured::Speed(5, 6), 1.8),
                at_most(Measured::More(7, 0), 150.0),
                at_most(Measured::More(8, 0), 300.0),
                at_most(Measured::Speed(7, 9), 1.8),
                at_most(Measured::Speed(8, 10), 1.8),
                at_most(Measured::Ratio(12, 11), 1.05),
                at_most(Measured::More(14, 13), 1200.0),
                at_most(Measured::Ratio(16, 15), 0.95),
            ],
        },
        rigs(sizes, &at_most),
        simple("mixers", c1, Case::new(Kind::Mixers, few), 1.3),
        Group {
            name: "long-clips",
            cases: [2, 60, 600].map(|s| Case::new(Kind::AllJoints(s), few)).into(),
            aims: vec![at_most(Measured::Ratio(1, 0), 1.2), at_most(Measured::Ratio(2, 0), 1.35)],
        },
        simple("cubic", Case::new(Kind::Cubic(false), few), Case::new(Kind::Cubic(true), few), 1.1),
    ]
}

/// Sizes of libraries, without duplicates: three clips, then a hundredth, a tenth and all.
fn ladder(sizes: &Sizes) -> Vec<usize> {
    let all = sizes.clips.max(3);
    let mut steps = vec![3, (all / 100).max(3), (all / 10).max(3), all];
    steps.dedup();
    steps
}

fn variety(sizes: &Sizes, at_most: &dyn Fn(Measured, f64) -> Aim) -> Group {
    let mut group = Group { name: "variety", cases: Vec::new(), aims: Vec::new() };
    for kind in [Kind::OneClip, Kind::TwoClips] {
        let first = group.cases.len();
        for clips in ladder(sizes) {
            let case = group.cases.len();
            group.cases.push(Case { clips, ..Case::new(kind, sizes.count * 2 / 5) });
            let ratio = Measured::Ratio(case, first);
            // A hundredth of the clips shows where the curve begins to rise; it has no aim.
            if clips >= sizes.clips {
                group.aims.push(at_most(ratio, 1.7));
            } else if case > first && clips >= sizes.clips / 10 {
                group.aims.push(at_most(ratio, 1.25));
            }
        }
    }
    group
}

fn churn(sizes: &Sizes, c1: Case, at_most: &dyn Fn(Measured, f64) -> Aim) -> Group {
    let mut cases = vec![c1];
    let mut aims = Vec::new();
    let mut steps = ladder(sizes);
    if steps.len() > 1 && steps[1] > 3 {
        steps.remove(0);
    }
    for (&clips, limit) in steps.iter().zip([2.0, 2.3, 3.4]) {
        aims.push(at_most(Measured::Ratio(cases.len(), 0), limit));
        cases.push(Case { clips, ..Case::new(Kind::Churn, sizes.count) });
    }
    aims.extend((1..cases.len()).map(|case| at_most(Measured::WorstFrame(case), 1.5)));
    // The library of middle size.
    let middle = cases.len() / 2;
    aims.push(at_most(Measured::SerialShare(middle, cases.len()), 0.02));
    cases.push(Case { threads: 2, ..cases[middle] });
    Group { name: "churn", cases, aims }
}

fn rigs(sizes: &Sizes, at_most: &dyn Fn(Measured, f64) -> Aim) -> Group {
    let count = sizes.count;
    let mut cases = Vec::new();
    for threads in [1, 2] {
        for rigs in [1, count / 100, count / 10] {
            cases.push(Case { rigs, threads, ..Case::new(Kind::Rigs, count / rigs * rigs) });
        }
    }
    let of = |case: usize| case / 3 * 3;
    let ratio = |(case, limit): (usize, f64)| at_most(Measured::Ratio(case, of(case)), limit);
    let mut aims: Vec<Aim> = [(2, 1.5), (1, 1.15), (5, 1.5), (4, 1.15)].map(ratio).into();
    aims.extend([2, 1].map(|case| at_most(Measured::Speed(case, case + 3), 1.6)));
    Group { name: "rigs", cases, aims }
}
