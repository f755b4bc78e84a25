//! Times, fades, events, root motion, worlds and joints on request do not depend on tiers, to the bit.

use super::{actions, camera, shared};
use phalanx::crowd::{
    BoneBuffer, ClipId, Crowd, CrowdError, InstanceId, PlayOptions, PoseSpace, PoseStage, RATES,
    RigId, Tier, TierDetail, Tiers,
};
use phalanx::playback::EventKinds;
use phalanx::scene::SceneGraph;
use phalanx_testkit::lively::{Dice, Lively};
use phalanx_testkit::ruler::shift;

/// A crowd with the scene of its mirrors.
struct Host {
    lively: Lively,
    scene: SceneGraph,
    bones: BoneBuffer,
}

/// What a call on many instances, or one that has no handle, came to.
type Done = Result<(), CrowdError>;

impl Host {
    fn new() -> Self {
        Self { lively: Lively::new(), scene: SceneGraph::new(), bones: BoneBuffer::new() }
    }

    fn crowd(&mut self) -> &mut Crowd {
        &mut self.lively.crowd
    }

    fn instances(&self, rig: RigId) -> Vec<InstanceId> {
        self.lively.crowd.view(rig).unwrap().instances().collect()
    }

    /// A call on up to five neighbours at once.
    fn bulk(&mut self, dice: &mut Dice) -> Done {
        let rig = dice.among(&self.lively.rigs);
        let mut some = self.instances(rig);
        let from = dice.below(some.len().max(1));
        some = some.into_iter().skip(from).take(5).collect();
        let clip = |crowd: &Crowd, n| crowd.clip_by_index(rig, n).unwrap();
        let crowd = self.crowd();
        let clips: [ClipId; 2] = [dice.below(3), dice.below(3)].map(|n| clip(crowd, n));
        let options = [PlayOptions {
            time: dice.among(&[0.0, 0.4, 3.1]),
            speed: dice.among(&[1.0, -1.5, 0.0]),
            ..PlayOptions::default()
        }];
        let seconds = [dice.among(&[0.0, 0.25, 0.8])];
        match dice.below(10) {
            0 => {
                let few = crowd.view(rig).unwrap().alive.len() < 40;
                if few {
                    crowd.spawn_many(rig, 3, &mut some).unwrap();
                    // Not from rest: where they begin is what they are asked for.
                    return crowd.play_many(&some, 0, &clips[..1], &options);
                }
                Ok(())
            }
            1 => crowd.despawn_many(&some[..some.len().min(2)]),
            2 => crowd.play_many(&some, 0, &clips[..1], &options),
            3 => {
                let fades = [PlayOptions { fade_in: seconds[0], ..options[0] }];
                crowd.play_many(&some, 0, &clips[..1], &fades)
            }
            4 => crowd.fade_many(&some, 0, &clips[..1], &[0.3], &seconds),
            5 => crowd.set_times(&some, 0, &clips[..1], &[0.2]),
            6 => {
                let x = dice.below(40) as f32 - 20.0;
                crowd.set_worlds(&some, &[super::at([x, 0.0, -15.0])])
            }
            7 => crowd.set_scheduled_many(&some, &[dice.below(3) > 0]),
            8 => crowd.set_visible_many(&some, &[dice.below(4) > 0]),
            _ => {
                let locals: Vec<_> = some.iter().map(|_| shift(0.2)).collect();
                crowd.set_overrides(rig, &[1], &some, &locals, PoseSpace::Local, &[1.0])
            }
        }
    }

    /// What is listened to, tracked, applied, watched and mirrored changes now and then.
    fn settings(&mut self, dice: &mut Dice) {
        let Self { lively, scene, .. } = self;
        let rig = dice.among(&lively.rigs);
        let crowd = &mut lively.crowd;
        let some = crowd.view(rig).unwrap().instances().next();
        match dice.below(8) {
            0 => crowd
                .set_event_filter(rig, dice.among(&[EventKinds::ALL, EventKinds::NONE]))
                .unwrap(),
            1 => crowd.set_event_filter(rig, EventKinds::ALL).unwrap(),
            2 => crowd.track_root_motion(rig, dice.below(3) > 0).unwrap(),
            // Refused for a rig whose clips have none.
            3 => drop(crowd.apply_root_motion(rig, dice.below(3) > 0)),
            4 => crowd.watch(rig, &[1], PoseStage::After).unwrap(),
            5 => crowd.unwatch(rig, &[1], PoseStage::After).unwrap(),
            _ => {
                if let Some(i) = some {
                    let joints: &[usize] = if dice.below(2) == 0 { &[1] } else { &[0, 1] };
                    // Refused if it has a mirror of fewer joints.
                    let _ = crowd.mirror(i, scene, Some(joints));
                }
            }
        }
    }

    /// A round of calls, a step and a frame. Returns what the calls on many instances came to.
    fn round(&mut self, dice: &mut Dice) -> Vec<Done> {
        let mut done = Vec::new();
        for _ in 0..dice.below(6) {
            self.lively.call(dice);
        }
        if dice.below(3) == 0 {
            done.push(self.bulk(dice));
        }
        if dice.below(10) == 0 {
            self.settings(dice);
        }
        self.lively.step(dice);
        let Self { lively, scene, bones } = self;
        lively.crowd.evaluate(bones);
        lively.crowd.update_scene(scene);
        done
    }

    /// The root motions of a rig's step, as bits.
    fn roots(&self, rig: RigId) -> (Vec<InstanceId>, Vec<u32>) {
        let roots = self.lively.crowd.root_motion(rig).unwrap();
        let places = roots.translations.iter().flat_map(|t| t.to_array());
        let numbers = places.chain(roots.rotations.iter().flat_map(|r| r.to_array()));
        (roots.instances.to_vec(), numbers.map(|v| v.to_bits()).collect())
    }
}

/// Tiers of any kind.
fn tiers(dice: &mut Dice) -> Tiers {
    let count = 1 + dice.below(4);
    let tiers = (0..count).map(|n| Tier {
        height: 100.0 * (count - 1 - n) as f32,
        rate: dice.among(&RATES),
        interpolate: dice.below(2) == 0,
        shared_error: match dice.below(3) {
            0 => None,
            1 => Some(0.01 * (1 << dice.below(9)) as f32),
            _ => Some(0.02),
        },
        detail: (dice.below(3) == 0).then(|| TierDetail {
            level: dice.below(2),
            leave_out: vec!["tip".into(), "joint7".into()],
        }),
        springs: true,
    });
    let tiers = tiers.collect();
    Tiers {
        tiers,
        hysteresis: dice.among(&[0.0, 0.1, 1.0]),
        max_age: dice.among(&[1, 5, 32]),
        shadows: dice.among(&[None, Some(count - 1)]),
    }
}

/// Changes what decides about tiers, but in a crowd without them: views, importances, budgets.
fn decide(crowd: &mut Crowd, rigs: &[RigId], dice: &mut Dice) {
    if crowd.tiers().is_none() {
        return;
    }
    let views: Vec<_> = (0..dice.below(3))
        .map(|_| {
            let mut view = camera(0.7 * dice.below(9) as f32);
            view.shadows = dice.below(3) == 0;
            view
        })
        .collect();
    match views.is_empty() {
        true => crowd.clear_views().unwrap(),
        false => crowd.set_views(&views).unwrap(),
    }
    for &rig in rigs {
        let places = crowd.view(rig).unwrap().alive.len();
        let heights: Vec<f32> =
            (0..places).map(|_| dice.among(&[0.0, 50.0, 150.0, 250.0, f32::INFINITY])).collect();
        let given = if dice.below(3) == 0 { 0 } else { places };
        crowd.set_importances(rig, &heights[..given]).unwrap();
    }
    let budget = dice.among(&[None, Some(0), Some(5), Some(30)]);
    crowd.set_budget(budget).unwrap();
}

/// What tiers did in a run, in instances and frames.
#[derive(Debug, Default)]
struct Seen {
    shared: usize,
    held: usize,
    waiting: usize,
    out: usize,
    between: usize,
    events: usize,
    roots: usize,
    mirrored: usize,
}

impl Seen {
    fn look(&mut self, host: &Host) {
        let crowd = &host.lively.crowd;
        let Some(stats) = crowd.tier_stats() else {
            return;
        };
        for tier in &stats.tiers {
            self.shared += tier.shared;
            self.held += tier.held;
            self.waiting += tier.waiting;
        }
        self.out += stats.out;
        let pairs = crowd.instances().filter_map(|i| crowd.shown(i));
        self.between += pairs.filter(|pair| pair.factor > 0.0).count();
        self.events += crowd.events().len();
        self.mirrored += host.scene.node_count();
    }
}

/// The same calls on a crowd without tiers and on one whose tiers change in a share of the frames: 1 of `every`.
/// Views, importances and budgets change in all of them.
fn run(seed: u32, every: usize, rounds: usize) -> Seen {
    let (mut dice, mut choices) = (Dice(seed), Dice(seed + 1000));
    let (mut plain, mut tiered) = (Host::new(), Host::new());
    tiered.crowd().set_tiers(Some(shared(16))).unwrap();
    let mut seen = Seen::default();
    for round in 0..rounds {
        let at = || format!("seed {seed}, round {round}");
        if choices.below(every) == 0 {
            let new = (choices.below(8) > 0).then(|| tiers(&mut choices));
            tiered.crowd().set_tiers(new).unwrap();
        }
        let rigs = tiered.lively.rigs.clone();
        decide(tiered.crowd(), &rigs, &mut choices);
        if choices.below(60) == 0 {
            // As it was.
            let saved = tiered.lively.crowd.snapshot();
            tiered.crowd().restore(&saved).unwrap();
        }
        let mut again = dice.clone();
        let done = plain.round(&mut dice);
        assert_eq!(tiered.round(&mut again), done, "{}", at());
        let [a, b] = [&plain, &tiered].map(|host| &host.lively.crowd);
        assert!(a.events() == b.events(), "{}", at());
        assert_eq!(a.dropped_events(), b.dropped_events(), "{}", at());
        for &rig in &rigs {
            let roots = plain.roots(rig);
            assert_eq!(tiered.roots(rig), roots, "{}", at());
            assert_eq!(actions(b, rig), actions(a, rig), "{}", at());
            seen.roots += roots.0.len();
        }
        assert_eq!(plain.scene.world_arrays(), tiered.scene.world_arrays(), "{}", at());
        if let Some(i) = a.instances().nth(round % 7) {
            assert_eq!(a.model_matrices(i), b.model_matrices(i), "{}", at());
            assert_eq!(a.bounds(i), b.bounds(i), "{}", at());
        }
        seen.look(&tiered);
        if round % 8 == 0 {
            // Everything that playback knows, world transforms included.
            let wanted = a.snapshot().to_bytes();
            assert!(b.snapshot().to_bytes() == wanted, "{}", at());
        }
    }
    seen
}

#[test]
fn what_plays_does_not_depend_on_tiers() {
    for (seed, every, rounds) in
        [(1, 1, 1000), (2, 1, 1000), (3, 12, 1000), (4, 40, 1000), (5, 40, 1600)]
    {
        let seen = run(seed, every, rounds);
        // Tiers that are new in every frame have nothing to hold.
        let kept = [seen.held, seen.waiting, seen.between];
        let new = [seen.shared, seen.out, seen.events, seen.roots, seen.mirrored];
        assert!(new.iter().all(|&n| n > 1000), "seed {seed}: {seen:?}");
        assert!(every == 1 || kept.iter().all(|&n| n > 1000), "seed {seed}: {seen:?}");
    }
}
