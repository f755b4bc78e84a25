//! Scenes: the default one, and the nodes outside it, which are not drawn.

use super::buffers::at;
use super::document::Scene;
use super::error::{Fault, Within, label};
use super::limits::Notes;
use super::summary::animated_or_joint;
use crate::raw::{RawClip, RawNode, RawSkin, below};
use crate::words::{are, plural};
use std::collections::HashSet;

/// The scenes of a file, and the nodes that the default one shows.
pub(super) struct Scenes {
    /// Root nodes of every scene.
    pub roots: Vec<Vec<usize>>,
    /// The file's default scene, or its first.
    pub default: Option<usize>,
    names: Vec<Option<String>>,
    /// One entry per node: true if the default scene shows it. Without scenes, every node is shown.
    shown: Vec<bool>,
    /// One entry per node: true if it lost its mesh because it is not shown.
    undrawn: Vec<bool>,
}

impl Scenes {
    /// Reads the scenes. Nodes that the default scene does not show lose their meshes, skins and weights; they
    /// stay nodes, as skins and clips may need them.
    pub fn read(
        list: Vec<Scene>,
        default: Option<usize>,
        nodes: &mut [RawNode],
        notes: &mut Notes,
    ) -> Result<Self, Fault> {
        if let Some(scene) = default {
            at(&list, scene, "default scene")?;
        }
        let default = default.or(if list.is_empty() { None } else { Some(0) });
        let mut roots = Vec::with_capacity(list.len());
        let mut names = Vec::with_capacity(list.len());
        for (index, scene) in list.into_iter().enumerate() {
            roots.push(roots_of(index, scene.nodes, nodes, notes)?);
            names.push(scene.name);
        }
        let shown = match default.and_then(|scene| roots.get(scene)) {
            Some(roots) => below(nodes, roots),
            None => vec![true; nodes.len()],
        };
        let mut undrawn = vec![false; nodes.len()];
        for (index, node) in nodes.iter_mut().enumerate().filter(|&(n, _)| !shown[n]) {
            undrawn[index] = node.mesh.is_some();
            (node.mesh, node.skin) = (None, None);
            node.weights = Vec::new();
        }
        Ok(Self { roots, default, names, shown, undrawn })
    }

    /// Whether a node lost its mesh, because the default scene does not show it.
    pub fn is_undrawn(&self, node: usize) -> bool {
        self.undrawn.get(node).copied().unwrap_or(false)
    }

    /// Reports the nodes that the default scene does not show: by scene, then the nodes of no scene. Joints, which are
    /// kept, are reported only if something else of their scene is not used.
    pub fn report(
        &self,
        nodes: &[RawNode],
        skins: &[RawSkin],
        clips: &[RawClip],
        notes: &mut Notes,
    ) {
        let Some(default) = self.default.filter(|_| self.shown.contains(&false)) else { return };
        let kept = animated_or_joint(nodes, skins, clips);
        let of = label("scene", default, self.name(default));
        let mut listed = self.shown.clone();
        // The work is bounded to one walk per distinct scene: scenes that share all nodes are not walked twice.
        let mut known: HashSet<&[usize]> = HashSet::new();
        for (scene, roots) in self.roots.iter().enumerate() {
            if scene == default || !known.insert(roots) || known.len() > MOST_SCENES {
                continue;
            }
            let here = below(nodes, roots);
            let place = label("scene", scene, self.name(scene));
            let hidden = |n: &usize| here[*n] && !self.shown[*n];
            self.report_one((place, &of), (0..nodes.len()).filter(hidden), &kept, notes);
            for (listed, here) in listed.iter_mut().zip(here) {
                *listed |= here;
            }
        }
        let rest = (0..nodes.len()).filter(|&n| !listed[n]);
        let place = match self.roots.len() > MOST_SCENES {
            true => "nodes of further scenes, or of none",
            false => "nodes of no scene",
        };
        self.report_one((place.to_owned(), &of), rest, &kept, notes);
    }

    fn name(&self, scene: usize) -> Option<&str> {
        self.names.get(scene)?.as_deref()
    }

    fn report_one(
        &self,
        (place, default): (String, &str),
        hidden: impl Iterator<Item = usize>,
        kept: &[bool],
        notes: &mut Notes,
    ) {
        let (mut all, mut meshes, mut joints) = (0usize, 0usize, 0usize);
        for node in hidden {
            all += 1;
            meshes += usize::from(self.undrawn[node]);
            joints += usize::from(kept[node]);
        }
        if all == joints && meshes == 0 {
            return;
        }
        let count = |n: usize, what: &str| plural(n as u64, what);
        let joints = match joints {
            0 => String::new(),
            n => format!("; {} that skins or clips need {} kept", count(n, "joint"), are(n as u64)),
        };
        let all = format!("{} outside the default {default}", count(all, "node"));
        if meshes == 0 {
            notes.note(place, format!("{all}, without meshes{joints}"));
            return;
        }
        let what = format!("{} {}", count(meshes, "mesh"), are(meshes as u64));
        notes.dropped(place, format!("{all}: {what} not drawn{joints}"));
    }
}

/// Limit on the scenes that the report names one by one; few files have more than three.
const MOST_SCENES: usize = 16;

fn roots_of(
    index: usize,
    list: Vec<usize>,
    nodes: &[RawNode],
    notes: &mut Notes,
) -> Result<Vec<usize>, Fault> {
    let place = || format!("scene {index}");
    let mut seen = HashSet::new();
    let mut roots = Vec::with_capacity(list.len());
    for root in list {
        let node = at(nodes, root, "node").within(place)?;
        if !seen.insert(root) {
            notes.repaired(place(), format!("node {root} is listed twice"));
            continue;
        }
        if let Some(parent) = node.parent {
            notes.note(place(), format!("node {root} is not a root but a child of {parent}"));
        }
        roots.push(root);
    }
    Ok(roots)
}
