//! What every scene promises, however damaged its file was.

use phalanx::import::raw::{Interpolation, RawChannel, RawScene, RawTrack};
use phalanx::mesh::{Mesh, Primitive};

/// Panics if a scene breaks a promise of its types.
pub fn check(scene: &RawScene) {
    let nodes = scene.nodes.len();
    // Whose path to the root was walked: chains are long.
    let mut walked = vec![false; nodes];
    for (node, start) in scene.nodes.iter().enumerate() {
        let mut path = vec![node];
        while let Some(parent) = scene.nodes[path[path.len() - 1]].parent
            && !walked[parent]
        {
            path.push(parent);
            assert!(path.len() <= nodes, "a cycle among nodes");
        }
        path.into_iter().for_each(|node| walked[node] = true);
        assert!(start.local.to_array().iter().all(|v| v.is_finite()));
        assert!((start.local.rotation.length() - 1.0).abs() < 1e-4);
        if let Some(skin) = start.skin {
            assert!(skin < scene.skins.len());
        }
        let targets = start.mesh.map_or(0, |mesh| scene.meshes[mesh].weights.len());
        assert_eq!(start.weights.len(), targets);
        if let (Some(mesh), Some(skin)) = (start.mesh, start.skin) {
            let slots = scene.skins[skin].joints.len();
            for primitive in &scene.meshes[mesh].primitives {
                let influences = &primitive.influences;
                for (&joint, &weight) in influences.joints.iter().zip(&influences.weights) {
                    assert!(usize::from(joint) < slots || weight == 0.0);
                }
            }
        }
    }
    for skin in &scene.skins {
        assert_eq!(skin.joints.len(), skin.inverse_bind.len());
        assert!(skin.joints.iter().all(|&joint| joint < nodes));
        assert!(skin.inverse_bind.iter().flatten().all(|v| v.is_finite()));
    }
    for clip in &scene.clips {
        assert!(clip.duration.is_finite() && clip.duration >= 0.0);
        for track in &clip.tracks {
            check_track(scene, track);
            assert!(track.times.last().is_some_and(|&t| t <= clip.duration));
        }
    }
    for mesh in &scene.meshes {
        check_mesh(scene, mesh);
    }
    for material in &scene.materials {
        material.check().expect("the importer's materials are valid");
        let mut textures = material.textures();
        assert!(textures.all(|(_, t)| t.image < scene.images.len()));
    }
    for image in scene.images.iter().flatten().filter_map(|i| i.decoded()) {
        let pixels = image.width as usize * image.height as usize;
        assert_eq!(image.rgba.len(), pixels * 4);
    }
    assert!(scene.scenes.iter().flatten().all(|&root| root < nodes));
    assert!(scene.default_scene.is_none_or(|s| s < scene.scenes.len()));
}

fn check_track(scene: &RawScene, track: &RawTrack) {
    let width = match track.channel {
        RawChannel::Translation | RawChannel::Scale => 3,
        RawChannel::Rotation => 4,
        RawChannel::Weights => scene.nodes[track.node].weights.len(),
    };
    let parts = match track.interpolation {
        Interpolation::CubicSpline => 3,
        _ => 1,
    };
    assert_eq!(track.values.len(), track.times.len() * width * parts);
    assert!(track.values.iter().all(|v| v.is_finite()));
    assert!(track.times.iter().all(|t| t.is_finite() && *t >= 0.0));
    assert!(track.times.windows(2).all(|t| t[0] < t[1]));
}

fn check_mesh(scene: &RawScene, mesh: &Mesh) {
    for primitive in &mesh.primitives {
        let vertices = primitive.positions.len();
        let fits = |length: usize| length == 0 || length == vertices;
        let Primitive { normals, tangents, uvs, uvs1, colors, influences, .. } = primitive;
        let streams = [normals.len(), tangents.len(), uvs.len(), uvs1.len()];
        let lengths = [streams.as_slice(), &[colors.len()]].concat();
        assert!(lengths.into_iter().all(fits));
        assert_eq!(influences.joints.len(), influences.weights.len());
        assert!(fits(influences.joints.len() / influences.per_vertex.max(1)));
        assert!(influences.weights.iter().all(|w| w.is_finite() && *w >= 0.0));
        assert_eq!(primitive.indices.len() % 3, 0);
        assert!(primitive.indices.iter().all(|&i| (i as usize) < vertices));
        for target in &primitive.targets {
            let streams = [&target.positions, &target.normals, &target.tangents];
            assert!(streams.into_iter().all(|s| fits(s.len())));
        }
        assert!(primitive.material.is_none_or(|m| m < scene.materials.len()));
    }
}
