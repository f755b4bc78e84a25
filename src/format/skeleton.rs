//! Section SKEL: joints, rest pose, lane order, scalars and user channels.

use super::error::{Fault, ReadError};
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::Bytes;
use crate::skeleton::{ChannelValue, Joint, NO_JOINT, Scalar, Skeleton, UserChannel};

/// Bytes per joint: parent, joint of a lane, name, rest pose.
const JOINT: usize = 2 + 2 + 4 + 40;

pub(super) fn write(skeleton: &Skeleton, names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    let channels: Vec<&UserChannel> = skeleton.channels().collect();
    let numbers: usize = channels.iter().map(|c| c.rest.width()).sum();
    // The components of user channels follow the other scalars; they are written with the channels.
    let scalars = &skeleton.scalars()[..skeleton.scalars().len() - numbers];
    out.count(skeleton.len());
    out.count(scalars.len());
    out.count(channels.len());
    out.one(0u32);
    out.one(skeleton.structure_hash());
    out.one(skeleton.layout_hash());
    out.many(skeleton.parents());
    out.many(&skeleton.joint_of()[..skeleton.len()]);
    for name in skeleton.names() {
        out.one(names.add(Some(name)));
    }
    for joint in 0..skeleton.len() {
        out.many(&skeleton.rest(joint).to_array());
    }
    for s in scalars {
        out.one(names.add(Some(&s.name)));
        out.one(s.rest);
    }
    for c in channels {
        let mut rest = [0.0f32; 4];
        rest[..c.rest.width()].copy_from_slice(c.rest.as_slice());
        out.one(names.add(Some(&c.name)));
        out.one(kind(&c.rest));
        out.many(&rest);
    }
    out.0
}

fn kind(value: &ChannelValue) -> u32 {
    match value {
        ChannelValue::Float(_) => 0,
        ChannelValue::Vec2(_) => 1,
        ChannelValue::Vec3(_) => 2,
        ChannelValue::Vec4(_) => 3,
        ChannelValue::Quaternion(_) => 4,
    }
}

pub(super) fn read(mut r: SectionReader<'_>, names: &Names) -> Result<Skeleton, ReadError> {
    let joints = r.count("the number of joints", JOINT)?;
    let scalars = r.count("the number of scalars", 8)?;
    let channels = r.count("the number of user channels", 24)?;
    let zero: u32 = r.one("the reserved field")?;
    if zero != 0 {
        return Err(r.limit("the reserved field", zero, 0u32));
    }
    let structure: u64 = r.one("the structure's hash")?;
    let layout: u64 = r.one("the layout's hash")?;
    let parents: Vec<u16> = r.many(joints, "parents")?;
    let order: Vec<u16> = r.many(joints, "lane order")?;
    let joint_names: Vec<u32> = r.many(joints, "names of joints")?;
    let named = joint_names.into_iter();
    let named = named.map(|n| Ok(r.name(names, n)?.unwrap_or_default()));
    let named: Vec<String> = named.collect::<Result<_, ReadError>>()?;
    let rest: Vec<[f32; 10]> = r.floats(joints, "rest pose")?;
    // The charge covers the rows of the rest pose and the list of joints that the skeleton is made from.
    r.charge(joints.saturating_mul(128).saturating_add(4096))?;
    let mut list = Vec::with_capacity(joints);
    for ((&parent, name), rest) in parents.iter().zip(named).zip(rest) {
        list.push(Joint {
            name,
            parent: (parent != NO_JOINT).then_some(usize::from(parent)),
            rest: rest.into(),
        });
    }
    let mut plain = Vec::with_capacity(scalars);
    for _ in 0..scalars {
        let name = r.named(names, "the name of a scalar")?.unwrap_or_default();
        let rest: f32 = r.one("the rest value of a scalar")?;
        plain.push(Scalar { name, rest });
    }
    let mut user = Vec::with_capacity(channels);
    for _ in 0..channels {
        let name = r.named(names, "the name of a channel")?.unwrap_or_default();
        let kind: u32 = r.one("the type of a channel")?;
        r.index("the type of a channel", kind, 5)?;
        let v: [f32; 4] = r.one("the rest value of a channel")?;
        // Each component becomes a named scalar.
        r.charge(4 * (name.len() + 64))?;
        let rest = match kind {
            0 => ChannelValue::Float(v[0]),
            1 => ChannelValue::Vec2([v[0], v[1]]),
            2 => ChannelValue::Vec3([v[0], v[1], v[2]]),
            3 => ChannelValue::Vec4(v),
            _ => ChannelValue::Quaternion(v),
        };
        let unused = v[rest.width()..].iter().find(|v| v.to_bits() != 0);
        if let Some(unused) = unused {
            let what = "an unused component of a channel";
            return Err(r.limit(what, unused.to_bits(), 0u32));
        }
        user.push(UserChannel { name, rest });
    }
    let made = Skeleton::new(&list, Some(&order), plain).and_then(|s| s.with_channels(user));
    let skeleton = made.map_err(|e| r.whole(e))?;
    let pairs = [
        ("structure", structure, skeleton.structure_hash()),
        ("lane order", layout, skeleton.layout_hash()),
    ];
    for (what, stated, found) in pairs {
        if stated != found {
            return Err(r.whole(Fault::hash(what, stated, found)));
        }
    }
    r.finish()?;
    Ok(skeleton)
}
