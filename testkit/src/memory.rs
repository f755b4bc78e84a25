//! A process with less memory: what Linux gives it, and how much that is.

use std::hint::black_box;
use std::process::Command;

/// Address space that is given back before the limit is lifted, which takes some itself. Blocks of this size
/// go back to the system when they are freed.
const BALLAST: usize = 48 << 20;

/// Does something while the process has no more than so many bytes of address space beside those in use.
pub fn with_memory<T>(more: u64, work: impl FnOnce() -> T) -> T {
    let ballast = black_box(Vec::<u8>::with_capacity(BALLAST));
    limit_memory(Some(in_use() + more));
    let done = work();
    drop(ballast);
    limit_memory(None);
    done
}

/// Bytes of address space that this process has.
fn in_use() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("the size is a number") << 10
}

/// Has the system give this process no more than that many bytes of address space.
fn limit_memory(bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".into(), |b| b.to_string());
    let done = Command::new("prlimit")
        .arg(format!("--pid={}", std::process::id()))
        .arg(format!("--as={limit}:"))
        .status();
    assert!(done.expect("prlimit is there").success());
}
