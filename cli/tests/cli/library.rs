//! Libraries of many files: shards, `phalanx merge`, `phalanx verify`.

use super::bake::{bake, copies, folder, mannequin, text};
use super::support::{Tested, check, json, list, one_line, one_line_beside, output, run};
use libtest_mimic::Failed;
use phalanx::bake::model_size;
use phalanx::format::Library;
use phalanx_testkit::seal;
use phalanx_testkit::trials::needed;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Bakes a library of copies in shares.
fn shares(inputs: &Path, out: &Path, of: usize, more: &[&str]) -> Result<Vec<PathBuf>, Failed> {
    let mut parts = Vec::new();
    for index in 0..of {
        let shard = format!("{index}/{of}");
        let args = [&["--prefix", "--shard", &shard][..], more].concat();
        let summary = bake(inputs, out, &args)?;
        let file = summary["files"][0]["file"].as_str().ok_or("no file")?;
        parts.push(PathBuf::from(file));
    }
    Ok(parts)
}

fn merge(parts: &[PathBuf], out: &Path) -> std::process::Output {
    let mut args = vec!["merge", "--out", text(out)];
    args.extend(parts.iter().map(|p| text(p)));
    run(&args)
}

pub fn shards_make_the_whole() -> Tested {
    let folder = folder("shards")?;
    let inputs = copies(&folder, 5)?;
    let (whole, out) = (folder.join("whole.phx"), folder.join("library.phx"));
    bake(&inputs, &whole, &["--prefix"])?;
    let parts = shares(&inputs, &out, 3, &[])?;
    check(!out.exists() && parts[1].ends_with("library.part-1-of-3.phx"), "parts")?;
    // Parts of two bakes that have one name, or names of two: what each lacks would go unnoticed.
    let (some, strangers) = (folder.join("some.phx"), folder.join("strangers.phx"));
    let parts_of_two = shares(&inputs, &strangers, 2, &[])?;
    let renamed = folder.join("library.part-2-of-3.phx");
    let mixed = [parts_of_two[0].clone(), parts[2].clone()];
    let missing = ["part 1 of 2 is missing"];
    one_line(&merge(&mixed, &some), &missing)?;
    let kept = fs::read(&renamed)?;
    shares(&inputs, &out, 3, &["--max-error", "0.01"])?;
    fs::write(&renamed, &kept)?;
    let words = ["part-2-of-3.phx", "max-error=0.0001", "max-error=0.01"];
    one_line(&merge(&parts, &some), &words)?;
    check(!some.exists(), "a refused merge leaves a file")?;
    check(shares(&inputs, &out, 3, &[])? == parts, "as they were")?;
    // In any order, and by a pattern: the same bytes as one run's.
    for order in [[2, 0, 1], [1, 2, 0]] {
        let parts: Vec<PathBuf> = order.iter().map(|&i| parts[i].clone()).collect();
        let done = merge(&parts, &out);
        check(done.status.success(), String::from_utf8_lossy(&done.stderr))?;
        check(fs::read(&out)? == fs::read(&whole)?, "not the same bytes")?;
    }
    let pattern = folder.join("library.part-*-of-3.phx");
    let merged = json(&["merge", text(&pattern), "--out", text(&out), "--json"])?;
    check(merged["clips"] == 55 && merged["parts"] == 3, merged.to_string())?;
    check(fs::read(&out)? == fs::read(&whole)?, "by a pattern")?;
    let failed = merge(&parts[1..], &folder.join("some.phx"));
    one_line(&failed, &["part 0 of 3 is missing"])?;
    // With a layout from elsewhere no share looks at the others' inputs.
    let layout = folder.join("layout.phx");
    bake(&mannequin(), &layout, &["--exact"])?;
    let (own, elsewhere) = (inputs.join("take-0.glb"), folder.join("elsewhere.glb"));
    let alone = folder.join("alone.phx");
    let args = ["bake", text(&own), text(&elsewhere), "--out", text(&alone)];
    let more = ["--shard", "0/2", "--layout", text(&layout)];
    output(&[&args[..], &more].concat())?;
    one_line(&run(&[&args[..], &more[..2]].concat()), &["elsewhere.glb"])?;
    let (a, b) = (folder.join("a.phx"), folder.join("b.phx"));
    bake(&inputs, &a, &["--prefix", "--layout", text(&layout)])?;
    let parts = shares(&inputs, &b, 2, &["--layout", text(&layout)])?;
    check(merge(&parts, &b).status.success(), "parts of one layout")?;
    check(fs::read(&a)? == fs::read(&b)?, "with a layout")
}

pub fn merge_refuses() -> Tested {
    let folder = folder("merge")?;
    let inputs = copies(&folder, 1)?;
    let (a, b) = (folder.join("a.phx"), folder.join("b.phx"));
    bake(&inputs, &a, &[])?;
    fs::copy(&a, &b)?;
    let out = folder.join("out.phx");
    one_line(&merge(&[a.clone(), b.clone()], &out), &["b.phx", "a.phx", "\"Idle\""])?;
    // Another skeleton: turned, so that its rest pose differs.
    bake(&inputs, &b, &["--up", "z", "--prefix"])?;
    one_line(&merge(&[a.clone(), b.clone()], &out), &["b.phx", "skeleton", "a.phx"])?;
    let mut bytes = fs::read(&a)?;
    bytes[300] ^= 1;
    fs::write(&b, bytes)?;
    one_line(&merge(&[a, b], &out), &["b.phx"])?;
    check(!out.exists(), "a refused merge leaves a file")
}

/// The first file gives what is not a clip, whatever it is called.
pub fn merge_in_order() -> Tested {
    let folder = folder("merge-in-order")?;
    let inputs = copies(&folder, 2)?;
    let (z, a) = (folder.join("z.phx"), folder.join("a.phx"));
    bake(&inputs.join("take-0.glb"), &z, &["--prefix"])?;
    bake(&inputs.join("take-1.glb"), &a, &["--prefix"])?;
    let out = folder.join("out.phx");
    for (order, first) in [([&z, &a], "take-0/Idle"), ([&a, &z], "take-1/Idle")] {
        let order = order.map(PathBuf::clone);
        check(merge(&order, &out).status.success(), "two files")?;
        let library = Library::open(&out)?;
        check(library.clip_info(0).is_some_and(|c| c.name == first), first)?;
    }
    Ok(())
}

pub fn verify_tells() -> Tested {
    let folder = folder("verify")?;
    let (file, source) = (folder.join("m.phx"), mannequin());
    bake(&source, &file, &["--max-error", "0.0005"])?;
    let args = ["verify", text(&file), "--source", text(&source)];
    let all = json(&[&args[..], &["--json"]].concat())?;
    let one = &all[0];
    check(one["measured_clips"] == 11, one.to_string())?;
    let [measured, source_error, stated] = ["measured_error", "source_error", "stated_error"]
        .map(|error| one[error].as_f64().unwrap_or(f64::NAN));
    check(measured.max(source_error) == stated, one.to_string())?;
    check(one["fault"].is_null(), one.to_string())?;
    check(output(&args)?.contains("intact"), "as a table")?;
    let whole = fs::read(&file)?;
    // Errors that are stated too small are found out by measuring, and by nothing else.
    let mut parts = seal::parts(&whole);
    let place = seal::find(&parts, b"PROV");
    let at = parts[place].bytes.len() - 8;
    parts[place].bytes[at..at + 4].copy_from_slice(&1e-7f32.to_le_bytes());
    fs::write(&file, seal::file(&parts))?;
    output(&args[..2])?;
    let lied = run(&args);
    let error = String::from_utf8_lossy(&lied.stderr).into_owned();
    check(lied.status.code() == Some(1), "a false error passes")?;
    check(error.contains("Walk_RootMotion") && error.contains("the file states"), error)?;
    // By one part of a hundred, too.
    let stated = Library::from_bytes(&whole)?.provenance().clips[10].max_error;
    parts[place].bytes[at..at + 4].copy_from_slice(&(stated * 0.99).to_le_bytes());
    fs::write(&file, seal::file(&parts))?;
    let lied = run(&args);
    let error = String::from_utf8_lossy(&lied.stderr).into_owned();
    check(error.contains("Walk_RootMotion"), error)?;
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 16;
    fs::write(&file, &damaged)?;
    let found = run(&args);
    let error = String::from_utf8_lossy(&found.stderr).into_owned();
    check(found.status.code() == Some(1) && error.contains("checksum"), error)?;
    check(String::from_utf8_lossy(&found.stdout).contains("DAMAGED"), "the table")?;
    // What is not there is not damaged.
    let missing = run(&["verify", "missing.phx"]);
    let table = String::from_utf8_lossy(&missing.stdout).into_owned();
    check(missing.status.code() == Some(1) && table.contains("unreadable"), table)?;
    fs::write(&file, &whole)?;
    // Another file of the source's name, and a file of another name.
    let other = folder.join("mannequin.glb");
    let mut bytes = fs::read(&source)?;
    bytes.push(0);
    fs::write(&other, bytes)?;
    let args = ["verify", text(&file), "--source", text(&other)];
    one_line(&run(&args), &["m.phx", "mannequin.glb", "hash"])?;
    fs::rename(&other, folder.join("else.glb"))?;
    let other = folder.join("else.glb");
    let args = ["verify", text(&file), "--source", text(&other)];
    one_line(&run(&args), &["m.phx", "not baked from", "else.glb"])
}

/// A file that is not a .phx file is not called damaged: a line names its kind.
pub fn verify_other_files() -> Tested {
    let folder = folder("verify-other")?;
    let whole = folder.join("whole.phx");
    bake(&mannequin(), &whole, &[])?;
    let bytes = fs::read(&whole)?;
    let files: [(&str, &[u8], &str); 6] = [
        ("a.glb", &fs::read(mannequin())?, "binary glTF"),
        ("b.phx", b"", "it is empty"),
        ("c.phx", b"  {\"asset\":{}}", "glTF file (.gltf)"),
        ("d.phx", b"\x89PNG\r\n\x1a\nrest", "PNG"),
        ("e.phx", b"x", "its first byte is 0x78"),
        ("f.phx", b"plain text", "its first byte is 0x70"),
    ];
    for (name, bytes, kind) in files {
        let path = folder.join(name);
        fs::write(&path, bytes)?;
        let out = run(&["verify", text(&path)]);
        one_line(&out, &[name, "this is not a .phx file", kind])?;
        // Beside a .phx file it is a row of the table.
        let out = run(&["verify", text(&whole), text(&path)]);
        let table = String::from_utf8(out.stdout)?;
        check(out.status.code() == Some(1), name)?;
        check(table.contains("intact") && table.contains("no .phx"), table.clone())?;
        check(!table.contains("DAMAGED"), table)?;
        let out = run(&["verify", text(&path), "--json"]);
        let all: Value = serde_json::from_slice(&out.stdout)?;
        check(all[0]["is_phx"] == false, all.to_string())?;
    }
    // A file that is cut early is a damaged .phx file.
    let cut = folder.join("cut.phx");
    for length in [5, 8, 40] {
        fs::write(&cut, &bytes[..length])?;
        let out = run(&["verify", text(&cut)]);
        let table = String::from_utf8_lossy(&out.stdout).into_owned();
        check(table.contains("DAMAGED"), format!("{length}: {table}"))?;
    }
    // Its size is printed, and that it is cut; sections and clips are not known.
    fs::write(&cut, &bytes[..3000])?;
    let out = run(&["--wide", "verify", text(&cut)]);
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    check(table.contains("3.00 kB") && !table.contains("0 B"), table)?;
    one_line_beside(&out, &["cut.phx", "the file is cut off"])?;
    // What is no .phx file is not joined, and what is one is not baked.
    let glb = text(&folder.join("a.glb")).to_owned();
    let out = run(&["merge", &glb, "--out", text(&folder.join("m.phx"))]);
    one_line(&out, &["a.glb", "this is not a .phx file: it seems to be a binary glTF"])?;
    let out = run(&["bake", text(&whole), "--out", text(&folder.join("again.phx"))]);
    one_line(&out, &["whole.phx", "already a baked .phx file"])?;
    Ok(())
}

/// Every file is measured against its sources among those given.
pub fn verify_many() -> Tested {
    let folder = folder("verify-many")?;
    let (inputs, out) = (copies(&folder, 2)?, folder.join("baked"));
    bake(&inputs, &out, &[])?;
    let mut sources: Vec<PathBuf> =
        fs::read_dir(&inputs)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    sources.sort();
    let verify = |sources: &[PathBuf]| {
        let given = sources.iter().flat_map(|s| ["--source", text(s)]);
        let args: Vec<&str> = ["verify", text(&out), "--json"].into_iter().chain(given).collect();
        json(&args)
    };
    for (given, measured) in [(&sources[..], [11, 11]), (&sources[1..], [0, 11])] {
        let all = verify(given)?;
        for (one, clips) in all.as_array().ok_or("no list")?.iter().zip(measured) {
            check(one["measured_clips"] == clips, one.to_string())?;
        }
    }
    // One file with two settings, in one library: each clip is measured with its own.
    let mut parts = Vec::new();
    for (name, max_error) in [("fine", "0.0001"), ("coarse", "0.001")] {
        let below = folder.join(name).join(name);
        fs::create_dir_all(&below)?;
        fs::copy(&sources[0], below.join("one.glb"))?;
        let part = folder.join(format!("{name}.phx"));
        let settings = ["--prefix", "--max-error", max_error];
        bake(&folder.join(name), &part, &settings)?;
        parts.push(part);
    }
    let joined = folder.join("joined.phx");
    check(merge(&parts, &joined).status.success(), "two settings")?;
    let one = folder.join("fine/fine/one.glb");
    let all = json(&["verify", text(&joined), "--source", text(&one), "--json"])?;
    check(all[0]["measured_clips"] == 22, all.to_string())?;
    check(all[0]["fault"].is_null(), all.to_string())?;
    let other = folder.join("else.glb");
    fs::copy(&sources[0], &other)?;
    let args = ["verify", text(&out), "--source", text(&other)];
    one_line(&run(&args), &["not baked from", "else.glb"])?;
    let empty = folder.join("empty");
    fs::create_dir(&empty)?;
    one_line(&run(&["verify", text(&empty)]), &["no .phx file found"])?;
    let args = ["bake", text(&empty), "--out", text(&out)];
    one_line(&run(&args), &["no .gltf, .glb, .vrm, .vrma or .bvh file"])
}

/// A file that `verify` cannot measure is a fault. Faults of several files are a line each, and all files are in the
/// table.
pub fn verify_unmeasured() -> Tested {
    let folder = folder("verify-unmeasured")?;
    let (whole, source) = (folder.join("whole.phx"), mannequin());
    bake(&source, &whole, &[])?;
    let bytes = fs::read(&whole)?;
    let files = ["a", "b", "c"].map(|name| folder.join(format!("{name}.phx")));
    let prov = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = seal::parts(&bytes);
        let place = seal::find(&parts, b"PROV");
        change(&mut parts[place].bytes);
        seal::file(&parts)
    };
    // The first clip comes from the 100th of its source, or from the second; or nothing is said of clips.
    let origin = |clip: u32| move |b: &mut Vec<u8>| b[44..48].copy_from_slice(&clip.to_le_bytes());
    fs::write(&files[0], prov(&origin(99)))?;
    fs::write(&files[1], prov(&origin(1)))?;
    let nothing = |b: &mut Vec<u8>| {
        b[12..16].fill(0);
        b.truncate(40);
    };
    fs::write(&files[2], prov(&nothing))?;
    let mut args = vec!["verify", text(&whole)];
    args.extend(files.iter().map(|f| text(f)));
    output(&args)?;
    args.extend(["--source", text(&source)]);
    let out = run(&args);
    let (reported, table) = (String::from_utf8(out.stderr)?, String::from_utf8(out.stdout)?);
    check(out.status.code() == Some(1), "all is well")?;
    let words = [
        ("a.phx", "is stated to be clip 99 of"),
        ("b.phx", "the duration is"),
        ("c.phx", "which of its 11 clips come from"),
    ];
    check(reported.lines().count() == words.len(), reported.clone())?;
    for (line, (file, what)) in reported.lines().zip(words) {
        let begins = format!("phalanx: {}", text(&folder.join(file)));
        let right = line.starts_with(&begins) && line.contains(what);
        check(right, reported.clone())?;
    }
    for count in ["11 of 11", "10 of 11", "0 of 11"] {
        check(table.contains(count), table.clone())?;
    }
    Ok(())
}

/// Morph weights are measured as joints are.
pub fn verify_scalars() -> Tested {
    let folder = folder("verify-scalars")?;
    let (file, source) = (folder.join("morphs.phx"), needed("MorphStressTest.gltf")?);
    bake(&source, &file, &["--max-error", "0.001"])?;
    let args = ["verify", text(&file), "--source", text(&source)];
    let reported = json(&[&args[..], &["--json"]].concat())?;
    let error = reported[0]["measured_scalar_error"].as_f64().ok_or("none")?;
    check(error > 1e-9 && error <= 1.001e-4, reported.to_string())?;
    // The scalars' keys of the last clip are the file's last integers: one of them is another.
    let mut parts = seal::parts(&fs::read(&file)?);
    let clip = parts.iter().rposition(|p| p.code == *b"CLIP");
    let bytes = &mut parts[clip.ok_or("no clip")?].bytes;
    let integers = seal::u32_at(bytes, 60) as usize;
    check(integers > 16, "no integers")?;
    // Behind the last key stand sixteen zeros.
    let at = bytes.len() - 2 * 17;
    for place in (at - 2 * 8..=at).step_by(2) {
        bytes[place + 1] ^= 0x20;
    }
    fs::write(&file, seal::file(&parts))?;
    output(&args[..2])?;
    let lied = run(&args);
    let error = String::from_utf8_lossy(&lied.stderr).into_owned();
    let right = lied.status.code() == Some(1) && error.contains("a scalar of clip");
    check(right, error)
}

/// A .glb file with only one of its animations, so that its joints come in another order.
fn with_animation(file: &Path, name: &str) -> Result<Vec<u8>, Failed> {
    let bytes = fs::read(file)?;
    let number: [u8; 4] = bytes[12..16].try_into()?;
    let end = 20 + u32::from_le_bytes(number) as usize;
    let mut scene: Value = serde_json::from_slice(&bytes[20..end])?;
    let all = scene["animations"].as_array_mut().ok_or("no animations")?;
    all.retain(|a| a["name"] == name);
    check(all.len() == 1, name)?;
    let mut text = serde_json::to_vec(&scene)?;
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = bytes[..12].to_vec();
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(&text);
    out.extend(&bytes[end..]);
    let len = out.len() as u32;
    out[8..12].copy_from_slice(&len.to_le_bytes());
    Ok(out)
}

/// Parts of different lane orders: clips are converted, and the stated errors hold, baked and exact, in rows and
/// coded.
pub fn merge_orders() -> Tested {
    let folder = folder("orders")?;
    let names = ["Attack", "Wave", "Walk", "Idle"];
    let sources = names.map(|name| folder.join(format!("{name}.glb")));
    for (name, source) in names.iter().zip(&sources) {
        fs::write(source, with_animation(&mannequin(), name)?)?;
    }
    let ways: [&[&str]; 3] = [&["--exact"], &[], &["--form", "coded"]];
    for (i, how) in ways.into_iter().enumerate() {
        let below = folder.join(i.to_string());
        fs::create_dir_all(&below)?;
        let mut parts = Vec::new();
        for (name, source) in names.iter().zip(&sources) {
            let part = below.join(format!("{name}.phx"));
            bake(source, &part, how)?;
            parts.push(part);
        }
        let joined = below.join("joined.phx");
        let all: Vec<&str> = parts.iter().map(|p| text(p)).collect();
        let args = [&["merge"], &all[..], &["--out", text(&joined), "--json"]].concat();
        let reported = json(&args)?;
        check(reported["clips_converted"] == 3, reported.to_string())?;
        // What the conversion adds is in the errors that are stated.
        let library = Library::open(&joined)?;
        let mut added = 0.0f32;
        for (part, now) in parts.iter().zip(&library.provenance().clips) {
            let before = Library::open(part)?.provenance().clips[0].max_error;
            check(now.max_error >= before, "a smaller error")?;
            added = added.max(now.max_error - before);
        }
        let reported = reported["conversion_error"].as_f64().ok_or("no error")? as f32;
        let close = (added - reported).abs() <= 1e-3 * reported + 1e-10;
        check(close, format!("{added} added, {reported} reported"))?;
        let mut args = vec!["verify", text(&joined), "--json"];
        args.extend(sources.iter().flat_map(|s| ["--source", text(s)]));
        let verified = json(&args)?;
        check(verified[0]["measured_clips"] == 4, verified.to_string())?;
        check(verified[0]["fault"].is_null(), verified.to_string())?;
    }
    Ok(())
}

/// Real models: baked within the error, measured again, and joined where skeletons are one.
pub fn any_model(file: &str) -> Tested {
    let folder = folder(&format!("model-{file}"))?;
    let (source, out) = (needed(file)?, folder.join("out.phx"));
    let summary = bake(&source, &out, &[])?;
    // The error is that against the file. Building makes tracks constant that vary by 2e-6 of the model's size, which
    // is 0.0003 of the fox's units.
    let size = model_size(Library::open(&out)?.skeleton());
    let most = 1e-4 + 2e-6 * f64::from(size);
    for clip in list(&summary["files"][0], "clips")? {
        let error = clip["max_error"].as_f64().ok_or("no error")?;
        check((0.0..=most).contains(&error), clip.to_string())?;
    }
    output(&["verify", text(&out), "--source", text(&source)])?;
    let crowd = folder.join("crowd.json");
    let args = ["crowd", text(&out), "--count", "3", "--frames", "2"];
    let picture = folder.join("crowd.png");
    let out = ["--out", text(&picture), "--size", "64x64", "--json", text(&crowd)];
    output(&[&args[..], &out, &["--renderer", "software"]].concat()).map(|_| ())
}
