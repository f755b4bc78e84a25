//! Snapshots that are taken after a rollback: they are those of a crowd that never rolled back.

use super::models::one_joint;
use phalanx::clip::Clip;
use phalanx::crowd::{Crowd, CrowdSnapshot, InstanceId, PlayOptions, RigId};
use phalanx::playback::{BlendSpaceId, ClipId, Mixer, MixerSnapshot, PlaybackError};
use phalanx::rig::Rig;
use phalanx_testkit::lively::Dice;
use std::sync::Arc;

/// What crowds and mixers have in common here.
trait Host: Sized {
    type Snapshot: Clone + PartialEq;
    fn new(rig: &Arc<Rig>) -> Self;
    fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError>;
    fn unload(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError>;
    fn add_space(&mut self, points: &[(f32, ClipId)]) -> Result<BlendSpaceId, PlaybackError>;
    fn remove_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError>;
    fn play(&mut self, motion: impl Into<phalanx::playback::Playable>)
    -> Result<(), PlaybackError>;
    fn stop(&mut self);
    fn advance(&mut self);
    fn find(&self, name: &str) -> Option<ClipId>;
    fn snapshot(&self) -> Self::Snapshot;
    fn restore(&mut self, snapshot: &Self::Snapshot) -> Result<(), PlaybackError>;
    fn bytes(snapshot: &Self::Snapshot) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Self::Snapshot;
}

struct OfCrowd(Crowd, RigId, InstanceId);

impl Host for OfCrowd {
    type Snapshot = CrowdSnapshot;
    fn new(rig: &Arc<Rig>) -> Self {
        let mut crowd = Crowd::with_tag(3).unwrap();
        let id = crowd.add_rig(rig.clone()).unwrap();
        let instance = crowd.spawn(id).unwrap();
        Self(crowd, id, instance)
    }
    fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        self.0.add_clip(self.1, clip)
    }
    fn unload(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        self.0.unload_clip(clip)
    }
    fn add_space(&mut self, points: &[(f32, ClipId)]) -> Result<BlendSpaceId, PlaybackError> {
        self.0.add_blend_space(self.1, points)
    }
    fn remove_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError> {
        self.0.remove_blend_space(space)
    }
    fn play(
        &mut self,
        motion: impl Into<phalanx::playback::Playable>,
    ) -> Result<(), PlaybackError> {
        self.0.play(self.2, motion, &PlayOptions::default())
    }
    fn stop(&mut self) {
        let mut player = self.0.player(self.2).unwrap();
        player.stop_layer(0, 0.0).unwrap();
    }
    fn advance(&mut self) {
        self.0.advance(0.25).unwrap();
    }
    fn find(&self, name: &str) -> Option<ClipId> {
        self.0.clip_named(self.1, name).ok()
    }
    fn snapshot(&self) -> CrowdSnapshot {
        self.0.snapshot()
    }
    fn restore(&mut self, snapshot: &CrowdSnapshot) -> Result<(), PlaybackError> {
        self.0.restore(snapshot)
    }
    fn bytes(snapshot: &CrowdSnapshot) -> Vec<u8> {
        snapshot.to_bytes()
    }
    fn read(bytes: &[u8]) -> CrowdSnapshot {
        CrowdSnapshot::from_bytes(bytes).unwrap()
    }
}

impl Host for Mixer {
    type Snapshot = MixerSnapshot;
    fn new(rig: &Arc<Rig>) -> Self {
        Mixer::new(rig.clone()).unwrap()
    }
    fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        self.add_clip(clip)
    }
    fn unload(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        self.unload_clip(clip)
    }
    fn add_space(&mut self, points: &[(f32, ClipId)]) -> Result<BlendSpaceId, PlaybackError> {
        self.add_blend_space(points)
    }
    fn remove_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError> {
        self.remove_blend_space(space)
    }
    fn play(
        &mut self,
        motion: impl Into<phalanx::playback::Playable>,
    ) -> Result<(), PlaybackError> {
        self.player().play(0, motion, &PlayOptions::default())
    }
    fn stop(&mut self) {
        self.player().stop_layer(0, 0.0).unwrap();
    }
    fn advance(&mut self) {
        self.advance(0.25).unwrap();
    }
    fn find(&self, name: &str) -> Option<ClipId> {
        self.clip_named(name).ok()
    }
    fn snapshot(&self) -> MixerSnapshot {
        self.snapshot()
    }
    fn restore(&mut self, snapshot: &MixerSnapshot) -> Result<(), PlaybackError> {
        self.restore(snapshot)
    }
    fn bytes(snapshot: &MixerSnapshot) -> Vec<u8> {
        snapshot.to_bytes()
    }
    fn read(bytes: &[u8]) -> MixerSnapshot {
        MixerSnapshot::from_bytes(bytes).unwrap()
    }
}

/// Clips of the same skeleton under names that the rig does not have.
fn more(rig: &Arc<Rig>) -> Vec<Arc<Clip>> {
    let renamed = one_joint("joint");
    let scene = |n: usize| {
        let mut names = Vec::new();
        for clip in renamed.clips() {
            names.push(Arc::new((**clip).clone().with_name(format!("{}{n}", clip.name()))));
        }
        names
    };
    assert_eq!(rig.clips().len(), 3);
    (0..2).flat_map(scene).collect()
}

fn again<H: Host>(through_bytes: bool) {
    let rig = one_joint("joint");
    let clips = more(&rig);
    let carry = |snapshot: H::Snapshot| match through_bytes {
        true => H::read(&H::bytes(&snapshot)),
        false => snapshot,
    };
    let mut host = H::new(&rig);
    let s10 = carry(host.snapshot());
    let a = host.add_clip(clips[0].clone()).unwrap();
    let s = host.add_space(&[(0.0, a)]).unwrap();
    let with = carry(host.snapshot());
    host.restore(&s10).unwrap();
    assert_eq!(host.find(clips[0].name()), None, "it is not of the state");
    let s11 = carry(host.snapshot());
    assert!(s11 == s10 && H::bytes(&s11) == H::bytes(&s10));
    for _ in 0..3 {
        assert_eq!(host.add_clip(clips[0].clone()), Ok(a));
        assert_eq!(host.add_space(&[(0.0, a)]), Ok(s));
        assert!(host.snapshot() == with);
        host.restore(&s11).unwrap();
    }
    // By one frame, a thousand times.
    let mut last = carry(host.snapshot());
    for frame in 0..1000 {
        host.restore(&last).unwrap();
        host.advance();
        last = carry(host.snapshot());
        assert_eq!(host.add_clip(clips[0].clone()), Ok(a), "frame {frame}");
        assert_eq!(host.add_space(&[(0.0, a)]), Ok(s), "frame {frame}");
    }
    // One that never rolled back takes it, and gives the same handles.
    let mut peer = H::new(&rig);
    peer.restore(&last).unwrap();
    assert_eq!(peer.add_clip(clips[0].clone()), Ok(a));
    assert_eq!(peer.add_space(&[(0.0, a)]), Ok(s));
    assert!(peer.snapshot() == host.snapshot());
    // Another clip gets the handle that it has without a rollback; either time can be brought back.
    host.restore(&s11).unwrap();
    assert_eq!(host.add_clip(clips[1].clone()), Ok(a));
    let other = carry(host.snapshot());
    for _ in 0..2 {
        host.restore(&with).unwrap();
        assert_eq!(host.find(clips[0].name()), Some(a));
        assert!(host.snapshot() == with);
        host.restore(&other).unwrap();
        assert_eq!(host.find(clips[1].name()), Some(a));
        assert!(host.snapshot() == other);
        // The blend space was one of another clip.
        assert!(host.play(s).is_err());
    }
}

#[test]
fn a_snapshot_after_a_rollback_brings_the_same_handles() {
    for through_bytes in [false, true] {
        again::<OfCrowd>(through_bytes);
        again::<Mixer>(through_bytes);
    }
}

/// Clips of two undone times had one handle; unloading the later does not give it to the earlier.
fn unloaded<H: Host>() {
    let rig = one_joint("joint");
    let clips = more(&rig);
    let mut host = H::new(&rig);
    let before = host.snapshot();
    let a = host.add_clip(clips[0].clone()).unwrap();
    host.restore(&before).unwrap();
    assert_eq!(host.add_clip(clips[1].clone()), Ok(a));
    host.restore(&before).unwrap();
    let gone = host.unload(a).unwrap();
    assert_eq!(gone.name(), clips[1].name());
    assert!(host.play(a).is_err());
    assert!(host.unload(a).is_err());
    assert!(host.snapshot() == before);
    assert_eq!(host.add_clip(clips[0].clone()), Ok(a));
    assert_eq!(host.find(clips[0].name()), Some(a));
}

#[test]
fn an_unloaded_clip_of_an_undone_time_leaves_no_handle() {
    unloaded::<OfCrowd>();
    unloaded::<Mixer>();
}

/// A clip of its own in every frame that is undone: they do not stay for ever.
#[test]
fn clips_of_undone_times_are_bounded() {
    let rig = one_joint("joint");
    let clip = more(&rig).remove(0);
    let mut mixer = Mixer::new(rig).unwrap();
    let before = mixer.snapshot();
    let mut made = Vec::new();
    for n in 0..1500 {
        let clip = Arc::new((*clip).clone().with_name(format!("made {n}")));
        made.push(Arc::downgrade(&clip));
        mixer.add_clip(clip).unwrap();
        mixer.restore(&before).unwrap();
    }
    let alive = made.iter().filter(|clip| clip.strong_count() > 0).count();
    assert!((1000..1100).contains(&alive), "{alive}");
    assert!(made.last().is_some_and(|last| last.strong_count() > 0));
}

/// A handle of the undone time that is used without being added again is of the state from then on.
fn used<H: Host>() {
    let rig = one_joint("joint");
    let clips = more(&rig);
    let mut host = H::new(&rig);
    let before = host.snapshot();
    let [a, b] = [0, 1].map(|n| host.add_clip(clips[n].clone()).unwrap());
    let s = host.add_space(&[(0.0, b)]).unwrap();
    host.restore(&before).unwrap();
    host.play(s).unwrap();
    host.advance();
    let played = host.snapshot();
    let read = H::read(&H::bytes(&played));
    assert!(read == played);
    for _ in 0..2 {
        host.restore(&read).unwrap();
        assert!(host.snapshot() == played);
        assert_eq!(host.find(clips[1].name()), Some(b));
        assert_eq!(host.find(clips[0].name()), None);
        assert_eq!(host.add_clip(clips[2].clone()), Ok(a));
    }
}

#[test]
fn what_is_played_after_a_rollback_is_in_the_snapshot() {
    used::<OfCrowd>();
    used::<Mixer>();
}

/// A call, as the one that never rolls back repeats it.
#[derive(Clone, Debug)]
enum Call {
    Add(usize),
    Unload(ClipId),
    Space(Vec<ClipId>),
    Remove(BlendSpaceId),
    PlayClip(ClipId),
    PlaySpace(BlendSpaceId),
    Stop,
    Advance,
}

/// What a call gave.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gave {
    Clip(ClipId),
    Space(BlendSpaceId),
    Done,
    Refused,
}

fn call<H: Host>(host: &mut H, clips: &[Arc<Clip>], call: &Call) -> Gave {
    let gave = match call {
        Call::Add(n) => host.add_clip(clips[*n].clone()).map(Gave::Clip),
        Call::Unload(clip) => host.unload(*clip).map(|_| Gave::Done),
        Call::Space(of) => {
            let points: Vec<_> = (0u8..).map(f32::from).zip(of.iter().copied()).collect();
            host.add_space(&points).map(Gave::Space)
        }
        Call::Remove(space) => host.remove_space(*space).map(|()| Gave::Done),
        Call::PlayClip(clip) => host.play(*clip).map(|()| Gave::Done),
        Call::PlaySpace(space) => host.play(*space).map(|()| Gave::Done),
        Call::Stop => {
            host.stop();
            Ok(Gave::Done)
        }
        Call::Advance => {
            host.advance();
            Ok(Gave::Done)
        }
    };
    gave.unwrap_or(Gave::Refused)
}

/// Random calls, snapshots and rollbacks against a host that is made anew by the calls that count.
fn random<H: Host>(seed: u32) -> usize {
    let rig = one_joint("joint");
    let clips = more(&rig);
    let mut dice = Dice(seed);
    let mut host = H::new(&rig);
    let mut log: Vec<(Call, Gave)> = Vec::new();
    let mut saved = vec![(host.snapshot(), 0)];
    let mut rollbacks = 0;
    for step in 0..120 {
        if dice.below(8) == 0 {
            // Of the present: those of times that were undone may refer to what is no more.
            saved.retain(|(_, calls)| *calls <= log.len());
            let at = dice.below(saved.len());
            let (snapshot, calls) = saved[at].clone();
            // A clip that was removed cannot be brought back.
            if host.restore(&snapshot).is_ok() {
                log.truncate(calls);
                saved.truncate(at + 1);
                rollbacks += 1;
            }
        }
        if dice.below(4) == 0 {
            let snapshot = host.snapshot();
            let read = H::read(&H::bytes(&snapshot));
            assert!(read == snapshot);
            saved.push((if dice.below(2) == 0 { read } else { snapshot }, log.len()));
        }
        let given = log.iter().map(|(_, gave)| *gave);
        let (mut known, mut spaces) = (Vec::new(), Vec::new());
        for gave in given {
            match gave {
                Gave::Clip(clip) => known.push(clip),
                Gave::Space(space) => spaces.push(space),
                _ => {}
            }
        }
        let next = match (dice.below(10), known.is_empty(), spaces.is_empty()) {
            (0..=2, ..) => Call::Add(dice.below(clips.len())),
            (3, false, _) => Call::Unload(known[dice.below(known.len())]),
            (4, false, _) => {
                let of = (0..1 + dice.below(2)).map(|_| known[dice.below(known.len())]);
                Call::Space(of.collect())
            }
            (5, _, false) => Call::Remove(spaces[dice.below(spaces.len())]),
            (6, false, _) => Call::PlayClip(known[dice.below(known.len())]),
            (7, _, false) => Call::PlaySpace(spaces[dice.below(spaces.len())]),
            (8, ..) => Call::Stop,
            _ => Call::Advance,
        };
        let gave = call(&mut host, &clips, &next);
        log.push((next, gave));
        let mut twin = H::new(&rig);
        for (n, (next, gave)) in log.iter().enumerate() {
            let own = call(&mut twin, &clips, next);
            assert_eq!(own, *gave, "seed {seed}, step {step}, call {n}: {next:?}");
        }
        let both = [&host, &twin].map(|h| H::bytes(&h.snapshot()));
        assert!(both[0] == both[1], "seed {seed}, step {step}");
        assert!(host.snapshot() == twin.snapshot());
    }
    rollbacks
}

#[test]
fn rollbacks_leave_no_trace_in_handles_or_snapshots() {
    let (mut of_crowds, mut of_mixers) = (0, 0);
    for seed in 1..20 {
        of_crowds += random::<OfCrowd>(seed);
        of_mixers += random::<Mixer>(seed + 1000);
    }
    assert!(of_crowds > 100 && of_mixers > 100, "{of_crowds} {of_mixers}");
}
