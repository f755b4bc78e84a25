//! Limits the address space of the process, on Linux.

use std::hint::black_box;
use std::process::Command;

/// Address space freed before the limit is lifted, since lifting it needs some. Blocks of this size are
/// returned to the system when freed.
const BALLAST: usize = 48 << 20;

/// Runs `work` with at most `more` bytes of address space beyond those in use.
pub fn with_memory<T>(more: u64, work: impl FnOnce() -> T) -> T {
    let ballast = black_box(Vec::<u8>::with_capacity(BALLAST));
    limit_memory(Some(in_use() + more));
    let done = work();
    drop(ballast);
    limit_memory(None);
    done
}

/// Address space in use by this process, in bytes.
fn in_use() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system is Linux");
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("the size is a number") << 10
}

/// Sets the limit of this process's address space in bytes; `None` removes it.
fn limit_memory(bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".into(), |b| b.to_string());
    let done = Command::new("prlimit")
        .arg(format!("--pid={}", std::process::id()))
        .arg(format!("--as={limit}:"))
        .status();
    assert!(done.expect("prlimit is installed").success());
}
