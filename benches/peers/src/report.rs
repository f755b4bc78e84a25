//! The figures as tables for the page, as CSV and as a plot.

use crate::correct::Errors;
use crate::work::Kind;
use phalanx::simd::SimdLevel;
use phalanx_workload::sampling::Summary;
use std::fmt::Write;

/// Figures of one workload and number of characters, in nanoseconds per character.
pub struct Figures {
    pub kind: Kind,
    pub count: usize,
    /// By [`ENGINES`].
    pub summaries: Vec<Summary>,
}

/// What is measured by turns, with its colour in the plot (Okabe and Ito, 2008).
pub const ENGINES: [(&str, &str); 4] = [
    ("phalanx", "#0072b2"),
    ("ozz", "#d55e00"),
    ("ozz, model matrices only", "#e8a87c"),
    ("phalanx, all threads", "#56b4e9"),
];

/// Machine and compiler.
pub struct Build {
    pub cpu: String,
    pub threads: usize,
}

impl Build {
    pub fn new(threads: usize) -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info.lines().find_map(|line| line.strip_prefix("model name"));
        let name = name.map_or("unknown", |n| n.trim_start_matches([' ', '\t', ':']));
        Self { cpu: name.to_owned(), threads }
    }

    /// The instruction set that ozz is compiled for.
    fn compiled() -> &'static str {
        match (cfg!(target_feature = "avx512f"), cfg!(target_feature = "avx2")) {
            (true, _) => "native flags with AVX-512",
            (false, true) => "native flags with AVX2",
            (false, false) => "default flags (SSE2)",
        }
    }

    pub fn text(&self) -> String {
        let level = SimdLevel::current();
        let flags = match env!("PEERS_FLAGS") {
            "" => String::new(),
            flags => format!(" ({flags})"),
        };
        format!(
            "{}, {} threads; {}; {}{flags}; Phalanx {} at {level}, ozz-animation-rs 0.11.0",
            self.cpu,
            self.threads,
            env!("PEERS_RUSTC"),
            Self::compiled(),
            env!("PEERS_PHALANX"),
        )
    }
}

fn grouped(n: usize) -> String {
    match n {
        0..1_000 => n.to_string(),
        _ => format!("{},{:03}", grouped(n / 1_000), n % 1_000),
    }
}

/// Errors as a table.
pub fn errors(all: &[(Kind, Errors)]) -> String {
    let mut out = String::from(
        "| largest error, mm | Phalanx | ozz | characters | of which play something else |\n|---|--:|--:|--:|--:|\n",
    );
    for (kind, e) in all {
        let _ = writeln!(
            out,
            "| {} | {:.5} | {:.2} | {} | {} |",
            kind.name(),
            e.ours,
            e.ozz,
            grouped(e.characters),
            e.apart
        );
    }
    out
}

/// Times as a table: medians, with the noise in per cent.
pub fn times(all: &[Figures], threads: usize) -> String {
    let mut out = format!(
        "| ns per character | characters | ozz to model matrices | ozz to palettes | Phalanx to palettes | ozz / Phalanx | noise | Phalanx, {threads} threads |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for f in all {
        let [ours, ozz, models, many] = [0, 1, 2, 3].map(|e| f.summaries[e]);
        let noise = [ours, ozz].map(|s| s.noise / s.median * 100.0);
        let _ = writeln!(
            out,
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0}%, {:.0}% | {:.0} |",
            f.kind.name(),
            grouped(f.count),
            models.median,
            ozz.median,
            ours.median,
            ozz.median / ours.median,
            noise[1],
            noise[0],
            many.median
        );
    }
    out
}

/// One line per engine.
pub fn csv(all: &[Figures], errors: &[(Kind, Errors)], build: &Build) -> String {
    let mut out = String::from(
        "workload,count,engine,threads,simd,ns_per_character,min,noise,samples,error_mm,cpu,rustc,rustflags\n",
    );
    for f in all {
        let error = errors.iter().find(|(kind, _)| *kind == f.kind).map(|e| e.1);
        let error = error.unwrap_or_default();
        for ((name, _), s) in ENGINES.iter().zip(&f.summaries) {
            let (ours, threads) = (name.starts_with("phalanx"), name.ends_with("all threads"));
            let level = SimdLevel::current().to_string();
            let _ = writeln!(
                out,
                "\"{}\",{},\"{name}\",{},{},{},{},{},{},{},{},{},{}",
                f.kind.name(),
                f.count,
                if threads { build.threads } else { 1 },
                if ours { &level } else { Build::compiled() },
                s.median,
                s.min,
                s.noise,
                s.samples,
                if ours { error.ours } else { error.ozz },
                build.cpu,
                env!("PEERS_RUSTC"),
                env!("PEERS_FLAGS"),
            );
        }
    }
    out
}

/// Bars by workload, a group each.
pub fn svg(all: &[Figures], build: &Build) -> String {
    let (bar, gap, left, right) = (14.0, 12.0, 210.0, 640.0);
    let engines = ENGINES.len() - 1;
    let group = bar * engines as f64 + gap;
    let (top, height) = (70.0, 90.0 + group * all.len() as f64);
    let longest = all.iter().flat_map(|f| &f.summaries[..engines]).map(|s| s.median);
    let scale = (right - left) / longest.fold(1.0, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"20\" font-size=\"14\">ns per character, one thread: shorter is faster</text>\n\
         <text x=\"8\" y=\"36\" font-size=\"10\" fill=\"#555\">{}</text>\n",
        build.text()
    );
    for (at, (name, colour)) in ENGINES[..engines].iter().enumerate() {
        let x = 8.0 + 170.0 * at as f64;
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"46\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"56\">{name}</text>",
            x + 18.0
        );
    }
    for (at, f) in all.iter().enumerate() {
        let y = top + group * at as f64;
        let label = format!("{}, {}", f.kind.name(), grouped(f.count));
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            y + bar * 1.5 + 4.0
        );
        for (place, ((_, colour), s)) in ENGINES[..engines].iter().zip(&f.summaries).enumerate() {
            let (y, width) = (y + bar * place as f64, s.median * scale);
            let _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"11\">{:.0}</text>",
                bar - 2.0,
                left + width + 4.0,
                y + bar - 4.0,
                s.median
            );
        }
    }
    out += "</svg>\n";
    out
}
