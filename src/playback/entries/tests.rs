//! Tests of `Entries`: what was stored in an entry is loaded again.

use super::*;
use crate::playback::blend_space::space::Place;
use crate::playback::ids::Source;
use crate::playback::options::PlayOptions;

fn action(clip: u16) -> Action {
    Action::new(Source::Clip(clip), (Place::default(), 1.0), &PlayOptions::default())
}

/// Entries hold the same actions as a plain list when actions are added and removed in any order, and freed elements
/// are reused.
#[test]
fn entries_hold_the_stored_layers() {
    let mut entries = Entries::default();
    (0..200).for_each(|_| entries.push());
    let clock = Clock::default();
    let mut lists = vec![Vec::new(); 200];
    let mut state = 1u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 16) % below
    };
    for _ in 0..20_000 {
        let at = random(200) as usize;
        let list: &mut Vec<u16> = &mut lists[at];
        let mut layer = entries.at(at, Some(clock));
        if random(2) == 0 && list.len() < ACTIONS_PER_LAYER {
            let clip = 10 * at as u16 + random(1000) as u16;
            if list.contains(&clip) {
                continue;
            }
            list.push(clip);
            let (a, _) = layer.push(action(clip));
            if random(3) == 0 {
                layer.set_warp(a, LinearFade::new(0.0, f32::from(clip), 1.0));
            }
        } else if !list.is_empty() {
            let a = random(list.len() as u32) as usize;
            list.remove(a);
            layer.remove(a);
        }
        entries.store(at, &layer, clock);
        let stored = entries.at(at, Some(clock));
        let clips = stored.actions().iter().map(|a| a.clip());
        assert!(clips.eq(list.iter().copied().map(Some)));
        for (a, &clip) in list.iter().enumerate() {
            let warp = stored.warp(a);
            assert!(warp.is_none_or(|w| w.end() == f32::from(clip)));
            assert_eq!(warp, layer.warp(a));
        }
    }
    let more: usize = lists.iter().map(|l| l.len().saturating_sub(1)).sum();
    let elements: usize = entries.further.iter().map(|f| f.more.len()).sum();
    assert!(elements <= 3 * 200 && more <= elements);
    assert_eq!(entries.all_actions().count(), lists.concat().len());
    assert!(entries.clone() == entries);
}

/// The first further action makes room for one more action of every entry of a bucket.
#[test]
fn crossfades_make_room_for_all() {
    let mut entries = Entries::default();
    (0..100).for_each(|_| entries.push());
    let clock = Clock::default();
    let mut layer = entries.at(0, Some(clock));
    layer.push(action(1));
    layer.push(action(2));
    entries.store(0, &layer, clock);
    let room = |f: &Further| f.more.capacity();
    assert!(entries.further.iter().map(room).eq([64, 36]));
    assert!(size_of::<Entry>() <= 112);
}
