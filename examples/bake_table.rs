//! Bakes every clip of glTF files and prints a table of sizes and errors for PERFORMANCE.md:
//! `cargo run --release --example bake_table -- [--max-error M] [--shell M] FILES…`

use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::Clip;
use phalanx::format::codec::{decode, encode};
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance};
use phalanx::import::import_path;
use phalanx::skeleton::Skeleton;
use std::error::Error;
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

/// The shortest time of several runs, and the result of one.
fn least<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut best = Duration::MAX;
    for _ in 0..6 {
        let start = Instant::now();
        let _ = std::hint::black_box(run());
        best = best.min(start.elapsed());
    }
    (best, run())
}

/// Size of a clip's section in a file, in bytes.
fn section(clip: &Clip, skeleton: &Skeleton, form: ClipForm) -> Result<u64, Box<dyn Error>> {
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), skeleton)?;
    writer.add_clip(clip, clip.name(), form)?;
    let file = writer.finish(&Provenance::default())?.into_inner();
    let library = Library::from_bytes(&file)?;
    let mut clips = library.sections().filter(|s| s.form.is_some());
    Ok(clips.next().ok_or("a file without its clip")?.bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = BakeOptions::default();
    let mut args = std::env::args().skip(1);
    println!(
        "| file | clip | f32 rows | 16 bits | disk | stated mm | measured mm | p99 mm | bake MB/s | decode MB/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    while let Some(arg) = args.next() {
        let place = match arg.as_str() {
            "--max-error" => &mut settings.max_error,
            "--shell" => &mut settings.shell,
            file => {
                table(Path::new(file), &settings)?;
                continue;
            }
        };
        *place = args.next().ok_or("a number is missing")?.parse()?;
    }
    Ok(())
}

fn table(file: &Path, settings: &BakeOptions) -> Result<(), Box<dyn Error>> {
    let name = file.file_stem().unwrap_or_default().display();
    for rig in import_path(file, &Default::default())?.rigs {
        let skeleton = rig.skeleton();
        for raw in rig.clips() {
            let (baking, built) = least(|| bake(raw, skeleton, settings));
            let (built, report) = built?;
            let disk = encode(&built, skeleton)?;
            let (decoding, _) = least(|| decode(&disk, skeleton, String::new(), Vec::new()));
            let speed = |bytes: usize, time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
            let (bake, decode) = (speed(report.raw_bytes, baking), speed(built.bytes(), decoding));
            let [max, measured, p99] = [report.max, report.measured, report.p99].map(|e| e * 1e3);
            let [raw_rows, rows, coded] = [
                section(raw, skeleton, ClipForm::Rows)?,
                section(&built, skeleton, ClipForm::Rows)?,
                section(&built, skeleton, ClipForm::Coded)?,
            ];
            let sizes = format!("{raw_rows} | {rows} | {coded}");
            let clip = raw.name();
            println!(
                "| {name} | {clip} | {sizes} | {max:.4} | {measured:.4} | {p99:.4} | {bake:.0} | {decode:.0} |"
            );
        }
    }
    Ok(())
}
