//! Time and resident memory of a library that is read and of one that is mapped: after opening, with one clip,
//! with all clips, and with all but one dropped. Each run is a process of its own; times are the least of all
//! runs. Processor time shows what wall time hides on a busy machine, to a few milliseconds. It is known on
//! Linux alone, as memory is. The files are in the page cache.
//!
//! `cargo bench --bench resident`, or with a .phx file: `cargo bench --bench resident -- library.phx`.
//! `--test` measures small files, once.

use phalanx::bake::{BakeOptions, bake};
use phalanx::clip::Clip;
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, save};
use phalanx::import::mannequin;
use phalanx::rig::Rig;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const STAGES: [&str; 4] = ["opened", "one clip", "all clips", "dropped"];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [child_of, way, file] = &args[..]
        && child_of == "--child"
    {
        return child(way, Path::new(file));
    }
    let test = args.iter().any(|a| a == "--test");
    let (runs, share) = if test { (1, 100) } else { (9, 1) };
    // Cargo adds `--bench`.
    let given: Vec<&String> = args.iter().filter(|a| !a.starts_with("--")).collect();
    if !given.is_empty() {
        return given.iter().try_for_each(|f| measure(Path::new(f), runs));
    }
    let folder = std::env::temp_dir().join(format!("phalanx-resident-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured =
        files(&folder, share).and_then(|files| files.iter().try_for_each(|f| measure(f, runs)));
    std::fs::remove_dir_all(&folder)?;
    measured
}

/// Libraries of the built-in character, its clips taken in turns; their numbers are divided by `share`.
fn files(folder: &Path, share: usize) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let rig = mannequin()?;
    let options = BakeOptions::default();
    let baked = rig.clips().iter().map(|clip| bake(clip, rig.skeleton(), &options));
    let baked = baked.map(|clip| Ok(Arc::new(clip?.0)));
    let baked: Vec<Arc<Clip>> = baked.collect::<Result<_, Box<dyn Error>>>()?;
    let small = baked.iter().min_by_key(|c| c.bytes()).ok_or("no clips")?;
    let kinds = [
        ("exact", rig.clips(), 1_000),
        ("exact", rig.clips(), 10_000),
        ("small baked", std::slice::from_ref(small), 10_000),
    ];
    kinds
        .into_iter()
        .map(|(kind, clips, count)| {
            let count = count / share;
            let path = folder.join(format!("{count} {kind} clips"));
            write(&path, &rig, clips, count)?;
            Ok(path)
        })
        .collect()
}

fn write(path: &Path, rig: &Rig, clips: &[Arc<Clip>], count: usize) -> Result<(), Box<dyn Error>> {
    save(path, |out| {
        let mut writer = LibraryWriter::new(out, rig.skeleton())?;
        for i in 0..count {
            let clip = &clips[i % clips.len()];
            writer.add_clip(clip, &format!("{} {i}", clip.name()), ClipForm::Rows)?;
        }
        writer.finish(&Provenance::default())?;
        Ok::<(), Box<dyn Error>>(())
    })
}

fn measure(file: &Path, runs: usize) -> Result<(), Box<dyn Error>> {
    let megabytes = std::fs::metadata(file)?.len() as f64 / 1e6;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    println!(
        "{name}, {megabytes:.1} MB: wall and processor time of each step, resident MB (own, of files)"
    );
    for way in ["read", "mapped"] {
        let mut times = [[f64::INFINITY; 2]; STAGES.len()];
        let mut memory = Vec::new();
        for _ in 0..runs {
            let program = std::env::current_exe()?;
            let out = Command::new(program).args(["--child", way]).arg(file).output()?;
            if !out.status.success() {
                return Err(String::from_utf8_lossy(&out.stderr).into());
            }
            let text = String::from_utf8(out.stdout)?;
            memory.clear();
            for (line, [wall, own]) in text.lines().zip(&mut times) {
                let mut words = line.splitn(3, ' ');
                let mut next = || words.next().ok_or("too few words");
                *wall = wall.min(next()?.parse()?);
                *own = own.min(next()?.parse()?);
                memory.push(next()?.to_owned());
            }
        }
        for ((stage, [wall, own]), memory) in STAGES.iter().zip(times).zip(&memory) {
            println!("  {way:6}  {stage:9}  {wall:9.3} ms  {own:9.3} ms  {memory}");
        }
    }
    Ok(())
}

/// Opens a file in one way. Prints time and memory of every stage.
fn child(way: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let now = || (begin.elapsed().as_secs_f64() * 1e3, processor_time());
    let step = |start: (f64, f64)| {
        let end = now();
        println!("{} {} {}", end.0 - start.0, end.1 - start.1, resident());
    };
    let start = now();
    let library = match way {
        "read" => Library::open(file)?,
        // SAFETY: the file was written by this benchmark, or is given to it to be measured, and nothing
        // writes to it meanwhile.
        _ => unsafe { Library::open_mapped(file) }?,
    };
    step(start);
    let start = now();
    let first = library.clip(0)?;
    step(start);
    let start = now();
    let clips = (1..library.clip_count()).map(|clip| library.clip(clip));
    let clips = clips.collect::<Result<Vec<_>, _>>()?;
    step(start);
    let start = now();
    drop(clips);
    step(start);
    drop(first);
    Ok(())
}

/// Milliseconds that this thread has run; NaN if that is unknown.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|n| n.parse().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e6
}

/// Resident memory of this process, MB: its own, and pages of files.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kibibytes * 1024.0 / 1e6)
    };
    match (megabytes("RssAnon:"), megabytes("RssFile:")) {
        (Some(own), Some(files)) => format!("{own:.1} {files:.1}"),
        _ => "- -".into(),
    }
}
