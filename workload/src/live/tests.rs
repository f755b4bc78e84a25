//! Living crowds compute the same bits in every run and for any number of threads.

use super::*;
use crate::subject::{Subject, SubjectOptions};
use phalanx::clip::Channel;
use std::collections::HashSet;
use std::sync::Arc;

fn models() -> Models {
    let subject = Subject::load(None, &SubjectOptions::default()).unwrap();
    Models::new(&subject.rig, &subject.clips)
}

const SMALL: Sizes = Sizes { count: 200, clips: 30 };

fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
}

/// The hash of a case after some frames.
fn hash(case: &Case, models: &mut Models, threads: usize) -> u64 {
    pool(threads).install(|| {
        let mut scene = case.scene(models).unwrap();
        (0..25).for_each(|_| scene.frame().unwrap());
        assert_eq!(scene.characters(), case.count, "{case}");
        scene.hash()
    })
}

#[test]
fn bits_are_equal_for_any_number_of_threads() {
    let mut models = models();
    let mut seen = HashSet::new();
    for case in groups(&SMALL).into_iter().flat_map(|group| group.cases) {
        // Long clips differ from short ones by their memory alone.
        if matches!(case.kind, Kind::AllJoints(60..)) || !seen.insert((case.kind, case.rigs)) {
            continue;
        }
        let [one, two] = [1, 2].map(|threads| hash(&case, &mut models, threads));
        assert_eq!(one, two, "{case}");
    }
    assert_eq!(seen.len(), 30);
}

#[test]
fn variants_are_all_different() {
    let mut models = models();
    let rig = models.library(30).unwrap();
    let hashes: HashSet<u64> = rig.clips().iter().map(|c| c.content_hash()).collect();
    assert_eq!(hashes.len(), 30);
    for clip in rig.clips() {
        assert!((0.9..=3.1).contains(&clip.duration()), "{}", clip.name());
    }
    let again = self::models().library(30).unwrap();
    assert!(
        rig.clips().iter().zip(again.clips()).all(|(a, b)| a.content_hash() == b.content_hash())
    );
}

#[test]
fn copies_share_nothing() {
    let copies = models().copies(2).unwrap();
    assert!(!Arc::ptr_eq(&copies[0], &copies[1]));
    assert!(!Arc::ptr_eq(copies[0].skeleton(), copies[1].skeleton()));
    assert!(!Arc::ptr_eq(&copies[0].clips()[0], &copies[1].clips()[0]));
    assert_eq!(copies[0].palette_len(), models().rig().palette_len());
}

#[test]
fn long_clips_move_all_joints() {
    let rig = models().long(2).unwrap();
    let joints = rig.skeleton().len();
    for clip in rig.clips() {
        assert_eq!(clip.duration(), 2.0);
        let moving = clip.blocks(Channel::Rotation).iter();
        let moving: u32 = moving.map(|b| b.moving.count_ones()).sum();
        assert_eq!(moving as usize, joints, "{}", clip.name());
    }
}

#[test]
fn cases_are_named_once_in_a_group() {
    for sizes in [SMALL, Sizes::default()] {
        for group in groups(&sizes) {
            let names: HashSet<String> = group.cases.iter().map(Case::to_string).collect();
            assert_eq!(names.len(), group.cases.len(), "{}", group.name);
        }
    }
}

#[test]
fn a_group_is_measured() {
    let mut models = models();
    let pools = [pool(1), pool(2)];
    let options = MeasureOptions { budget: std::time::Duration::from_micros(10), frames: 5 };
    for group in groups(&SMALL) {
        if !["churn", "attachments", "joints"].contains(&group.name) {
            continue;
        }
        let mut steps = 0;
        let figures = measure(&group, &mut models, &pools, &options, &mut |_| steps += 1).unwrap();
        assert_eq!(steps, group.steps());
        assert_eq!(figures.len(), group.cases.len());
        for figure in &figures {
            let frames = if figure.case.kind == Kind::Churn { 5 } else { 0 };
            assert_eq!(figure.frames.len(), frames, "{}", figure.case);
        }
        for aim in &group.aims {
            let value = aim.value(&figures).unwrap();
            assert!(value.is_finite(), "{:?}", aim.label(&group.cases));
            assert_eq!(aim.kept(value), None);
        }
    }
    let one = measure(&groups(&SMALL)[2], &mut models, &pools[..1], &options, &mut |_| ());
    assert!(matches!(one, Err(LiveError::Threads { threads: 2 })));
}
