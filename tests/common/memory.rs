//! A process with less memory: what Linux gives it, and how much that is.

use std::process::Command;

/// Bytes of address space that this process has.
pub fn in_use() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"));
    let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.expect("the size is a number") << 10
}

/// Has the system give this process no more than that many bytes of address space.
pub fn limit_memory(bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".into(), |b| b.to_string());
    let done = Command::new("prlimit")
        .arg(format!("--pid={}", std::process::id()))
        .arg(format!("--as={limit}:"))
        .status();
    assert!(done.expect("prlimit is there").success());
}
