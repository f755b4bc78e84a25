//! The difference between a bound clip and its original, measured on the clip that was built, at key times and between
//! them.

use super::binding::Binding;
use super::sampled::MAX_WORK;
use super::tracks::{Locals, Maker, on_rest, shown};
use crate::clip::{Channel, Clip, ClipKind, LaneCurve};
use crate::math::angle;
use crate::raw::{RawChannel, RawTrack};
use crate::retarget::motion::{Local, unit};
use crate::skeleton::Skeleton;
use glam::{DAffine3, DQuat, DVec3};
use std::iter::once;

/// Fractions of an interval between keys at which curves are compared: at a key, near a quarter and past the middle, since
/// curves that ease in and out meet their chord halfway.
const PROBES: [f64; 3] = [0.0, 0.27, 0.64];

/// The largest differences of rotations (radians), translations (metres) and scales of the joints that have tracks. If
/// clips need more than [`MAX_WORK`] local transforms, only evenly spread intervals are compared.
pub fn error(
    binding: &Binding,
    locals: &Locals<'_>,
    tracks: &[RawTrack],
    built: &Clip,
) -> [f64; 3] {
    let channels = [
        (RawChannel::Rotation, Channel::Rotation),
        (RawChannel::Translation, Channel::Translation),
        (RawChannel::Scale, Channel::Scale),
    ];
    let mut has = vec![[false; 3]; binding.target().len()];
    for track in tracks {
        let at = channels.iter().position(|c| c.0 == track.channel);
        if let (Some(of), Some(at)) = (has.get_mut(track.node), at) {
            of[at] = true;
        }
    }
    let lanes = binding.routes().iter().flat_map(|(route, way)| {
        let joint = usize::from(route.target);
        let own = (0..3).filter(|at| has[joint][*at]);
        let own = own.filter_map(move |at| Some((at, shown(built, channels[at].1, joint)?)));
        own.map(move |(at, curve)| (route, *way, at, curve)).collect::<Vec<_>>()
    });
    let lanes: Vec<_> = lanes.collect();
    let work = lanes.iter().map(|(route, _, _, curve)| {
        let times = curve.times.len().saturating_mul(PROBES.len());
        times.saturating_mul(route.steps.len().max(1))
    });
    let work = work.fold(0usize, usize::saturating_add);
    let stride = work.div_ceil(MAX_WORK).max(1);
    let mut worst = [0.0f64; 3];
    for (route, way, at, curve) in &lanes {
        let maker = Maker::new(binding, locals, route);
        let mut near = 0;
        for time in times(curve, stride) {
            let [x, y, z, w] = curve.value(time, &mut near);
            let three = DVec3::new(x, y, z);
            let apart = match at {
                0 => {
                    let is = unit(DQuat::from_xyzw(x, y, z, w));
                    angle(&is.to_array(), &maker.rotation_at(time).to_array())
                }
                1 => match maker.translation_at(*way, time) {
                    Some(place) => three.distance(place) * maker.unit(),
                    None => continue,
                },
                _ => match maker.scale_at(time) {
                    Some(scale) => (three - scale).abs().max_element(),
                    None => continue,
                },
            };
            worst[*at] = worst[*at].max(apart);
        }
    }
    worst
}

/// The times at which a curve is compared: in one of every `stride` intervals, and at its last key.
fn times(curve: &LaneCurve<'_>, stride: usize) -> impl Iterator<Item = f32> {
    probes(curve.times, stride)
}

fn probes(times: &[f32], stride: usize) -> impl Iterator<Item = f32> {
    let pairs = times.windows(2).step_by(stride);
    let inside = pairs.flat_map(|pair| {
        let (a, b) = (f64::from(pair[0]), f64::from(pair[1]));
        PROBES.map(|part| (a + (b - a) * part) as f32)
    });
    inside.chain(times.last().copied())
}

/// Points on axes shorter than this in the rest pose are not scaled to metres: joints of scale 0 are hidden.
const LEAST_LENGTH: f64 = 1e-9;

/// See [`Binding::measure`].
pub fn distance(
    binding: &Binding,
    locals: &Locals<'_>,
    (from, to): (&Clip, &Clip),
    shell: f64,
) -> f64 {
    let target = binding.target();
    let mut times: Vec<f32> = once(0.0).chain(key_times(from)).chain(key_times(to)).collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    let steps = binding.routes().iter().map(|(route, _)| route.steps.len());
    let per_time = steps.sum::<usize>().saturating_add(2 * target.len());
    let work = times.len().saturating_mul(PROBES.len() * per_time.max(1));
    let stride = work.div_ceil(MAX_WORK).max(1);
    let rests: Vec<Local> = (0..target.len()).map(|j| target.rest(j).into()).collect();
    let makers = binding.routes().iter();
    let makers: Vec<_> = makers
        .map(|(route, way)| (Maker::new(binding, locals, route), *way, route.target))
        .collect();
    let mut curves: Vec<[Option<(LaneCurve<'_>, usize)>; 3]> = (0..target.len())
        .map(|joint| {
            let channels = [Channel::Translation, Channel::Rotation, Channel::Scale];
            channels.map(|channel| Some((shown(to, channel, joint)?, 0)))
        })
        .collect();
    // The distance of a shell is in metres, whatever the scale of the joint is.
    let shells = models(target, &rests).into_iter().map(|rest| {
        let matrix = rest.matrix3;
        let length = |axis: DVec3| match axis.length() {
            length if length > LEAST_LENGTH => shell / length,
            _ => shell,
        };
        DVec3::new(length(matrix.x_axis), length(matrix.y_axis), length(matrix.z_axis))
    });
    let shells: Vec<DVec3> = shells.collect();
    let (mut expected, mut shows) = (rests.clone(), rests.clone());
    let mut worst = 0.0f64;
    for time in probes(&times, stride) {
        for (maker, way, joint) in &makers {
            expected[usize::from(*joint)] = maker.local(*way, time);
        }
        let additive = to.kind() == ClipKind::Additive;
        for ((own, of), rest) in shows.iter_mut().zip(&mut curves).zip(&rests) {
            let [t, r, s] = of.each_mut().map(|curve| {
                let (curve, near) = curve.as_mut()?;
                Some(curve.value(time, near))
            });
            let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
            let rotation = r.map(|q| unit(DQuat::from_array(q)));
            *own = on_rest(*rest, additive, [t.map(three), s.map(three)], rotation);
        }
        let pairs = models(target, &expected).into_iter().zip(models(target, &shows));
        for ((a, b), shell) in pairs.zip(&shells) {
            let axes = [DVec3::X * shell.x, DVec3::Y * shell.y, DVec3::Z * shell.z, DVec3::ZERO];
            let apart = axes.map(|p| a.transform_point3(p).distance(b.transform_point3(p)));
            worst = apart.into_iter().fold(worst, f64::max);
        }
    }
    worst
}

fn key_times(clip: &Clip) -> impl Iterator<Item = f32> {
    let timelines = clip.timelines().iter();
    timelines.flat_map(|timeline| clip.times(timeline).iter().copied())
}

/// The transforms of all joints in model space.
fn models(skeleton: &Skeleton, locals: &[Local]) -> Vec<DAffine3> {
    let mut all: Vec<DAffine3> = Vec::with_capacity(locals.len());
    for (local, &parent) in locals.iter().zip(skeleton.parents()) {
        let above = all.get(usize::from(parent)).copied();
        all.push(above.unwrap_or(DAffine3::IDENTITY) * local.to_affine());
    }
    all
}
