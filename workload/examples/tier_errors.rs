//! How far tiers are from full rate, for docs/performance/tiers.md: by rate, held and interpolated, in millimetres; and
//! of the default tiers on a plaza, in pixels. `tier_errors [FILE.svg]` also draws the first table.

use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, RATES, Tier, Tiers};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_workload::PARADE;
use phalanx_workload::plaza::{FRAME, LINES, Plaza, eye};
use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

const CLIPS: [&str; 4] = ["Walk", "Jog", "Run", "Attack"];
/// Instances per clip, spread over its phases.
const PHASES: usize = 16;
/// Frames that are compared.
const FRAMES: usize = 240;

/// The bind positions of all slots, in mesh space.
fn joints(rig: &Rig) -> Vec<[f32; 3]> {
    let position = |inverse: &Affine3x4| {
        let rows = inverse.rows.map(|r| r.map(f64::from));
        let m = glam::DAffine3::from_cols_array(&std::array::from_fn(|i| rows[i % 3][i / 3]));
        m.inverse().translation.to_array().map(|v| v as f32)
    };
    let skins = rig.skins().iter();
    skins.flat_map(|s| s.inverse_bind().iter().map(position)).collect()
}

fn place(row: &Affine3x4, p: [f32; 3]) -> [f32; 3] {
    row.rows.map(|r| r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3])
}

/// The joints as an instance shows them.
fn shown(
    crowd: &Crowd,
    bones: &BoneBuffer,
    i: InstanceId,
    joints: &[[f32; 3]],
) -> Option<Vec<[f32; 3]>> {
    let pair = crowd.shown(i)?;
    let rows = bones.rows();
    let (from, to) = (&rows[pair.from], &rows[pair.to]);
    let point = |((a, b), &p): ((&Affine3x4, &Affine3x4), &[f32; 3])| {
        let (a, b) = (place(a, p), place(b, p));
        std::array::from_fn(|c| a[c] + (b[c] - a[c]) * pair.factor)
    };
    Some(from.iter().zip(to).zip(joints).map(point).collect())
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt()
}

/// The largest and the mean error of a clip in metres, per joint and frame.
fn by_rate(rig: &Arc<Rig>, clip: &str, tier: Tier) -> Result<[f32; 2], Box<dyn Error>> {
    let joints = joints(rig);
    let mut crowds = [Crowd::new(), Crowd::new()];
    let mut all = Vec::new();
    for crowd in &mut crowds {
        let id = crowd.add_rig(rig.clone())?;
        let clip = crowd.clip_named(id, clip)?;
        let seconds = f64::from(crowd.clip(clip)?.duration());
        all.clear();
        for n in 0..PHASES {
            let i = crowd.spawn(id)?;
            let time = seconds * n as f64 / PHASES as f64;
            crowd.play(i, clip, &PlayOptions { time, ..PlayOptions::default() })?;
            all.push(i);
        }
    }
    let ids: Vec<Vec<InstanceId>> = crowds.iter().map(|c| c.instances().collect()).collect();
    crowds[0].set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() }))?;
    let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
    let (mut worst, mut sum, mut count) = (0.0f32, 0.0, 0);
    for _ in 0..FRAMES {
        for (crowd, bones) in crowds.iter_mut().zip(&mut bones) {
            crowd.advance(FRAME)?;
            crowd.evaluate(bones);
        }
        for (&a, &b) in ids[0].iter().zip(&ids[1]) {
            let a = shown(&crowds[0], &bones[0], a, &joints).ok_or("not shown")?;
            let b = shown(&crowds[1], &bones[1], b, &joints).ok_or("not shown")?;
            for (a, b) in a.into_iter().zip(b) {
                let error = distance(a, b);
                worst = worst.max(error);
                sum += error;
                count += 1;
            }
        }
    }
    Ok([worst, sum / count as f32])
}

/// The largest displacement of a joint on screen in pixels, by tier, on a plaza with crossfades.
fn on_screen(rig: &Arc<Rig>, clips: &[usize], count: usize) -> Result<Vec<f32>, Box<dyn Error>> {
    let joints = joints(rig);
    let tiers = Tiers::default();
    let mut plazas = [
        Plaza::new(rig.clone(), clips, count, Some(tiers.clone()))?,
        Plaza::new(rig.clone(), clips, count, None)?,
    ];
    let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
    let mut worst = vec![0.0f32; tiers.tiers.len()];
    let (height, fov) = eye();
    let scale = 0.5 * LINES / (0.5 * fov).tan();
    for _ in 0..120 {
        for (plaza, bones) in plazas.iter_mut().zip(&mut bones) {
            plaza.direct()?;
            plaza.frame(bones)?;
        }
        let [a, b] = &plazas;
        for (&i, &full) in a.instances().iter().zip(b.instances()) {
            let Some(tier) = a.crowd().tier(i) else {
                continue;
            };
            let x = shown(a.crowd(), &bones[0], i, &joints).ok_or("not shown")?;
            let y = shown(b.crowd(), &bones[1], full, &joints).ok_or("not shown")?;
            let world = *a.crowd().world(i)?;
            for (x, y) in x.into_iter().zip(y) {
                // The camera is at the origin and looks along -Z.
                let pixel = |p| {
                    let [x, y, z] = place(&world, p);
                    (-z > 0.1).then(|| [x / -z * scale, (y - height) / -z * scale, 0.0])
                };
                if let (Some(x), Some(y)) = (pixel(x), pixel(y)) {
                    worst[tier] = worst[tier].max(distance(x, y));
                }
            }
        }
    }
    Ok(worst)
}

/// The errors by rate as a plot with logarithmic axes.
fn plot(table: &[(String, Vec<f32>)]) -> String {
    let (width, height, left, bottom) = (640.0, 400.0, 60.0, 40.0);
    let x = |n: usize| left + (width - left - 150.0) * n as f32 / (RATES.len() - 2) as f32;
    let y = |mm: f32| {
        let share = (mm.max(0.1).log10() + 1.0) / 4.0;
        height - bottom - (height - bottom - 20.0) * share
    };
    let colors = ["#b22222", "#d2691e", "#4682b4", "#2e8b57"];
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for mm in [0.1f32, 1.0, 10.0, 100.0, 1000.0] {
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\" stroke=\"#ddd\"/><text x=\"8\" y=\"{1}\">{mm} mm</text>",
            width - 150.0,
            y(mm)
        );
    }
    for (n, rate) in RATES.iter().skip(1).enumerate() {
        let _ = writeln!(out, "<text x=\"{}\" y=\"{}\">1/{rate}</text>", x(n) - 8.0, height - 15.0);
    }
    for (line, (name, errors)) in table.iter().enumerate() {
        let color = colors[line / 2 % colors.len()];
        let dashes = if line % 2 == 0 { "6 4" } else { "none" };
        let points = errors.iter().enumerate().map(|(n, mm)| format!("{},{}", x(n), y(*mm)));
        let points: Vec<String> = points.collect();
        let last = errors.last().copied().unwrap_or(1.0);
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{color}\">{name}</text>",
            points.join(" "),
            x(RATES.len() - 2) + 6.0,
            y(last)
        );
    }
    out += "</svg>\n";
    out
}

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(phalanx::import::mannequin()?);
    println!("largest (mean) error of a joint against full rate at 60 Hz, in mm");
    let mut table = Vec::new();
    for clip in CLIPS {
        for interpolate in [false, true] {
            let how = if interpolate { "interpolated" } else { "held" };
            print!("| {clip} | {how} |");
            let mut errors = Vec::new();
            for &rate in &RATES[1..] {
                let tier = Tier { rate, interpolate, ..Tier::default() };
                let [worst, mean] = by_rate(&rig, clip, tier)?.map(|m| m * 1e3);
                print!(" {worst:.1} ({mean:.2}) |");
                errors.push(worst);
            }
            println!();
            table.push((format!("{clip}, {how}"), errors));
        }
    }
    if let Some(file) = std::env::args().nth(1) {
        std::fs::write(file, plot(&table))?;
    }
    let names = PARADE.iter().chain(&["Attack"]);
    let clips: Vec<usize> = names.filter_map(|n| rig.find_clip(n)).collect();
    for count in [4_000, 40_000, 300_000] {
        println!("plaza of {count}: largest displacement of a joint on screen by tier, in pixels");
        println!("{:?}", on_screen(&rig, &clips, count)?);
    }
    Ok(())
}
