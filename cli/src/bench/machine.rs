//! The machine and build on which figures were measured.

use phalanx::simd::SimdLevel;
use serde::{Deserialize, Serialize};

/// A machine and build. Figures of two runs are comparable only if these are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub simd: String,
    pub rustc: String,
    pub rustflags: String,
    pub profile: String,
}

impl Machine {
    /// This machine, with the SIMD level in use.
    pub fn here() -> Self {
        Self {
            cpu: cpu(),
            cores: cores(),
            simd: SimdLevel::current().name().to_owned(),
            rustc: env!("PHALANX_RUSTC").to_owned(),
            rustflags: env!("PHALANX_RUSTFLAGS").to_owned(),
            profile: if cfg!(debug_assertions) { DEBUG } else { "release" }.to_owned(),
        }
    }

    /// True for debug builds, whose figures are not representative.
    pub fn is_debug(&self) -> bool {
        self.profile == DEBUG
    }

    /// Fields that differ from another machine: name, value there, value here.
    pub fn differences<'a>(&'a self, there: &'a Self) -> Vec<(&'static str, String, String)> {
        let pair = |name, a: &dyn ToString, b: &dyn ToString| (name, a.to_string(), b.to_string());
        let all = [
            pair("processor", &there.cpu, &self.cpu),
            pair("cores", &there.cores, &self.cores),
            pair("instruction set", &there.simd, &self.simd),
            pair("compiler", &there.rustc, &self.rustc),
            pair("compiler flags", &there.rustflags, &self.rustflags),
            pair("build", &there.profile, &self.profile),
        ];
        all.into_iter().filter(|(_, a, b)| a != b).collect()
    }
}

const DEBUG: &str = "debug";

/// Cores available to this process.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processor's name if the system reports it, otherwise its architecture.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names = info.lines().filter_map(|line| line.split_once(':'));
    let mut names = names.filter(|(key, _)| key.trim() == "model name");
    let name = names.next().map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| format!("{} ({})", std::env::consts::ARCH, std::env::consts::OS))
}
