//! Ages, fairness and counts, whatever a host does.

use super::{DT, at, camera, chains, exact, one, palettes};
use phalanx::crowd::{
    BoneBuffer, Crowd, InstanceId, PlayOptions, RATES, RigId, Tier, TierFrame, Tiers,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{ActionState, Playable};
use phalanx::rig::Rig;
use phalanx_testkit::chain::sharing_error;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What a host does before a frame.
#[derive(Clone, Debug)]
enum Call {
    Spawn(u8),
    Despawn(usize),
    Play(usize, usize),
    Fade(usize, usize, f32),
    Override(usize),
    Visible(usize, bool),
    /// Puts an instance somewhere else, far or near.
    Teleport(usize, i8, i8),
    /// Turns the camera to this many eighths.
    Turn(u8),
    /// No views: all instances are in the picture.
    NoViews,
    Importances(u64),
    Tiers(Vec<(u8, bool)>, u32),
    Budget(Option<usize>),
}

fn tiers() -> impl Strategy<Value = (Vec<(u8, bool)>, u32)> {
    let tier = (0usize..RATES.len(), any::<bool>()).prop_map(|(r, s)| (RATES[r], s));
    (prop::collection::vec(tier, 1..4), 1u32..20)
}

fn call() -> impl Strategy<Value = Call> {
    let some = 0usize..1000;
    prop_oneof![
        (1u8..4).prop_map(Call::Spawn),
        some.clone().prop_map(Call::Despawn),
        (some.clone(), 0usize..3).prop_map(|(i, c)| Call::Play(i, c)),
        (some.clone(), 0usize..3, 0.0f32..0.3).prop_map(|(i, c, s)| Call::Fade(i, c, s)),
        some.clone().prop_map(Call::Override),
        (some.clone(), any::<bool>()).prop_map(|(i, v)| Call::Visible(i, v)),
        (some, any::<i8>(), any::<i8>()).prop_map(|(i, x, z)| Call::Teleport(i, x, z)),
        (0u8..8).prop_map(Call::Turn),
        Just(Call::NoViews),
        any::<u64>().prop_map(Call::Importances),
        tiers().prop_map(|(t, age)| Call::Tiers(t, age)),
        prop::option::of(0usize..60).prop_map(Call::Budget),
    ]
}

/// Tiers of these rates, some of which share; heights descend to 0.
fn of((rates, max_age): &(Vec<(u8, bool)>, u32)) -> Tiers {
    let count = rates.len();
    let tiers = rates.iter().enumerate().map(|(n, &(rate, shares))| Tier {
        height: (count - 1 - n) as f32 * 100.0,
        rate,
        shared_error: shares.then(|| sharing_error(8)),
        ..Tier::default()
    });
    Tiers { tiers: tiers.collect(), max_age: *max_age, ..Tiers::default() }
}

/// A crowd, what a host knows of it, and what its frames showed.
struct Host {
    crowd: Crowd,
    rig: Arc<Rig>,
    id: RigId,
    all: Vec<InstanceId>,
    bones: BoneBuffer,
    budget: Option<usize>,
    /// Exact palettes of the last frames, latest first.
    history: VecDeque<BTreeMap<InstanceId, Vec<Affine3x4>>>,
    /// Frames in a row in which an instance had a palette of its own, since tiers were last set.
    shown: BTreeMap<InstanceId, usize>,
    /// Instances whose palette has to be that of the next frame.
    changed: Vec<InstanceId>,
}

impl Host {
    fn new(count: usize, first: &(Vec<(u8, bool)>, u32)) -> Self {
        let (mut crowd, all, id, _) = chains(count);
        for (n, &i) in all.iter().enumerate() {
            let n = n as f32;
            crowd.set_world(i, at([10.0 * n.sin(), 0.0, -4.0 - n])).unwrap();
        }
        crowd.set_tiers(Some(of(first))).unwrap();
        Self {
            rig: crowd.rig(id).unwrap().clone(),
            crowd,
            id,
            all,
            bones: BoneBuffer::new(),
            budget: None,
            history: VecDeque::new(),
            shown: BTreeMap::new(),
            changed: Vec::new(),
        }
    }

    fn some(&self, n: usize) -> Option<InstanceId> {
        (!self.all.is_empty()).then(|| self.all[n % self.all.len()])
    }

    fn plays(&self, i: InstanceId) -> Vec<(Playable, ActionState)> {
        let playing = self.crowd.playing(i).unwrap();
        playing.actions(0).unwrap().collect()
    }

    /// Takes note that a call has changed what an instance plays: a motion that already plays goes on.
    fn note(&mut self, i: InstanceId, before: Vec<(Playable, ActionState)>) {
        if self.plays(i) != before {
            self.changed.push(i);
        }
    }

    fn call(&mut self, call: &Call) {
        let clip = |c: usize| self.crowd.clip_by_index(self.id, c).unwrap();
        let options = PlayOptions::default();
        match *call {
            Call::Spawn(n) => {
                for _ in 0..n {
                    let new = self.crowd.spawn(self.id).unwrap();
                    self.all.push(new);
                }
            }
            Call::Despawn(n) => {
                if let Some(i) = self.some(n) {
                    self.crowd.despawn(i).unwrap();
                    self.all.retain(|&other| other != i);
                    self.shown.remove(&i);
                    self.changed.retain(|&other| other != i);
                }
            }
            Call::Play(n, c) => {
                let clip = clip(c);
                if let Some(i) = self.some(n) {
                    let before = self.plays(i);
                    self.crowd.play(i, clip, &options).unwrap();
                    self.note(i, before);
                }
            }
            Call::Fade(n, c, seconds) => {
                let clip = clip(c);
                if let Some(i) = self.some(n) {
                    let before = self.plays(i);
                    self.crowd.fade_to(i, clip, seconds, &options).unwrap();
                    self.note(i, before);
                }
            }
            Call::Override(n) => {
                if let Some(i) = self.some(n) {
                    let local = at([0.0, 0.1 * (n % 7) as f32, 0.0]);
                    // The same matrix again changes nothing.
                    let same = {
                        let mut known = self.crowd.playing(i).unwrap().overrides();
                        known.any(|known| known == (1, &local))
                    };
                    if !same {
                        self.changed.push(i);
                    }
                    self.crowd.player(i).unwrap().set_override(1, local).unwrap();
                }
            }
            Call::Visible(n, visible) => {
                if let Some(i) = self.some(n) {
                    self.crowd.set_visible(i, visible).unwrap();
                }
            }
            Call::Teleport(n, x, z) => {
                if let Some(i) = self.some(n) {
                    let place = [f32::from(x), 0.0, f32::from(z)];
                    self.crowd.set_world(i, at(place)).unwrap();
                }
            }
            Call::Turn(eighths) => {
                let angle = f32::from(eighths) * std::f32::consts::FRAC_PI_4;
                self.crowd.set_views(&[camera(angle)]).unwrap();
            }
            Call::NoViews => self.crowd.clear_views().unwrap(),
            Call::Importances(bits) => {
                let places = self.crowd.view(self.id).unwrap().alive.len();
                let given = (0..places).map(|n| match bits >> (n % 62) & 3 {
                    0 => 0.0,
                    1 => 50.0,
                    2 => 150.0,
                    _ => f32::INFINITY,
                });
                let given: Vec<f32> = given.collect();
                self.crowd.set_importances(self.id, &given).unwrap();
            }
            Call::Tiers(ref rates, age) => {
                self.crowd.set_tiers(Some(of(&(rates.clone(), age)))).unwrap();
                self.shown.clear();
            }
            Call::Budget(budget) => {
                self.budget = budget;
                self.crowd.set_budget(budget).unwrap();
            }
        }
    }

    /// A frame, and all that has to hold in it.
    fn frame(&mut self) -> Result<(), TestCaseError> {
        self.crowd.advance(DT * 1.618).unwrap();
        let evaluated = self.crowd.evaluate(&mut self.bones).instances;
        let Self { crowd, rig, all, .. } = self;
        let visible: Vec<InstanceId> = {
            let flags = crowd.view(self.id).unwrap().visible;
            let shown = all.iter().copied().filter(|i| flags[i.index()]);
            shown.collect()
        };
        let now: BTreeMap<_, _> =
            visible.iter().copied().zip(exact(crowd, rig, &visible)).collect();
        self.history.push_front(now);
        self.history.truncate(64);
        let tiers = crowd.tiers().unwrap().clone();
        for &i in &visible {
            let (Some(tier), false) = (crowd.tier(i), crowd.shown(i).is_some_and(|s| s.shared))
            else {
                self.shown.remove(&i);
                continue;
            };
            let shown = palettes(crowd, &self.bones, &[i]).remove(0);
            let is_of = |then: &BTreeMap<InstanceId, Vec<Affine3x4>>| then.get(&i) == Some(&shown);
            let age = self.history.iter().position(is_of);
            let age = age.unwrap_or(usize::MAX);
            // Who has come into view is new, and so is who was changed by a call.
            let frames = self.shown.entry(i).or_insert(0);
            let new = *frames == 0 || self.changed.contains(&i);
            let rate = usize::from(tiers.tiers[tier].rate);
            let most = if new { 0 } else { (tiers.max_age as usize).max(rate) - 1 };
            prop_assert!(age <= most, "{i:?}, tier {tier}, {frames} frames: {age} of {most}");
            *frames += 1;
        }
        self.shown.retain(|i, _| visible.contains(i));
        self.changed.clear();
        let stats = crowd.tier_stats().unwrap();
        sums(crowd, &visible, stats, evaluated, self.budget)?;
        for (tier, now) in tiers.tiers.iter().zip(&stats.tiers) {
            let most = tiers.max_age.max(tier.rate.into()) - 1;
            prop_assert!(now.oldest <= most, "{now:?} {tier:?}");
        }
        Ok(())
    }
}

/// The counts of a frame are those of its instances, and add up.
fn sums(
    crowd: &Crowd,
    visible: &[InstanceId],
    stats: &TierFrame,
    evaluated: usize,
    budget: Option<usize>,
) -> Result<(), TestCaseError> {
    let mut all = stats.shared_evaluated;
    let (mut inside, mut waiting) = (0, 0);
    for (number, tier) in stats.tiers.iter().enumerate() {
        let members = visible.iter().filter(|&&i| crowd.tier(i) == Some(number));
        let shared = members.clone().filter(|&&i| crowd.shown(i).is_some_and(|s| s.shared));
        prop_assert_eq!(tier.instances, members.count());
        prop_assert_eq!(tier.shared, shared.count());
        prop_assert_eq!(tier.instances, tier.shared + tier.evaluated + tier.held);
        prop_assert!(tier.waiting <= tier.held);
        inside += tier.instances;
        waiting += tier.waiting;
        all += tier.evaluated;
    }
    prop_assert_eq!(stats.out, visible.len() - inside);
    prop_assert_eq!(all, evaluated);
    prop_assert!(stats.shared_evaluated <= stats.shared_palettes);
    match budget {
        None => prop_assert_eq!((waiting, stats.beyond_budget), (0, 0)),
        Some(budget) => {
            prop_assert!(all <= budget + stats.beyond_budget);
            prop_assert!(stats.beyond_budget == 0 || all == budget + stats.beyond_budget);
            // No instance waits while there is room.
            prop_assert!(waiting == 0 || all >= budget, "{waiting} wait, {all} of {budget}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// No palette is older than the greatest age or the rate; an instance new in view is of this frame; counts add up.
    #[test]
    fn ages_and_counts_hold_for_random_calls(
        count in 1usize..40,
        first in tiers(),
        frames in prop::collection::vec(prop::collection::vec(call(), 0..4), 10..50),
    ) {
        let mut host = Host::new(count, &first);
        for calls in &frames {
            calls.iter().for_each(|call| host.call(call));
            host.frame()?;
        }
    }

    /// Equally important instances take turns: their numbers of updates differ by 1 at most, and at lower rates, where
    /// they come to wait in different frames, by 3.
    #[test]
    fn a_budget_is_fair(
        count in 2usize..40,
        rate in 0usize..RATES.len(),
        share in 0.0f64..1.2,
        max_age in prop_oneof![Just(5u32), Just(32), Just(u32::MAX)],
        importance in prop_oneof![Just(None), Just(Some(1.0)), Just(Some(f32::MAX)), Just(Some(f32::INFINITY))],
    ) {
        let rate = RATES[rate];
        let (mut crowd, all, id, _) = chains(count);
        let tiers = Tiers {
            max_age,
            ..one(Tier { rate, ..Tier::default() })
        };
        crowd.set_tiers(Some(tiers)).unwrap();
        if let Some(importance) = importance {
            crowd.set_importances(id, &vec![importance; count]).unwrap();
        }
        let mut bones = BoneBuffer::new();
        crowd.evaluate(&mut bones);
        // From nothing to more than what is due.
        let budget = (share * count as f64 / f64::from(rate)) as usize;
        crowd.set_budget(Some(budget)).unwrap();
        let mut updates = vec![0usize; count];
        let mut before = palettes(&crowd, &bones, &all);
        for frame in 0..160 {
            crowd.advance(DT * 0.618).unwrap();
            let evaluated = crowd.evaluate(&mut bones).instances;
            let after = palettes(&crowd, &bones, &all);
            let changed: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
            // A palette that is evaluated is another one.
            prop_assert_eq!(changed.iter().filter(|c| **c).count(), evaluated);
            for (updates, changed) in updates.iter_mut().zip(changed) {
                *updates += usize::from(changed);
            }
            before = after;
            let [least, most] = [updates.iter().min(), updates.iter().max()].map(Option::unwrap);
            let apart = if rate == 1 { 1 } else { 3 };
            prop_assert!(most - least <= apart, "frame {}: {:?}", frame, updates);
        }
    }

    /// Whatever importances and budgets are, no instance waits longer than the greatest age; those that are
    /// updated have at least the importance × age of those that wait; and of two instances that are due in the same
    /// frames, the more important one is updated at least as often, but for one update that it has still before it.
    #[test]
    fn a_budget_updates_instances_by_importance_and_age(
        importances in prop::collection::vec(
            prop_oneof![0.001f32..1000.0, Just(1.0), Just(f32::MAX), Just(f32::INFINITY)], 2..40),
        rate in 0usize..RATES.len(),
        budgets in prop::collection::vec(0.0f64..1.2, 1..8),
        max_age in prop_oneof![Just(1u32), Just(5), Just(32), Just(u32::MAX)],
    ) {
        let (count, rate) = (importances.len(), usize::from(RATES[rate]));
        let (mut crowd, all, id, _) = chains(count);
        let tiers = Tiers {
            max_age,
            ..one(Tier { rate: rate as u8, ..Tier::default() })
        };
        crowd.set_tiers(Some(tiers)).unwrap();
        crowd.set_importances(id, &importances).unwrap();
        let importance = |n: usize| importances[n].min(f32::MAX);
        let mut bones = BoneBuffer::new();
        crowd.set_budget(Some(count)).unwrap();
        crowd.evaluate(&mut bones);
        let mut before = palettes(&crowd, &bones, &all);
        // The frames in which an instance is due are found while the budget is enough for all.
        let mut phase = vec![0; count];
        let mut due = vec![false; count];
        let mut updates = vec![0usize; count];
        let mut ages = vec![0u32; count];
        for frame in 0..rate + 160 {
            if frame >= rate {
                let share = budgets[frame % budgets.len()];
                let budget = (share * count as f64 / rate as f64) as usize;
                crowd.set_budget(Some(budget)).unwrap();
            }
            crowd.advance(DT * 0.618).unwrap();
            crowd.evaluate(&mut bones);
            let after = palettes(&crowd, &bones, &all);
            let updated: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
            before = after;
            ages.iter_mut().for_each(|age| *age += 1);
            let score = |n: usize| importance(n) * ages[n] as f32;
            if frame >= rate {
                for n in 0..count {
                    due[n] |= frame % rate == phase[n];
                    prop_assert!(due[n] || !updated[n], "frame {}: {}", frame, n);
                    updates[n] += usize::from(updated[n]);
                }
                let waits = |n: &usize| due[*n] && !updated[*n];
                let most = (0..count).filter(waits).map(score).fold(0.0, f32::max);
                for n in (0..count).filter(|&n| updated[n]) {
                    let forced = ages[n] >= max_age;
                    prop_assert!(forced || score(n) >= most, "frame {}: {} {}", frame, n, most);
                }
                for a in 0..count {
                    let fewer = |b: &usize| {
                        let before = importance(a) > importance(*b) && phase[a] == phase[*b];
                        before && updates[a] + 1 < updates[*b]
                    };
                    prop_assert_eq!((0..count).find(fewer), None, "frame {}: {}", frame, a);
                }
            }
            for n in (0..count).filter(|&n| updated[n]) {
                (ages[n], due[n]) = (0, false);
                if frame < rate {
                    phase[n] = frame;
                }
            }
            let most = max_age.max(rate as u32);
            prop_assert!(ages.iter().all(|&age| age < most), "frame {}: {:?}", frame, ages);
        }
    }
}
