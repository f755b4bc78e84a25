//! What the C border costs beside the Rust interface: a frame of 1,000 characters, and calls with one of them.
//!
//! `cargo bench -p phalanx-c --bench border`: ten processes of each kind in turns, least times. A process runs the same
//! calls through one interface, so that neither meets the other's warm code.

use phalanx::crowd::{Crowd, InstanceId, PlayOptions, RowLayout};
use phalanx::math::Affine3x4;
use phalanx_c::*;
use std::hint::black_box;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Instant;

const COUNT: usize = 1000;
const ROUNDS: usize = 400;
const PROCESSES: usize = 10;
const NAMES: [&str; 5] = ["frame", "set_world", "play", "set_speed", "model_matrix"];

/// The least time of a call over all rounds, nanoseconds.
fn least(mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best
}

fn place(i: usize) -> [[f32; 4]; 3] {
    let (x, z) = ((i % 40) as f32, (i / 40) as f32);
    [[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, z]]
}

fn rust() -> [f64; 5] {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(Arc::new(phalanx::import::mannequin().unwrap())).unwrap();
    let walk = crowd.clip_named(rig, "Walk").unwrap();
    let mut all: Vec<InstanceId> = Vec::new();
    crowd.spawn_many(rig, COUNT, &mut all).unwrap();
    for (i, &one) in all.iter().enumerate() {
        crowd
            .play(one, walk, &PlayOptions { time: i as f64 * 0.1, ..PlayOptions::default() })
            .unwrap();
    }
    let worlds: Vec<Affine3x4> = (0..COUNT).map(|i| Affine3x4 { rows: place(i) }).collect();
    let mut rows = vec![Affine3x4::IDENTITY; crowd.schedule(&RowLayout::default()).rows()];
    let frame = least(|| {
        crowd.set_worlds(&all, &worlds).unwrap();
        crowd.advance(1.0 / 60.0).unwrap();
        crowd.schedule(&RowLayout::default()).write(&mut rows[..]);
    });
    let options = PlayOptions::default();
    let mut each = |call: &mut dyn FnMut(&mut Crowd, usize)| {
        least(|| (0..COUNT).for_each(|i| call(&mut crowd, i))) / COUNT as f64
    };
    [
        frame,
        each(&mut |crowd, i| crowd.set_world(all[i], worlds[i]).unwrap()),
        each(&mut |crowd, i| crowd.play(all[i], walk, &options).unwrap()),
        each(&mut |crowd, i| crowd.player(all[i]).unwrap().set_speed(0, walk, 1.0).unwrap()),
        each(&mut |crowd, i| {
            black_box(crowd.model_matrix(all[i], 6).unwrap());
        }),
    ]
}

fn c() -> [f64; 5] {
    let ok = |status: phx_status| assert_eq!(status, PHX_OK);
    // SAFETY: handles come from the library, arrays have the lengths that are stated.
    unsafe {
        let (mut mannequin, mut crowd) = (null_mut(), null_mut());
        ok(phx_rig_new_mannequin(&mut mannequin));
        ok(phx_crowd_new(null(), &mut crowd));
        let (mut rig, mut walk) = (0, 0);
        ok(phx_crowd_add_rig(crowd, mannequin, null(), 0, &mut rig));
        ok(phx_crowd_clip_named(crowd, rig, c"Walk".as_ptr(), PHX_NUL, &mut walk));
        let mut all = vec![0; COUNT];
        ok(phx_crowd_spawn(crowd, rig, COUNT, all.as_mut_ptr()));
        let mut options: phx_play_options = std::mem::zeroed();
        ok(phx_options_init(
            PHX_PLAY_OPTIONS,
            (&raw mut options).cast(),
            size_of::<phx_play_options>(),
        ));
        for (i, &one) in all.iter().enumerate() {
            let options = phx_play_options { time: i as f64 * 0.1, ..options };
            ok(phx_instance_play(crowd, one, 0, walk, &options));
        }
        let worlds: Vec<phx_matrix> = (0..COUNT).map(|i| phx_matrix { rows: place(i) }).collect();
        let mut stats: phx_frame_stats = std::mem::zeroed();
        stats.size = size_of::<phx_frame_stats>();
        assert_eq!(phx_crowd_evaluate(crowd, null(), null_mut(), 0, &mut stats), PHX_ERROR_SHORT);
        let mut rows = vec![phx_matrix { rows: [[0.0; 4]; 3] }; stats.rows as usize];
        let frame = least(|| {
            ok(phx_instances_set_worlds(crowd, all.as_ptr(), COUNT, worlds.as_ptr(), COUNT, 0));
            ok(phx_crowd_advance(crowd, 1.0 / 60.0));
            ok(phx_crowd_evaluate(
                crowd,
                null(),
                rows.as_mut_ptr().cast(),
                stats.bytes as usize,
                null_mut(),
            ));
        });
        let each = |mut call: &mut dyn FnMut(usize)| {
            least(|| (0..COUNT).for_each(&mut call)) / COUNT as f64
        };
        let mut matrix = phx_matrix { rows: [[0.0; 4]; 3] };
        let times = [
            frame,
            each(&mut |i| ok(phx_instance_set_world(crowd, all[i], &worlds[i]))),
            each(&mut |i| ok(phx_instance_play(crowd, all[i], 0, walk, &options))),
            each(&mut |i| ok(phx_instance_set_speed(crowd, all[i], 0, walk, 1.0))),
            each(&mut |i| {
                ok(phx_instance_model_matrix(crowd, all[i], 6, &mut matrix));
                black_box(&matrix);
            }),
        ];
        ok(phx_crowd_free(crowd));
        ok(phx_rig_free(mannequin));
        times
    }
}

/// The times of a process that runs one of the two.
fn process(kind: &str) -> [f64; 5] {
    let program = std::env::current_exe().unwrap();
    let out = Command::new(program).env("BORDER_KIND", kind).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let times: Vec<f64> = text.split_whitespace().map(|t| t.parse().unwrap()).collect();
    times.try_into().unwrap()
}

fn main() {
    let print = |times: [f64; 5]| println!("{}", times.map(|t| t.to_string()).join(" "));
    match std::env::var("BORDER_KIND").as_deref() {
        Ok("rust") => return print(rust()),
        Ok("c") => return print(c()),
        _ => {}
    }
    // `cargo test --benches` runs it, too: once is enough there.
    let processes = if std::env::args().any(|a| a == "--bench") { PROCESSES } else { 1 };
    let mut best = [[f64::INFINITY; 5]; 2];
    for turn in 0..processes {
        // Either goes first in turns.
        for kind in [turn % 2, 1 - turn % 2] {
            let times = process(["rust", "c"][kind]);
            for (best, time) in best[kind].iter_mut().zip(times) {
                *best = best.min(time);
            }
        }
    }
    println!(
        "least of {processes} processes in turns, {COUNT} characters; ns of a frame, ns of one call"
    );
    println!("{:14}{:>12}{:>12}{:>10}{:>9}", "", "Rust", "C", "more", "%");
    for (i, name) in NAMES.iter().enumerate() {
        let [rust, c] = [best[0][i], best[1][i]];
        println!("{name:14}{rust:12.1}{c:12.1}{:10.1}{:9.2}", c - rust, 100.0 * (c / rust - 1.0));
    }
}
