//! Meshes: vertex streams, triangle lists and morph targets.

use super::accessor::Integers;
use super::buffers::Buffers;
use super::error::{self, Fault, ImportFault as Kind, Within, count, invalid, label};
use super::influences::influences;
use super::limits::Notes;
use super::nodes::{finite, fit};
use super::unread::Streams;
use crate::mesh::{Material, Mesh, MorphTarget, Primitive};
use crate::words::{are, plural, were};
use ::gltf::json;
use json::accessor::{ComponentType, Type};
use json::mesh::{Mode, Semantic};
use json::validation::Checked;

/// Difference of a normal's length from 1 beyond which it is normalised: coarse quantisation, careless exporters.
const NORMAL_LENGTH: f32 = 1e-3;

/// Reads the meshes, each once. `slots[m]` is the number of joints of the smallest skin that a
/// node uses together with mesh `m`.
pub(super) fn meshes(
    list: Vec<json::Mesh>,
    slots: &[Option<usize>],
    materials: &[Material],
    streams: &mut Streams,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<Mesh>, Fault> {
    let mut out = Vec::with_capacity(list.len());
    for (index, mesh) in list.into_iter().enumerate() {
        let place = label("mesh", index, mesh.name.as_deref());
        let slots = slots.get(index).copied().flatten();
        let mesh = mesh_of(mesh, slots, materials, &place, streams, buffers, notes);
        out.push(mesh.within(|| place)?);
    }
    Ok(out)
}

fn mesh_of(
    mesh: json::Mesh,
    slots: Option<usize>,
    materials: &[Material],
    place: &str,
    streams: &mut Streams,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Mesh, Fault> {
    buffers.memory.charge_for::<Primitive>(mesh.primitives.len())?;
    let mut primitives = Vec::with_capacity(mesh.primitives.len());
    for (index, primitive) in mesh.primitives.iter().enumerate() {
        let mut reader = PrimitiveReader {
            primitive,
            slots,
            materials,
            place: format!("{place}, primitive {index}"),
            streams: &mut *streams,
            buffers: &mut *buffers,
            notes: &mut *notes,
        };
        primitives.push(reader.read().within(|| format!("primitive {index}"))?);
    }
    let targets = primitives.iter().map(|p| p.targets.len()).max().unwrap_or(0);
    if primitives.iter().any(|p| p.targets.len() != targets) {
        let message = format!("not every primitive has all {targets} morph targets");
        notes.note(place, message);
    }
    let weights = match mesh.weights {
        Some(weights) => {
            finite("weight", &weights)?;
            fit(weights, targets, place, notes)
        }
        None => vec![0.0; targets],
    };
    Ok(Mesh { name: mesh.name, primitives, weights })
}

struct PrimitiveReader<'r, 's> {
    primitive: &'r json::mesh::Primitive,
    slots: Option<usize>,
    materials: &'r [Material],
    place: String,
    streams: &'r mut Streams,
    buffers: &'r mut Buffers<'s>,
    notes: &'r mut Notes,
}

impl PrimitiveReader<'_, '_> {
    fn attribute(&self, semantic: Semantic) -> Option<usize> {
        let attributes = &self.primitive.attributes;
        let accessor = attributes.get(&Checked::Valid(semantic))?;
        Some(accessor.value())
    }

    fn read(&mut self) -> Result<Primitive, Fault> {
        let material = self.primitive.material.map(|m| m.value());
        if let Some(index) = material.filter(|&m| m >= self.materials.len()) {
            return Err(error::index("material", index, self.materials.len()).into());
        }
        let Some(positions) = self.attribute(Semantic::Positions) else {
            self.notes.note(&*self.place, "has no positions, so it has no vertices");
            let targets = self.primitive.targets.iter().flatten();
            return Ok(Primitive {
                material,
                targets: targets.map(|_| MorphTarget::default()).collect(),
                ..Primitive::default()
            });
        };
        let positions = self.rows("POSITION", positions, Integers::AsDeclared, None)?;
        let vertices = positions.len();
        let mut normals = self.stream("NORMAL", Semantic::Normals, vertices)?;
        normalise(&mut normals);
        let tangents = self.stream("TANGENT", Semantic::Tangents, vertices)?;
        let lacks = [0, 1].map(|set| self.attribute(Semantic::TexCoords(set)).is_none());
        self.streams.textures(material, self.materials, lacks, &self.place);
        let uvs = self.stream("TEXCOORD_0", Semantic::TexCoords(0), vertices)?;
        let uvs1 = match self.uses_second_set(material) {
            true => self.stream("TEXCOORD_1", Semantic::TexCoords(1), vertices)?,
            false => {
                self.streams.second_sets += usize::from(!lacks[1]);
                Vec::new()
            }
        };
        let colors = self.colors(vertices)?;
        let indices = self.triangles(vertices)?;
        let influences = influences(
            &self.primitive.attributes,
            vertices,
            self.slots,
            &self.place,
            self.buffers,
            self.notes,
        )?;
        let targets = self.targets(vertices)?;
        Ok(Primitive {
            positions,
            normals,
            tangents,
            uvs,
            uvs1,
            colors,
            indices,
            influences,
            targets,
            material,
        })
    }

    /// Whether a texture of the material reads the second texture coordinate set.
    fn uses_second_set(&self, material: Option<usize>) -> bool {
        let material = material.and_then(|m| self.materials.get(m));
        material.is_some_and(|m| m.textures().any(|(_, t)| t.tex_coord == 1))
    }

    /// A vertex stream; empty if the primitive lacks it.
    fn stream<const N: usize>(
        &mut self,
        name: &'static str,
        semantic: Semantic,
        vertices: usize,
    ) -> Result<Vec<[f32; N]>, Fault> {
        match self.attribute(semantic) {
            Some(accessor) => self.rows(name, accessor, Integers::AsDeclared, Some(vertices)),
            None => Ok(Vec::new()),
        }
    }

    /// Vectors of `N` numbers; NaN and infinities are set to 0.
    fn rows<const N: usize>(
        &mut self,
        name: &'static str,
        accessor: usize,
        integers: Integers,
        vertices: Option<usize>,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let (shape, expected) = match N {
            2 => (Type::Vec2, "VEC2"),
            3 => (Type::Vec3, "VEC3"),
            _ => (Type::Vec4, "VEC4"),
        };
        let info = self.buffers.info_of(accessor, &[shape], expected).within(|| name.to_owned())?;
        if let Some(expected) = vertices.filter(|&n| n != info.count) {
            return Err(count("vertices", expected as u64, info.count as u64))
                .within(|| format!("{name}, accessor {accessor}"));
        }
        let mut rows = self.buffers.rows::<N>(accessor, integers).within(|| name.to_owned())?;
        let mut mended = 0usize;
        for value in rows.as_flattened_mut() {
            if !value.is_finite() {
                *value = 0.0;
                mended += 1;
            }
        }
        if mended > 0 {
            let (numbers, were) = (plural(mended as u64, "number"), were(mended as u64));
            let message = format!("{numbers} of {name} {were} not finite and {were} set to 0");
            self.notes.repaired(&*self.place, message);
        }
        Ok(rows)
    }

    fn colors(&mut self, vertices: usize) -> Result<Vec<[f32; 4]>, Fault> {
        let Some(accessor) = self.attribute(Semantic::Colors(0)) else { return Ok(Vec::new()) };
        let (name, expected) = ("COLOR_0", "VEC3 or VEC4");
        let shapes = [Type::Vec3, Type::Vec4];
        let info =
            (self.buffers.info_of(accessor, &shapes, expected)).within(|| name.to_owned())?;
        let (integers, vertices) = (Integers::Fractions, Some(vertices));
        if info.shape == Type::Vec4 {
            return self.rows(name, accessor, integers, vertices);
        }
        let rgb: Vec<[f32; 3]> = self.rows(name, accessor, integers, vertices)?;
        self.buffers.memory.charge_for::<[f32; 4]>(rgb.len())?;
        let rgba = rgb.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
        self.buffers.memory.release((rgb.len() * 12) as u64);
        Ok(rgba)
    }

    fn targets(&mut self, vertices: usize) -> Result<Vec<MorphTarget>, Fault> {
        let mut out = Vec::new();
        for (index, target) in self.primitive.targets.iter().flatten().enumerate() {
            let mut stream = |name, accessor: Option<json::Index<json::Accessor>>| match accessor {
                Some(accessor) => {
                    self.rows(name, accessor.value(), Integers::AsDeclared, Some(vertices))
                }
                None => Ok(Vec::new()),
            };
            let mut read = || -> Result<MorphTarget, Fault> {
                Ok(MorphTarget {
                    positions: stream("POSITION", target.positions)?,
                    normals: stream("NORMAL", target.normals)?,
                    tangents: stream("TANGENT", target.tangents)?,
                })
            };
            out.push(read().within(|| format!("target {index}"))?);
        }
        Ok(out)
    }

    /// The triangle list; empty for points and lines.
    fn triangles(&mut self, vertices: usize) -> Result<Vec<u32>, Fault> {
        let Checked::Valid(mode) = self.primitive.mode else {
            let fault = "mode of the primitive has a value that glTF does not define";
            return Err(invalid(fault).into());
        };
        let indices = match self.primitive.indices.map(|i| i.value()) {
            Some(accessor) => self.indices(accessor, vertices).within(|| "indices".to_owned())?,
            None => {
                let count = u32::try_from(vertices).map_err(|_| Kind::Limit {
                    what: "vertices of a primitive",
                    needed: vertices as u64,
                    limit: u64::from(u32::MAX),
                })?;
                self.buffers.memory.charge_for::<u32>(vertices)?;
                (0..count).collect()
            }
        };
        match mode {
            Mode::Triangles => Ok(self.whole_triangles(indices)),
            Mode::TriangleStrip | Mode::TriangleFan => {
                let triangles = indices.len().saturating_sub(2);
                self.buffers.memory.charge_for::<[u32; 3]>(triangles)?;
                Ok(unroll(&indices, mode))
            }
            Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip => {
                let shapes = if mode == Mode::Points { "points" } else { "lines" };
                let message = format!("{shapes} are not drawn; the vertices are kept");
                self.notes.note(&*self.place, message);
                Ok(Vec::new())
            }
        }
    }

    fn whole_triangles(&mut self, mut indices: Vec<u32>) -> Vec<u32> {
        let rest = indices.len() % 3;
        if rest != 0 {
            let rest = plural(rest as u64, "index");
            let message = format!("{rest} after the last complete triangle");
            self.notes.dropped(&*self.place, message);
            indices.truncate(indices.len() - indices.len() % 3);
        }
        indices
    }

    fn indices(&mut self, accessor: usize, vertices: usize) -> Result<Vec<u32>, Fault> {
        let expected = "SCALAR of UNSIGNED_BYTE, UNSIGNED_SHORT or UNSIGNED_INT";
        let info = self.buffers.info_of(accessor, &[Type::Scalar], expected)?;
        let integers = [ComponentType::U8, ComponentType::U16, ComponentType::U32];
        if !integers.contains(&info.component) {
            return Err(info.refused(expected)).within(|| format!("accessor {accessor}"));
        }
        let indices = self.buffers.numbers(accessor, |v| v as u32)?;
        match indices.iter().position(|&i| i as usize >= vertices) {
            Some(position) => {
                let (index, have) = (indices[position], plural(vertices as u64, "vertex"));
                let there = are(vertices as u64);
                Err(invalid(format!("index {position} is {index}, there {there} {have}")))
                    .within(|| format!("accessor {accessor}"))
            }
            None => Ok(indices),
        }
    }
}

/// Strips and fans as lists, in the vertex order of the specification (section 3.7.2.1).
fn unroll(indices: &[u32], mode: Mode) -> Vec<u32> {
    let mut list = Vec::with_capacity(indices.len().saturating_sub(2) * 3);
    for (i, window) in indices.windows(3).enumerate() {
        let triangle = match mode {
            Mode::TriangleFan => [window[1], window[2], indices[0]],
            _ if i % 2 == 0 => [window[0], window[1], window[2]],
            _ => [window[0], window[2], window[1]],
        };
        list.extend(triangle);
    }
    list
}

fn normalise(normals: &mut [[f32; 3]]) {
    for n in normals {
        let length = n.iter().map(|v| v * v).sum::<f32>().sqrt();
        if (length - 1.0).abs() > NORMAL_LENGTH && length > 0.0 && length.is_finite() {
            *n = n.map(|v| v / length);
        }
    }
}
