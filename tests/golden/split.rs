//! One file as several rigs attached to each other: the rider split from the horse.

use glam::{Affine3A, Vec3};
use libtest_mimic::{Failed, Trial};
use phalanx::import::{ImportError, ImportFault, ImportOptions, Imported, import_path};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx_testkit::trials;

pub fn trials() -> Vec<Trial> {
    let rider: &[&str] = &["bl_rider.glb"];
    vec![
        trials::trial("parts_make_the_whole", rider, parts_make_the_whole),
        trials::trial("unknown_nodes_are_refused", rider, unknown_nodes_are_refused),
    ]
}

fn import(split: &[&str]) -> Result<Imported, Failed> {
    let options = ImportOptions {
        split: split.iter().map(|s| s.to_string()).collect(),
        ..ImportOptions::default()
    };
    Ok(import_path(&trials::needed("bl_rider.glb")?, &options)?)
}

/// World matrices of all nodes by their index in the file.
fn worlds(rig: &Rig, clip: usize, time: f32) -> Result<Vec<(usize, Affine3A)>, Failed> {
    let action = PoseAction { clip, time, weight: 1.0 };
    let pose = evaluate_pose(rig, &[action])?;
    let nodes = rig.nodes().iter().zip(&pose.worlds);
    Ok(nodes.map(|(n, w)| (n.source, Affine3A::from(*w))).collect())
}

fn parts_make_the_whole() -> Result<(), Failed> {
    let whole = &import(&[])?.rigs[0];
    let skeleton = whole.skeleton();
    let parts = import(&["RiderRig"])?;
    if parts.rigs.len() != 2 || parts.links.len() != 1 {
        return Err(format!("{} rigs, {} links", parts.rigs.len(), parts.links.len()).into());
    }
    let link = parts.links[0];
    let (child, parent) = (&parts.rigs[link.child], &parts.rigs[link.parent]);
    if child.skeleton().len() + parent.skeleton().len() != skeleton.len() {
        return Err("joints were lost".into());
    }
    if child.clips().len() != whole.clips().len() || child.file_skins().len() != 1 {
        return Err("clips or skins were lost".into());
    }
    let saddle = link.node.ok_or("the link names no node")?;
    let mut compared = 0;
    for clip in 0..whole.clips().len() {
        for time in [0.0, 0.21, 0.5] {
            let expected = worlds(whole, clip, time)?;
            let base = worlds(parent, clip, time)?;
            let mount = base[saddle].1;
            let hung = worlds(child, clip, time)?;
            let hung = hung.into_iter().map(|(source, w)| (source, mount * w));
            for (source, have) in base.into_iter().chain(hung) {
                let joint = parts.rigs.iter().flat_map(|r| r.nodes());
                let is_joint = joint.clone().any(|n| n.source == source && n.joint.is_some());
                let want = expected.iter().find(|e| e.0 == source);
                let want = want.ok_or("a node that the file lacks")?.1;
                for p in [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].into_iter().filter(|_| is_joint) {
                    let error = (have.transform_point3(p) - want.transform_point3(p)).length();
                    if error > 1e-5 {
                        return Err(format!("node {source}, clip {clip}: {error}").into());
                    }
                    compared += 1;
                }
            }
        }
    }
    if compared < 100 {
        return Err(format!("only {compared} points were compared").into());
    }
    Ok(())
}

fn unknown_nodes_are_refused() -> Result<(), Failed> {
    let options = ImportOptions { split: vec!["no such node".into()], ..ImportOptions::default() };
    match import_path(&trials::needed("bl_rider.glb")?, &options) {
        Err(ImportError::Fault { fault: ImportFault::Invalid(words), .. })
            if words == "there is no node \"no such node\"" =>
        {
            Ok(())
        }
        other => Err(format!("{:?}", other.map(|i| i.rigs.len())).into()),
    }
}
