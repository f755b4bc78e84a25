use super::*;

/// Handles have 20 bits for the index of an instance.
#[test]
fn a_full_rig_refuses_another_instance() {
    let mut state = State::default();
    // The limit is checked before any other array is read.
    state.alive.resize(MAX_INSTANCES, true);
    let before = state.clone();
    assert_eq!(
        state.spawn(0),
        Err(PlaybackError::Limit {
            what: "instances of one rig",
            count: 1_048_577,
            limit: 1_048_576
        })
    );
    assert!(state == before);
    let owner = Owner::of_rig(1, 0);
    let last = InstanceId::new(owner, MAX_INSTANCES - 1, 0);
    assert_eq!(last.index(), MAX_INSTANCES - 1);
}
