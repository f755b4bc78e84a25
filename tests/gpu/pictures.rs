//! Pictures by vertex skinning through every backend, against those of vertices from the CPU skinning job.

use crate::models::{Weights, chain, file, tube};
use crate::skinning::KINDS;
use crate::subject::{Staged, Subject};
use crate::support::{downlevel, open};
use crate::test_renderer::{SIDE, by_the_job, by_the_shader};
use phalanx::gpu::{Gpu, PaletteBackend};

/// Colours may differ by that much of 255,
const STEP: u8 = 2;
/// in all but this share of the pixels: edges fall to the one side or the other.
const SHARE: f64 = 0.001;

/// What WebGL2's limits leave.
const FEW: [PaletteBackend; 2] = [PaletteBackend::Uniform, PaletteBackend::Texture];

pub fn every_kind() {
    let gpu = open();
    for (per_vertex, weights, targets, joints) in KINDS {
        let primitive = tube(joints, per_vertex, weights, targets);
        let subject = Subject::new(chain(joints), primitive, 0..joints);
        check(&gpu, &PaletteBackend::ALL, &subject);
    }
}

pub fn file_of_201_joints() {
    file_on(&open(), &PaletteBackend::ALL);
}

/// The same where there are neither storage buffers nor compute shaders.
pub fn file_with_few_limits() {
    file_on(&downlevel(), &FEW);
}

fn file_on(gpu: &Gpu, backends: &[PaletteBackend]) {
    let rig = file("bl_manyjoints.glb");
    assert!(rig.skeleton().len() >= 201);
    let subjects = Subject::of_file(&rig);
    assert!(!subjects.is_empty());
    for subject in subjects {
        check(gpu, backends, &subject);
    }
}

/// Through what the limits leave: lines of a texture that wrap; windows where the joints fit.
pub fn few_limits() {
    let gpu = downlevel();
    let subject = |joints, per_vertex, targets| {
        let primitive = tube(joints, per_vertex, Weights::Shorts, targets);
        Subject::new(chain(joints), primitive, 0..joints)
    };
    check(&gpu, &FEW, &subject(67, 8, 3));
    check(&gpu, &FEW, &subject(341, 4, 0));
    check(&gpu, &FEW[1..], &subject(1500, 8, 2));
}

pub fn many_joints() {
    let gpu = open();
    let primitive = tube(1500, 4, Weights::Floats, 3);
    let subject = Subject::new(chain(1500), primitive, 0..1500);
    check(&gpu, &PaletteBackend::ALL[1..], &subject);
}

fn check(gpu: &Gpu, backends: &[PaletteBackend], subject: &Subject) {
    let mut pictures = Vec::new();
    for &backend in backends {
        let staged = Staged::new(gpu, backend, subject);
        if pictures.is_empty() {
            let truth = by_the_job(gpu, &staged);
            let painted = truth.chunks(4).filter(|p| p[3] == 255).count();
            let all = (SIDE * SIDE) as usize;
            assert!(painted > all / 30, "{painted} pixels show the subject");
            pictures.push(("the job".to_string(), truth));
        }
        pictures.push((backend.to_string(), by_the_shader(gpu, &staged)));
    }
    for (i, (a, first)) in pictures.iter().enumerate() {
        for (b, second) in &pictures[..i] {
            let off = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > STEP);
            let differ = first.chunks(4).zip(second.chunks(4)).filter(|&p| off(p)).count();
            let share = differ as f64 / f64::from(SIDE * SIDE);
            assert!(share <= SHARE, "{a} and {b}: {differ} pixels differ");
        }
    }
}
