//! Sizes, beside those that ACL 2.1 makes of the same clips at the same setting (0.1 mm, shell of 3 cm).

use super::support::clip_of;
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, bake};
use phalanx::format::codec::encode;

/// Bytes of a clip's entry in the table of sections.
const ENTRY: usize = 40;

/// A clip, ACL's bytes and its error in metres.
const ACL: [(&str, f64, f32); 3] =
    [("walk", 7503.0, 0.096e-3), ("jog", 5457.0, 0.088e-3), ("run", 5033.0, 0.096e-3)];

pub fn beside_acl() -> Result<(), Failed> {
    for (name, acl, error) in ACL {
        let (rig, raw) = clip_of("pab.glb", name)?;
        let settings = BakeOptions {
            // No more error than ACL's.
            max_error: error,
            ..BakeOptions::default()
        };
        let (built, report) = bake(&raw, rig.skeleton(), &settings)?;
        let disk = encode(&built, rig.skeleton())?.len() + ENTRY;
        assert!(report.max <= error, "{name}: {}", report.max);
        let (memory, disk) = (built.bytes() as f64 / acl, disk as f64 / acl);
        assert!(memory <= 1.6, "{name}: {memory} of ACL's size in memory");
        assert!(disk <= 0.55, "{name}: {disk} of ACL's size on disk");
    }
    Ok(())
}
