//! A crowd, a scene and a mixer, and random calls on them; after every frame everything is looked at.

use phalanx::build::build_rig;
use phalanx::clip::ClipKind;
use phalanx::crowd::{
    BoneBuffer, ClipId, Crowd, CrowdSnapshot, InstanceId, LayerOptions, PaletteMemory, PlayOptions,
    RigId, RowLayout,
};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::playback::{BlendSpaceId, CrossFade, Fill, LoopMode, Mixer, Playable};
use phalanx::rig::Rig;
use phalanx::scene::{NodeId, OnRemove, SceneGraph};
use phalanx_testkit::chain::raw;
use phalanx_workload::hash01;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Limits on the population, so that memory has a bound.
const RIGS: usize = 4;
const INSTANCES: usize = 80;
const MIRRORS: usize = 24;
const CLIPS: usize = 4;
const SPACES: usize = 3;
const PROPS: usize = 30;
const SNAPSHOTS: usize = 3;

/// A rig of the crowd, and what was added to it.
struct Cast {
    id: RigId,
    rig: Arc<Rig>,
    instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    spaces: Vec<BlendSpaceId>,
}

/// Everything that a restore goes back to, as the test knows it.
struct Saved {
    crowd: CrowdSnapshot,
    instances: Vec<Vec<InstanceId>>,
}

pub struct Life {
    seed: u64,
    rigs: Vec<Arc<Rig>>,
    crowd: Crowd,
    cast: Vec<Cast>,
    scene: SceneGraph,
    props: Vec<NodeId>,
    saved: Vec<Saved>,
    buffer: BoneBuffer,
    mixer: Mixer,
    /// What was called and not refused, how often.
    done: BTreeMap<&'static str, u64>,
    refused: u64,
    /// Rows of instances that were looked at.
    rows: u64,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: u64 = self.done.values().sum();
        write!(f, "{calls} calls, {} refused, {} rows: {:?}", self.refused, self.rows, self.done)
    }
}

/// Rows that are copied one palette after another.
struct Rows<'a>(&'a mut [Affine3x4]);

impl PaletteMemory for Rows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows);
        (Self(now), Self(later))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        self.0[row..row + palette.len()].copy_from_slice(palette);
    }
}

impl Life {
    pub fn new() -> Self {
        let chain = Arc::new(build_rig(raw(), &Default::default()).unwrap());
        let mut short = raw();
        short.name = "short".into();
        short.clips.truncate(2);
        let short = Arc::new(build_rig(short, &Default::default()).unwrap());
        let mixer = Mixer::new(chain.clone()).unwrap();
        let mut life = Self {
            seed: 1,
            rigs: vec![Arc::new(mannequin().unwrap()), chain, short],
            crowd: Crowd::new(),
            cast: Vec::new(),
            scene: SceneGraph::new(),
            props: Vec::new(),
            saved: Vec::new(),
            buffer: BoneBuffer::new(),
            mixer,
            done: BTreeMap::new(),
            refused: 0,
            rows: 0,
        };
        // One stays for all cycles.
        life.add_rig(0);
        life
    }

    fn below(&mut self, n: usize) -> usize {
        self.seed += 1;
        ((hash01(self.seed) * n as f64) as usize).min(n.saturating_sub(1))
    }

    fn unit(&mut self) -> f32 {
        self.seed += 1;
        hash01(self.seed) as f32
    }

    fn pick<T: Copy>(&mut self, from: impl Fn(&Self) -> &Vec<T>) -> Option<T> {
        let n = from(self).len();
        let at = self.below(n);
        from(self).get(at).copied()
    }

    fn note<T, E>(&mut self, what: &'static str, result: Result<T, E>) -> Option<T> {
        match &result {
            Ok(_) => *self.done.entry(what).or_default() += 1,
            Err(_) => self.refused += 1,
        }
        result.ok()
    }

    fn add_rig(&mut self, which: usize) {
        let rig = self.rigs[which].clone();
        let mut layers = vec![LayerOptions::default()];
        if self.below(2) == 0 {
            let fill = Fill::Below;
            layers.push(LayerOptions { fill, ..LayerOptions::default() });
        }
        let added = self.crowd.add_rig_with_layers(rig.clone(), layers);
        if let Some(id) = self.note("add_rig", added) {
            self.cast.push(Cast {
                id,
                rig,
                instances: Vec::new(),
                clips: Vec::new(),
                spaces: Vec::new(),
            });
        }
    }

    fn remove_rig(&mut self, at: usize) {
        for i in std::mem::take(&mut self.cast[at].instances) {
            self.crowd.despawn(i).unwrap();
        }
        let gone = self.cast.remove(at);
        let removed = self.crowd.remove_rig(gone.id);
        assert!(self.note("remove_rig", removed).is_some());
    }

    /// A random call, or several, and sometimes a frame.
    pub fn step(&mut self) {
        for _ in 0..4 {
            let at = self.below(self.cast.len());
            match self.below(24) {
                0 if self.cast.len() < RIGS => {
                    let which = self.below(3);
                    self.add_rig(which);
                }
                1 if at > 0 && self.below(4) == 0 => self.remove_rig(at),
                2..6 if self.cast[at].instances.len() < INSTANCES => {
                    let spawned = self.crowd.spawn(self.cast[at].id);
                    let i = self.note("spawn", spawned).unwrap();
                    self.cast[at].instances.push(i);
                    self.play(at, i);
                }
                6 => self.despawn(at),
                7 | 8 => self.assets(at),
                9 => self.save(),
                10 if self.below(3) == 0 => self.restore(),
                11..14 => self.mirror(at),
                14 => self.prop(),
                15 => self.mix(),
                16 if self.below(100) == 0 => {
                    // The mirrors in it are gone with it.
                    self.scene = SceneGraph::new();
                    self.props.clear();
                }
                _ => {
                    if let Some(i) = self.pick(|l| &l.cast[at].instances) {
                        self.play(at, i);
                        self.set(at, i);
                    }
                }
            }
        }
        self.frame();
    }

    fn despawn(&mut self, at: usize) {
        let n = self.cast[at].instances.len();
        if n == 0 {
            return;
        }
        let which = self.below(n);
        let i = self.cast[at].instances.swap_remove(which);
        let hanging = self.hanging();
        if self.below(3) == 0 {
            let gone = self.crowd.unmirror(i, &mut self.scene, hanging);
            self.note("unmirror before despawn", gone);
        }
        let gone = self.crowd.despawn(i);
        assert!(self.note("despawn", gone).is_some());
    }

    fn hanging(&mut self) -> OnRemove {
        match self.below(3) {
            0 => OnRemove::Remove,
            1 => OnRemove::Reparent(None),
            // It may be removed already, or be attached to the removed mirror.
            _ => OnRemove::Reparent(self.pick(|l| &l.props)),
        }
    }

    /// Clips and blend spaces.
    fn assets(&mut self, at: usize) {
        let id = self.cast[at].id;
        match self.below(4) {
            0 if self.cast[at].clips.len() < CLIPS => {
                let clips = self.cast[at].rig.clips().len();
                let which = self.below(clips);
                let clip = self.cast[at].rig.clips()[which].clone();
                let added = self.crowd.add_clip(id, clip);
                let clip = self.note("add_clip", added).unwrap();
                // One that stayed over a restore has its handle again.
                if !self.cast[at].clips.contains(&clip) {
                    self.cast[at].clips.push(clip);
                }
                self.drop_stale(at);
                assert!(self.cast[at].clips.contains(&clip));
            }
            1 => {
                if let Some(clip) = self.pick(|l| &l.cast[at].clips) {
                    let unloaded = self.crowd.unload_clip(clip);
                    if self.note("unload_clip", unloaded).is_some() {
                        self.cast[at].clips.retain(|c| *c != clip);
                        self.drop_stale(at);
                    }
                }
            }
            2 if self.cast[at].spaces.len() < SPACES => {
                let points = [0.0, 0.4, 1.0].map(|x| (x, self.clip(at)));
                let added = self.crowd.add_blend_space(id, &points);
                let space = self.note("add_blend_space", added).unwrap();
                if !self.cast[at].spaces.contains(&space) {
                    self.cast[at].spaces.push(space);
                }
                self.drop_stale(at);
                assert!(self.cast[at].spaces.contains(&space));
            }
            _ => {
                if let Some(space) = self.pick(|l| &l.cast[at].spaces) {
                    let removed = self.crowd.remove_blend_space(space);
                    if self.note("remove_blend_space", removed).is_some() {
                        self.cast[at].spaces.retain(|s| *s != space);
                        self.drop_stale(at);
                    }
                }
            }
        }
    }

    /// A clip or blend space that takes or leaves the place of one that a restore has undone makes the handles of the
    /// latter stale.
    fn drop_stale(&mut self, at: usize) {
        let (crowd, cast) = (&self.crowd, &mut self.cast[at]);
        cast.clips.retain(|&c| crowd.clip(c).is_ok());
        cast.spaces.retain(|&s| crowd.blend_space(s).is_ok());
    }

    fn clip(&mut self, at: usize) -> ClipId {
        if let Some(clip) = self.pick(|l| &l.cast[at].clips)
            && self.below(2) == 0
        {
            return clip;
        }
        let clips = self.cast[at].rig.clips().len();
        let clip = self.below(clips);
        let full = self.cast[at].rig.clips()[clip].kind() == ClipKind::Full;
        let clip = if full { clip } else { 0 };
        self.crowd.clip_by_index(self.cast[at].id, clip).unwrap()
    }

    fn motion(&mut self, at: usize) -> Playable {
        match self.pick(|l| &l.cast[at].spaces) {
            Some(space) if self.below(3) == 0 => space.into(),
            _ => self.clip(at).into(),
        }
    }

    fn play(&mut self, at: usize, i: InstanceId) {
        let (motion, other, layer) = (self.motion(at), self.motion(at), self.below(2));
        let options = PlayOptions {
            time: f64::from(self.unit()),
            speed: self.unit() * 3.0 - 1.0,
            weight: self.unit(),
            loop_mode: [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong][self.below(3)],
            ..PlayOptions::default()
        };
        let seconds = self.unit() * 0.5;
        let warp = CrossFade { warp: true, ..seconds.into() };
        let which = self.below(5);
        let mut player = self.crowd.player(i).unwrap();
        let (what, result) = match which {
            0 => ("play", player.play(layer, motion, &options)),
            1 => ("fade_to", player.fade_to(layer, motion, seconds, &options)),
            2 => ("add", player.add(layer, motion, &options)),
            3 => {
                let result = player.cross_fade(layer, motion, other, warp, &options);
                ("cross_fade", result)
            }
            _ => ("stop_layer", player.stop_layer(layer, seconds)),
        };
        self.note(what, result);
    }

    fn set(&mut self, at: usize, i: InstanceId) {
        let joints = self.cast[at].rig.skeleton().len();
        let (joint, shown) = (self.below(joints), self.below(3) > 0);
        let mut local = Affine3x4::IDENTITY;
        local.rows[0][3] = self.unit();
        let (what, result) = match self.below(5) {
            0 => (
                "set_override",
                self.crowd.player(i).and_then(|mut p| p.set_override(joint, local)),
            ),
            1 => ("clear_overrides", self.crowd.player(i).map(|mut p| p.clear_overrides())),
            2 => ("set_visible", self.crowd.set_visible(i, shown)),
            3 => ("set_scheduled", self.crowd.set_scheduled(i, shown)),
            _ => ("set_world", self.crowd.set_world(i, local)),
        };
        assert!(self.note(what, result).is_some());
    }

    fn mirror(&mut self, at: usize) {
        let Some(i) = self.pick(|l| &l.cast[at].instances) else {
            return;
        };
        if self.below(4) == 0 {
            let hanging = self.hanging();
            let gone = self.crowd.unmirror(i, &mut self.scene, hanging);
            self.note("unmirror", gone);
            return;
        }
        if self.scene.node_count() > MIRRORS * (1 + self.rigs[0].skeleton().len()) {
            return;
        }
        let mirrored = self.crowd.mirror(i, &mut self.scene, None);
        let mirror = self.note("mirror", mirrored).unwrap();
        // A prop, or another skeleton, in its hand.
        let other = self.pick(|l| &l.cast[at].instances);
        let rider = other.and_then(|i| self.crowd.mirror_of(i, &self.scene));
        let node = match rider {
            Some(rider) if self.below(2) == 0 => Some(rider),
            _ => self.pick(|l| &l.props),
        };
        if let Some(node) = node {
            let hung = self.scene.attach(node, mirror, 5, Affine3x4::IDENTITY);
            self.note("attach", hung);
        }
    }

    fn prop(&mut self) {
        let scene = &self.scene;
        self.props.retain(|&p| scene.world(p).is_ok());
        if self.props.len() < PROPS {
            let added = self.scene.add(None, Affine3x4::IDENTITY);
            let prop = self.note("add", added).unwrap();
            self.props.push(prop);
        } else if let Some(prop) = self.pick(|l| &l.props) {
            let gone = self.scene.set_parent_in_place(prop, None);
            self.note("set_parent_in_place", gone);
        }
    }

    fn mix(&mut self) {
        let which = self.below(2);
        let rig = self.rigs[which].clone();
        if self.below(10) == 0 {
            self.mixer = Mixer::new(rig).unwrap();
        }
        let clips = self.mixer.rig().clips().len();
        let (clip, seconds) = (self.below(clips), self.unit());
        let clip = self.mixer.clip_by_index(clip).unwrap();
        let faded = self.mixer.player().fade_to(0, clip, seconds, &PlayOptions::default());
        self.note("fade_to of a mixer", faded);
        self.mixer.advance(0.1).unwrap();
        let palette = self.mixer.evaluate();
        assert!(palette.iter().all(Affine3x4::is_finite));
    }

    fn save(&mut self) {
        if self.saved.len() == SNAPSHOTS {
            self.saved.remove(0);
        }
        self.saved.push(Saved {
            crowd: self.crowd.snapshot(),
            instances: self.cast.iter().map(|c| c.instances.clone()).collect(),
        });
        *self.done.entry("snapshot").or_default() += 1;
    }

    fn restore(&mut self) {
        let n = self.saved.len();
        if n == 0 {
            return;
        }
        let which = self.below(n);
        let saved = self.saved.remove(which);
        // Refused where rigs, clips or blend spaces have gone since.
        let restored = self.crowd.restore(&saved.crowd);
        if self.note("restore", restored).is_some() {
            assert_eq!(self.cast.len(), saved.instances.len());
            for (cast, instances) in self.cast.iter_mut().zip(saved.instances) {
                cast.instances = instances;
            }
            (0..self.cast.len()).for_each(|at| self.drop_stale(at));
        }
    }

    fn frame(&mut self) {
        let dt = f64::from(self.unit()) * 0.2;
        self.crowd.advance(dt).unwrap();
        let shown = match self.below(3) {
            0 => {
                let layout =
                    RowLayout { align: [1, 16][self.below(2)], compact: true, holds: None };
                let mut schedule = self.crowd.schedule(&layout);
                let mut rows = vec![NOTHING; schedule.rows()];
                let mut fresh = vec![NOTHING; schedule.written_rows()];
                schedule.write(Rows(&mut fresh));
                schedule.scatter(|from, to| {
                    rows[to..to + from.len()].copy_from_slice(&fresh[from]);
                });
                look(&self.crowd, &self.cast, &rows)
            }
            _ => {
                self.crowd.evaluate(&mut self.buffer);
                let rows = self.buffer.rows();
                let shown = look(&self.crowd, &self.cast, rows);
                assert!(shown <= rows.len(), "two instances in the same rows");
                shown
            }
        };
        self.rows += shown as u64;
        let gone = match self.below(4) {
            0 => None,
            1 => Some(self.hanging()),
            _ => Some(OnRemove::Reparent(None)),
        };
        let mirrored = self.crowd.update_scene_with(&mut self.scene, gone).mirrored;
        if gone.is_some() {
            self.look_at_scene(mirrored);
        }
        let sum: usize = self.cast.iter().map(|c| c.instances.len()).sum();
        assert_eq!(self.crowd.instance_count(), sum);
    }

    /// The scene has the mirrors of those alive, and props.
    fn look_at_scene(&self, mirrored: usize) {
        let (mut mirrors, mut nodes) = (0, 0);
        for cast in &self.cast {
            for &i in &cast.instances {
                if let Some(mirror) = self.crowd.mirror_of(i, &self.scene) {
                    mirrors += 1;
                    nodes += 1 + cast.rig.skeleton().len();
                    let head = self.scene.joint(mirror, 5).unwrap();
                    assert!(self.scene.world(head).unwrap().is_finite());
                }
            }
        }
        let props = self.props.iter().filter(|&&p| self.scene.world(p).is_ok());
        assert_eq!(mirrors, mirrored);
        assert_eq!(self.scene.node_count(), nodes + props.count());
    }

    /// Back to where the first cycle began: one rig without instances, an empty scene.
    pub fn end(&mut self) {
        while self.cast.len() > 1 {
            self.remove_rig(1);
        }
        for i in std::mem::take(&mut self.cast[0].instances) {
            self.crowd.despawn(i).unwrap();
        }
        let first = &mut self.cast[0];
        for space in first.spaces.drain(..) {
            self.crowd.remove_blend_space(space).unwrap();
        }
        for clip in first.clips.drain(..) {
            self.crowd.unload_clip(clip).unwrap();
        }
        // A clip that comes and goes has the plans forgotten, whose number depends on what was played.
        let clip = self.cast[0].rig.clips()[0].clone();
        let clip = self.crowd.add_clip(self.cast[0].id, clip).unwrap();
        self.crowd.unload_clip(clip).unwrap();
        self.saved.clear();
        assert_eq!(self.crowd.update_scene(&mut self.scene).mirrored, 0);
        for prop in self.props.drain(..) {
            // Some went with what they hung on.
            let _ = self.scene.remove(prop, OnRemove::Remove);
        }
        assert_eq!(self.scene.node_count(), 0);
        self.mixer = Mixer::new(self.rigs[0].clone()).unwrap();
        assert!((self.crowd.instance_count() == 0));
    }

    pub fn assert_all_happened(&self) {
        for what in [
            "add_rig",
            "remove_rig",
            "add_clip",
            "unload_clip",
            "add_blend_space",
            "remove_blend_space",
            "cross_fade",
            "set_override",
            "mirror",
            "unmirror",
            "unmirror before despawn",
            "attach",
            "snapshot",
            "restore",
        ] {
            assert!(self.done.contains_key(what), "no {what} succeeded: {self}");
        }
    }
}

/// The content of rows that are not written.
const NOTHING: Affine3x4 = Affine3x4 { rows: [[f32::NAN; 4]; 3] };

/// Every instance that has rows has as many as its rig's palette, its own, and finite; how many in all.
fn look(crowd: &Crowd, cast: &[Cast], rows: &[Affine3x4]) -> usize {
    let mut taken = vec![false; rows.len()];
    for cast in cast {
        for range in cast.instances.iter().map(|&i| crowd.palette_range(i)) {
            let Some(range) = range else { continue };
            assert_eq!(range.len(), cast.rig.palette_len());
            for (row, taken) in rows[range.clone()].iter().zip(&mut taken[range]) {
                assert!(row.is_finite() && !*taken);
                *taken = true;
            }
        }
    }
    taken.iter().filter(|t| **t).count()
}
