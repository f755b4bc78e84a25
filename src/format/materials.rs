//! Section MATL: all materials.

use super::error::FormatError;
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use crate::mesh::Material;

pub(super) fn write(materials: &[Material], names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.count(materials.len());
    for m in materials {
        out.one(names.add(m.name.as_deref()));
        out.many(&m.base_color);
        out.index(m.base_color_image);
        out.one(u32::from(m.double_sided));
    }
    out.0
}

pub(super) fn read(mut r: SectionReader<'_>, names: &Names) -> Result<Vec<Material>, FormatError> {
    let count = r.count("the number of materials", 28)?;
    let mut out = Vec::new();
    for _ in 0..count {
        r.charge(size_of::<Material>())?;
        let name = r.one("the name of a material")?;
        let name = r.name(names, name)?;
        let base_color: Vec<[f32; 4]> = r.floats(1, "base colour")?;
        let [image, flags]: [u32; 2] = r.one("the image of a material")?;
        if flags > 1 {
            return Err(r.zero("a material's flags above the first", flags.into()));
        }
        out.push(Material {
            name,
            base_color: base_color.first().copied().unwrap_or([1.0; 4]),
            base_color_image: (image != u32::MAX).then_some(image as usize),
            double_sided: flags == 1,
        });
    }
    r.finish()?;
    Ok(out)
}
