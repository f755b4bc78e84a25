//! Sizes, and handles as numbers.

use super::models::{Handles, one_joint};
use phalanx::crowd::{Crowd, InstanceId, RigId};
use phalanx::playback::{BlendSpaceId, ClipId, MAX_TAG, Mixer, PlayOptions};
use proptest::prelude::*;
use std::hash::Hash;

fn usual<T: Copy + Ord + Hash + Send + Sync>(size: usize) {
    assert_eq!(size_of::<T>(), size);
    assert_eq!(size_of::<Option<T>>(), size);
}

#[test]
fn handles_fit_64_bits() {
    usual::<RigId>(4);
    usual::<ClipId>(8);
    usual::<BlendSpaceId>(8);
    usual::<InstanceId>(8);
}

#[test]
fn handles_survive_as_numbers() {
    let rig = one_joint("joint");
    for tag in [1, 2, 700, MAX_TAG] {
        let mut crowd = Crowd::with_tag(tag).unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            let h = Handles::add(&mut crowd, &rig);
            assert_eq!(RigId::from_bits(h.rig.to_bits()), Some(h.rig));
            assert_eq!(ClipId::from_bits(h.clip.to_bits()), Some(h.clip));
            assert_eq!(BlendSpaceId::from_bits(h.space.to_bits()), Some(h.space));
            for index in 1..4 {
                let i = crowd.spawn(h.rig).unwrap();
                assert_eq!(InstanceId::from_bits(i.to_bits()), Some(i));
                assert_eq!((i.rig(), i.index()), (h.rig, index));
                seen.push(i);
            }
            // The tag stands above all else, as the number of a rig does above its instances'.
            assert_eq!(h.rig.to_bits() >> 18, u64::from(tag));
            assert_eq!(h.instance.to_bits() >> 36, h.rig.to_bits());
            assert_eq!(h.clip.to_bits() >> 32, h.rig.to_bits());
        }
        assert!(seen.is_sorted_by_key(|i| i.to_bits()) && seen.is_sorted());
    }
}

#[test]
fn handles_of_mixers_survive_as_numbers() {
    let mut mixer = Mixer::new(one_joint("joint")).unwrap();
    let clips = ["a", "b"].map(|name| mixer.clip_named(name).unwrap());
    let space = mixer.add_blend_space(&[(0.0, clips[0]), (1.0, clips[1])]).unwrap();
    for clip in clips {
        assert_eq!(ClipId::from_bits(clip.to_bits()), Some(clip));
    }
    assert_eq!(BlendSpaceId::from_bits(space.to_bits()), Some(space));
    mixer.player().play(0, clips[0], &PlayOptions::default()).unwrap();
    mixer.advance(1.5).unwrap();
    let event = mixer.events().iter().next().unwrap();
    assert_eq!(event.clip, clips[0]);
    let i = event.instance;
    assert_eq!(InstanceId::from_bits(i.to_bits()), Some(i));
    assert_eq!(RigId::from_bits(i.rig().to_bits()), Some(i.rig()));
    assert!(Crowd::new().world(i).is_err(), "an instance of a mixer is no crowd's");
}

#[test]
fn bits_that_no_handle_has_are_rejected() {
    // None, bits above the tag's, and rigs without a tag; 1 is the rig of every mixer.
    for bits in [0, 1 << 28, u64::MAX, 2, 3] {
        assert_eq!(RigId::from_bits(bits), None, "{bits:x}");
    }
    // No rig, a generation that is never given, both, and a rig without a tag.
    for bits in [0, 0xF_FFFF_0000, 1 << 54 | 0xFFFF, u64::MAX, 1 << 53] {
        assert_eq!(InstanceId::from_bits(bits), None, "{bits:x}");
    }
    // No owner, an index, a generation, a rig without a tag, and bits between tag and mixers.
    for bits in [0, 1 << 50 | 0xFFFF_0000, 1 << 50 | 0xFFFF, 0x3_FFFF_u64 << 32, 1 << 60, u64::MAX]
    {
        assert_eq!(ClipId::from_bits(bits), None, "{bits:x}");
        assert_eq!(BlendSpaceId::from_bits(bits), None, "{bits:x}");
    }
}

proptest! {
    /// Any number is a handle that gives it again and that an empty crowd does not know, or none.
    #[test]
    fn any_number_may_be_asked(bits: u64, shift in 0u32..64) {
        let bits = bits >> shift;
        let mut crowd = Crowd::with_tag(5).unwrap();
        let h = Handles::add(&mut crowd, &one_joint("joint"));
        crowd.despawn(h.instance).unwrap();
        crowd.remove_blend_space(h.space).unwrap();
        crowd.unload_clip(h.clip).unwrap();
        if let Some(rig) = RigId::from_bits(bits) {
            prop_assert_eq!(rig.to_bits(), bits);
            prop_assert!(rig == h.rig || crowd.rig(rig).is_err());
        }
        if let Some(instance) = InstanceId::from_bits(bits) {
            prop_assert_eq!(instance.to_bits(), bits);
            prop_assert!(crowd.world(instance).is_err());
            prop_assert!(instance.index() < phalanx::crowd::MAX_INSTANCES);
            prop_assert_eq!(RigId::from_bits(instance.rig().to_bits()), Some(instance.rig()));
        }
        if let Some(clip) = ClipId::from_bits(bits) {
            prop_assert_eq!(clip.to_bits(), bits);
            prop_assert_eq!(crowd.clip(clip).is_ok(), (1..3).any(|c| {
                crowd.clip_by_index(h.rig, c) == Some(clip)
            }));
        }
        if let Some(space) = BlendSpaceId::from_bits(bits) {
            prop_assert_eq!(space.to_bits(), bits);
            prop_assert!(crowd.blend_space(space).is_err());
        }
    }
}
