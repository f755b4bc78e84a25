//! Messages of graphics drivers on standard error do not reach the user of a command that succeeds.

use super::support::{Tested, check, phalanx, scratch};

/// Runs with the machine's drivers, with GL alone, and without a driver.
pub fn none_on_success() -> Tested {
    let crowd = ["crowd", "--count", "3", "--frames", "1", "--size", "32x32", "--out", "c.png"];
    let render = ["render", "--clip", "Walk", "--frames", "1", "--size", "32x32", "--out", "r.png"];
    let gone = "/nonexistent.json";
    for (drivers, backend) in [(None, None), (Some(gone), None), (Some(gone), Some("vulkan"))] {
        for args in [&crowd[..], &render] {
            let mut command = phalanx();
            command.env_remove("XDG_RUNTIME_DIR").env_remove("DISPLAY");
            for (name, value) in [
                ("VK_DRIVER_FILES", drivers),
                ("VK_ICD_FILENAMES", drivers),
                ("WGPU_BACKEND", backend),
            ] {
                if let Some(value) = value {
                    command.env(name, value);
                }
            }
            let out = command.args(args).output()?;
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            check(out.status.success(), format!("{args:?}: {said}"))?;
            check(said.is_empty(), format!("{drivers:?} {backend:?} {args:?}: {said}"))?;
        }
    }
    check(scratch().join("r.png").exists(), "no picture")
}

/// An error is printed, also after a device was opened quietly.
pub fn errors_are_printed() -> Tested {
    let mut command = phalanx();
    command.env_remove("XDG_RUNTIME_DIR");
    let args = ["crowd", "--count", "3", "--frames", "1", "--renderer", "gpu"];
    let out = command
        .args(args)
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .env("WGPU_BACKEND", "vulkan")
        .output()?;
    if cfg!(target_os = "linux") {
        super::support::one_line_beside(&out, &["no graphics adapter"])?;
    }
    Ok(())
}
