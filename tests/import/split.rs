//! Splitting a scene at a node: what the two parts show is what the whole showed.

use phalanx::import::raw::{RawChannel, RawScene};
use phalanx::import::{ImportError, SplitScene};
use phalanx_testkit::gltf_file::*;
use phalanx_testkit::raw_pose::{Matrix, assert_close, evaluate, models, mul};
use serde_json::json;

/// A horse (nodes 0, 1), a rider on it (2, 3), their meshes (4 below the horse's root, 5 below the
/// rider, 6 of the rider but below the horse) and a lamp (7).
fn mounted() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let joints = file.accessor(U8, "VEC4", 3, &[0, 1, 0, 0].repeat(3));
    let weights = file.floats("VEC4", &[0.75, 0.25, 0.0, 0.0].repeat(3));
    for children in [json!([1, 4, 6]), json!([2]), json!([3, 5]), json!([])] {
        file.push("nodes", json!({ "children": children, "translation": [0.0, 1.0, 0.25] }));
    }
    let attributes = json!({ "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights });
    let image = |file: &mut File| {
        let bytes = include_bytes!("pixel.png");
        let view = file.view(bytes);
        file.push("images", json!({ "bufferView": view }))
    };
    for mesh in 0..3 {
        let image = image(&mut file);
        let texture = file.push("textures", json!({ "source": image }));
        let color = json!({ "baseColorTexture": { "index": texture } });
        let material = file.push("materials", json!({ "pbrMetallicRoughness": color }));
        let targets = json!([{ "POSITION": positions }]);
        let primitive = json!({ "attributes": attributes, "material": material,
            "targets": targets });
        file.push("meshes", json!({ "primitives": [primitive], "name": mesh.to_string() }));
    }
    file.push("nodes", json!({ "mesh": 0, "skin": 0 }));
    file.push("nodes", json!({ "mesh": 1, "skin": 1 }));
    file.push("nodes", json!({ "mesh": 2, "skin": 1 }));
    file.push("nodes", json!({ "name": "lamp" }));
    file.push("skins", json!({ "joints": [0, 1], "name": "horse" }));
    file.push("skins", json!({ "joints": [3, 2], "name": "rider" }));
    file.push("scenes", json!({ "nodes": [0] }));
    file.push("scenes", json!({ "nodes": [7] }));
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let places = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let single = file.floats("SCALAR", &[0.0, 1.0]);
    let turns = file.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]);
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    file.push(
        "animations",
        json!({
            "name": "ride",
            "samplers": [{ "input": times, "output": places }, { "input": times, "output": turns },
                         { "input": times, "output": single }],
            "channels": [channel(0, 3, "translation"), channel(1, 1, "rotation"),
                         channel(2, 6, "weights"), channel(1, 2, "rotation"),
                         channel(0, 0, "translation"), channel(0, 6, "translation")]
        }),
    );
    file.clip(1, "translation", "STEP", times, places);
    file
}

/// The whole equals the base and the branch hung on it.
fn assert_same_picture(whole: &RawScene, parts: &SplitScene) -> usize {
    let mut count = 0;
    let flat = |m: &Matrix| m.as_flattened().to_vec();
    let clips = (0..whole.clips.len()).map(Some).chain([None]);
    for (clip, k) in clips.flat_map(|clip| (0..3).map(move |k| (clip, k))) {
        let time = clip.map_or(0.0, |c| f64::from(whole.clips[c].duration) * 0.37 * f64::from(k));
        let expected = evaluate(whole, clip, time);
        let base = evaluate(&parts.base, clip, time);
        let branch = evaluate(&parts.branch, clip, time);
        let seat = base.world[parts.attach_node];
        let what = format!("{}, clip {clip:?}, {time} s", whole.name);
        let hung = |m: &Matrix| mul(&seat, m);
        for (pose, part, move_it) in [(&base, &parts.base, false), (&branch, &parts.branch, true)] {
            for (node, raw) in part.nodes.iter().enumerate() {
                let old = whole.nodes.iter().position(|n| n.source == raw.source).unwrap();
                // A node that only carries a skinned mesh may stand anywhere.
                if raw.skin.is_none() {
                    let here = &pose.world[node];
                    let found = if move_it { hung(here) } else { *here };
                    count += assert_close(&flat(&expected.world[old]), &flat(&found), 1e-9, &what);
                }
                if raw.mesh.is_some() {
                    let place = |&p: &[f64; 3]| match move_it {
                        true => phalanx_testkit::raw_pose::apply(&seat, p, 1.0),
                        false => p,
                    };
                    let found: Vec<_> = pose.positions[node].iter().map(place).collect();
                    let wanted = expected.positions[old].as_flattened();
                    // Weights sum to 1 within rounding only, and by that much the seat moves less.
                    count += assert_close(wanted, found.as_flattened(), 1e-6, &what);
                }
            }
        }
        for (pose, skins, move_it) in
            [(&base, &parts.base_skins, false), (&branch, &parts.branch_skins, true)]
        {
            for (palette, &old) in pose.palettes.iter().zip(skins) {
                for (found, wanted) in palette.iter().zip(&expected.palettes[old]) {
                    let found = if move_it { hung(found) } else { *found };
                    count += assert_close(&flat(wanted), &flat(&found), 1e-9, &what);
                }
            }
        }
    }
    count
}

fn sources(scene: &RawScene) -> Vec<usize> {
    scene.nodes.iter().map(|n| n.source).collect()
}

#[test]
fn a_rider_leaves_the_horse_with_skin_meshes_and_tracks() {
    let whole = mounted().read().0;
    let parts = whole.clone().split_at(2).unwrap();
    assert_eq!(sources(&parts.base), [0, 1, 4, 7]);
    assert_eq!(sources(&parts.branch), [2, 3, 5, 6]);
    assert_eq!((parts.attach_node, parts.branch_root), (1, 0));
    let parents: Vec<_> = parts.branch.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), None]);
    assert_eq!((&parts.base_skins, &parts.branch_skins), (&vec![0], &vec![1]));
    assert_eq!((&parts.base_meshes, &parts.branch_meshes), (&vec![0], &vec![1, 2]));
    assert_eq!(parts.branch.skins[0].joints, [1, 0]);
    assert_eq!(parts.branch.nodes[3].mesh, Some(1));
    assert_eq!(parts.branch.nodes[3].skin, Some(0));
    assert_eq!(parts.branch.meshes[1].name.as_deref(), Some("2"));
    assert_eq!(parts.base.scenes, [vec![0], vec![3]]);
    assert_eq!(parts.branch.scenes, [vec![0, 3], vec![]]);
    let some = |scene: &RawScene| scene.images.iter().map(Option::is_some).collect::<Vec<_>>();
    assert_eq!(some(&parts.base), [true, false, false]);
    assert_eq!(some(&parts.branch), [false, true, true]);
    for part in [&parts.base, &parts.branch] {
        assert_eq!(part.clips.len(), 2);
        assert_eq!(part.clips[0].name.as_deref(), Some("ride"));
        assert_eq!(part.clips[1].duration, 1.0);
    }
    let tracks = |scene: &RawScene, clip: usize| {
        let tracks = scene.clips[clip].tracks.iter();
        tracks.map(|t| (t.node, t.channel)).collect::<Vec<_>>()
    };
    use RawChannel::{Rotation, Translation, Weights};
    assert_eq!(tracks(&parts.base, 0), [(1, Rotation), (0, Translation)]);
    assert_eq!(
        tracks(&parts.branch, 0),
        [(1, Translation), (3, Weights), (0, Rotation), (3, Translation)]
    );
    assert_eq!(tracks(&parts.branch, 1), []);
    assert_same_picture(&whole, &parts);
}

#[test]
fn a_mesh_whose_node_is_needed_leaves_alone() {
    let mut file = mounted();
    // The lamp is a child of the node with the rider's second mesh.
    file.root["nodes"][6]["children"] = json!([7]);
    file.root["scenes"][1]["nodes"] = json!([]);
    let whole = file.read().0;
    let parts = whole.clone().split_at(2).unwrap();
    assert_eq!(sources(&parts.base), [0, 1, 4, 6, 7]);
    assert_eq!(sources(&parts.branch), [2, 3, 5, 6]);
    let (left, twin) = (&parts.base.nodes[3], &parts.branch.nodes[3]);
    assert_eq!((left.mesh, left.skin, left.weights.len()), (None, None, 0));
    assert_eq!((twin.mesh, twin.skin, twin.parent), (Some(1), Some(0), None));
    assert_eq!(parts.base.nodes[4].parent, Some(3));
    assert_eq!(parts.branch.scenes[0], [0, 3]);
    let channels = |scene: &RawScene| {
        let tracks = scene.clips[0].tracks.iter().filter(|t| t.node == 3);
        tracks.map(|t| t.channel).collect::<Vec<_>>()
    };
    assert_eq!(channels(&parts.base), [RawChannel::Translation]);
    assert_eq!(channels(&parts.branch), [RawChannel::Weights]);
    assert_same_picture(&whole, &parts);
}

#[test]
fn a_mesh_of_the_base_below_the_branch_goes_back() {
    let mut file = mounted();
    file.root["nodes"][5]["skin"] = json!(0);
    let whole = file.read().0;
    let parts = whole.clone().split_at(2).unwrap();
    assert_eq!(sources(&parts.base), [0, 1, 4, 5, 7]);
    assert_eq!(parts.base.nodes[3].parent, None);
    assert_eq!(parts.base.scenes[0], [0, 3]);
    assert_same_picture(&whole, &parts);
}

#[test]
fn some_nodes_cannot_be_split_off() {
    let whole = mounted().read().0;
    let scene = whole.name.clone();
    let error = |node| whole.clone().split_at(node).unwrap_err();
    let fault = |node| match error(node) {
        ImportError::Fault { file, place, fault } if file == scene && place.is_empty() => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(8).to_string(), "node 8 is out of range, there are 8");
    assert!(fault(0).to_string().starts_with("node 0 is a root"));
    let line = error(1).to_string();
    assert_says(&line, &["skin 0", "1 joint below node 1 and 1 elsewhere"]);
    let mut broken = whole.clone();
    broken.nodes[3].parent = Some(99);
    assert_says(&broken.clone().split_at(2).unwrap_err().to_string(), &["parent node 99"]);
    broken.nodes[3].parent = Some(3);
    assert_says(&broken.split_at(2).unwrap_err().to_string(), &["own ancestor"]);
}

#[test]
fn the_model_of_horse_and_rider_splits() {
    for whole in models(&["bl_rider.glb"]) {
        let rider = whole.nodes.iter().position(|n| n.name.as_deref() == Some("RiderRig"));
        let rider = rider.unwrap();
        let parts = whole.clone().split_at(rider).unwrap();
        assert_eq!((parts.base.skins.len(), parts.branch.skins.len()), (1, 1));
        assert_eq!(parts.branch.skins[0].joints.len(), 9);
        let seat = &parts.base.nodes[parts.attach_node];
        assert_eq!(
            seat.name.as_deref(),
            whole.nodes[whole.nodes[rider].parent.unwrap()].name.as_deref()
        );
        let tracks = |s: &RawScene| s.clips.iter().map(|c| c.tracks.len()).sum::<usize>();
        assert_eq!(tracks(&parts.base) + tracks(&parts.branch), tracks(&whole));
        assert!(tracks(&parts.branch) > 0);
        let count = assert_same_picture(&whole, &parts);
        println!("{count} numbers agree");
    }
}
