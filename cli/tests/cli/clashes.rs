//! Outputs that are inputs or each other are refused before anything is written; all others are replaced
//! whole, wherever links lead.

use super::bake::{bake, folder, mannequin, text};
use super::support::{Tested, check, one_line, phalanx};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The built-in character's document and its binary chunk.
pub fn taken_apart() -> Result<(Value, Vec<u8>), Failed> {
    let bytes = fs::read(mannequin())?;
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i])) as usize;
    let binary = 20 + word(12);
    let document = serde_json::from_slice(&bytes[20..binary])?;
    Ok((document, bytes[binary + 8..][..word(binary)].to_vec()))
}

/// Writes the built-in character as NAME.gltf with a buffer of some name, and a picture.
fn gltf(folder: &Path, name: &str, buffer: &str) -> Tested {
    let (mut document, binary) = taken_apart()?;
    document["buffers"] = json!([{ "uri": buffer, "byteLength": binary.len() }]);
    document["images"] = json!([{ "uri": "skin.png" }]);
    fs::write(folder.join(name).with_extension("gltf"), document.to_string())?;
    fs::write(folder.join(buffer), binary)?;
    Ok(fs::write(folder.join("skin.png"), include_bytes!("../../../tests/import/pixel.png"))?)
}

/// All below a folder with its bytes; links as what they lead to.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Failed> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.is_dir() {
            all.extend(contents(&path)?);
        } else {
            let bytes = fs::read(&path).unwrap_or_else(|_| b"leads nowhere".to_vec());
            all.insert(path, bytes);
        }
    }
    Ok(all)
}

fn run_in(folder: &Path, args: &[&str]) -> Result<Output, Failed> {
    Ok(phalanx().current_dir(folder).args(args).output()?)
}

/// Figures and pictures that take no time.
const SMALL: &[&str] =
    &["--count", "2", "--frames", "1", "--size", "32x32", "--renderer", "software"];

/// The command line | the words by which the error names the output | the options that the error names.
const CASES: &[&str] = &[
    "crowd m.glb --json m.glb | m.glb: | --json FILE",
    "crowd m.glb --json ./m.glb | ./m.glb: | --json FILE",
    "crowd m.glb --json sub/../m.glb | it as m.glb | --json FILE",
    "crowd m.png --out m.png | m.png: | --out FILE",
    "crowd a.phx --json a.phx | a.phx: | --json FILE",
    "crowd model.gltf --json m.bin | m.bin: | --json FILE",
    "crowd model.gltf --out skin.png | it as part of model.gltf | --out FILE",
    "crowd model.gltf --json model.events.json | model.events.json: | --json FILE",
    "crowd --out x.png --json x.png | x.png: | --json --out",
    "crowd --out x.png --json sub/../x.png | x.png: | --json --out",
    "crowd --out m.png --json ./m.png | m.png: | --json --out",
    "render m.png --out m.png | m.png: | --out FILE",
    "render model.gltf --out skin.png | skin.png: | --out FILE",
    "render m.glb --attach m.png@LeftHand --out m.png | m.png: | --out --attach",
    "render m.glb --attach model.gltf@LeftHand --out skin.png | it as part of model.gltf | --out --attach",
    "bench m.glb --json m.glb | m.glb: | --json FILE",
    "bench m.glb --csv m.glb | m.glb: | --csv FILE",
    "bench model.gltf --csv m.bin | m.bin: | --csv FILE",
    "bench model.gltf --json skin.png | skin.png: | --json FILE",
    "bench model.gltf --csv model.events.json | model.events.json: | --csv FILE",
    "bench --json x.json --csv x.json | x.json: | --csv --json",
    "bench --json x.json --csv ./x.json | x.json: | --csv --json",
    "bench --json base.json --csv ./base.json | base.json: | --csv --json",
    "crowd --json victim.glb | victim.glb: | --json .glb",
    "bench --json victim.glb | victim.glb: | --json .glb",
    "bench --csv VICTIM.PHX | VICTIM.PHX: | --csv .phx",
    "bake in.phx --out in.phx | in.phx: | --out FILES",
    "bake in.phx --out . | ./in.phx: | --out FILES",
    "bake m.glb in.phx --prefix --out in.phx | in.phx: | --out FILES",
    "bake sub/x.phx --out sub | sub/x.phx: | --out FILES",
    "bake odd.gltf --out odd.phx | it as part of odd.gltf | --out FILES",
    "bake odd.gltf --out . | it as part of odd.gltf | --out FILES",
    "bake lib.part-0-of-1.phx --out lib.phx --shard 0/1 | lib.part-0-of-1.phx: | --out FILES",
    "bake m.glb --quality q.phx --out q.phx | q.phx: | --out --quality",
    "bake m.glb --layout a.phx --out a.phx | a.phx: | --out --layout",
    "bake m.glb --layout a.phx --out ./a.phx | it as a.phx | --out --layout",
    "bake m.glb --layout odd.gltf --out odd.phx | it as part of odd.gltf | --out --layout",
    "merge a.phx b.phx --out a.phx | a.phx: | --out FILES",
    "merge a.phx b.phx --out ./b.phx | ./b.phx: | --out FILES",
    "merge a*.phx --out a.phx | a.phx: | --out FILES",
];

/// The same through links.
const LINKS: &[&str] = &[
    "crowd m.glb --json link.glb | link.glb: | --json FILE",
    "crowd m.glb --json hard.glb | it as m.glb | --json FILE",
    "crowd link.glb --json m.glb | it as link.glb | --json FILE",
    "crowd m.glb --json here/m.glb | here/m.glb: | --json FILE",
    "crowd --out dangling.png --json later.png | later.png: | --json --out",
    "crowd --out x.png --json here/x.png | x.png: | --json --out",
    "bench hard.glb --json link.glb | it as hard.glb | --json FILE",
    "bake in.phx --out here | here/in.phx: | --out FILES",
    "merge a.phx b.phx --out here/a.phx | here/a.phx: | --out FILES",
];

#[cfg(unix)]
fn links(folder: &Path) -> Tested {
    use std::os::unix::fs::symlink;
    symlink("m.glb", folder.join("link.glb"))?;
    symlink("later.png", folder.join("dangling.png"))?;
    symlink(".", folder.join("here"))?;
    Ok(fs::hard_link(folder.join("m.glb"), folder.join("hard.glb"))?)
}

pub fn refused() -> Tested {
    let folder = folder("clashes")?;
    for name in ["m.glb", "m.png", "sword.glb", "in.phx", "lib.part-0-of-1.phx", "sub/x.phx"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::copy(mannequin(), path)?;
    }
    for victim in ["victim.glb", "VICTIM.PHX"] {
        fs::copy(mannequin(), folder.join(victim))?;
    }
    gltf(&folder, "model", "m.bin")?;
    gltf(&folder, "odd", "odd.phx")?;
    fs::write(folder.join("model.events.json"), r#"{"clips": {}}"#)?;
    fs::write(folder.join("q.phx"), "{}")?;
    fs::write(folder.join("base.json"), "[]")?;
    bake(&mannequin(), &folder.join("a.phx"), &["--exact"])?;
    fs::copy(folder.join("a.phx"), folder.join("b.phx"))?;
    #[cfg(unix)]
    links(&folder)?;
    let before = contents(&folder)?;

    for case in CASES.iter().chain(if cfg!(unix) { LINKS } else { &[] }) {
        let mut parts = case.split(" | ");
        let [given, named, options] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let mut args: Vec<&str> = given.split(' ').collect();
        args.extend(match args[0] {
            "crowd" => SMALL,
            "bench" => &["--count", "1", "--seconds", "0.00001"],
            "render" => &["--size", "32x32"],
            _ => &[],
        });
        let words: Vec<&str> = [named].into_iter().chain(options.split(' ')).collect();
        let line = one_line(&run_in(&folder, &args)?, &words);
        line.map_err(|e| format!("{given}: {}", e.message().unwrap_or_default()))?;
        check(contents(&folder)? == before, format!("{given} has changed a file"))?;
    }
    Ok(())
}

/// One input's output is another input: it alone is refused.
pub fn others_go_on() -> Tested {
    let folder = folder("clashes-beside")?;
    for name in ["a.glb", "b.phx"] {
        fs::copy(mannequin(), folder.join(name))?;
    }
    let out = run_in(&folder, &["bake", "a.glb", "b.phx", "--out", ".", "--exact"])?;
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    let lines = error.lines().count();
    check(out.status.code() == Some(1) && lines == 1, error.clone())?;
    check(error.contains("b.phx: --out for b.phx would overwrite it, but FILES reads it"), error)?;
    check(folder.join("a.phx").exists(), "the other one")?;
    check(fs::read(folder.join("b.phx"))? == fs::read(mannequin())?, "the input")
}

/// Pipes and devices are written without being replaced, and may be named more than once.
#[cfg(unix)]
pub fn streams() -> Tested {
    use std::io::Read;
    use std::process::Stdio;
    let folder = folder("streams")?;
    let crowd = [&["crowd", "--out", "/dev/null"][..], SMALL].concat();
    // To a pipe, and to a file that a shell has opened: the table comes first.
    let piped = run_in(&folder, &[&crowd[..], &["--json", "/dev/stdout"]].concat())?;
    let shown = fs::File::create(folder.join("shown"))?;
    let mut command = phalanx();
    let command = command.args(&crowd).args(["--json", "/dev/stdout"]);
    let status = command.current_dir(&folder).stdout(shown).status()?;
    check(status.success(), "to a file")?;
    for text in [piped.stdout, fs::read(folder.join("shown"))?] {
        let text = String::from_utf8(text)?;
        let (table, figures) = text.split_once("\n{").ok_or("no JSON")?;
        check(table.contains("palette rows"), format!("no table: {text}"))?;
        let figures: Value = serde_json::from_str(&format!("{{{figures}"))?;
        check(figures["characters"] == 2, figures.to_string())?;
    }
    let nowhere = run_in(&folder, &[&crowd[..], &["--json", "/dev/null"]].concat())?;
    check(nowhere.status.success(), "two outputs to one device")?;
    let full = run_in(&folder, &[&crowd[..], &["--json", "/dev/full"]].concat())?;
    if Path::new("/dev/full").exists() {
        super::support::one_line_beside(&full, &["/dev/full: cannot be written"])?;
    }
    // A pipe with a name; nothing takes its place.
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status()?;
    check(made.success(), "no pipe was made")?;
    let mut command = phalanx();
    let command = command.args(&crowd).args(["--json", text(&pipe)]);
    let mut child = command.current_dir(&folder).stdout(Stdio::null()).spawn()?;
    let mut figures = Vec::new();
    fs::File::open(&pipe)?.read_to_end(&mut figures)?;
    check(child.wait()?.success(), "to a pipe")?;
    let figures: Value = serde_json::from_slice(&figures)?;
    check(figures["characters"] == 2, figures.to_string())?;
    // A .phx file is read again when it is written.
    fs::copy(mannequin(), folder.join("a.glb"))?;
    let args = ["bake", "a.glb", "--exact", "--out", "lib.phx"];
    let library = folder.join("lib.phx");
    let made = std::process::Command::new("mkfifo").arg(&library).status()?;
    check(made.success(), "no pipe was made")?;
    one_line(&run_in(&folder, &args)?, &["lib.phx", "not a regular file"])
}

/// A link under a temporary name is not written through, and outputs keep their links and permissions.
#[cfg(unix)]
pub fn links_and_permissions() -> Tested {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let folder = folder("links")?;
    fs::copy(mannequin(), folder.join("a.glb"))?;
    let crowd = [&["crowd", "--out", "crowd.png", "--json", "crowd.json"][..], SMALL].concat();
    let commands: [(&[&str], &[&str]); 3] = [
        (&crowd, &["crowd.png", "crowd.json"]),
        (&["bake", "a.glb", "--exact", "--out", "lib.phx"], &["lib.phx"]),
        (
            &["bench", "--count", "1", "--threads", "1", "--seconds", "0.00001", "--csv", "b.csv"],
            &["b.csv"],
        ),
    ];
    let victim = folder.join("victim");
    for (args, outputs) in commands {
        for output in outputs {
            let (path, partial) = (folder.join(output), folder.join(format!(".{output}.partial")));
            for kind in ["link", "hard link", "dangling link", "folder"] {
                fs::write(&victim, "not yours")?;
                match kind {
                    "link" => symlink("victim", &partial)?,
                    "hard link" => fs::hard_link(&victim, &partial)?,
                    "dangling link" => symlink("nowhere", &partial)?,
                    _ => fs::create_dir(&partial)?,
                }
                // The output is removed, so that it is baked again and not skipped.
                let _ = fs::remove_file(&path);
                let out = run_in(&folder, args)?;
                let error = String::from_utf8_lossy(&out.stderr).into_owned();
                check(out.status.success(), format!("{output} beside a {kind}: {error}"))?;
                check(fs::read(&victim)? == b"not yours", format!("{output}: through a {kind}"))?;
                check(!folder.join("nowhere").exists(), format!("{output}: through a {kind}"))?;
                check(fs::symlink_metadata(&path)?.is_file(), format!("{output} is no file"))?;
                match kind {
                    "folder" => fs::remove_dir(&partial)?,
                    // A leftover, which goes.
                    "hard link" => check(!partial.exists(), "a leftover")?,
                    _ => fs::remove_file(&partial)?,
                }
            }
            // A link that leads to the output stays one; the file keeps its permissions and its folder.
            fs::create_dir_all(folder.join("far"))?;
            let far = folder.join("far").join(output);
            fs::rename(&path, &far)?;
            fs::write(&far, "old")?;
            fs::set_permissions(&far, fs::Permissions::from_mode(0o640))?;
            symlink(Path::new("far").join(output), &path)?;
            let before = fs::metadata(&far)?;
            let out = run_in(&folder, args)?;
            let error = String::from_utf8_lossy(&out.stderr).into_owned();
            check(out.status.success(), format!("{output} through a link: {error}"))?;
            check(fs::symlink_metadata(&path)?.is_symlink(), format!("{output} was a link"))?;
            let after = fs::metadata(&far)?;
            check(after.mode() & 0o777 == 0o640, format!("{output}: {:o}", after.mode()))?;
            check(after.len() > 3 && after.ino() != before.ino(), format!("{output}: not new"))?;
            // And one that leads to nothing yet makes it.
            fs::remove_file(&far)?;
            check(run_in(&folder, args)?.status.success() && far.is_file(), output.to_string())?;
            fs::remove_file(&path)?;
            let names: Vec<PathBuf> = contents(&folder)?.into_keys().collect();
            let left = names.iter().any(|n| text(n).contains(".partial"));
            check(!left, format!("{names:?}"))?;
        }
    }
    Ok(())
}
