//! The soak of tiers: a crowd that comes and goes, plays, fades and is teleported, under tiers, views, importances and
//! budgets that change.
//!
//! A short one always runs. The whole one, ten million character-seconds, takes 6 s in release:
//! `cargo test --release --test steady -- --ignored --nocapture ten_million`.

use glam::Vec3;
use phalanx::build::build_rig;
use phalanx::crowd::{
    BoneBuffer, ClipId, Crowd, InstanceId, PlayOptions, RATES, RigId, Tier, TierDetail, Tiers, View,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::EventKinds;
use phalanx_testkit::alloc;
use phalanx_testkit::chain::{raw, sharing_error};
use phalanx_workload::hash01;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Of a hundred characters, those that are replaced, begin a fade, are set to a clip at once, and are teleported in a
/// frame.
const REPLACED: f64 = 0.5;
const FADES: f64 = 2.0;
const CUTS: f64 = 0.5;
const TELEPORTS: f64 = 1.0;

/// Parts of the run whose peaks are compared; the first three are the warm-up.
const PARTS: usize = 10;
const WARM: usize = 3;

/// What later peaks of the live bytes may be above those of the warm-up: a thirtieth, and tables that double.
const GROWTH: i64 = 30;
const SLACK: i64 = 1 << 20;

struct Member {
    id: InstanceId,
    rig: usize,
}

struct Soak {
    seed: u64,
    crowd: Crowd,
    rigs: Vec<(RigId, Vec<ClipId>)>,
    members: Vec<Member>,
    bones: BoneBuffer,
    radius: f32,
    frames: u64,
    calls: u64,
    tiers: u64,
    evaluated: u64,
    shared: u64,
    beyond: u64,
    character_seconds: f64,
}

impl fmt::Display for Soak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} character-seconds in {} frames, {} calls, {} changes of tiers, {} palettes evaluated, \
             {} beyond budgets; instances shared a palette {} times",
            self.character_seconds,
            self.frames,
            self.calls,
            self.tiers,
            self.evaluated,
            self.beyond,
            self.shared,
        )
    }
}

impl Soak {
    fn new(count: usize) -> Self {
        let mut crowd = Crowd::new();
        let chain = Arc::new(build_rig(raw(), &Default::default()).unwrap());
        let rigs = [Arc::new(mannequin().unwrap()), chain].map(|rig| {
            let id = crowd.add_rig(rig.clone()).unwrap();
            let clips = 0..rig.clips().len();
            let full = clips.filter(|&c| rig.clips()[c].kind() == phalanx::clip::ClipKind::Full);
            let clips = full.map(|c| crowd.clip_by_index(id, c).unwrap());
            (id, clips.collect())
        });
        crowd.set_tiers(Some(Tiers::default())).unwrap();
        let mut soak = Self {
            seed: 1,
            crowd,
            rigs: rigs.into(),
            members: Vec::new(),
            bones: BoneBuffer::new(),
            // One per square metre.
            radius: (count as f32 / std::f32::consts::PI).sqrt(),
            frames: 0,
            calls: 0,
            tiers: 0,
            evaluated: 0,
            shared: 0,
            beyond: 0,
            character_seconds: 0.0,
        };
        // Nobody listens to the events of one rig.
        soak.crowd.set_event_filter(soak.rigs[0].0, EventKinds::NONE).unwrap();
        (0..count).for_each(|_| soak.spawn());
        soak
    }

    fn unit(&mut self) -> f64 {
        self.seed += 1;
        hash01(self.seed)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n.saturating_sub(1))
    }

    fn place(&mut self) -> Affine3x4 {
        let (around, away) = (self.unit() * std::f64::consts::TAU, self.unit().sqrt());
        let (sin, cos) = around.sin_cos();
        let at = Vec3::new((sin * away) as f32, 0.0, (cos * away) as f32) * self.radius;
        glam::Affine3A::from_translation(at).into()
    }

    fn options(&mut self) -> PlayOptions {
        PlayOptions {
            time: self.unit() * 5.0,
            speed: 0.8 + 0.4 * self.unit() as f32,
            ..PlayOptions::default()
        }
    }

    fn spawn(&mut self) {
        // Most are of one rig.
        let rig = usize::from(self.unit() < 0.1);
        let id = self.crowd.spawn(self.rigs[rig].0).unwrap();
        let place = self.place();
        self.crowd.set_world(id, place).unwrap();
        self.members.push(Member { id, rig });
        self.play(self.members.len() - 1, None);
    }

    fn play(&mut self, member: usize, fade: Option<f32>) {
        let Member { id, rig } = self.members[member];
        let clips = self.rigs[rig].1.len();
        let (clip, options) = (self.below(clips), self.options());
        let clip = self.rigs[rig].1[clip];
        match fade {
            Some(seconds) => self.crowd.fade_to(id, clip, seconds, &options).unwrap(),
            None => self.crowd.play(id, clip, &options).unwrap(),
        }
        self.calls += 1;
    }

    /// The calls of a frame, as many as make this share of the crowd on average.
    fn some(&mut self, percent: f64, mut each: impl FnMut(&mut Self, usize)) {
        let wanted = self.members.len() as f64 * percent / 100.0;
        let more = usize::from(self.unit() < wanted.fract());
        for _ in 0..wanted as usize + more {
            let member = self.below(self.members.len());
            each(self, member);
        }
    }

    fn view(&mut self, shadows: bool) -> View {
        // Around the crowd, with jumps now and then.
        let jump = (self.frames / 50) as f64;
        let around = (0.01 * self.frames as f64 + jump * 2.4) as f32;
        let eye = Vec3::new((0.3 * jump).sin() as f32, 0.0, 0.0) * self.radius + Vec3::Y * 2.2;
        let to = Vec3::new(around.sin(), -0.05, around.cos());
        let (fov, aspect) = (1.2, 16.0 / 9.0);
        let projection =
            glam::camera::rh::proj::directx::perspective_infinite_reverse(fov, aspect, 0.1);
        let eye = glam::camera::rh::view::look_to_mat4(eye, to, Vec3::Y);
        View { clip_from_world: (projection * eye).to_cols_array_2d(), height: 1080.0, shadows }
    }

    fn rate(&mut self) -> u8 {
        let place = self.below(RATES.len());
        RATES[place]
    }

    /// Tiers of random rates, some interpolated, some shared.
    fn random_tiers(&mut self) -> Tiers {
        let count = 1 + self.below(6);
        let tiers = (0..count).map(|n| Tier {
            height: 300.0 * 0.4f32.powi(n as i32),
            rate: self.rate(),
            interpolate: self.unit() < 0.5,
            shared_error: match self.below(3) {
                0 => None,
                1 => Some(sharing_error(1 << self.below(8))),
                _ => Some(0.01 + 0.05 * self.unit() as f32),
            },
            detail: (self.below(3) == 0)
                .then(|| TierDetail { level: self.below(3), leave_out: Vec::new() }),
            springs: true,
        });
        let tiers = tiers.collect();
        Tiers { tiers, max_age: 1 + self.below(64) as u32, ..Tiers::default() }
    }

    /// What changes now and then.
    fn direct(&mut self) {
        if self.unit() < 0.03 {
            let tiers = match self.below(4) {
                0 => None,
                1 => Some(Tiers::default()),
                _ => Some(self.random_tiers()),
            };
            self.crowd.set_tiers(tiers).unwrap();
            self.tiers += 1;
        }
        if self.crowd.tiers().is_none() {
            // Not for long: everybody is evaluated.
            if self.unit() < 0.3 {
                self.crowd.set_tiers(Some(Tiers::default())).unwrap();
            }
            return;
        }
        let views = [self.view(false), self.view(true)];
        let views = &views[..1 + self.below(2)];
        self.crowd.set_views(views).unwrap();
        if self.unit() < 0.05 {
            let most = self.members.len();
            let budget = self.below(4 * most);
            let budget = (budget < most).then_some(budget / 4);
            self.crowd.set_budget(budget).unwrap();
        }
        if self.unit() < 0.05 {
            let rig = self.below(2);
            let rig = self.rigs[rig].0;
            let places = self.crowd.view(rig).unwrap().alive.len();
            let important = |n| if n % 97 == 0 { 500.0 } else { 0.0 };
            let given: Vec<f32> = match self.below(2) {
                0 => Vec::new(),
                _ => (0..places).map(important).collect(),
            };
            self.crowd.set_importances(rig, &given).unwrap();
        }
    }

    fn frame(&mut self) {
        self.some(REPLACED, |soak, member| {
            let gone = soak.members.swap_remove(member);
            soak.crowd.despawn(gone.id).unwrap();
            soak.spawn();
        });
        self.some(FADES, |soak, member| {
            let seconds = 0.1 + 0.5 * soak.unit() as f32;
            soak.play(member, Some(seconds));
        });
        self.some(CUTS, |soak, member| soak.play(member, None));
        self.some(TELEPORTS, |soak, member| {
            let place = soak.place();
            let Member { id, .. } = soak.members[member];
            soak.crowd.set_world(id, place).unwrap();
            let visible = soak.unit() < 0.9;
            soak.crowd.set_visible(id, visible).unwrap();
            soak.calls += 2;
        });
        self.direct();
        let dt = 0.05 + 0.45 * self.unit();
        self.crowd.advance(dt).unwrap();
        let evaluated = self.crowd.evaluate(&mut self.bones).instances;
        self.frames += 1;
        self.evaluated += evaluated as u64;
        self.character_seconds += dt * self.members.len() as f64;
        self.look(evaluated);
    }

    /// What has to hold in every frame.
    fn look(&mut self, evaluated: usize) {
        assert_eq!(self.crowd.instance_count(), self.members.len());
        let rows = self.bones.rows();
        for n in 0..20 {
            let at = (self.frames as usize * 37 + n * 101) % self.members.len();
            let Some(pair) = self.crowd.shown(self.members[at].id) else {
                continue;
            };
            assert!((0.0..=1.0).contains(&pair.factor), "{}", pair.factor);
            let both = rows[pair.from].iter().chain(&rows[pair.to]);
            assert!(both.into_iter().all(Affine3x4::is_finite));
        }
        let (Some(tiers), Some(stats)) = (self.crowd.tiers(), self.crowd.tier_stats()) else {
            return;
        };
        let own: usize = stats.tiers.iter().map(|t| t.evaluated).sum();
        // A new interpolated instance has two.
        assert!(own + stats.shared_evaluated == evaluated);
        for (tier, now) in tiers.tiers.iter().zip(&stats.tiers) {
            assert_eq!(now.instances, now.shared + now.evaluated + now.held);
            assert!(now.oldest < tiers.max_age.max(tier.rate.into()), "{now:?}");
            self.shared += now.shared as u64;
        }
        self.beyond += stats.beyond_budget as u64;
    }
}

/// Runs so many characters for so many seconds each, and compares the peaks of the live bytes.
fn run(count: usize, seconds: f64) {
    let _alone = alloc::alone();
    let started = Instant::now();
    let before = alloc::live();
    let mut soak = Soak::new(count);
    let wanted = count as f64 * seconds;
    let mut peaks = Vec::new();
    for part in 1..=PARTS {
        let mut peak = 0;
        while soak.character_seconds < wanted * part as f64 / PARTS as f64 {
            soak.frame();
            peak = peak.max(alloc::live() - before);
        }
        peaks.push(peak);
    }
    println!(
        "{:.0} s: {soak}; peaks of the live bytes by tenths: {peaks:?}",
        started.elapsed().as_secs_f64()
    );
    assert!(soak.tiers > 3 && soak.shared > 0 && soak.beyond > 0, "{soak}");
    let [warm, later] = [&peaks[..WARM], &peaks[WARM..]].map(|p| p.iter().max().copied());
    let (warm, later) = (warm.unwrap_or(0), later.unwrap_or(0));
    assert!(
        later <= warm + warm / GROWTH + SLACK,
        "{later} bytes are live later, {warm} in the warm-up: {peaks:?}"
    );
}

#[test]
fn memory_of_tiers_is_flat() {
    run(300, 400.0);
}

#[test]
#[ignore = "ten million character-seconds: run it in release"]
fn ten_million_character_seconds() {
    run(20_000, 500.0);
}
