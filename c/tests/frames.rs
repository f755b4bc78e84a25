//! The defaults of modifiers, frames and tiers, as callers in C get them.

use phalanx_c::*;
use std::mem::MaybeUninit;

/// A struct that the library fills with defaults.
fn init<T>(kind: phx_options_kind) -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    let all = size_of::<T>();
    // SAFETY: a place of that size; once the call succeeds, it is a value.
    unsafe {
        let short = phx_options_init(kind, value.as_mut_ptr().cast(), all - 1);
        assert_eq!(short, PHX_ERROR_STRUCT_SIZE);
        assert_eq!(phx_options_init(kind, std::ptr::null_mut(), all), PHX_ERROR_NULL);
        assert_eq!(phx_options_init(kind, value.as_mut_ptr().cast(), all), PHX_OK);
        value.assume_init()
    }
}

#[test]
fn structs_are_set_to_their_defaults() {
    let ik: phx_two_bone_ik = init(PHX_TWO_BONE_IK);
    assert_eq!((ik.size, ik.end, ik.stretch), (size_of_val(&ik), PHX_NONE, 1.0));
    let aim: phx_aim = init(PHX_AIM);
    assert_eq!((aim.size, aim.speed), (size_of_val(&aim), f32::INFINITY));
    let feet: phx_feet = init(PHX_FEET);
    assert_eq!((feet.size, feet.reach), (size_of_val(&feet), 0.5));
    let springs: phx_springs = init(PHX_SPRINGS);
    assert_eq!((springs.size, springs.teleport), (size_of_val(&springs), 2.0));
    let hook: phx_hook = init(PHX_HOOK);
    assert_eq!((hook.size, hook.joints.is_null()), (size_of_val(&hook), true));
    let frame: phx_frame_options = init(PHX_FRAME_OPTIONS);
    assert_eq!((frame.size, frame.hook.is_none()), (size_of_val(&frame), true));
    let tier: phx_tier = init(PHX_TIER);
    assert_eq!((tier.size, tier.rate, tier.level), (size_of_val(&tier), 1, PHX_NONE));
    let tiers: phx_tiers = init(PHX_TIERS);
    assert_eq!((tiers.size, tiers.max_age), (size_of_val(&tiers), 32));
}
