//! Calls on many instances are the single calls in order: the same bits, handles and errors, all or nothing.

use phalanx::crowd::{
    BoneBuffer, ClipId, Crowd, CrowdError, InstanceId, MAX_INSTANCES, PlayOptions, Playable, RigId,
};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain;
use phalanx_testkit::lively::{Dice, palettes_hash};
use phalanx_testkit::ruler::{ruler, shift};

/// Two rigs in one crowd; the second has a blend space, too.
struct Stage {
    crowd: Crowd,
    rigs: [RigId; 2],
    motions: [Vec<Playable>; 2],
    all: Vec<InstanceId>,
}

impl Stage {
    fn new() -> Self {
        let mut crowd = Crowd::with_tag(5).unwrap();
        let rigs = [chain::rig(), ruler()].map(|rig| crowd.add_rig(rig).unwrap());
        let clips = |rig| (0..3).map(move |c| (rig, c));
        let mut motions = rigs.map(|rig| {
            let clips = clips(rig).map(|(rig, c)| crowd.clip_by_index(rig, c).unwrap());
            clips.collect::<Vec<ClipId>>()
        });
        let space = [(0.0, motions[1][0]), (1.0, motions[1][1])];
        let space = crowd.add_blend_space(rigs[1], &space).unwrap();
        let mut all: [Vec<Playable>; 2] =
            motions.each_mut().map(|clips| clips.drain(..).map(Playable::Clip).collect());
        all[1].push(Playable::Space(space));
        Self { crowd, rigs, motions: all, all: Vec::new() }
    }

    fn motion(&self, instance: InstanceId, n: usize) -> Playable {
        let own = &self.motions[usize::from(instance.rig() == self.rigs[1])];
        own[n % own.len()]
    }
}

fn options(dice: &mut Dice) -> PlayOptions {
    PlayOptions {
        speed: dice.among(&[1.0, -0.5, 2.0]),
        time: dice.among(&[0.0, 0.3, 7.1]),
        weight: dice.among(&[1.0, 0.4]),
        fade_in: dice.among(&[0.0, 0.2]),
        parameter: 0.3.into(),
        ..PlayOptions::default()
    }
}

#[test]
fn bulk_calls_are_single_calls_in_order() {
    let mut dice = Dice(1);
    let (mut many, mut single) = (Stage::new(), Stage::new());
    let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
    let mut played = 0;
    let foreign = {
        let mut crowd = Crowd::with_tag(6).unwrap();
        let rig = crowd.add_rig(ruler()).unwrap();
        crowd.spawn(rig).unwrap()
    };
    for step in 0..3000 {
        let call = dice.below(10);
        // Also handles that are listed twice, and now and then one that is gone.
        let alive: Vec<InstanceId> = many.crowd.instances().collect();
        let pick = |dice: &mut Dice| match dice.below(60) {
            0 if !many.all.is_empty() => many.all[dice.below(many.all.len())],
            _ if alive.is_empty() => foreign,
            _ => alive[dice.below(alive.len())],
        };
        let count = dice.below(12);
        let mut list: Vec<InstanceId> = (0..count).map(|_| pick(&mut dice)).collect();
        if dice.below(2) == 0 {
            list.sort();
        }
        let n = dice.below(4);
        let motions: Vec<Playable> = list.iter().map(|&i| many.motion(i, n)).collect();
        let before = many.crowd.snapshot();
        let crowds = (&mut many.crowd, &mut single.crowd);
        let values: Vec<f32> = list.iter().map(|_| dice.below(9) as f32 / 8.0).collect();
        let times: Vec<f64> = values.iter().map(|&v| f64::from(v) * 3.0 - 1.0).collect();
        let how = options(&mut dice);
        let done = match call {
            0 if alive.len() < 200 => {
                let rig = many.rigs[dice.below(2)];
                many.all.truncate(0);
                crowds.0.spawn_many(rig, count, &mut many.all).unwrap();
                let ids: Vec<_> = (0..count).map(|_| crowds.1.spawn(rig).unwrap()).collect();
                assert_eq!(many.all, ids);
                continue;
            }
            1 if dice.below(3) == 0 => {
                let done = crowds.0.despawn_many(&list);
                let each = |c: &mut Crowd, n: usize| c.despawn(list[n]);
                check(done, crowds.1, count, each)
            }
            2 | 3 => {
                let done = crowds.0.play_many(&list, 0, &motions, &[how]);
                let each = |c: &mut Crowd, n: usize| c.play(list[n], motions[n], &how);
                check(done, crowds.1, count, each)
            }
            4 => {
                let fades = values.iter().map(|&fade_in| PlayOptions { fade_in, ..how });
                let done = crowds.0.play_many(&list, 0, &motions, &fades.collect::<Vec<_>>());
                let each =
                    |c: &mut Crowd, n: usize| c.fade_to(list[n], motions[n], values[n], &how);
                check(done, crowds.1, count, each)
            }
            5 => {
                let done = crowds.0.fade_many(&list, 0, &motions, &values, &[0.3]);
                let each = |c: &mut Crowd, n: usize| {
                    c.player(list[n])?.fade(0, motions[n], values[n], 0.3)
                };
                check(done, crowds.1, count, each)
            }
            6 => {
                let done = crowds.0.set_times(&list, 0, &motions, &times);
                let each =
                    |c: &mut Crowd, n: usize| c.player(list[n])?.set_time(0, motions[n], times[n]);
                check(done, crowds.1, count, each)
            }
            7 => {
                let done = crowds.0.fade_many(&list, 0, &motions, &values, &[0.0]);
                let each = |c: &mut Crowd, n: usize| {
                    c.player(list[n])?.set_weight(0, motions[n], values[n])
                };
                check(done, crowds.1, count, each)
            }
            8 => {
                let worlds: Vec<Affine3x4> = values.iter().map(|&v| shift(v)).collect();
                let shown: Vec<bool> = values.iter().map(|&v| v > 0.2).collect();
                let done = crowds.0.set_worlds(&list, &worlds);
                let each = |c: &mut Crowd, n: usize| c.set_world(list[n], worlds[n]);
                let one = check(done, crowds.1, count, each);
                let done = crowds.0.set_scheduled_many(&list, &shown);
                let each = |c: &mut Crowd, n: usize| c.set_scheduled(list[n], shown[n]);
                let two = check(done, crowds.1, count, each);
                let done = crowds.0.set_visible_many(&list, &shown);
                let each = |c: &mut Crowd, n: usize| c.set_visible(list[n], shown[n]);
                one && two && check(done, crowds.1, count, each)
            }
            _ => {
                for crowd in [crowds.0, crowds.1] {
                    crowd.advance(0.05).unwrap();
                }
                continue;
            }
        };
        played += usize::from(done);
        if !done {
            assert!(many.crowd.snapshot() == before, "step {step}: {call}");
        }
        assert!(many.crowd.snapshot() == single.crowd.snapshot(), "step {step}: {call}");
        if step % 16 == 0 {
            many.crowd.evaluate(&mut buffers[0]);
            single.crowd.evaluate(&mut buffers[1]);
            let hashes = [
                palettes_hash(&many.crowd, &buffers[0]),
                palettes_hash(&single.crowd, &buffers[1]),
            ];
            assert_eq!(hashes[0], hashes[1]);
        }
    }
    assert!(played > 1000, "{played}");
}

/// Makes the single calls if the bulk call was accepted. If it was not, they find the same first error. Returns whether
/// it was accepted.
#[track_caller]
fn check(
    done: Result<(), CrowdError>,
    crowd: &mut Crowd,
    count: usize,
    each: impl Fn(&mut Crowd, usize) -> Result<(), CrowdError>,
) -> bool {
    let before = crowd.snapshot();
    let first = (0..count).find_map(|element| {
        let refused = each(crowd, element).err();
        refused.map(|refused| CrowdError::Element { element, source: Box::new(refused) })
    });
    assert_eq!(done.err(), first);
    if first.is_some() {
        crowd.restore(&before).unwrap();
    }
    first.is_none()
}

#[test]
fn arrays_of_other_lengths_are_refused() {
    let mut stage = Stage::new();
    let mut all = Vec::new();
    stage.crowd.spawn_many(stage.rigs[0], 3, &mut all).unwrap();
    let motion = stage.motions[0][0];
    stage.crowd.play_many(&all, 0, &[motion], &[PlayOptions::default()]).unwrap();
    let before = stage.crowd.snapshot();
    let refused = |what, values| Err(CrowdError::Lengths { what, values, instances: 3 });
    let c = &mut stage.crowd;
    assert_eq!(c.set_worlds(&all, &[shift(1.0); 2]), refused("worlds", 2));
    assert_eq!(c.set_worlds(&all, &[]), refused("worlds", 0));
    assert_eq!(c.set_times(&all, 0, &[motion], &[0.0; 4]), refused("times", 4));
    assert_eq!(c.fade_many(&all, 0, &[motion; 2], &[0.5], &[0.0]), refused("motions", 2));
    let error = c.play_many(&all, 0, &[motion], &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "options: 0 values for 3 instances; one for all or one each are needed"
    );
    // One value that is refused counts as the first element's.
    let error = c.fade_many(&all, 0, &[motion], &[0.5, 0.5, 2.0], &[0.0]).unwrap_err();
    assert_eq!(error.to_string(), "element 2: weight is 2; the allowed range is 0 to 1");
    let nan = PlayOptions { speed: f32::NAN, ..PlayOptions::default() };
    let error = c.play_many(&all, 0, &[motion], &[nan]).unwrap_err();
    assert!(matches!(error, CrowdError::Element { element: 0, .. }), "{error}");
    assert_eq!(c.set_worlds(&[], &[]), Ok(()));
    assert!(c.snapshot() == before);
    assert_eq!(
        c.spawn_many(stage.rigs[0], MAX_INSTANCES - 2, &mut all),
        Err(CrowdError::Limit {
            what: "instances of one rig",
            count: MAX_INSTANCES + 1,
            limit: MAX_INSTANCES
        })
    );
    assert!(c.spawn_many(stage.rigs[0], usize::MAX, &mut all).is_err());
    assert!(all.len() == 3 && c.snapshot() == before);
}

/// The arrays of a rig are what the single queries return.
#[test]
fn a_view_shows_all_instances() {
    let mut stage = Stage::new();
    let mut dice = Dice(5);
    let mut all = Vec::new();
    for rig in stage.rigs {
        stage.crowd.spawn_many(rig, 30, &mut all).unwrap();
    }
    for &i in &all {
        for n in 0..dice.below(4) {
            let motion = stage.motion(i, n);
            stage.crowd.fade_to(i, motion, 0.5, &options(&mut dice)).unwrap();
        }
        stage.crowd.set_world(i, shift(dice.below(9) as f32)).unwrap();
        stage.crowd.set_visible(i, dice.below(2) == 0).unwrap();
        stage.crowd.set_scheduled(i, dice.below(2) == 0).unwrap();
        if dice.below(5) == 0 {
            stage.crowd.despawn(i).unwrap();
        }
    }
    stage.crowd.advance(0.1).unwrap();
    let crowd = &stage.crowd;
    let views = stage.rigs.map(|rig| crowd.view(rig).unwrap());
    assert!(views.iter().flat_map(|v| v.instances()).eq(crowd.instances()));
    let mut actions = 0;
    for view in views {
        assert!(view.alive.len() == 30 && view.speeds.len() == 30);
        assert_eq!(view.alive.iter().filter(|a| **a).count(), view.instances().count());
        assert!(view.visible.contains(&false) && view.scheduled.contains(&false));
        for (instance, playing) in view.playing() {
            assert!(view.alive[instance.index()]);
            assert_eq!(view.worlds[instance.index()], *crowd.world(instance).unwrap());
            let own = crowd.playing(instance).unwrap();
            assert!(playing.actions(0).unwrap().eq(own.actions(0).unwrap()));
            for (_, state) in playing.actions(0).unwrap() {
                assert!((0.0..=0.5).contains(&state.fade_left));
                assert_eq!(state.fade_left > 0.0, state.weight != state.target);
                actions += 1;
            }
        }
    }
    assert!(actions > 30, "{actions}");
    let gone = all.iter().find(|&&i| crowd.playing(i).is_err()).unwrap();
    assert!(!crowd.view(gone.rig()).unwrap().alive[gone.index()]);
}
