//! What is written is read.

use super::Tested;
use super::ways::Way;
use libtest_mimic::Failed;
use phalanx::clip::Channel;
use phalanx::format::{ClipForm, Library, LibraryWriter, RigOptions};
use phalanx::math::Row;
use phalanx::rig::Rig;
use phalanx::skeleton::{Pose, Skeleton};
use phalanx_testkit::made;
use phalanx_testkit::sample::sample;
use std::io::Cursor as Bytes;

pub fn check(ok: bool, message: impl Into<String>) -> Tested {
    if ok { Ok(()) } else { Err(Failed::from(message.into())) }
}

/// Compares two rigs, part by part.
pub fn same_rig(a: &Rig, b: &Rig) -> Tested {
    check(a.name() == b.name(), "names")?;
    check(a.skeleton() == b.skeleton(), "skeletons")?;
    check(a.skins() == b.skins(), "skins")?;
    check(a.file_skins().len() == b.file_skins().len(), "the file's skins")?;
    check(a.nodes() == b.nodes(), "nodes")?;
    check(a.roots() == b.roots(), "roots")?;
    check(a.materials() == b.materials(), "materials")?;
    check(a.humanoid() == b.humanoid(), "humanoids")?;
    check(a.images() == b.images(), "images")?;
    check(a.slot_bounds() == b.slot_bounds(), "bounds")?;
    check(a.clips() == b.clips(), "clips")?;
    check(a.meshes().len() == b.meshes().len(), "meshes")?;
    for (a, b) in a.meshes().iter().zip(b.meshes()) {
        check(a.mesh == b.mesh, "a mesh")?;
        let place = |m: &phalanx::rig::RigMesh| (m.node, m.source, m.skin, m.rigid_slot, m.lod);
        check(place(a) == place(b), "a mesh's place")?;
    }
    for (a, b) in a.clips().iter().zip(b.clips()) {
        // Equal floats may differ in sign; the content's hash takes their bits.
        check(a.content_hash() == b.content_hash(), format!("bits of {}", a.name()))?;
    }
    Ok(())
}

/// Timelines of more keys than key hints count: they are regular, and read in both forms.
pub fn long_timelines() -> Tested {
    let rig = crate::baked::made::held(100_000);
    let clip = &rig.clips()[0];
    let lengths: Vec<usize> = clip.timelines().map(<[f32]>::len).collect();
    check(lengths == [100_000] && clip.hint_count() == 0, "a long timeline")?;
    for form in ClipForm::ALL {
        let library = Library::from_bytes(&made::library_in(&rig, form))?;
        same_rig(&rig, &library.rig(&RigOptions::default())?)?;
        library.verify()?;
    }
    Ok(())
}

pub fn everything() -> Tested {
    let rigs = [made::rig(), made::travelling(), made::baked()];
    for (rig, form) in rigs.iter().flat_map(|r| ClipForm::ALL.map(|f| (r, f))) {
        let library = Library::from_bytes(&made::library_in(rig, form))?;
        same_rig(rig, &library.rig(&RigOptions::default())?)?;
        library.verify()?;
        library.check_sums()?;
        check(*library.provenance() == made::provenance(3), "provenance")?;
        let without =
            library.rig(&RigOptions { clips: false, images: phalanx::mesh::ImageMode::Skip })?;
        check(without.clips().is_empty(), "clips that were not asked for")?;
        check(without.images().len() == 3, "places of images")?;
        check(without.images().iter().all(Option::is_none), "pictures not asked for")?;
    }
    let travels = made::travelling().clips()[0].root_motion().is_some();
    check(travels, "the made rig has no root motion to be lost")
}

pub fn rows_lie_in_the_map() -> Tested {
    let folder = super::stored::scratch("map")?;
    let path = folder.join("made.phx");
    let rig = made::rig();
    std::fs::write(&path, made::library(&rig))?;
    let library = Way::Mapped.open(&path)?;
    for (c, exact) in rig.clips().iter().enumerate() {
        let clip = library.clip(c)?;
        // Two clips of one file have their rows in one stretch of memory, at their sections' distance.
        let at = clip.rows().as_ptr_range();
        let again = library.clip(c)?;
        check(again.rows().as_ptr_range() == at, "rows were copied")?;
        check(clip.rows() == exact.rows(), "rows differ")?;
        for time in [0.0, 0.31, 0.5, 1.0] {
            let (a, b) = (&clip, exact.as_ref());
            let skeleton = rig.skeleton();
            check(sample(a, skeleton, time)? == sample(b, skeleton, time)?, "samples")?;
        }
    }
    // The rows outlive the library and the file's name.
    let clip = library.clip(0)?;
    drop(library);
    std::fs::remove_file(&path)?;
    check(clip.rows() == rig.clips()[0].rows(), "rows after the file has gone")
}

pub fn one_by_one() -> Tested {
    let rig = made::rig();
    let file = made::library(&rig);
    let path = super::stored::scratch("one-by-one")?.join("file.phx");
    // A clip that is damaged is found when it is read, not before, and hurts no other.
    let sections = Library::from_bytes(&file)?;
    let walk = sections.sections().find(|s| s.form.is_some());
    let walk = walk.ok_or("no clip")?;
    let mut damaged = file.clone();
    damaged[(walk.offset + walk.bytes) as usize - 5] ^= 1;
    for way in Way::ALL {
        std::fs::write(&path, &file)?;
        clips_of(&way.open(&path)?)?;
        std::fs::write(&path, &damaged)?;
        let library = way.open(&path)?;
        check(library.clip(0).is_err(), "the damaged clip")?;
        check(
            library.clip(1).is_ok() && library.verify().is_err(),
            format!("{way:?}: the others"),
        )?;
    }
    Ok(())
}

fn clips_of(library: &Library) -> Tested {
    let names: Vec<_> = (0..3).map(|c| library.clip_info(c).map(|i| i.name)).collect();
    check(names == [Some("walk"), Some("nod"), Some("")], "names of the table")?;
    check(library.clip_info(0).is_some_and(|c| c.duration == 1.0), "durations of the table")?;
    check(library.find_clip("nod") == Some(1), "a clip by name")?;
    check(library.find_clip("nothing").is_none(), "a clip that is not there")?;
    check(library.clip(3).is_err(), "a clip beyond the last")?;
    let markers: Vec<_> = library.clip(0)?.markers().iter().map(|m| m.time).collect();
    check(markers == [0.0, 0.5, 0.75], "markers of the first clip")?;
    check(library.clip(1)?.markers().is_empty(), "markers of the second")
}

pub fn same_bytes() -> Tested {
    let (a, b) = (made::library(&made::rig()), made::library(&made::rig()));
    check(a == b, "two runs differ")?;
    check(a.len().is_multiple_of(8), "the table is whole")
}

/// The largest difference of two poses that hold the same joints in different lanes.
fn apart(a: (&Pose, &Skeleton), b: (&Pose, &Skeleton)) -> f32 {
    let mut worst = 0.0f32;
    for joint in 0..a.1.len() {
        let lane = |s: &Skeleton| usize::from(s.lane_of()[joint]);
        let (x, y) = (a.0.lane(lane(a.1)), b.0.lane(lane(b.1)));
        let pairs = x.to_array().into_iter().zip(y.to_array());
        worst = pairs.fold(worst, |w, (x, y)| w.max((x - y).abs()));
    }
    for i in 0..a.1.scalars().len() {
        worst = worst.max((a.0.scalar(i) - b.0.scalar(i)).abs());
    }
    worst
}

/// An order that sends every joint to another block.
pub fn turned(joints: usize) -> Vec<u16> {
    let mut order: Vec<u16> = (0..joints as u16).collect();
    order.rotate_left(13);
    order.swap(0, 5);
    order
}

pub fn other_lane_orders() -> Tested {
    for rig in [made::rig(), made::travelling(), made::baked()] {
        let joints = rig.skeleton().len();
        let other = made::rig_in_order(turned(joints));
        let (from, to) = (rig.skeleton(), other.skeleton());
        check(from.layout_hash() != to.layout_hash(), "the orders are one")?;
        let library = Library::from_bytes(&made::library(&rig))?;
        for c in 0..library.clip_count() {
            let (as_is, moved) = (library.clip(c)?, library.clip_for(c, to)?);
            check(moved.fits(to) && !as_is.fits(to), "layouts")?;
            check(moved.markers() == as_is.markers(), "markers")?;
            check(moved.root_motion() == as_is.root_motion(), "root motion")?;
            for i in 0..=100 {
                let time = i as f32 * 0.01;
                let (a, b) = (sample(&as_is, from, time)?, sample(&moved, to, time)?);
                let apart = apart((&a, from), (&b, to));
                check(apart < 2e-6, format!("clip {c} at {time}: {apart}"))?;
            }
        }
        check(library.clip_for(0, from)? == library.clip(0)?, "the same order")?;
    }
    let stranger = Skeleton::new(&[], None, Vec::new())?;
    let library = Library::from_bytes(&made::library(&made::rig()))?;
    check(library.clip_for(0, &stranger).is_err(), "another skeleton")
}

pub fn additive_lanes() -> Tested {
    let rig = made::rig();
    let other = made::rig_in_order(turned(rig.skeleton().len()));
    let clip = made::additive(&rig);
    let mut writer = LibraryWriter::new(Bytes::new(Vec::new()), rig.skeleton())?;
    writer.add_clip(&clip, "difference", ClipForm::Rows)?;
    let file = writer.finish(&made::provenance(1))?.into_inner();
    let library = Library::from_bytes(&file)?;
    check(library.clip(0)?.content_hash() == clip.content_hash(), "bits")?;
    check(library.clip(0)?.kind() == clip.kind(), "the kind")?;
    let moved = library.clip_for(0, other.skeleton())?;
    let direct = made::additive(&other);
    for time in [0.0, 0.05, 0.4, 0.77, 1.0] {
        let s = other.skeleton();
        let (a, b) = (sample(&moved, s, time)?, sample(&direct, s, time)?);
        let apart = apart((&a, s), (&b, s));
        check(apart < 4e-6, format!("at {time}: {apart}"))?;
    }
    let moving: Vec<&Row> = moved.rows().iter().collect();
    check(!moving.is_empty() && !moved.blocks(Channel::Rotation).is_empty(), "nothing moves")
}
