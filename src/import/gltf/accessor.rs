//! Accessors as checked arrays of numbers: every type, strides, sparse values, missing buffer views.

use super::buffers::{Buffers, at};
use super::error::{self, Fault, ImportFault as Kind, Within, invalid};
use super::limits::MAX_ZERO_ELEMENTS;
use ::gltf::json;
use json::accessor::{ComponentType, Type};
use json::validation::Checked;

/// The type of an accessor, as declared.
#[derive(Clone, Copy)]
pub(super) struct Info {
    pub shape: Type,
    pub component: ComponentType,
    pub normalized: bool,
    pub count: usize,
}

/// How integers are converted to floats.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Integers {
    /// Integers become fractions if the accessor's `normalized` is true, else whole numbers.
    AsDeclared,
    /// Integers always become fractions: glTF allows nothing else in weights, colours and rotations.
    Fractions,
}

fn component_name(component: ComponentType) -> &'static str {
    match component {
        ComponentType::I8 => "BYTE",
        ComponentType::U8 => "UNSIGNED_BYTE",
        ComponentType::I16 => "SHORT",
        ComponentType::U16 => "UNSIGNED_SHORT",
        ComponentType::U32 => "UNSIGNED_INT",
        ComponentType::F32 => "FLOAT",
    }
}

impl Info {
    /// The fault of a type that is not the expected one: `is VEC3 of UNSIGNED_BYTE, expected VEC4`.
    pub fn refused(&self, expected: &str) -> Kind {
        // glTF writes the names of the types in capitals.
        let shape = format!("{:?}", self.shape).to_uppercase();
        let component = component_name(self.component);
        invalid(format!("is {shape} of {component}, expected {expected}"))
    }

    /// The number of components of an element.
    pub fn components(&self) -> usize {
        self.shape.multiplicity()
    }

    /// Whether the numbers are floats.
    pub fn is_float(&self) -> bool {
        self.component == ComponentType::F32
    }

    /// The largest integer of the type, which stands for 1.0 in fractions; `None` for floats.
    fn unit(&self) -> Option<f64> {
        match self.component {
            ComponentType::I8 => Some(127.0),
            ComponentType::U8 => Some(255.0),
            ComponentType::I16 => Some(32_767.0),
            ComponentType::U16 => Some(65_535.0),
            ComponentType::U32 => Some(4_294_967_295.0),
            ComponentType::F32 => None,
        }
    }
}

/// Calls `sink(index, number)` for every component of `count` elements.
fn for_each_component(
    (bytes, stride): (&[u8], usize),
    count: usize,
    components: usize,
    component: ComponentType,
    mut sink: impl FnMut(usize, f64),
) {
    let size = component.size();
    let mut each = |read: &dyn Fn(&[u8]) -> f64| {
        for (element, bytes) in bytes.chunks(stride.max(1)).take(count).enumerate() {
            for (c, bytes) in bytes.chunks_exact(size).take(components).enumerate() {
                sink(element * components + c, read(bytes));
            }
        }
    };
    match component {
        ComponentType::I8 => each(&|b| f64::from(b[0] as i8)),
        ComponentType::U8 => each(&|b| f64::from(b[0])),
        ComponentType::I16 => each(&|b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
        ComponentType::U16 => each(&|b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
        ComponentType::U32 => each(&|b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        ComponentType::F32 => each(&|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
    }
}

impl Buffers<'_> {
    /// The declared type of accessor `index`, without reading its data.
    pub fn info(&self, index: usize) -> Result<Info, Fault> {
        let accessor = at(&self.accessors, index, "accessor")?;
        let place = || format!("accessor {index}");
        let (Checked::Valid(shape), Checked::Valid(component)) =
            (accessor.type_, accessor.component_type)
        else {
            let fault = "type or componentType has a value that glTF does not define";
            return Err(invalid(fault)).within(place);
        };
        let count = usize::try_from(accessor.count.0).map_err(|_| Kind::Limit {
            what: "elements of an accessor",
            needed: accessor.count.0,
            limit: usize::MAX as u64,
        });
        Ok(Info {
            shape,
            component: component.0,
            normalized: accessor.normalized,
            count: count.within(place)?,
        })
    }

    /// Like `info`, but rejects types not in `shapes`.
    pub fn info_of(
        &self,
        index: usize,
        shapes: &[Type],
        expected: &'static str,
    ) -> Result<Info, Fault> {
        let info = self.info(index)?;
        if !shapes.contains(&info.shape) {
            return Err(info.refused(expected)).within(|| format!("accessor {index}"));
        }
        Ok(info)
    }

    /// All numbers of accessor `index`, each passed through `convert`.
    ///
    /// Checks the range and charges the memory before it allocates.
    pub fn numbers<T: Copy + Default>(
        &mut self,
        index: usize,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Fault> {
        let info = self.info(index)?;
        (self.read(index, info, convert)).within(|| format!("accessor {index}"))
    }

    fn read<T: Copy + Default>(
        &mut self,
        index: usize,
        info: Info,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Fault> {
        let Info { component, count, .. } = info;
        let (shape, size) = (info.components(), component.size());
        let accessor = at(&self.accessors, index, "accessor")?;
        let offset = accessor.byte_offset.map_or(0, |o| o.0);
        let view = accessor.buffer_view.map(|v| v.value());
        let sparse = accessor.sparse.clone();
        let element = (shape * size) as u64;
        match view {
            Some(view) => {
                self.prepare_view(view)?;
                self.elements(view, offset, count as u64, element, false)?;
            }
            None if count as u64 > MAX_ZERO_ELEMENTS => {
                return Err(Kind::Limit {
                    what: "elements of an accessor without a buffer view",
                    needed: count as u64,
                    limit: MAX_ZERO_ELEMENTS,
                }
                .into());
            }
            None => {}
        }
        let total = count.saturating_mul(shape);
        self.memory.charge_for::<T>(total)?;
        let mut out = vec![T::default(); total];
        if let Some(view) = view {
            let source = self.elements(view, offset, count as u64, element, false)?;
            for_each_component(source, count, shape, component, |i, v| out[i] = convert(v));
        }
        if let Some(sparse) = sparse {
            self.apply_sparse(&sparse, info, &mut out, convert).within(|| "sparse".to_owned())?;
        }
        Ok(out)
    }

    fn apply_sparse<T: Copy>(
        &mut self,
        sparse: &json::accessor::sparse::Sparse,
        info: Info,
        out: &mut [T],
        convert: impl Fn(f64) -> T,
    ) -> Result<(), Fault> {
        let (shape, size) = (info.components(), info.component.size());
        let (given, count) = (sparse.count.0, info.count as u64);
        if given > count {
            return Err(error::count("sparse elements, at most", count, given).into());
        }
        let Checked::Valid(kind) = sparse.indices.component_type else {
            let fault = "componentType of the sparse indices has a value that glTF does not define";
            return Err(invalid(fault).into());
        };
        let (index_view, value_view) =
            (sparse.indices.buffer_view.value(), sparse.values.buffer_view.value());
        self.prepare_view(index_view)?;
        self.prepare_view(value_view)?;
        let index_size = kind.0.size() as u64;
        let offset = sparse.indices.byte_offset.0;
        let indices = self.elements(index_view, offset, given, index_size, true)?;
        let offset = sparse.values.byte_offset.0;
        let element = (shape * size) as u64;
        let values = self.elements(value_view, offset, given, element, true)?;
        let given = given as usize;
        // All indices are checked first: a bad one must not leave a half-written array.
        let mut bad = None;
        for_each_component(indices, given, 1, kind.0, |_, index| {
            if index >= info.count as f64 {
                bad.get_or_insert(index);
            }
        });
        if let Some(index) = bad {
            return Err(error::index("element", index as usize, info.count).into());
        }
        for_each_component(indices, given, 1, kind.0, |i, index| {
            let source = values.0.get(i * shape * size..).unwrap_or(&[]);
            let at = index as usize * shape;
            for_each_component((source, shape * size), 1, shape, info.component, |c, v| {
                out[at + c] = convert(v);
            });
        });
        Ok(())
    }

    /// All numbers of accessor `index` as floats; integers as fractions if `integers` or the
    /// accessor requires it.
    pub fn floats(&mut self, index: usize, integers: Integers) -> Result<Vec<f32>, Fault> {
        let info = self.info(index)?;
        match info.unit() {
            Some(unit) if info.normalized || integers == Integers::Fractions => {
                self.numbers(index, |v| (v / unit).max(-1.0) as f32)
            }
            _ => self.numbers(index, |v| v as f32),
        }
    }

    /// Like `floats`, as rows of `N`.
    pub fn rows<const N: usize>(
        &mut self,
        index: usize,
        integers: Integers,
    ) -> Result<Vec<[f32; N]>, Fault> {
        let info = self.info(index)?;
        if info.components() != N {
            return Err(info.refused("another number of components"))
                .within(|| format!("accessor {index}"));
        }
        let flat = self.floats(index, integers)?;
        // The cast reuses the allocation; it copies if the capacity is not a multiple of the row.
        Ok(bytemuck::allocation::try_cast_vec(flat)
            .unwrap_or_else(|(_, flat)| bytemuck::cast_slice(&flat).to_vec()))
    }
}
