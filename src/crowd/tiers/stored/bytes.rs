//! The stored form of tiers: FORMAT.md describes it.

use super::super::bank::{BankKind, CELLS, NONE, SHARED};
use super::super::clocks::{FASTEST, PhaseClock, UNKNOWN};
use super::super::rank::CHUNK;
use super::super::select::places;
use super::super::shared::{Division, MAX_PHASES, PhaseKey};
use super::super::tier::{MAX_HEIGHT, MAX_TIERS, RATES, Sharing, Tier, TierDetail, Tiers};
use super::super::tiering::OUT;
use super::{
    Inputs, OWN, Place, Ranks, StoredAction, StoredBank, StoredCell, StoredInputs, StoredLayer,
    StoredOrigin, StoredPool, TieringSnapshot,
};
use crate::clip::ClipKind;
use crate::playback::changes::{NEW, POSE, WORLD};
use crate::playback::ids::NO_CLIP;
use crate::playback::pool::MAX_TIME;
use crate::playback::snapshot::PoolSnapshot;
use crate::playback::snapshot::bytes::{Reader, Writer};
use crate::playback::{MAX_INSTANCES, SnapshotError};
use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

/// The snapshots of a crowd's rigs, by place.
type Pools = [Option<Box<PoolSnapshot>>];

/// By the place of a rig that is ranked, the tier of each instance that has a cell of its own.
type Owners = BTreeMap<u16, Vec<u8>>;

/// Zero bytes of a bank for every row of one of its cells: the rows that a few bytes ask for are few.
const PER_ROW: usize = 4;
/// The fewest bytes of a bank: those of one without used cells.
const PER_BANK: usize = 5;
/// The most ticks from the moment of a chunk's clocks: 4.6 hours. They are forgotten before.
const LONGEST_SINCE: u64 = 1 << 62;
/// The most banks: their cells are below the bit of shared ones.
const MAX_BANKS: usize = (1 << 31) / CELLS;

/// How a tier shares palettes.
const NOT_SHARED: u8 = 0;
const BY_PHASES: u8 = 1;
const BY_ERROR: u8 = 2;

impl TieringSnapshot {
    pub fn write(&self, w: &mut Writer) {
        write_tiers(w, &self.tiers);
        w.flags([self.budget.is_some(), self.backwards]);
        if let Some(budget) = self.budget {
            w.u64(budget as u64);
        }
        w.u32(self.frame);
        w.f64(self.time);
        w.f64(self.step);
        w.f64(self.ranked_at);
        w.u64(self.align as u64);
        // Below the number of banks.
        w.count(self.sweep);
        w.u32(self.turn);
        for pool in self.pools.iter().flatten() {
            write_pool(w, pool, self.tiers.tiers.len());
        }
        w.count(self.banks.len());
        let mut inputs = Inputs::new(&self.inputs);
        for bank in &self.banks {
            write_bank(w, bank, &mut inputs);
        }
        for &bank in self.open.iter().chain(&self.empty) {
            w.u32(bank);
        }
        for ranks in self.pools.iter().flatten().flat_map(|p| &p.ranks) {
            write_ranks(w, ranks);
        }
    }

    /// Reads the tiers of a crowd of these rigs.
    pub fn read(r: &mut Reader<'_>, pools: &Pools) -> Result<Self, SnapshotError> {
        let tiers = read_tiers(r)?;
        let [limited, backwards] = r.flags("flags of tiers")?;
        let budget = match limited {
            true => Some(r.up_to("budget", usize::MAX as u64)? as usize),
            false => None,
        };
        let frame = r.u32("frame")?;
        let time = r.f64("time of tiers", 0.0, f64::MAX)?;
        let step = r.f64("length of a frame", -MAX_TIME, MAX_TIME)?;
        let agrees = step == 0.0 || (step < 0.0) == backwards;
        r.needs(agrees, "the last step ran the other way")?;
        let ranked_at = r.f64("time of the last frame", 0.0, time)?;
        let align = r.up_to("alignment of palettes", usize::MAX as u64)? as usize;
        let sweep = r.u32("bank that is looked at")?;
        r.limit("bank that is looked at", sweep.into(), MAX_BANKS as u64)?;
        let turn = r.u32("cell whose turn it is")?;
        let mut read = Self {
            tiers,
            budget,
            frame,
            time,
            step,
            backwards,
            ranked_at,
            align,
            sweep: sweep as usize,
            turn,
            pools: Vec::with_capacity(pools.len()),
            banks: Vec::new(),
            inputs: StoredInputs::default(),
            open: Vec::new(),
            empty: Vec::new(),
        };
        let mut owners = Owners::new();
        for (number, pool) in (0..).zip(pools) {
            let mut stored = None;
            if let Some(pool) = pool {
                let read = Box::new(read_pool(r, pool, &read.tiers)?);
                if read.ranks.is_some() {
                    owners.insert(number, vec![OUT; pool.state().len()]);
                }
                stored = Some(read);
            }
            read.pools.push(stored);
        }
        read.read_banks(r, pools, &mut owners)?;
        read.read_lists(r)?;
        for (&number, owners) in &owners {
            if let Some(Some(pool)) = pools.get(usize::from(number)) {
                read.read_ranks(r, (number.into(), pool), owners)?;
            }
        }
        Ok(read)
    }
}

fn write_tiers(w: &mut Writer, tiers: &Tiers) {
    // At most 16.
    w.u8(tiers.tiers.len() as u8);
    for tier in &tiers.tiers {
        w.f32(tier.height);
        w.u8(tier.rate);
        w.flags([tier.interpolate, tier.detail.is_some()]);
        match tier.sharing {
            Sharing::None => w.u8(NOT_SHARED),
            Sharing::Phases(phases) => {
                w.u8(BY_PHASES);
                w.u16(phases);
            }
            Sharing::Error(error) => {
                w.u8(BY_ERROR);
                w.f32(error);
            }
        }
        if let Some(detail) = &tier.detail {
            w.u64(detail.level as u64);
            w.count(detail.leave_out.len());
            detail.leave_out.iter().for_each(|name| w.text(name));
        }
    }
    w.f32(tiers.hysteresis);
    w.u32(tiers.max_age);
    w.flags([tiers.shadows.is_some()]);
    if let Some(tier) = tiers.shadows {
        w.u8(tier as u8);
    }
}

fn read_tiers(r: &mut Reader<'_>) -> Result<Tiers, SnapshotError> {
    let count = r.u8("tiers")?;
    r.limit("tiers", count.into(), MAX_TIERS as u64)?;
    r.needs(count > 0, "there are no tiers")?;
    let mut tiers: Vec<Tier> = Vec::with_capacity(count.into());
    for _ in 0..count {
        let height = r.f32("height of a tier", 0.0, MAX_HEIGHT.into())?;
        let descends = tiers.last().is_none_or(|above| height < above.height);
        r.needs(descends, "the heights of tiers do not descend")?;
        let rate = r.u8("rate of a tier")?;
        r.needs(RATES.contains(&rate), "there is no such rate")?;
        let [interpolate, detailed] = r.flags("flags of a tier")?;
        let sharing = r.u8("sharing of a tier")?;
        r.limit("sharing of a tier", sharing.into(), BY_ERROR.into())?;
        let sharing = match sharing {
            BY_PHASES => {
                let phases = r.u16("phases of a tier")?;
                r.limit("phases of a tier", phases.into(), MAX_PHASES.into())?;
                r.needs(phases > 0, "a tier has no phases")?;
                Sharing::Phases(phases)
            }
            BY_ERROR => {
                let (low, high) = (f32::MIN_POSITIVE.into(), f32::MAX.into());
                Sharing::Error(r.f32("error of a tier", low, high)?)
            }
            _ => Sharing::None,
        };
        let mut detail = None;
        if detailed {
            let level = r.up_to("level of a detail", usize::MAX as u64)? as usize;
            let names = r.count("joints of a detail", 4, u32::MAX as usize)?;
            let mut leave_out = Vec::with_capacity(names);
            for _ in 0..names {
                leave_out.push(r.text("joint of a detail")?);
            }
            detail = Some(TierDetail { level, leave_out });
        }
        tiers.push(Tier {
            height,
            rate,
            interpolate,
            sharing,
            detail,
        });
    }
    let hysteresis = r.f32("hysteresis", 0.0, 1.0)?;
    let max_age = r.u32("greatest age")?;
    r.needs(max_age > 0, "the greatest age is 0")?;
    let [shadows] = r.flags("flags of tiers")?;
    let shadows = match shadows {
        true => {
            let tier = r.u8("tier of shadows")?;
            r.limit("tier of shadows", tier.into(), u64::from(count) - 1)?;
            Some(tier.into())
        }
        false => None,
    };
    Ok(Tiers {
        tiers,
        hysteresis,
        max_age,
        shadows,
    })
}

fn write_pool(w: &mut Writer, pool: &StoredPool, tiers: usize) {
    let everybody = pool.ranks.as_ref().is_some_and(|ranks| ranks.everybody);
    w.flags([pool.recorded, pool.ranks.is_some(), everybody]);
    w.count(pool.changed.len());
    for &(index, what) in &pool.changed {
        w.u32(index);
        w.flags([what & POSE != 0, what & WORLD != 0, what & NEW != 0]);
    }
    let Some(ranks) = &pool.ranks else { return };
    // A clip has an index of 16 bits, below that of no clip.
    w.u16(ranks.divisions.len() as u16);
    for division in &ranks.divisions {
        w.u16(division.clip);
        w.u16(division.count);
        let steps = division.steps.iter().take(tiers);
        steps.for_each(|&step| w.u16(step));
    }
}

/// Reads what calls have changed, and how clips are divided.
fn read_pool(
    r: &mut Reader<'_>,
    pool: &PoolSnapshot,
    tiers: &Tiers,
) -> Result<StoredPool, SnapshotError> {
    let [recorded, ranked, everybody] = r.flags("flags of ranks")?;
    let holds = (recorded || !ranked) && (ranked || !everybody);
    r.needs(holds, "instances are ranked and their changes are unknown")?;
    let count = r.count("changed instances", 5, MAX_INSTANCES)?;
    r.needs(recorded || count == 0, "changes are not recorded")?;
    let mut changed: Vec<(u32, u8)> = Vec::with_capacity(count);
    let instances = pool.state().len();
    for _ in 0..count {
        let index = r.u32("changed instance")?;
        let known = (index as usize) < instances;
        let ascends = changed.last().is_none_or(|last| last.0 < index);
        r.needs(known, "a changed instance does not exist")?;
        r.needs(ascends, "changed instances do not ascend")?;
        let [pose, world, new] = r.flags("changes of an instance")?;
        let holds = pose || world && !new;
        r.needs(
            holds,
            "an instance has changed in nothing, or is new in nothing",
        )?;
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let what = bit(pose, POSE) | bit(world, WORLD) | bit(new, NEW);
        changed.push((index, what));
    }
    let mut ranks = None;
    if ranked {
        ranks = Some(Ranks {
            everybody,
            divisions: read_divisions(r, pool, tiers)?,
            ..Ranks::default()
        });
    }
    Ok(StoredPool {
        recorded,
        changed,
        ranks,
    })
}

fn read_divisions(
    r: &mut Reader<'_>,
    pool: &PoolSnapshot,
    tiers: &Tiers,
) -> Result<Vec<Division>, SnapshotError> {
    let count = r.u16("divided clips")?;
    let mut divisions: Vec<Division> = Vec::new();
    for _ in 0..count {
        let clip = r.u16("divided clip")?;
        let ascends = divisions.last().is_none_or(|last| last.clip < clip);
        r.needs(ascends, "divided clips do not ascend")?;
        let full = pool.clip(clip).is_some_and(|c| c.kind == ClipKind::Full);
        r.needs(full, "a divided clip is not loaded, or additive")?;
        let count = r.u16("phases of a clip")?;
        r.limit("phases of a clip", count.into(), MAX_PHASES.into())?;
        r.needs(count.is_power_of_two(), "phases are no power of two")?;
        let mut steps = [0; MAX_TIERS];
        for (step, tier) in steps.iter_mut().zip(&tiers.tiers) {
            *step = r.u16("phases to one of a tier")?;
            let fits = match tier.sharing {
                Sharing::None => *step == 0,
                Sharing::Phases(n) => n
                    .checked_next_power_of_two()
                    .is_some_and(|n| count.checked_div(n) == Some(*step) && *step > 0),
                Sharing::Error(_) => *step == 0 || step.is_power_of_two() && *step <= count,
            };
            r.needs(fits, "a tier does not share these phases")?;
        }
        r.needs(steps.contains(&1), "no tier shares all phases of a clip")?;
        divisions.push(Division { clip, count, steps });
    }
    Ok(divisions)
}

/// Writes what the next palette was evaluated from.
fn write_input(w: &mut Writer, inputs: &mut Inputs<'_>) {
    let (count, layers) = inputs.next();
    w.u8(count);
    for (layer, actions) in layers {
        w.u8(layer.layer);
        w.f32(layer.weight);
        w.f32(layer.rest);
        w.u8(layer.actions);
        for action in actions {
            w.u16(action.clip);
            w.f32(action.time);
            w.f32(action.weight);
        }
    }
}

fn read_input(
    r: &mut Reader<'_>,
    pool: &PoolSnapshot,
    inputs: &mut StoredInputs,
) -> Result<(), SnapshotError> {
    let count = r.u8("layers of a palette")?;
    r.limit(
        "layers of a palette",
        count.into(),
        pool.layers().len() as u64,
    )?;
    inputs.palettes.push(count);
    let mut least = 0;
    for _ in 0..count {
        let layer = r.u8("layer of a palette")?;
        let additive = pool.layers().nth(layer.into());
        r.needs(
            additive.is_some(),
            "a palette is of a layer that does not exist",
        )?;
        r.needs(layer >= least, "the layers of a palette do not ascend")?;
        least = layer + 1;
        let additive = additive.unwrap_or(false);
        let (low, most_rest) = if additive { (-1.0, 16.0) } else { (0.0, 1.0) };
        let weight = r.f32("weight of a layer", low, 1.0)?;
        let rest = r.f32("share of the rest pose", 0.0, most_rest)?;
        let actions = r.u8("clips of a layer")?;
        let most = pool.clips_per_layer() as u64;
        r.limit("clips of a layer", actions.into(), most)?;
        let mut sum = rest;
        for _ in 0..actions {
            let clip = r.u16("clip of a palette")?;
            let known = pool.clip(clip);
            let fits = known.is_some_and(|c| (c.kind == ClipKind::Additive) == additive);
            r.needs(fits, "a palette is of a clip that its layer cannot play")?;
            let duration = known.map_or(0.0, |c| c.duration);
            let time = r.f32("time of a palette's clip", 0.0, duration.into())?;
            let high = if additive { 1.0 } else { 2.0 };
            let weight = r.f32("weight of a clip", low, high)?;
            sum += weight;
            inputs.actions.push(StoredAction { clip, time, weight });
        }
        // They are shares of a whole, but for rounding.
        let whole = additive || actions > 0 && (0.99..=1.01).contains(&sum);
        r.needs(whole, "the weights of a layer do not sum to 1")?;
        inputs.layers.push(StoredLayer {
            layer,
            additive,
            actions,
            weight,
            rest,
        });
    }
    Ok(())
}

fn write_bank(w: &mut Writer, bank: &StoredBank, inputs: &mut Inputs<'_>) {
    let kind = bank.kind;
    let (rows, own) = kind.room();
    w.flags([bank.used != 0, own]);
    if bank.used == 0 {
        w.count(rows);
        w.zeros(PER_ROW * rows);
        return;
    }
    w.u32(kind.stride);
    w.u8(kind.palettes);
    w.zeros(PER_ROW * rows);
    w.u16(kind.pool);
    w.u8(kind.detail);
    w.u16(bank.used);
    w.u16(bank.fresh);
    w.u16(bank.stale);
    if own {
        w.u8(kind.tier);
        w.u8(kind.phase);
        w.u16(bank.waiting);
        w.u16(bank.second);
        w.u16(bank.stored);
    }
    for (place, cell) in places(bank.used).zip(&bank.cells) {
        w.u32(cell.owner);
        w.u32(cell.frame);
        if (bank.fresh | bank.stale) >> place & 1 == 0 && kind.palettes > 1 {
            cell.times.iter().for_each(|&time| w.f64(time));
        }
        if bank.stored >> place & 1 == 1 {
            (0..kind.palettes).for_each(|_| write_input(w, inputs));
        }
    }
}

impl TieringSnapshot {
    /// Reads the banks. Enters the tier of each instance that has a cell of its own.
    fn read_banks(
        &mut self,
        r: &mut Reader<'_>,
        pools: &Pools,
        owners: &mut Owners,
    ) -> Result<(), SnapshotError> {
        let count = r.count("banks", PER_BANK, MAX_BANKS)?;
        let mut shared = HashSet::new();
        for _ in 0..count {
            let bank = self.read_bank(r, pools, owners, &mut shared)?;
            self.banks.push(bank);
        }
        let clips = shared
            .iter()
            .map(|&(pool, _, key)| (pool, PhaseKey::of_bits(key, 0).clip));
        let clips: HashSet<(u16, u16)> = clips.collect();
        for (number, pool) in (0..).zip(&self.pools) {
            let ranks = pool.iter().flat_map(|p| &p.ranks);
            let mut divided = ranks.flat_map(|ranks| &ranks.divisions);
            let all = divided.all(|division| clips.contains(&(number, division.clip)));
            r.needs(all, "a divided clip has no palettes")?;
        }
        Ok(())
    }

    fn read_bank(
        &mut self,
        r: &mut Reader<'_>,
        pools: &Pools,
        owners: &mut Owners,
        shared: &mut HashSet<(u16, u8, u32)>,
    ) -> Result<StoredBank, SnapshotError> {
        let [used, own] = r.flags("flags of a bank")?;
        let stride = r.u32("rows of a cell")?;
        if !used {
            r.zeros(PER_ROW * stride as usize, "the rows of a bank")?;
            let kind = BankKind::of_room((stride as usize, own));
            return Ok(StoredBank::empty(kind));
        }
        let palettes = r.u8("palettes of a cell")?;
        r.limit(
            "palettes of a cell",
            palettes.into(),
            if own { 2 } else { 1 },
        )?;
        r.needs(palettes > 0, "a cell has no palettes")?;
        let rows = stride as usize * usize::from(palettes);
        r.zeros(PER_ROW * rows, "the rows of a bank")?;
        let pool = r.u16("rig of a bank")?;
        let stored = self.pools.get(usize::from(pool)).and_then(Option::as_deref);
        let ranks = stored.and_then(|stored| stored.ranks.as_ref());
        let known = pools.get(usize::from(pool)).and_then(Option::as_deref);
        let (Some(ranks), Some(snapshot)) = (ranks, known) else {
            return Err(r.contradiction("a bank is of a rig that is not ranked"));
        };
        let detail = r.u8("detail of a bank")?;
        let tiers = &self.tiers.tiers;
        r.limit("detail of a bank", detail.into(), tiers.len() as u64)?;
        let used = r.u16("used cells")?;
        r.needs(used != 0, "a bank has no used cell")?;
        let some = |r: &mut Reader<'_>, what: &'static str| {
            let cells = r.u16(what)?;
            r.needs(cells & !used == 0, "a cell is not used")?;
            Ok::<u16, SnapshotError>(cells)
        };
        let fresh = some(r, "new cells")?;
        let stale = some(r, "changed cells")?;
        let anew = fresh | stale;
        let mut bank = StoredBank {
            kind: BankKind {
                pool,
                tier: SHARED,
                phase: 0,
                palettes,
                detail,
                stride,
            },
            used,
            fresh,
            stale,
            waiting: 0,
            second: 0,
            stored: 0,
            cells: Vec::with_capacity(used.count_ones() as usize),
        };
        if own {
            let tier = r.u8("tier of a bank")?;
            r.limit("tier of a bank", tier.into(), tiers.len() as u64 - 1)?;
            let of = &tiers[usize::from(tier)];
            let phase = r.u8("phase of a bank")?;
            r.limit("phase of a bank", phase.into(), u64::from(of.rate) - 1)?;
            let pair = of.interpolate && of.rate > 1;
            let fits = palettes == 1 + u8::from(pair);
            r.needs(fits, "a cell has other palettes than its tier")?;
            (bank.kind.tier, bank.kind.phase) = (tier, phase);
            bank.waiting = some(r, "waiting cells")?;
            r.needs(bank.waiting & anew == 0, "a cell waits that is evaluated")?;
            bank.second = some(r, "cells whose second palette is the later one")?;
            r.needs(pair || bank.second == 0, "a cell has no second palette")?;
            bank.stored = some(r, "cells whose input is stored")?;
            let kept = used & !anew;
            let needed = if of.rate > 1 { kept } else { 0 };
            let fits = bank.stored & !kept == 0 && needed & !bank.stored == 0;
            r.needs(
                fits,
                "what a cell was evaluated from is missing, or not needed",
            )?;
        }
        for place in places(used) {
            let owner = r.u32("owner of a cell")?;
            if own {
                let owner = owners
                    .get_mut(&pool)
                    .and_then(|o| o.get_mut(owner as usize));
                let free = owner.filter(|tier| **tier == OUT);
                r.needs(
                    free.is_some(),
                    "an instance has two cells, or does not exist",
                )?;
                free.into_iter().for_each(|tier| *tier = bank.kind.tier);
            } else {
                let key = PhaseKey::of_bits(owner, detail);
                let divisions = &ranks.divisions;
                let divided = divisions.binary_search_by_key(&key.clip, |d| d.clip);
                let most = match key.clip {
                    NO_CLIP => Some(0),
                    _ => divided.ok().map(|at| divisions[at].count),
                };
                r.needs(most.is_some(), "a palette is of a clip that is not divided")?;
                r.limit(
                    "phase of a palette",
                    key.phase.into(),
                    most.unwrap_or(0).into(),
                )?;
                let once = shared.insert((pool, detail, owner));
                r.needs(once, "two palettes are of one phase")?;
            }
            let mut cell = StoredCell {
                owner,
                frame: r.u32("frame of a cell")?,
                times: [0.0; 2],
            };
            if anew >> place & 1 == 0 && palettes > 1 {
                for time in &mut cell.times {
                    *time = r.f64("time of a palette", 0.0, f64::MAX)?;
                }
            }
            if bank.stored >> place & 1 == 1 {
                for _ in 0..palettes {
                    read_input(r, snapshot, &mut self.inputs)?;
                }
            }
            bank.cells.push(cell);
        }
        Ok(bank)
    }

    /// Reads the lists of banks with free cells, and of banks without used ones.
    fn read_lists(&mut self, r: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let kind =
            |bank: &StoredBank| (bank.used != 0 && bank.used != u16::MAX).then_some(bank.kind);
        self.open = read_list(r, &self.banks, kind)?;
        let room = |bank: &StoredBank| (bank.used == 0).then_some(bank.kind.room());
        self.empty = read_list(r, &self.banks, room)?;
        Ok(())
    }
}

/// Reads lists of all banks that have a key, those of one key one after another.
fn read_list<K: Copy + Eq + Hash>(
    r: &mut Reader<'_>,
    banks: &[StoredBank],
    key: impl Fn(&StoredBank) -> Option<K>,
) -> Result<Vec<u32>, SnapshotError> {
    let mut left: Vec<bool> = banks.iter().map(|bank| key(bank).is_some()).collect();
    let count = left.iter().filter(|left| **left).count();
    let mut all = Vec::new();
    let mut known = HashSet::new();
    let mut list: Option<(K, u32)> = None;
    for _ in 0..count {
        let bank = r.u32("bank of a list")?;
        let at = bank as usize;
        let listed = left.get_mut(at).is_some_and(std::mem::take);
        let Some(key) = banks.get(at).and_then(&key).filter(|_| listed) else {
            return Err(r.contradiction("a bank is listed twice, or in a wrong list"));
        };
        if list.is_none_or(|(last, _)| last != key) {
            let ascends = list.is_none_or(|(_, first)| first < bank);
            let new = known.insert(key) && ascends;
            r.needs(new, "lists of banks are in another order")?;
            list = Some((key, bank));
        }
        all.push(bank);
    }
    Ok(all)
}

fn write_ranks(w: &mut Writer, ranks: &Ranks) {
    for origin in &ranks.origins {
        let backwards = origin.is_some_and(|origin| origin.backwards);
        w.flags([origin.is_some(), backwards]);
        if let Some(origin) = origin {
            w.u64(origin.ticks);
        }
    }
    for place in &ranks.places {
        w.u8(place.tier);
        w.flags([place.sphere.is_some(), place.clock.is_some()]);
        if place.tier < OWN {
            w.u32(place.cell);
        }
        if let Some(sphere) = place.sphere {
            sphere.iter().for_each(|&v| w.f32(v));
        }
        if let Some(clock) = place.clock {
            w.u16(clock.clip);
            w.u32(clock.turn);
            let (high, low) = clock.rate_bits();
            w.u32(high);
            w.u16(low);
        }
    }
}

impl TieringSnapshot {
    /// Reads the instances of a rig. `owners` has the tier of each that has a cell of its own.
    fn read_ranks(
        &mut self,
        r: &mut Reader<'_>,
        (number, pool): (usize, &PoolSnapshot),
        owners: &[u8],
    ) -> Result<(), SnapshotError> {
        let Some(Some(stored)) = self.pools.get_mut(number) else {
            return Ok(());
        };
        let Some(mut ranks) = stored.ranks.take() else {
            return Ok(());
        };
        let mut changed = stored.changed.iter().peekable();
        let mut changes: Vec<u8> = Vec::with_capacity(owners.len());
        for index in 0..owners.len() {
            let of = changed.next_if(|c| c.0 as usize == index);
            changes.push(of.map_or(0, |c| c.1));
        }
        for _ in 0..owners.len().div_ceil(CHUNK) {
            let [known, backwards] = r.flags("flags of clocks")?;
            r.needs(known || !backwards, "clocks are unknown and run backwards")?;
            let mut origin = None;
            if known {
                let ticks = r.up_to("ticks since clocks were made", LONGEST_SINCE)?;
                origin = Some(StoredOrigin { ticks, backwards });
            }
            ranks.origins.push(origin);
        }
        let state = pool.state();
        ranks.places.reserve_exact(owners.len());
        for (index, (&owner, &changed)) in owners.iter().zip(&changes).enumerate() {
            let shown = state.alive()[index] && state.visible()[index];
            let tier = r.u8("tier of an instance")?;
            let own = owner != OUT;
            r.needs(
                own == (tier == OWN),
                "an instance and its cell contradict each other",
            )?;
            r.needs(
                shown || tier == OUT || changed & POSE != 0,
                "an instance is hidden and has a palette",
            )?;
            let first = tier == OUT || own && owner == 0;
            r.needs(
                first || !ranks.everybody,
                "an instance is not in the first tier",
            )?;
            let mut cell = NONE;
            let [seen, clocked] = r.flags("flags of an instance")?;
            if tier < OWN {
                r.limit(
                    "tier of an instance",
                    tier.into(),
                    self.tiers.tiers.len() as u64 - 1,
                )?;
                cell = r.u32("shared cell of an instance")?;
                self.check_shared(r, number, (tier, cell))?;
            }
            let holds = seen == shown || changed != 0;
            r.needs(holds, "an instance is seen where it is not")?;
            let mut place = Place {
                tier,
                cell,
                sphere: None,
                clock: None,
            };
            if seen {
                place.sphere = Some(read_sphere(r)?);
            }
            if clocked {
                let known = ranks.origins[index / CHUNK].is_some();
                r.needs(known, "a clock has no moment")?;
                place.clock = Some(read_clock(r, pool)?);
            }
            ranks.places.push(place);
        }
        if let Some(Some(stored)) = self.pools.get_mut(number) {
            stored.ranks = Some(ranks);
        }
        Ok(())
    }

    /// Checks the shared cell of an instance.
    fn check_shared(
        &self,
        r: &Reader<'_>,
        number: usize,
        (tier, cell): (u8, u32),
    ) -> Result<(), SnapshotError> {
        let of = &self.tiers.tiers[usize::from(tier)];
        r.needs(of.sharing != Sharing::None, "a tier shares no palettes")?;
        if cell == NONE {
            return Ok(());
        }
        let (at, place) = (cell as usize / CELLS, cell as usize % CELLS);
        let bank = self
            .banks
            .get(at)
            .filter(|bank| bank.used >> place & 1 == 1);
        let shared =
            |bank: &&StoredBank| (usize::from(bank.kind.pool), bank.kind.tier) == (number, SHARED);
        let Some(bank) = bank.filter(shared) else {
            return Err(r.contradiction("a cell is not shared by instances of its rig"));
        };
        let before = bank.used & ((1 << place) - 1);
        let looked = bank.cells.get(before.count_ones() as usize);
        let age = looked.map_or(0, |cell| self.frame.wrapping_sub(cell.frame));
        // Within this time an instance looks again.
        let most = u64::from(of.rate) - 1;
        r.limit(
            "frames since an instance looked for its cell",
            age.into(),
            most,
        )
    }
}

fn read_sphere(r: &mut Reader<'_>) -> Result<[f32; 5], SnapshotError> {
    let most = f64::from(f32::MAX);
    let mut sphere = [0.0; 5];
    for (n, v) in sphere.iter_mut().enumerate() {
        // The centre is anywhere, the radius and the size are no less than nothing.
        let low = if n < 3 { -most } else { 0.0 };
        *v = r.f32("sphere of an instance", low, most)?;
    }
    Ok(sphere)
}

fn read_clock(r: &mut Reader<'_>, pool: &PoolSnapshot) -> Result<PhaseClock, SnapshotError> {
    let clip = r.u16("clip of a clock")?;
    let known = clip == NO_CLIP || clip != UNKNOWN && pool.clip(clip).is_some();
    r.needs(known, "a clock is of a clip that is not loaded")?;
    let turn = r.u32("turn of a clock")?;
    let rate = (r.u32("rate of a clock")?, r.u16("rate of a clock")?);
    let clock = PhaseClock::of_bits(clip, turn, rate);
    r.within("rate of a clock", clock.rate(), -FASTEST, FASTEST)?;
    Ok(clock)
}

#[cfg(all(test, feature = "gltf"))]
mod tests {
    use super::*;
    use crate::crowd::{BoneBuffer, Crowd, CrowdError, CrowdSnapshot, PlayOptions};
    use crate::playback::SnapshotDiffers;
    use std::sync::Arc;

    /// 40 characters with palettes of their own, interpolated and not, and shared ones, after some frames.
    fn crowd() -> Crowd {
        let mut crowd = Crowd::new();
        let rig = crowd
            .add_rig(Arc::new(crate::import::mannequin().unwrap()))
            .unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(rig, 40, &mut all).unwrap();
        let clips: Vec<_> = (0..3).filter_map(|c| crowd.clip_by_index(rig, c)).collect();
        for (n, &i) in all.iter().enumerate() {
            crowd
                .play(i, clips[n % 3], &PlayOptions::default())
                .unwrap();
        }
        let tier = |height, rate, interpolate, sharing| Tier {
            height,
            rate,
            interpolate,
            sharing,
            detail: None,
        };
        let tiers = vec![
            tier(100.0, 4, true, Sharing::None),
            tier(50.0, 2, false, Sharing::None),
            tier(10.0, 2, false, Sharing::Phases(8)),
            tier(1.0, 1, false, Sharing::Error(0.05)),
        ];
        let tiers = Tiers {
            tiers,
            ..Tiers::default()
        };
        crowd.set_tiers(Some(tiers)).unwrap();
        let heights: Vec<f32> = (0..40)
            .map(|n| [0.0, 120.0, 60.0, 20.0, 5.0][n % 5])
            .collect();
        crowd.set_importances(rig, &heights).unwrap();
        let mut bones = BoneBuffer::new();
        for _ in 0..7 {
            crowd.advance(0.02).unwrap();
            crowd.evaluate(&mut bones);
        }
        crowd.stop_one(all[2]);
        crowd.despawn(all[7]).unwrap();
        crowd
    }

    impl Crowd {
        fn stop_one(&mut self, instance: crate::playback::InstanceId) {
            self.player(instance).unwrap().stop_all(0.1).unwrap();
        }
    }

    /// The state of tiers with a change, as bytes.
    fn changed(crowd: &Crowd, change: impl FnOnce(&mut TieringSnapshot)) -> Vec<u8> {
        let mut snapshot = crowd.snapshot();
        change(snapshot.tiering_mut());
        snapshot.to_bytes()
    }

    fn bank(all: &mut TieringSnapshot, which: impl Fn(&StoredBank) -> bool) -> &mut StoredBank {
        all.banks
            .iter_mut()
            .find(|bank| bank.used != 0 && which(bank))
            .unwrap()
    }

    fn pair(all: &mut TieringSnapshot) -> &mut StoredBank {
        bank(all, |bank| bank.kind.palettes == 2)
    }

    fn held(all: &mut TieringSnapshot) -> &mut StoredBank {
        bank(all, |bank| bank.kind.tier == 1 && bank.stored != 0)
    }

    fn shared(all: &mut TieringSnapshot) -> &mut StoredBank {
        bank(all, |bank| bank.kind.tier == SHARED)
    }

    fn ranks(all: &mut TieringSnapshot) -> &mut Ranks {
        all.pools[0].as_mut().unwrap().ranks.as_mut().unwrap()
    }

    fn place(all: &mut TieringSnapshot, which: impl Fn(&Place) -> bool) -> &mut Place {
        ranks(all)
            .places
            .iter_mut()
            .find(|place| which(place))
            .unwrap()
    }

    fn sharing(place: &Place) -> bool {
        place.tier < OWN
    }

    type Change = fn(&mut TieringSnapshot);

    /// Every check, by a field that it finds.
    const REFUSED: [(Change, &str); 73] = [
        (|s| s.tiers.tiers.clear(), "there are no tiers"),
        (
            |s| s.tiers.tiers.resize(17, Tier::default()),
            "tiers is 17, the limit is 16",
        ),
        (
            |s| s.tiers.tiers[1].height = f32::NAN,
            "height of a tier is NaN",
        ),
        (
            |s| s.tiers.tiers[0].height = 2e6,
            "height of a tier is 2000000",
        ),
        (
            |s| s.tiers.tiers[1].height = 100.0,
            "the heights of tiers do not descend",
        ),
        (|s| s.tiers.tiers[1].rate = 3, "there is no such rate"),
        (
            |s| s.tiers.tiers[2].sharing = Sharing::Phases(0),
            "a tier has no phases",
        ),
        (
            |s| s.tiers.tiers[2].sharing = Sharing::Phases(5000),
            "phases of a tier is 5000, the limit is 4096",
        ),
        (
            |s| s.tiers.tiers[3].sharing = Sharing::Error(f32::INFINITY),
            "error of a tier is inf",
        ),
        (|s| s.tiers.hysteresis = 1.5, "hysteresis is 1.5"),
        (|s| s.tiers.max_age = 0, "the greatest age is 0"),
        (
            |s| s.tiers.shadows = Some(4),
            "tier of shadows is 4, the limit is 3",
        ),
        (|s| s.time = f64::INFINITY, "time of tiers is inf"),
        (|s| s.time = f64::NAN, "time of tiers is NaN"),
        (|s| s.step = 2e9, "length of a frame is 2000000000"),
        (|s| s.backwards = true, "the last step ran the other way"),
        (|s| s.ranked_at = 1.0, "time of the last frame is 1"),
        (
            |s| s.sweep = 1 << 30,
            "bank that is looked at is 1073741824",
        ),
        (
            |s| s.pools[0].as_mut().unwrap().recorded = false,
            "instances are ranked and their changes are unknown",
        ),
        (
            |s| s.pools[0].as_mut().unwrap().changed[0].0 = 99,
            "a changed instance does not exist",
        ),
        (
            |s| s.pools[0].as_mut().unwrap().changed.reverse(),
            "changed instances do not ascend",
        ),
        (
            |s| s.pools[0].as_mut().unwrap().changed[0].1 = NEW,
            "an instance has changed in nothing",
        ),
        (
            |s| s.pools[0].as_mut().unwrap().changed.clear(),
            "an instance is hidden and has a palette",
        ),
        (
            |s| ranks(s).divisions.reverse(),
            "divided clips do not ascend",
        ),
        (
            |s| ranks(s).divisions[0].clip = 999,
            "a divided clip is not loaded",
        ),
        (
            |s| ranks(s).divisions[0].count = 8192,
            "phases of a clip is 8192, the limit is 4096",
        ),
        (
            |s| ranks(s).divisions[0].count = 24,
            "phases are no power of two",
        ),
        (
            |s| ranks(s).divisions[0].steps[0] = 1,
            "a tier does not share these phases",
        ),
        (
            |s| ranks(s).divisions[0].steps[2] = 0,
            "a tier does not share these phases",
        ),
        (
            |s| ranks(s).divisions[0].steps[3] = 3,
            "a tier does not share these phases",
        ),
        (
            |s| {
                let division = &mut ranks(s).divisions[0];
                division.count *= 2;
                division.steps.iter_mut().for_each(|step| *step *= 2);
            },
            "no tier shares all phases of a clip",
        ),
        (
            |s| {
                let mut more = ranks(s).divisions[0];
                more.clip = 3;
                ranks(s).divisions.push(more);
            },
            "a divided clip has no palettes",
        ),
        (
            |s| pair(s).kind.palettes = 3,
            "palettes of a cell is 3, the limit is 2",
        ),
        (
            |s| shared(s).kind.palettes = 2,
            "palettes of a cell is 2, the limit is 1",
        ),
        (
            |s| pair(s).kind.pool = 7,
            "a bank is of a rig that is not ranked",
        ),
        (
            |s| pair(s).kind.detail = 5,
            "detail of a bank is 5, the limit is 4",
        ),
        (|s| held(s).fresh = 1 << 15, "a cell is not used"),
        (|s| held(s).stale = 1 << 15, "a cell is not used"),
        (|s| held(s).waiting = 1 << 15, "a cell is not used"),
        (|s| pair(s).second = 1 << 15, "a cell is not used"),
        (
            |s| held(s).kind.tier = 9,
            "tier of a bank is 9, the limit is 3",
        ),
        (
            |s| held(s).kind.tier = 0,
            "a cell has other palettes than its tier",
        ),
        (
            |s| held(s).kind.phase = 2,
            "phase of a bank is 2, the limit is 1",
        ),
        (
            |s| pair(s).kind.phase = 4,
            "phase of a bank is 4, the limit is 3",
        ),
        (|s| held(s).second = 1, "a cell has no second palette"),
        (
            |s| {
                let bank = held(s);
                bank.fresh |= 1;
                bank.stored &= !1;
                bank.waiting = 1;
            },
            "a cell waits that is evaluated",
        ),
        (
            |s| held(s).stored = 0,
            "what a cell was evaluated from is missing",
        ),
        (
            |s| held(s).stale = 1,
            "what a cell was evaluated from is missing, or not needed",
        ),
        (
            |s| held(s).cells[0].owner = 40,
            "an instance has two cells, or does not exist",
        ),
        (
            |s| held(s).cells[0].owner = NONE,
            "an instance has two cells, or does not exist",
        ),
        (
            |s| {
                let owner = pair(s).cells[0].owner;
                held(s).cells[0].owner = owner;
            },
            "an instance has two cells, or does not exist",
        ),
        (
            |s| shared(s).cells[0].owner = 999 << 16,
            "a palette is of a clip that is not divided",
        ),
        (
            |s| shared(s).cells[0].owner |= 4095,
            "phase of a palette is",
        ),
        (
            |s| {
                let bank = bank(s, |bank| bank.kind.tier == SHARED && bank.cells.len() > 1);
                bank.cells[1].owner = bank.cells[0].owner;
            },
            "two palettes are of one phase",
        ),
        (
            |s| pair(s).cells[0].times[0] = f64::NAN,
            "time of a palette is NaN",
        ),
        (
            |s| pair(s).cells[0].times[1] = -1.0,
            "time of a palette is -1",
        ),
        (
            |s| s.inputs.palettes[0] = 9,
            "layers of a palette is 9, the limit is 1",
        ),
        (
            |s| s.inputs.layers[0].layer = 4,
            "a palette is of a layer that does not exist",
        ),
        (
            |s| s.inputs.layers[0].weight = f32::NAN,
            "weight of a layer is NaN",
        ),
        (
            |s| s.inputs.layers[0].rest = 0.9,
            "the weights of a layer do not sum to 1",
        ),
        (
            |s| s.inputs.layers[0].actions = 200,
            "clips of a layer is 200, the limit is 4",
        ),
        (
            |s| s.inputs.actions[0].clip = 77,
            "a palette is of a clip that its layer cannot play",
        ),
        (
            |s| s.inputs.actions[0].time = f32::INFINITY,
            "time of a palette's clip is inf",
        ),
        (
            |s| s.inputs.actions[0].weight = f32::NAN,
            "weight of a clip is NaN",
        ),
        (
            |s| s.inputs.actions[0].weight = 0.0,
            "the weights of a layer do not sum to 1",
        ),
        (
            |s| s.open[0] = 1 << 20,
            "a bank is listed twice, or in a wrong list",
        ),
        (|s| s.open.reverse(), "lists of banks are in another order"),
        (
            |s| place(s, |p| p.tier == OUT).tier = OWN,
            "an instance and its cell contradict each other",
        ),
        (|s| place(s, sharing).tier = 0, "a tier shares no palettes"),
        (
            |s| place(s, sharing).tier = 8,
            "tier of an instance is 8, the limit is 3",
        ),
        (
            |s| place(s, sharing).cell = 1 << 20,
            "a cell is not shared by instances of its rig",
        ),
        (
            |s| place(s, sharing).cell = 0,
            "a cell is not shared by instances of its rig",
        ),
        (
            |s| place(s, |p| p.sphere.is_some()).sphere = None,
            "an instance is seen where it is not",
        ),
    ];

    #[test]
    fn every_value_is_checked() {
        let crowd = crowd();
        assert!(CrowdSnapshot::from_bytes(&crowd.snapshot().to_bytes()).is_ok());
        for (change, message) in REFUSED {
            let read = CrowdSnapshot::from_bytes(&changed(&crowd, change)).map(drop);
            let error = read.expect_err(message).to_string();
            assert!(error.contains(message), "{message}: {error}");
        }
        let more: [(Change, &str); 7] = [
            (
                |s| {
                    shared(s)
                        .cells
                        .iter_mut()
                        .for_each(|c| c.frame = c.frame.wrapping_sub(50))
                },
                "frames since an instance looked for its cell is 5",
            ),
            (
                |s| place(s, |p| p.sphere.is_some()).sphere = Some([f32::NAN; 5]),
                "sphere of an instance is NaN",
            ),
            (
                |s| place(s, |p| p.sphere.is_some()).sphere = Some([-1.0; 5]),
                "sphere of an instance is -1",
            ),
            (
                |s| ranks(s).everybody = true,
                "an instance is not in the first tier",
            ),
            (|s| ranks(s).origins[0] = None, "a clock has no moment"),
            (
                |s| {
                    let place = place(s, |p| p.clock.is_some());
                    place.clock = Some(PhaseClock::new(NO_CLIP, 0, 1e6));
                },
                "rate of a clock is 1000000",
            ),
            (
                |s| place(s, |p| p.clock.is_some()).clock.as_mut().unwrap().clip = 300,
                "a clock is of a clip that is not loaded",
            ),
        ];
        for (change, message) in more {
            let read = CrowdSnapshot::from_bytes(&changed(&crowd, change)).map(drop);
            let error = read.expect_err(message).to_string();
            assert!(error.contains(message), "{message}: {error}");
        }
        let long = |s: &mut TieringSnapshot| {
            ranks(s).origins[0].as_mut().unwrap().ticks = u64::MAX;
        };
        assert!(CrowdSnapshot::from_bytes(&changed(&crowd, long)).is_err());
    }

    /// A crowd whose palettes have other rows, or that has no such detail, is not touched.
    #[test]
    fn other_rows_are_refused() {
        let mut crowd = crowd();
        let before = crowd.snapshot();
        let rows = crowd.pools[0].as_ref().unwrap().rig.palette_len() as u64;
        let stride = |s: &mut TieringSnapshot| {
            let banks = s.banks.iter_mut().filter(|bank| bank.used != 0);
            banks.for_each(|bank| bank.kind.stride += 1);
        };
        let detail = |s: &mut TieringSnapshot| {
            let banks = s.banks.iter_mut().filter(|bank| bank.used != 0);
            banks.for_each(|bank| bank.kind.detail = 3);
        };
        let align = |s: &mut TieringSnapshot| s.align = 1 << 20;
        let wanted = [
            (changed(&crowd, stride), 0, Some(rows), rows + 1),
            (changed(&crowd, detail), 3, None, rows),
            (changed(&crowd, align), 0, Some(1 << 20), rows),
        ];
        for (bytes, number, there, then) in wanted {
            // Lists of banks are by their kinds, which all change alike.
            let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
            let Err(CrowdError::Snapshot(SnapshotDiffers::Palettes {
                detail,
                here,
                snapshot,
                ..
            })) = crowd.restore(&read)
            else {
                panic!("{number}");
            };
            assert_eq!((detail, here, snapshot), (number, there, then));
            assert!(crowd.snapshot() == before);
        }
    }

    /// Few bytes do not ask for many rows.
    #[test]
    fn rows_are_within_a_multiple_of_the_bytes() {
        let crowd = crowd();
        let rows = |s: &mut TieringSnapshot| {
            s.banks
                .push(StoredBank::empty(BankKind::of_room((1 << 20, true))));
            s.empty.push(s.banks.len() as u32 - 1);
        };
        let bytes = changed(&crowd, rows);
        assert!(bytes.len() >= PER_ROW << 20);
        // Without these bytes it is cut.
        let whole = crowd.snapshot().to_bytes();
        let mut short = bytes[..whole.len() + 4000].to_vec();
        short[16..24].copy_from_slice(&(whole.len() as u64 + 4000).to_le_bytes());
        assert!(CrowdSnapshot::from_bytes(&short).is_err());
    }
}
