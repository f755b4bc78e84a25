//! Conversion of a scene from Y-up, as in glTF, to Z-up: one rotation of all its data.

use super::{RawChannel, RawScene, RawTrack};
use crate::mesh::Mesh;
use glam::{Quat, Vec3};

/// The axis that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UpAxis {
    /// glTF's axes: right-handed, +Y up, characters face +Z.
    #[default]
    Y,
    /// Right-handed, +Z up, characters face -Y: (x, y, z) becomes (x, -z, y).
    Z,
}

fn turn([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x, -z, y]
}

/// Scale factors are permuted with the axes; their signs do not change.
fn turn_scale([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x, z, y]
}

/// `C M C⁻¹` of a column-major matrix: rows and columns are swapped and signed in the same way.
fn turn_matrix(m: &[f32; 16]) -> [f32; 16] {
    // Row i of C takes element FROM[i] with sign SIGN[i].
    const FROM: [usize; 4] = [0, 2, 1, 3];
    const SIGN: [f32; 4] = [1.0, -1.0, 1.0, 1.0];
    std::array::from_fn(|i| {
        let (column, row) = (i / 4, i % 4);
        SIGN[row] * SIGN[column] * m[FROM[column] * 4 + FROM[row]]
    })
}

impl RawScene {
    /// Rotates a scene with +Y up so that `up` is its up axis; `UpAxis::Y` leaves it unchanged.
    ///
    /// Nodes, matrices, tracks with their tangents, inverse binds, vertices and morph targets rotate
    /// together, so evaluation and conversion commute. Exact: only signs and positions change.
    pub fn convert_up_axis(&mut self, up: UpAxis) {
        if up == UpAxis::Y {
            return;
        }
        for node in &mut self.nodes {
            let local = &mut node.local;
            local.translation = Vec3::from_array(turn(local.translation.to_array()));
            local.scale = Vec3::from_array(turn_scale(local.scale.to_array()));
            let q = local.rotation;
            local.rotation = Quat::from_xyzw(q.x, -q.z, q.y, q.w);
            node.matrix = node.matrix.as_ref().map(turn_matrix);
        }
        for matrix in self.skins.iter_mut().flat_map(|s| &mut s.inverse_bind) {
            *matrix = turn_matrix(matrix);
        }
        let turn = |v: &mut Vec3| *v = Vec3::from_array(turn(v.to_array()));
        self.springs.vectors().for_each(turn);
        for track in self.clips.iter_mut().flat_map(|c| &mut c.tracks) {
            turn_track(track);
        }
        for mesh in &mut self.meshes {
            turn_mesh(mesh);
        }
    }
}

fn turn_track(track: &mut RawTrack) {
    // Tangents of cubic splines are differences of values and rotate like them.
    match track.channel {
        RawChannel::Translation => {
            for v in track.values.as_chunks_mut::<3>().0 {
                *v = turn(*v);
            }
        }
        RawChannel::Scale => {
            for v in track.values.as_chunks_mut::<3>().0 {
                *v = turn_scale(*v);
            }
        }
        RawChannel::Rotation => {
            for [x, y, z, w] in track.values.as_chunks_mut::<4>().0 {
                [*x, *y, *z, *w] = [*x, -*z, *y, *w];
            }
        }
        RawChannel::Weights => {}
    }
}

fn turn_mesh(mesh: &mut Mesh) {
    for primitive in &mut mesh.primitives {
        let targets = primitive.targets.iter_mut().flat_map(|t| {
            let streams = [&mut t.positions, &mut t.normals, &mut t.tangents];
            streams.into_iter().flatten()
        });
        let vertices = primitive.positions.iter_mut().chain(&mut primitive.normals);
        for v in vertices.chain(targets) {
            *v = turn(*v);
        }
        for tangent in &mut primitive.tangents {
            let [x, y, z, w] = *tangent;
            *tangent = [x, -z, y, w];
        }
    }
}
