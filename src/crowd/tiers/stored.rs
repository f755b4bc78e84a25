//! `TieringSnapshot`: the tiers of a crowd at a moment; `bytes` has its stored form.
//!
//! It holds what later frames depend on, in one form: what follows from the rest, and what the next frame writes anyway, is
//! left out or set to fixed values. So equal states are equal snapshots.
//!
//! ```text
//! instance   tier, sphere, clock; its own cell follows from the owners of cells, a shared one is named
//! bank       kind, sets of cells; first row and load of frames follow
//! cell       owner, frame; if it is neither new nor changed by a call: when its palettes are reached, what they play
//! shared     the divisions of clips; the cells of phases follow from the owners of cells
//! lists      banks with free cells and without used ones: the last one is taken first
//! ```

mod bytes;

use super::assign::fit_cells;
use super::bank::{Bank, BankKind, CELLS, NONE, SHARED, SHARED_CELL};
use super::clocks::{PhaseClock, UNKNOWN};
use super::input::CellInput;
use super::select::places;
use super::shared::{Division, PhaseKey, SharedPhases};
use super::tier::Tiers;
use super::tiering::{OUT, Ranked, Tiering};
use crate::crowd::Crowd;
use crate::kernel::{ActionInput, LayerInput};
use crate::playback::pool::{DetailPlan, Pool};
use crate::playback::{PlaybackError as CrowdError, SnapshotDiffers};

/// In place of a tier: the instance has a cell of its own, whose bank has the tier.
const OWN: u8 = OUT - 1;

/// What a snapshot holds of tiers. Views and importances are the host's, which gives them for every frame.
#[derive(Clone, Debug)]
pub(in crate::crowd) struct TieringSnapshot {
    tiers: Tiers,
    budget: Option<usize>,
    frame: u32,
    time: f64,
    step: f64,
    backwards: bool,
    ranked_at: f64,
    align: usize,
    sweep: usize,
    turn: u32,
    /// By place of a rig; `None` where there is none.
    pools: Vec<Option<Box<StoredPool>>>,
    banks: Vec<StoredBank>,
    inputs: StoredInputs,
    /// Banks with free cells and used ones. Those of one kind follow one another, the last is taken first; kinds are in the
    /// order of their first bank here.
    open: Vec<u32>,
    /// Banks without used cells, in the same order by their room.
    empty: Vec<u32>,
}

/// The instances of a rig.
#[derive(Clone, Debug, Default)]
struct StoredPool {
    /// Whether changes are recorded: otherwise all have changed when the next frame begins.
    recorded: bool,
    /// Instances that calls have changed since the last frame, ascending, and what.
    changed: Vec<(u32, u8)>,
    /// `None` if no frame has ranked them.
    ranks: Option<Ranks>,
}

/// What the last frame found.
#[derive(Clone, Debug, Default)]
struct Ranks {
    everybody: bool,
    divisions: Vec<Division>,
    /// By chunk of instances the moment of their clocks.
    origins: Vec<Option<StoredOrigin>>,
    places: Vec<Place>,
}

/// The moment of a chunk's clocks.
#[derive(Clone, Copy, Debug)]
struct StoredOrigin {
    /// Ticks since then.
    ticks: u64,
    backwards: bool,
}

/// An instance.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The tier in which it shares a palette, [`OWN`], or [`OUT`].
    tier: u8,
    /// The shared cell; [`NONE`] if that of its last palette is free, or it shares none.
    cell: u32,
    sphere: Option<[f32; 5]>,
    clock: Option<PhaseClock>,
}

/// A bank; of one without used cells only the room of the kind counts.
#[derive(Clone, Debug)]
struct StoredBank {
    kind: BankKind,
    used: u16,
    fresh: u16,
    stale: u16,
    waiting: u16,
    second: u16,
    stored: u16,
    /// The used ones.
    cells: Vec<StoredCell>,
}

#[derive(Clone, Copy, Debug)]
struct StoredCell {
    owner: u32,
    /// When it was updated; of shared ones when it was last looked for.
    frame: u32,
    /// Of interpolated ones.
    times: [f64; 2],
}

/// What palettes were evaluated from, in the order of banks, cells and palettes.
#[derive(Clone, Debug, Default)]
struct StoredInputs {
    /// The layers of each palette.
    palettes: Vec<u8>,
    layers: Vec<StoredLayer>,
    actions: Vec<StoredAction>,
}

#[derive(Clone, Copy, Debug)]
struct StoredLayer {
    layer: u8,
    additive: bool,
    actions: u8,
    weight: f32,
    rest: f32,
}

#[derive(Clone, Copy, Debug)]
struct StoredAction {
    clip: u16,
    time: f32,
    weight: f32,
}

/// What a snapshot's tiers become in a crowd that they fit: the details of the pools.
#[derive(Debug)]
pub(in crate::crowd) struct TieringPlan(Vec<Option<DetailPlan>>);

impl BankKind {
    /// Of banks without used cells that have this room.
    fn of_room((rows, own): (usize, bool)) -> Self {
        Self {
            pool: 0,
            tier: if own { 0 } else { SHARED },
            phase: 0,
            palettes: 1,
            detail: 0,
            stride: rows as u32,
        }
    }
}

impl StoredInputs {
    fn push(&mut self, input: &CellInput) {
        // A rig has at most 16 layers, and a layer 8 clips.
        self.palettes.push(input.layers.len() as u8);
        for layer in &input.layers {
            self.layers.push(StoredLayer {
                layer: layer.layer as u8,
                additive: layer.additive,
                actions: layer.actions.len() as u8,
                weight: layer.weight,
                rest: layer.rest,
            });
        }
        self.actions
            .extend(input.actions.iter().map(|a| StoredAction {
                clip: a.clip,
                time: a.time,
                weight: a.weight,
            }));
    }
}

/// A cursor over [`StoredInputs`].
struct Inputs<'a> {
    palettes: std::slice::Iter<'a, u8>,
    layers: std::slice::Iter<'a, StoredLayer>,
    actions: &'a [StoredAction],
}

impl<'a> Inputs<'a> {
    fn new(inputs: &'a StoredInputs) -> Self {
        Self {
            palettes: inputs.palettes.iter(),
            layers: inputs.layers.iter(),
            actions: &inputs.actions,
        }
    }

    /// The number of layers of the next palette, and the layers with their actions.
    fn next(
        &mut self,
    ) -> (
        u8,
        impl Iterator<Item = (&'a StoredLayer, &'a [StoredAction])>,
    ) {
        let count = self.palettes.next().copied().unwrap_or(0);
        let Self {
            layers, actions, ..
        } = self;
        let layers = layers.by_ref().take(count.into()).map(|layer| {
            let (own, others) = actions.split_at(usize::from(layer.actions).min(actions.len()));
            *actions = others;
            (layer, own)
        });
        (count, layers)
    }

    /// Puts the input of the next palette into a cell.
    fn put(&mut self, input: &mut CellInput) {
        for (layer, actions) in self.next().1 {
            let first = input.actions.len();
            for action in actions {
                input.actions.push(ActionInput {
                    clip: action.clip,
                    // They are numbered from the first layer on.
                    hint: input.actions.len() as u16,
                    time: action.time,
                    weight: action.weight,
                    cursor: 0,
                });
            }
            input.layers.push(LayerInput {
                layer: layer.layer.into(),
                additive: layer.additive,
                weight: layer.weight,
                rest: layer.rest,
                actions: first..input.actions.len(),
            });
        }
    }
}

impl TieringSnapshot {
    pub fn take(crowd: &Crowd) -> Option<Self> {
        let tiering = crowd.tiering.as_deref()?;
        let mut inputs = StoredInputs::default();
        let pools = crowd.pools.iter().enumerate();
        let pools = pools.map(|(number, pool)| {
            let pool = pool.as_ref()?;
            Some(Box::new(StoredPool::take(tiering, number, pool)))
        });
        let lacking = |pool: &Option<Pool>| pool.as_ref().is_some_and(Pool::details_lack_watched);
        let lacking: Vec<bool> = crowd.pools.iter().map(lacking).collect();
        let banks = tiering.banks.all.iter().enumerate();
        let banks = banks.map(|(number, bank)| {
            let lacks = lacking.get(usize::from(bank.kind.pool)) == Some(&true);
            StoredBank::take(tiering, number as u32, (bank, lacks), &mut inputs)
        });
        let banks = banks.collect();
        let banks_of = |lists: Vec<&Vec<u32>>| {
            let mut lists = lists;
            lists.retain(|list| !list.is_empty());
            lists.sort_unstable_by_key(|list| list[0]);
            lists.into_iter().flatten().copied().collect()
        };
        Some(Self {
            tiers: tiering.tiers.clone(),
            budget: tiering.budget,
            frame: tiering.frame,
            time: tiering.time,
            step: tiering.step,
            backwards: tiering.backwards,
            ranked_at: tiering.ranked_at,
            align: tiering.align,
            sweep: tiering.sweep,
            turn: tiering.turn,
            pools: pools.collect(),
            banks,
            inputs,
            open: banks_of(tiering.banks.open.iter().flatten().map(|o| &o.1).collect()),
            empty: banks_of(tiering.banks.rooms.iter().map(|r| &r.empty).collect()),
        })
    }

    /// Checks that the rigs of a crowd, or their details, have palettes of as many rows as the cells. The places of the rigs
    /// are those of the snapshot. Returns the details.
    ///
    /// # Errors
    /// If they have others.
    pub fn check(&self, pools: &[Option<Pool>]) -> Result<TieringPlan, CrowdError> {
        let plans = pools.iter().map(|pool| {
            let pool = pool.as_ref()?;
            Some(pool.plan_details(self.tiers.details()))
        });
        let plans: Vec<Option<DetailPlan>> = plans.collect();
        for bank in self.banks.iter().filter(|bank| bank.used != 0) {
            let BankKind {
                pool: number,
                detail,
                stride,
                ..
            } = bank.kind;
            let number = usize::from(number);
            let (Some(Some(pool)), Some(Some(plan))) = (pools.get(number), plans.get(number))
            else {
                continue;
            };
            let rows = pool.planned_rows(plan, detail);
            let rows = rows.and_then(|rows| rows.checked_next_multiple_of(self.align.max(1)));
            let (here, snapshot) = (rows.map(|rows| rows as u64), u64::from(stride));
            if here != Some(snapshot) {
                return Err(CrowdError::Snapshot(SnapshotDiffers::Palettes {
                    rig: pool.owner.rig(),
                    name: crate::words::shorten(pool.rig.name()),
                    detail: detail.into(),
                    here,
                    snapshot,
                }));
            }
        }
        Ok(TieringPlan(plans))
    }

    /// Restores the tiers of a crowd whose pools have been restored. The memory has none of the palettes.
    pub fn restore(&self, plan: TieringPlan, crowd: &mut Crowd) {
        let last = crowd.tiering.take().unwrap_or_default();
        let mut tiering = Tiering {
            tiers: self.tiers.clone(),
            budget: self.budget,
            frame: self.frame,
            time: self.time,
            step: self.step,
            backwards: self.backwards,
            ranked_at: self.ranked_at,
            align: self.align,
            sweep: self.sweep,
            turn: self.turn,
            views: last.views,
            lost: true,
            ..Tiering::default()
        };
        for ((pool, stored), plan) in crowd.pools.iter_mut().zip(&self.pools).zip(plan.0) {
            let mut ranked = Ranked::default();
            if let (Some(pool), Some(stored), Some(plan)) = (pool, stored, plan) {
                pool.take_details(plan);
                stored.restore(pool, &self.tiers);
                if let Some(ranks) = &stored.ranks {
                    ranked = ranks.restore(pool);
                }
            }
            tiering.pools.push(ranked);
        }
        tiering
            .pools
            .resize_with(tiering.pools.len().max(last.pools.len()), Ranked::default);
        for (ranked, last) in tiering.pools.iter_mut().zip(last.pools) {
            (ranked.importance, ranked.given_for) = (last.importance, last.given_for);
        }
        self.restore_banks(&mut tiering, &mut crowd.pools);
        crowd.tiering = Some(Box::new(tiering));
    }

    /// Restores the banks, and what instances and shared phases have of them.
    fn restore_banks(&self, tiering: &mut Tiering, pools: &mut [Option<Pool>]) {
        let Tiering {
            tiers,
            banks,
            pools: all_ranked,
            instances,
            ..
        } = tiering;
        let mut inputs = Inputs::new(&self.inputs);
        banks.all.reserve_exact(self.banks.len());
        for (number, stored) in (0..).zip(&self.banks) {
            let mut bank = stored.restore(banks.rows(), self.frame);
            let kind = bank.kind;
            let of_pool = usize::from(kind.pool);
            if let (Some(Some(pool)), Some(ranked), true) = (
                pools.get_mut(of_pool),
                all_ranked.get_mut(of_pool),
                bank.used != 0,
            ) {
                let tier = (kind.tier != SHARED).then(|| &tiers.tiers[usize::from(kind.tier)]);
                // A budget that was taken back since may have left some that are stored.
                if bank.stored != 0 || tier.is_some_and(|t| t.stores(self.budget.is_some())) {
                    fit_cells(&mut bank, 0..CELLS, pool);
                }
                let palettes = usize::from(kind.palettes);
                for place in places(bank.stored) {
                    let inputs_of = &mut bank.inputs[place * palettes..(place + 1) * palettes];
                    for input in inputs_of {
                        inputs.put(input);
                        // They may be of a clip that has faded out since.
                        for action in &input.actions {
                            pool.require_clip(action.clip);
                        }
                    }
                }
                for (place, cell) in places(bank.used).zip(&stored.cells) {
                    let at = number * CELLS as u32 + place as u32;
                    if let Some(times) = bank.times.get_mut(place) {
                        *times = cell.times;
                    }
                    if kind.tier == SHARED {
                        let key = PhaseKey::of_bits(cell.owner, kind.detail);
                        ranked.shared.set(key, at, cell.frame);
                        // It may be of a clip that nothing plays now.
                        pool.require_clip(key.clip);
                    } else {
                        let index = cell.owner as usize;
                        (ranked.tier[index], ranked.cell[index]) = (kind.tier, at);
                    }
                }
                let rate = tier.map_or(1, |t| t.rate);
                banks.count(kind, rate, bank.used.count_ones() as i32);
                // There is a list for every kind.
                banks.open(kind);
            }
            banks.push(bank);
        }
        for &bank in &self.open {
            let kind = banks.all[bank as usize].kind;
            banks.open(kind).push(bank);
        }
        for &bank in &self.empty {
            let kind = banks.all[bank as usize].kind;
            banks.room(kind).empty.push(bank);
        }
        banks.fitted = banks.all.len();
        for tier in all_ranked.iter().flat_map(|ranked| &ranked.tier) {
            if let Some(count) = instances.get_mut(usize::from(*tier)) {
                *count += 1;
            }
        }
    }
}

impl StoredPool {
    fn take(tiering: &Tiering, number: usize, pool: &Pool) -> Self {
        let all = pool.changes.all();
        let mut changed: Vec<(u32, u8)> = all.map(|(index, what)| (index as u32, what)).collect();
        changed.sort_unstable();
        let ranked = tiering.pools.get(number);
        let ranked = ranked.filter(|ranked| ranked.rig == Some(pool.rig_number()));
        Self {
            recorded: pool.changes.is_on(),
            changed,
            ranks: ranked.map(|ranked| Ranks::take(tiering, number, ranked, pool)),
        }
    }

    /// Restores what calls have changed.
    fn restore(&self, pool: &mut Pool, tiers: &Tiers) {
        pool.record(self.recorded, 0);
        pool.need_speeds(tiers.need_speeds());
        for &(index, what) in &self.changed {
            pool.changes.mark(index as usize, what);
        }
    }
}

impl Ranks {
    fn take(tiering: &Tiering, number: usize, ranked: &Ranked, pool: &Pool) -> Self {
        let instances = pool.state.len();
        let now = pool.state.clock().now();
        let chunks = instances.div_ceil(super::rank::CHUNK);
        let origin = |chunk: usize| {
            let (from, sign) = ranked.clocks.origins.get(chunk).copied().flatten()?;
            Some(StoredOrigin {
                ticks: from.ticks_to(now),
                backwards: sign < 0.0,
            })
        };
        let origins: Vec<Option<StoredOrigin>> = (0..chunks).map(origin).collect();
        let place = |index: usize| {
            let tier = ranked.tier.get(index).copied().unwrap_or(OUT);
            let cell = ranked.cell.get(index).copied().unwrap_or(NONE);
            let shared = cell == NONE || cell & SHARED_CELL != 0;
            let holds = cell != NONE && shared && tiering.banks.shares(number, cell);
            let clock = ranked.clocks.all.get(index).copied();
            let origin = origins[index / super::rank::CHUNK];
            Place {
                tier: if tier == OUT || shared { tier } else { OWN },
                cell: if holds { cell & !SHARED_CELL } else { NONE },
                sphere: ranked.spheres.get(index),
                clock: clock.filter(|clock| origin.is_some() && clock.clip != UNKNOWN),
            }
        };
        let places = (0..instances).map(place).collect();
        Self {
            everybody: ranked.everybody,
            divisions: ranked.shared.divisions().collect(),
            origins,
            places,
        }
    }

    /// Restores all but the cells that follow from the banks.
    fn restore(&self, pool: &Pool) -> Ranked {
        let clock = pool.state.clock();
        let mut ranked = Ranked {
            shared: SharedPhases::of_divisions(pool, &self.divisions),
            everybody: self.everybody,
            rig: Some(pool.rig_number()),
            ..Ranked::default()
        };
        ranked.resize(self.places.len());
        ranked.spheres.resize(self.places.len());
        for (to, origin) in ranked.clocks.origins.iter_mut().zip(&self.origins) {
            *to = origin.map(|origin| {
                let from = clock.now().later(-(origin.ticks as i64));
                (from, if origin.backwards { -1.0 } else { 1.0 })
            });
        }
        for (index, place) in self.places.iter().enumerate() {
            if place.tier != OWN {
                ranked.tier[index] = place.tier;
            }
            if place.cell != NONE {
                ranked.cell[index] = place.cell | SHARED_CELL;
            }
            if let Some(sphere) = place.sphere {
                ranked.spheres.put(index, sphere);
            }
            if let Some(clock) = place.clock {
                ranked.clocks.all[index] = clock;
            }
        }
        ranked
    }
}

impl StoredBank {
    /// Takes a bank, and what its cells are evaluated from. `lacks`: the next frame evaluates all cells of a detail again.
    fn take(
        tiering: &Tiering,
        number: u32,
        (bank, lacks): (&Bank, bool),
        inputs: &mut StoredInputs,
    ) -> Self {
        let used = bank.used;
        if used == 0 {
            return Self::empty(BankKind::of_room(bank.kind.room()));
        }
        let kind = bank.kind;
        let ranked = tiering.pools.get(usize::from(kind.pool));
        let all = if lacks && kind.detail != 0 { used } else { 0 };
        let (fresh, stale) = (bank.fresh, bank.stale | all);
        // The next frame evaluates these, and forgets what they were evaluated from.
        let anew = fresh | stale;
        let stored = bank.stored & !anew;
        let cell = |place: usize| {
            let looked =
                || ranked.map_or(0, |r| r.shared.looked(number * CELLS as u32 + place as u32));
            let timed = kind.palettes > 1 && anew >> place & 1 == 0;
            let times = bank.times.get(place).copied().filter(|_| timed);
            StoredCell {
                owner: bank.owner[place],
                frame: match kind.tier {
                    SHARED => looked(),
                    _ => tiering.frame.wrapping_sub(bank.age(place, tiering.frame)),
                },
                times: times.unwrap_or_default(),
            }
        };
        let palettes = usize::from(kind.palettes);
        for place in places(stored) {
            let of_cell = &bank.inputs[place * palettes..(place + 1) * palettes];
            of_cell.iter().for_each(|input| inputs.push(input));
        }
        Self {
            kind,
            used,
            fresh,
            stale,
            waiting: bank.waiting & !anew,
            second: if kind.palettes > 1 {
                bank.second & used
            } else {
                0
            },
            stored,
            cells: places(used).map(cell).collect(),
        }
    }

    fn empty(kind: BankKind) -> Self {
        Self {
            kind,
            used: 0,
            fresh: 0,
            stale: 0,
            waiting: 0,
            second: 0,
            stored: 0,
            cells: Vec::new(),
        }
    }

    /// The bank without inputs, from a row on, as of a frame.
    fn restore(&self, first: usize, frame: u32) -> Bank {
        let mut bank = Bank::new(self.kind, first);
        bank.used = self.used;
        bank.fresh = self.fresh;
        bank.stale = self.stale;
        bank.waiting = self.waiting;
        bank.second = self.second;
        bank.stored = self.stored;
        for (place, cell) in places(self.used).zip(&self.cells) {
            bank.owner[place] = cell.owner;
            if self.kind.tier != SHARED {
                bank.updated[place] = cell.frame;
            }
        }
        let ages = self.cells.iter().map(|cell| frame.wrapping_sub(cell.frame));
        bank.whole = frame.wrapping_sub(ages.max().unwrap_or(0));
        bank
    }
}
