//! Section MESH: one mesh, with its primitives as plain arrays.

use super::error::{Fault, ReadError};
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::{Bytes, bit};
use crate::mesh::{Influences, Mesh, MorphTarget, Primitive};

/// Bits of the optional streams that a primitive or a morph target has.
const NORMALS: u32 = 1;
const TANGENTS: u32 = 2;
const UVS: u32 = 4;
const COLORS: u32 = 8;
const POSITIONS: u32 = 16;
const UVS1: u32 = 32;

pub(super) fn write(mesh: &Mesh, names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.one(names.add(mesh.name.as_deref()));
    out.count(mesh.primitives.len());
    out.count(mesh.weights.len());
    out.many(&mesh.weights);
    for p in &mesh.primitives {
        out.count(p.positions.len());
        out.one(
            bit(!p.normals.is_empty(), NORMALS)
                | bit(!p.tangents.is_empty(), TANGENTS)
                | bit(!p.uvs.is_empty(), UVS)
                | bit(!p.colors.is_empty(), COLORS)
                | bit(!p.uvs1.is_empty(), UVS1),
        );
        out.count(p.indices.len());
        out.count(if p.influences.is_empty() { 0 } else { p.influences.per_vertex });
        out.count(p.targets.len());
        out.index(p.material);
        out.many(&p.positions);
        out.many(&p.normals);
        out.many(&p.tangents);
        out.many(&p.uvs);
        out.many(&p.colors);
        out.many(&p.uvs1);
        out.many(&p.indices);
        out.many(&p.influences.joints);
        out.pad(4);
        out.many(&p.influences.weights);
        for t in &p.targets {
            out.one(
                bit(!t.positions.is_empty(), POSITIONS)
                    | bit(!t.normals.is_empty(), NORMALS)
                    | bit(!t.tangents.is_empty(), TANGENTS),
            );
            out.many(&t.positions);
            out.many(&t.normals);
            out.many(&t.tangents);
        }
    }
    out.0
}

pub(super) fn read(mut r: SectionReader<'_>, names: &Names) -> Result<Mesh, ReadError> {
    let mut mesh = Mesh { name: r.named(names, "the name of a mesh")?, ..Mesh::default() };
    let primitives = r.count("the number of primitives", 24)?;
    let weights = r.count("the number of morph weights", 4)?;
    mesh.weights = r.floats(weights, "morph weights")?;
    for _ in 0..primitives {
        r.charge(size_of::<Primitive>())?;
        mesh.primitives.push(primitive(&mut r)?);
    }
    r.finish()?;
    Ok(mesh)
}

fn primitive(r: &mut SectionReader<'_>) -> Result<Primitive, ReadError> {
    let vertices = r.count("the number of vertices", 12)?;
    let streams = streams_of(r, NORMALS | TANGENTS | UVS | COLORS | UVS1)?;
    let indices = r.count("the number of indices", 4)?;
    if !indices.is_multiple_of(3) {
        let (what, found) = ("the number of indices, a multiple of 3,", indices as u64);
        return Err(r.limit(what, found, found / 3 * 3));
    }
    let per_vertex = r.count("the number of influences per vertex", 6)?;
    let targets = r.count("the number of morph targets", 4)?;
    let material: u32 = r.one("the material")?;
    let of = |streams: u32, bit: u32| if streams & bit != 0 { vertices } else { 0 };
    let positions = r.floats(vertices, "positions")?;
    let normals = r.floats(of(streams, NORMALS), "normals")?;
    let tangents = r.floats(of(streams, TANGENTS), "tangents")?;
    let uvs = r.floats(of(streams, UVS), "texture coordinates")?;
    let colors = r.floats(of(streams, COLORS), "colours")?;
    let uvs1 = r.floats(of(streams, UVS1), "second texture coordinates")?;
    let indices = r.many(indices, "indices")?;
    let influences = vertices.saturating_mul(per_vertex);
    let joints = r.many(influences, "slots of vertices")?;
    r.pad(4)?;
    let weights: Vec<f32> = r.floats(influences, "weights of vertices")?;
    if let Some(index) = weights.iter().position(|w| *w < 0.0) {
        let what = "weights of vertices, 0 or more";
        return Err(r.fault(Fault::NotFinite { what, index }));
    }
    let mut list = Vec::new();
    for _ in 0..targets {
        r.charge(size_of::<MorphTarget>())?;
        let streams = streams_of(r, POSITIONS | NORMALS | TANGENTS)?;
        list.push(MorphTarget {
            positions: r.floats(of(streams, POSITIONS), "positions of a target")?,
            normals: r.floats(of(streams, NORMALS), "normals of a target")?,
            tangents: r.floats(of(streams, TANGENTS), "tangents of a target")?,
        });
    }
    Ok(Primitive {
        positions,
        normals,
        tangents,
        uvs,
        uvs1,
        colors,
        indices,
        influences: Influences { per_vertex, joints, weights },
        targets: list,
        material: (material != u32::MAX).then_some(material as usize),
    })
}

fn streams_of(r: &mut SectionReader<'_>, known: u32) -> Result<u32, ReadError> {
    let streams = r.one("the bit set of streams")?;
    r.bits("the bit set of streams", streams, known)
}
