use super::*;
use crate::crowd::{Crowd, PlayOptions};

/// Bounds that the rig does not state are measured once per rig.
#[test]
fn bounds_are_measured_once() {
    let rig = Arc::new(crate::import::mannequin().unwrap());
    let added = Arc::new(rig.clips()[0].as_ref().clone());
    let mut crowd = Crowd::new();
    let ids = [0; 2].map(|_| crowd.add_rig(rig.clone()).unwrap());
    let mut sphere = |n: usize, clip: &Arc<Clip>| {
        let i = crowd.spawn(ids[n]).unwrap();
        let clip = crowd.add_clip(ids[n], clip.clone()).unwrap();
        crowd.play(i, clip, &PlayOptions::default()).unwrap();
        crowd.bounding_sphere(i).unwrap().unwrap()
    };
    assert!(sphere(0, &added).radius < 5.0);
    assert!(matches!(rig.measured(&added).bounds.get(), Some(Some(_))));
    // A value that measuring would not give.
    let other = Arc::new(added.as_ref().clone());
    let mut stated = *rig.clip_bounds(0).unwrap();
    stated.mesh.max.x += 100.0;
    let measured = rig.measured(&other);
    measured.bounds.set(Some(stated)).unwrap();
    for n in 0..2 {
        assert!(sphere(n, &other).radius > 50.0);
    }
}
