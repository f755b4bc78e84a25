//! The difference between a bound clip and its original, measured on the clip that was built, at key times and between
//! them.

use super::binding::Binding;
use super::locals::{Locals, on_rest, shown};
use super::tracks::{MAX_WORK, Maker};
use crate::clip::{Channel, Clip, ClipKind, LaneCurve};
use crate::math::angle;
use crate::raw::RawTrack;
use crate::retarget::motion::CHANNELS;
use crate::retarget::pose::{Local, models, rest, three, unit};
use glam::{DQuat, DVec3};

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
    let mut has = vec![[false; 4]; binding.target.len()];
    for track in tracks {
        if let Some(of) = has.get_mut(track.node) {
            of[track.channel.to_channel() as usize] = true;
        }
    }
    let mut lanes = Vec::new();
    for (route, way) in &binding.routes {
        let joint = usize::from(route.target);
        for channel in CHANNELS.into_iter().filter(|&c| has[joint][c as usize]) {
            lanes.extend(shown(built, channel, joint).map(|curve| (route, *way, channel, curve)));
        }
    }
    let work = lanes.iter().map(|(route, _, _, curve)| {
        let times = curve.times.len().saturating_mul(PROBES.len());
        times.saturating_mul(route.steps.len().max(1))
    });
    let work = work.fold(0usize, usize::saturating_add);
    let stride = work.div_ceil(MAX_WORK).max(1);
    let mut worst = [0.0f64; 3];
    for (route, way, channel, curve) in &lanes {
        let maker = Maker { binding, locals, route };
        let mut near = 0;
        for time in probes(curve.times, stride) {
            let value = curve.value(time, &mut near);
            let (at, apart) = match channel {
                Channel::Rotation => {
                    let is = unit(DQuat::from_array(value));
                    (0, Some(angle(&is.to_array(), &maker.rotation_at(time).to_array())))
                }
                Channel::Translation => {
                    let place = maker.translation_at(*way, time);
                    (1, place.map(|place| three(value).distance(place) * maker.unit()))
                }
                _ => {
                    let scale = maker.scale_at(time);
                    (2, scale.map(|scale| (three(value) - scale).abs().max_element()))
                }
            };
            worst[at] = worst[at].max(apart.unwrap_or(0.0));
        }
    }
    worst
}

/// The times at which keys are compared: in one of every `stride` intervals, and at the last key.
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
    let target = &binding.target;
    let keys = from.timelines().chain(to.timelines()).flatten().copied();
    let mut times: Vec<f32> = keys.chain([0.0]).collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    let steps = binding.routes.iter().map(|(route, _)| route.steps.len());
    let per_time = steps.sum::<usize>().saturating_add(2 * target.len());
    let work = times.len().saturating_mul(PROBES.len() * per_time.max(1));
    let stride = work.div_ceil(MAX_WORK).max(1);
    let rests: Vec<Local> = rest(target);
    let curves = |joint: usize| CHANNELS.map(|channel| Some((shown(to, channel, joint)?, 0)));
    let mut curves: Vec<[Option<(LaneCurve<'_>, usize)>; 3]> =
        (0..target.len()).map(curves).collect();
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
        for (route, way) in &binding.routes {
            let maker = Maker { binding, locals, route };
            expected[usize::from(route.target)] = maker.local(*way, time);
        }
        let additive = to.kind() == ClipKind::Additive;
        for ((own, of), rest) in shows.iter_mut().zip(&mut curves).zip(&rests) {
            let [t, r, s] = of.each_mut().map(|curve| {
                let (curve, near) = curve.as_mut()?;
                Some(curve.value(time, near))
            });
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
