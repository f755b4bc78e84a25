//! Stored files of coded clips. Writing and reading share one walk and its reckoning, so a change of both
//! shows only beside bytes of before.

use super::Tested;
use super::roundtrip::check;
use crate::baked::scaled::wandering;
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, bake};
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance};
use phalanx::import::{ImportOptions, import_path};
use phalanx_testkit::trials;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A stored file, and the hashes of its clips; never to be changed.
struct Stored {
    /// A file of the models, or [`SCALED`].
    model: &'static str,
    /// Quantised, or bit by bit as it was imported.
    baked: bool,
    clips: &'static [(&'static str, u64)],
}

/// A chain below a joint of scale 0.01, made in code: steps of translations are in units of their own.
const SCALED: &str = "scaled";

const STORED: [Stored; 3] = [
    Stored { model: SCALED, baked: true, clips: &[("", 0x5f12_8890_3844_aaab)] },
    Stored {
        model: "mannequin",
        baked: true,
        clips: &[
            ("Idle", 0x2797_2713_04a3_0f7c),
            ("Walk", 0x9424_eca2_09c6_9f22),
            ("Jog", 0xcaea_8e11_cae8_83f2),
            ("Run", 0x6645_6fc3_2269_fd14),
            ("Wave", 0x4fb3_bc67_6fe2_d0c3),
            ("Cheer", 0x5f3c_cb5d_0b5a_6eae),
            ("Clap", 0xf93e_7f9c_3ad8_4402),
            ("LookAround", 0xd2c2_8825_f5d7_0eb0),
            ("Attack", 0x8ac3_6f69_5b90_80c6),
            ("TurnLeft", 0xf00a_4e49_011b_9029),
            ("Walk_RootMotion", 0x95a0_f535_cca5_f48e),
        ],
    },
    Stored {
        model: "bl_corners",
        baked: false,
        clips: &[
            ("EmptySpin", 0xf127_e780_c6d4_908f),
            ("BezierScale", 0xf3f0_8674_df0a_d7eb),
            ("StepMix", 0xa11a_196a_df89_ae64),
        ],
    },
];

fn path(stored: &Stored) -> PathBuf {
    let name = format!("tests/data/coded-{}.phx", stored.model);
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// `PHALANX_STORE=1 cargo test --test format coded_clips` rewrites the files, which is allowed only before their version
/// is released.
fn store(stored: &Stored) -> Tested {
    let rig = if stored.model == SCALED {
        wandering(0.01)?
    } else {
        let model = trials::needed(&format!("{}.glb", stored.model))?;
        let imported = import_path(&model, &ImportOptions::default())?;
        imported.rigs.into_iter().next().ok_or("no rig")?
    };
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton())?;
    for clip in rig.clips() {
        if stored.baked {
            let (clip, _) = bake(clip, rig.skeleton(), &BakeOptions::default())?;
            writer.add_clip(&clip, clip.name(), ClipForm::Coded)?;
        } else {
            writer.add_clip(clip, clip.name(), ClipForm::Coded)?;
        }
    }
    let file = writer.finish(&Provenance::default())?;
    Ok(fs::write(path(stored), file.into_inner())?)
}

pub fn stored() -> Tested {
    for stored in &STORED {
        if std::env::var_os("PHALANX_STORE").is_some() {
            store(stored)?;
        }
        let library = Library::open(&path(stored))?;
        library.verify()?;

        let coded = library.sections().filter_map(|s| s.form).all(|form| form == ClipForm::Coded);
        check(coded, "a form")?;
        let clips: Result<Vec<_>, Failed> = (0..library.clip_count())
            .map(|i| {
                let clip = library.clip(i)?;
                Ok((clip.name().to_owned(), clip.content_hash()))
            })
            .collect();
        let clips = clips?;
        let expected = stored.clips.iter().map(|(name, hash)| (name.to_string(), *hash));
        let found = format!("{}: {clips:#x?}", stored.model);
        check(expected.eq(clips.iter().cloned()), found)?;
    }
    Ok(())
}
