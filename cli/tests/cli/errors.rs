//! Usage, errors, and outputs that go nowhere.

#[cfg(target_os = "linux")]
use super::support::phalanx_in;
use super::support::{Tested, check, one_line, output, phalanx, run, scratch};
use std::fs;
use std::io::Read;
#[cfg(target_os = "linux")]
use std::process::Stdio;

pub fn help_and_version() -> Tested {
    let version = output(&["--version"])?;
    check(version == concat!("phalanx ", env!("CARGO_PKG_VERSION"), "\n"), version)?;
    for args in [
        &["--help"][..],
        &["crowd", "--help"],
        &["info", "--help"],
        &["pose", "--help"],
        &["render", "--help"],
        &["bench", "--help"],
        &["bake", "--help"],
        &["merge", "--help"],
        &["verify", "--help"],
        #[cfg(feature = "view")]
        &["view", "--help"],
    ] {
        let help = output(args)?;
        check(help.contains("Examples:"), format!("{args:?} shows no examples"))?;
        check(help.contains("--simd"), format!("{args:?} does not show --simd"))?;
    }
    Ok(())
}

/// Without the feature `view` the command is known, and says how to get it.
#[cfg(not(feature = "view"))]
pub fn no_window() -> Tested {
    for args in [&["view"][..], &["view", "fox.glb", "--count", "5"]] {
        let out = phalanx().args(args).output()?;
        one_line(&out, &["cargo install --path cli --features view"])?;
    }
    Ok(())
}

pub fn usage_errors() -> Tested {
    let cases: &[&[&str]] = &[
        &[],
        &["march"],
        &["--simd", "mmx", "info"],
        &["crowd", "--count", "0"],
        &["crowd", "--count", "many"],
        &["crowd", "--count", "-5"],
        &["crowd", "--frames", "0"],
        &["crowd", "--threads", "0"],
        &["crowd", "--threads", "100000"],
        &["crowd", "--size", "640"],
        &["crowd", "--size", "0x480"],
        &["crowd", "--size", "16384x16384"],
        &["crowd", "--renderer", "crayon"],
        &["crowd", "--backend", "vulkan"],
        &["crowd", "--out", "crowd.jpg"],
        &["crowd", "--budget", "-1"],
        &["crowd", "--budget", "1.5"],
        &["crowd", "--budget", "0ms"],
        &["crowd", "--full", "--budget", "100"],
        &["crowd", "--full", "--details"],
        &["crowd", "--full", "--tiers", "a.json"],
        &["render", "--backend", "vulkan", "--out", "a.png"],
        &["--simd", "mmx", "bench"],
        &["bench", "--count", "0"],
        &["bench", "--count", "few"],
        &["bench", "--threads", "0"],
        &["bench", "--seconds", "0"],
        &["bench", "--seconds", "nan"],
        &["bench", "--tolerance=-1"],
        &["bench", "--tolerance", "inf"],
        &["bench", "a.glb", "b.glb"],
        &["bench", "--live", "--threads", "1"],
        &["bench", "--live", "--count", "199"],
        &["bench", "--live", "--count", "200", "--count", "400"],
        &["bench", "--live", "--group", "dance"],
        &["bench", "--live", "--library", "2"],
        &["bench", "--live", "--frames", "0"],
        &["bench", "--group", "churn"],
        &["bench", "--library", "30"],
        &["bench", "--frames", "10"],
        &["bench", "--plot", "a.svg"],
        &["bench", "--live", "--compare", "a.json", "--baseline", "b.json"],
        &["info", "a.glb", "b.glb"],
        &["pose", "--loop", "twice"],
        &["pose", "--time", "soon"],
        &["pose", "--time", "inf"],
        &["pose", "--blend", "Walk"],
        &["pose", "--blend", "Walk:0.5"],
        &["pose", "--blend", "Walk:0.5:-1"],
        &["pose", "--blend", "Walk:0:1", "--clip", "Walk"],
        &["render", "--out", "a.png", "--blend", "Walk:0:1", "--clip", "Walk"],
        &["crowd", "--model", "a.glb"],
        &["crowd", "a.glb", "b.glb"],
        &["render", "a.glb", "b.glb", "--out", "a.png"],
    ];
    for args in cases {
        let out = run(args);
        let error = String::from_utf8_lossy(&out.stderr);
        check(out.status.code() == Some(2), format!("{args:?}: {:?} {error}", out.status))?;
        check(!error.contains("panicked"), error)?;
    }
    Ok(())
}

/// Errors of numbers state the accepted range in words, without the limits of machine types.
pub fn refused_numbers() -> Tested {
    let cases: &[(&[&str], &str)] = &[
        (&["crowd", "--count", "0"], "a whole number of at least 1"),
        (&["crowd", "--count", "-5"], "a whole number of at least 1"),
        (&["crowd", "--frames", "0"], "a whole number from 1 to 2097152"),
        (&["crowd", "--threads", "0"], "a whole number from 1 to 1024"),
        (
            &["crowd", "--budget", "-1"],
            "a number of palettes (500), or a time from 1us to 1000000ms (800us, 1.5ms)",
        ),
        (&["bench", "--count", "0"], "a whole number of at least 1"),
        (&["bench", "--seconds", "-1"], "seconds from 0.000001 to 3600"),
        (&["bench", "--tolerance", "-1"], "percent from 0 to 1000000"),
        (&["render", "--out", "a.gif", "--fps", "0"], "frames per second from 0.1 to 50"),
        (&["render", "--out", "a.gif", "--frames", "0"], "a whole number from 1 to 2000"),
        (&["bake", "a.glb", "--out", "a.phx", "--jobs", "0"], "a whole number from 1 to 1024"),
        (
            &["bake", "a.glb", "--out", "a.phx", "--shell", "-1"],
            "metres above 0 and at most 1000000, or per cent of the model's size, such as 0.005%",
        ),
        #[cfg(feature = "view")]
        (&["view", "--frames", "0"], "a whole number of at least 1"),
        #[cfg(feature = "view")]
        (&["view", "--count", "20001"], "a whole number from 1 to 20000"),
        #[cfg(feature = "view")]
        (&["view", "--fade", "9"], "seconds from 0 to 2"),
    ];
    for (args, wanted) in cases {
        let out = run(args);
        let error = String::from_utf8_lossy(&out.stderr);
        check(
            out.status.code() == Some(2) && error.contains(&format!("expected {wanted}\n")),
            format!("{args:?}: {:?} {error}", out.status),
        )?;
    }
    Ok(())
}

pub fn files_that_are_no_models() -> Tested {
    let folder = scratch();
    fs::write(folder.join("empty.glb"), b"")?;
    fs::write(folder.join("text.gltf"), b"no glTF")?;
    fs::write(folder.join("cut.glb"), &phalanx::import::MANNEQUIN[0].1[..5000])?;
    fs::write(folder.join("future.gltf"), br#"{"asset":{"version":"9.0"}}"#)?;
    for (file, part) in [
        ("missing.glb", ""),
        (".", ""),
        ("empty.glb", "empty"),
        ("text.gltf", ""),
        ("cut.glb", "5000"),
        ("future.gltf", "9.0"),
    ] {
        one_line(&run(&["info", file]), &[file, part])?;
        one_line(&run(&["info", file, "--json"]), &[file, part])?;
        one_line(&run(&["pose", file, "--json"]), &[file, part])?;
        one_line(&run(&["bench", file, "--json", "never.json"]), &[file, part])?;
        one_line(&run(&["crowd", file, "--out", "never.png"]), &[file, part])?;
    }
    check(
        !folder.join("never.png").exists() && !folder.join("never.json").exists(),
        "a file was made of nothing",
    )?;
    // What a file seems to be that is no model.
    fs::write(folder.join("garbage.phx"), b"plain text")?;
    fs::write(folder.join("picture.glb"), b"\x89PNG\r\n\x1a\nrest")?;
    let no_model = "this is not a model: ";
    let first = "its first byte is 0x70";
    one_line(&run(&["info", "garbage.phx"]), &["garbage.phx", no_model, first])?;
    one_line(&run(&["info", "picture.glb"]), &[no_model, "a PNG picture"])?;
    // A name with a line break is still one line.
    one_line(&run(&["info", "two\nlines.glb"]), &["two\\nlines.glb"])
}

pub fn unknown_clips() -> Tested {
    for args in [
        &["pose", "--clip", "Moonwalk"][..],
        &["pose", "--clip", "11"],
        &["pose", "--clip=-1"],
        &["pose", "--blend", "Walk:0:1", "--blend", "Moonwalk:0:1"],
        &["render", "--out", "a.png", "--clip", "Moonwalk"],
    ] {
        let last = args.last().map_or("", |a| a.trim_start_matches("--clip="));
        let wanted = last.split(':').next().unwrap_or(last);
        one_line(
            &run(args),
            &[
                "built-in character",
                wanted,
                match wanted {
                    "Moonwalk" => "; did you mean \"Walk\"",
                    _ => "; its clips are",
                },
                "1 \"Walk\"",
                "7 \"LookAround\"",
            ],
        )?;
    }
    Ok(())
}

pub fn unwritable_outputs() -> Tested {
    let small = ["crowd", "--count", "2", "--frames", "1", "--size", "32x32"];
    for (option, path) in [("--out", "no/such/folder/a.png"), ("--out", "."), ("--json", ".")] {
        let mut args = small.to_vec();
        args.extend(["--out", "made.png", option, path]);
        if option == "--out" {
            args.drain(7..9);
        }
        one_line(&run(&args), &[path, "cannot be written"])?;
    }
    for option in ["--json", "--csv"] {
        let path = "no/such/folder/a.json";
        one_line(&run(&["bench", option, path]), &[path, "cannot be written"])?;
    }
    check(!scratch().join("made.png").exists(), "a file is left of a run that failed")
}

pub fn crowds_beyond_memory() -> Tested {
    for count in ["100000000", "4294967296", "18446744073709551615"] {
        let out = run(&["crowd", "--count", count, "--out", "beyond.png"]);
        one_line(&out, &[count, "8589934592", "enough for"])?;
        let out = run(&["bench", "--count", "1", "--count", count]);
        one_line(&out, &[count, "8589934592", "enough for"])?;
    }
    check(!scratch().join("beyond.png").exists(), "a picture of a crowd that was refused")
}

/// A crowd and its picture in less and less memory: done, or refused in one line; no signal ends it.
#[cfg(target_os = "linux")]
pub fn crowds_in_little_memory() -> Tested {
    let mut refused = 0;
    for kilobytes in [10_000, 30_000, 50_000, 70_000, 90_000, 130_000, 210_000] {
        let mut limited = phalanx_in(kilobytes)?;
        limited.args(["crowd", "--count", "5000", "--frames", "1", "--threads", "2"]);
        let out = limited.args(["--size", "64x64"]).output()?;
        let error = String::from_utf8_lossy(&out.stderr);
        if !out.status.success() {
            let what = format!("{kilobytes} kB, {:?}: {error}", out.status);
            check(out.status.code() == Some(1), what.clone())?;
            check(error.starts_with("phalanx: ") && error.lines().count() == 1, what)?;
            refused += 1;
        }
    }
    check(refused > 0, "10 MB are enough")
}

pub fn simd_levels() -> Tested {
    let with = |level: &str| phalanx().env("PHALANX_SIMD", level).arg("info").output();
    one_line(&with("mmx")?, &["mmx", "portable"])?;
    check(with("portable")?.status.success(), "PHALANX_SIMD=portable was refused")?;
    check(with("")?.status.success(), "an empty PHALANX_SIMD was refused")?;
    // The option counts, whatever the environment says.
    let both =
        phalanx().env("PHALANX_SIMD", "mmx").args(["--simd", "portable", "info"]).output()?;
    check(both.status.success(), "--simd did not override PHALANX_SIMD")
}

pub fn closed_pipe() -> Tested {
    for args in [&["pose", "--vertices", "--json"][..], &["pose", "--clip", "Run"]] {
        let mut child =
            phalanx().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut some = [0; 10];
        child.stdout.take().ok_or("no pipe")?.read_exact(&mut some)?;
        let out = child.wait_with_output()?;
        let error = String::from_utf8_lossy(&out.stderr);
        check(out.status.success() && error.is_empty(), format!("{:?} {error}", out.status))?;
    }
    Ok(())
}

pub fn full_disk() -> Tested {
    // Only Linux has a device that is always full.
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        return Ok(());
    };
    let out = phalanx().args(["pose", "--json"]).stdout(full).output()?;
    one_line(&out, &["standard output"])
}
