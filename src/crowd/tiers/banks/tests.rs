use super::*;

fn kind(tier: u8, turn: u8, stride: u32) -> BankKind {
    BankKind { pool: 0, tier, turn, palettes: 1, detail: 0, rows: stride, stride }
}

#[test]
fn cells_are_used_again_and_banks_stay_where_they_are() {
    let mut banks = Banks::new(true);
    let cells: Vec<u32> = (0..40).map(|i| banks.take(kind(0, 0, 10), 1, i, 7)).collect();
    // The third comes with a spare one.
    assert_eq!((banks.all.len(), banks.rows()), (4, 640));
    assert_eq!(cells[17], 17);
    banks.free(cells[3], 1);
    banks.free(cells[20], 1);
    // The bank that was opened last is filled first.
    assert_eq!(banks.take(kind(0, 0, 10), 1, 99, 8), cells[20]);
    (0..16).filter(|&i| i != 3).for_each(|i| banks.free(cells[i], 1));
    // An empty bank serves any kind with cells of its size.
    assert_eq!(split(banks.take(kind(1, 0, 10), 4, 5, 9)), (0, 0));
    assert_eq!(split(banks.take(kind(1, 0, 7), 4, 5, 9)), (4, 0));
    assert_eq!(banks.rows(), 640 + 16 * 7);
}

#[test]
fn banks_without_spares_have_as_many_cells_as_are_asked_for() {
    let mut banks = Banks { demand: 20, ..Banks::default() };
    let own = kind(0, 0, 10);
    let cells: Vec<u32> = (0..20).map(|i| banks.take(own, 1, i, 7)).collect();
    assert!(cells.iter().copied().eq(0..20));
    assert_eq!((banks.all.len(), banks.rows()), (2, 200));
    // The last bank grows.
    assert_eq!((banks.take(own, 1, 20, 8), banks.rows()), (20, 210));
    assert_eq!((banks.take(own, 1, 21, 8), banks.rows()), (21, 220));
    // Of another rig.
    let other = BankKind { pool: 1, ..kind(0, 0, 5) };
    assert_eq!((banks.take(other, 1, 0, 8), banks.rows()), (32, 225));
    // The last one freed is taken next; banks at the end go when nobody is in them.
    banks.free(4, 1);
    assert_eq!(banks.take(own, 1, 22, 8), 4);
    (16..22).for_each(|cell| banks.free(cell, 1));
    banks.trim();
    assert_eq!(banks.rows(), 225);
    banks.free(32, 1);
    banks.trim();
    assert_eq!((banks.all.len(), banks.rows()), (1, 160));
    assert_eq!((banks.take(own, 1, 9, 9), banks.rows()), (16, 170));
}

#[test]
fn turns_spread_the_work_evenly() {
    let mut banks = Banks::default();
    for i in 0..1000 {
        let rate = [1, 2, 4, 8, 16][i % 5];
        let turn = banks.turn_of(kind((i % 5) as u8, 0, 10), rate);
        banks.take(kind((i % 5) as u8, turn, 10), rate, i as u32, 0);
    }
    let due: Vec<usize> = (0..16).map(|frame| banks.turns.due(frame)).collect();
    let (least, most) = (due.iter().min().unwrap(), due.iter().max().unwrap());
    assert!(most - least <= (2 * banks.turns.slack() as usize).max(2), "{due:?}");
}
