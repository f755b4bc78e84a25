//! Section BNDS: bounds are those that were measured, and what contradicts itself is refused.

use super::Tested;
use super::damage::{self, Case};
use super::roundtrip::{check, same_rig};
use phalanx::format::{Library, RigOptions};
use phalanx::runtime::clip_bounds;
use phalanx_testkit::made;
use phalanx_testkit::seal;

/// What is read is what is measured of the clips as they are stored.
pub fn read_as_measured() -> Tested {
    let mut some = 0;
    for file in [made::library(&made::rig()), made::of_all_kinds()] {
        let library = Library::from_bytes(&file)?;
        let rig = library.rig(&RigOptions::default())?;
        for (place, clip) in rig.clips().iter().enumerate() {
            // Additive clips are refused.
            let measured = clip_bounds(&rig, Some(clip)).ok().flatten();
            check(
                rig.clip_bounds(place) == measured.as_ref(),
                format!("clip {place}: {:?}, {measured:?}", rig.clip_bounds(place)),
            )?;
            some += usize::from(measured.is_some());
        }
    }
    check(some > 2, "clips were measured")
}

/// A file without the section, or with an anchor that is not above all meshes, has no bounds and the same rig.
pub fn files_without() -> Tested {
    let rig = made::rig();
    let parts = seal::parts(&made::library(&rig));
    let place = seal::find(&parts, b"BNDS");
    let mut without = parts.clone();
    without.remove(place);
    let mut other = parts.clone();
    let joints = rig.skeleton().len() as u16;
    other[place].bytes[..2].copy_from_slice(&(joints - 1).to_le_bytes());
    for parts in [without, other] {
        let library = Library::from_bytes(&seal::file(&parts))?;
        let read = library.rig(&RigOptions::default())?;
        same_rig(&rig, &read)?;
        check(read.clip_bounds(0).is_none(), "no bounds")?;
    }
    Ok(())
}

pub fn refused() -> Tested {
    let parts = seal::parts(&made::library(&made::rig()));
    let u32s = |n: u32| n.to_le_bytes().to_vec();
    let float = |v: f32| v.to_le_bytes().to_vec();
    let bounds = "the bounds of clip 0";
    // The empty box has no points: its corners are infinitely far beyond each other.
    let ends = [f32::INFINITY, f32::NEG_INFINITY];
    let empty: Vec<u8> = ends.iter().flat_map(|&v| float(v).repeat(3)).collect();
    let cases: Vec<Case> = vec![
        (b"BNDS", 0, 4000u16.to_le_bytes().to_vec(), "the anchor"),
        (b"BNDS", 2, vec![1], "padding"),
        (b"BNDS", 4, u32s(0), "the number of bounds is 0"),
        (b"BNDS", 4, u32s(u32::MAX), "the number of bounds"),
        (b"BNDS", 8, u32s(7), bounds),
        (b"BNDS", 8, u32s(1), bounds),
        (b"BNDS", 8, u32s(0), bounds),
        (b"BNDS", 12, float(f32::NAN), bounds),
        (b"BNDS", 12, float(1e9), bounds),
        (b"BNDS", 36, float(f32::INFINITY), bounds),
        (b"BNDS", 60, float(-1.0), bounds),
        // Boxes whose first corner is beyond the second, on each axis: of the meshes, and of the anchor.
        (b"BNDS", 12, float(900.0), bounds),
        (b"BNDS", 16, float(900.0), bounds),
        (b"BNDS", 20, float(900.0), bounds),
        (b"BNDS", 24, float(-900.0), bounds),
        (b"BNDS", 36, float(900.0), bounds),
        (b"BNDS", 56, float(-900.0), bounds),
        (b"BNDS", 12, empty.clone(), bounds),
        (b"BNDS", 36, empty, bounds),
        // A box that is said not to be there.
        (b"BNDS", 8, u32s(2), bounds),
    ];
    damage::refused(&parts, cases)
}
