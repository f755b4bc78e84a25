//! The binary as a process, and what its outputs are checked with.

use libtest_mimic::Failed;
use phalanx_testkit::trials::current_trial;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

pub type Tested = Result<(), Failed>;

pub fn phalanx() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phalanx"));
    command.env_remove("COLUMNS").env_remove("PHALANX_SIMD");
    command.current_dir(scratch());
    command
}

/// The binary with so much memory beside its own size, which differs between builds.
#[cfg(target_os = "linux")]
pub fn phalanx_in(kilobytes: u64) -> Result<Command, Failed> {
    let phalanx = env!("CARGO_BIN_EXE_phalanx");
    let limit = fs::metadata(phalanx)?.len() + (kilobytes << 10);
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--as={limit}")).arg(phalanx).current_dir(scratch());
    Ok(limited)
}

pub fn run(args: &[&str]) -> Output {
    phalanx().args(args).output().expect("the binary was built for this test")
}

/// A folder for files of this trial, empty when it begins: trials run side by side, and one that failed
/// leaves files.
pub fn scratch() -> PathBuf {
    static BEGUN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let name = current_trial();
    assert!(!name.is_empty(), "files of no trial");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(&name);
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    if begun.insert(name) && folder.exists() {
        fs::remove_dir_all(&folder).expect("files of an earlier run can be removed");
    }
    fs::create_dir_all(&folder).expect("cargo gives tests a folder that can be written");
    folder
}

pub fn check(ok: bool, message: impl Into<String>) -> Tested {
    if ok { Ok(()) } else { Err(message.into().into()) }
}

/// Runs, expects success, and gives standard output.
pub fn output(args: &[&str]) -> Result<String, Failed> {
    let out = run(args);
    let error = String::from_utf8_lossy(&out.stderr);
    check(out.status.success(), format!("{args:?} failed: {error}"))?;
    Ok(String::from_utf8(out.stdout)?)
}

pub fn json(args: &[&str]) -> Result<Value, Failed> {
    Ok(serde_json::from_str(&output(args)?)?)
}

/// Expects exit status 1 and exactly one line that begins `phalanx: ` and holds all of `parts`.
pub fn one_line(out: &Output, parts: &[&str]) -> Tested {
    one_line_beside(out, parts)?;
    check(out.stdout.is_empty(), "an error printed to standard output")
}

/// [`one_line`], with any text on standard output before it.
pub fn one_line_beside(out: &Output, parts: &[&str]) -> Tested {
    let error = String::from_utf8(out.stderr.clone())?;
    check(out.status.code() == Some(1), format!("{:?}: {error}", out.status))?;
    let line = error.strip_suffix('\n').unwrap_or("no newline");
    check(!line.contains('\n'), format!("several lines: {error}"))?;
    check(line.starts_with("phalanx: "), error.clone())?;
    for part in parts {
        check(line.contains(part), format!("no {part:?} in {error}"))?;
    }
    Ok(())
}

/// The numbers at a path of keys and indices, flattened, as f32.
pub fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        Value::Number(n) => vec![n.as_f64().unwrap_or(f64::NAN) as f32],
        _ => vec![f32::NAN],
    }
}

pub fn same_bits(what: &str, found: &Value, expected: impl IntoIterator<Item = f32>) -> Tested {
    let (found, expected) = (numbers(found), Vec::from_iter(expected));
    check(
        found.len() == expected.len(),
        format!("{what}: {} numbers for {}", found.len(), expected.len()),
    )?;
    for (a, b) in found.iter().zip(&expected) {
        check(a.to_bits() == b.to_bits(), format!("{what}: {a:?} is not {b:?}"))?;
    }
    Ok(())
}

pub fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, Failed> {
    value[key].as_array().ok_or_else(|| format!("no list {key}: {:?}", value.get(key)).into())
}

/// Width and height of a PNG.
pub fn png_size(path: &Path) -> Result<(u32, u32), Failed> {
    let bytes = fs::read(path)?;
    check(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 24, "no PNG")?;
    let number = |at: usize| bytes[at..at + 4].iter().fold(0, |n, &b| n << 8 | u32::from(b));
    Ok((number(16), number(20)))
}
