//! [`Pad`]: clips at the points of a plane, and the square in which a value is dragged.

use super::viewer::{Command, Viewer};
use super::viewer_crowd::Playing;
use egui::{Color32, Sense, Stroke, Ui, pos2, vec2};
use phalanx::clip::ClipKind;
use phalanx::crowd::{BlendSpace, BlendSpaceId, Crowd, CrowdError, RigId};
use phalanx::rig::Rig;

/// Seconds in which characters follow the pad.
const FOLLOWS: f32 = 0.25;

/// The most clips on a pad.
const MOST: usize = 9;

/// Side of the square, in points.
const SIDE: f32 = 150.0;

/// Share of the square's half that values up to 1 take: beyond that, the nearest value counts.
const WITHIN: f32 = 0.8;

/// A blend space of some clips of a rig.
#[derive(Clone, Debug)]
pub struct Pad {
    pub space: BlendSpaceId,
    /// Values, and the clips by their index in the rig.
    pub points: Vec<([f32; 2], usize)>,
    /// The value.
    pub at: [f32; 2],
}

/// The clips of a pad: the first that last any time, at most nine; none if they are fewer than three.
pub fn clips(rig: &Rig) -> Vec<usize> {
    let all = rig.clips().iter().enumerate();
    let full = all.filter(|(_, c)| c.kind() == ClipKind::Full && c.duration() > 0.0);
    let some: Vec<usize> = full.map(|(i, _)| i).take(MOST).collect();
    if some.len() < 3 { Vec::new() } else { some }
}

impl Pad {
    /// The first clip lies in the middle and the others around it, from the top to the right; three form a triangle.
    pub fn new(crowd: &mut Crowd, rig: RigId, clips: &[usize]) -> Result<Self, CrowdError> {
        let middle = usize::from(clips.len() > 3);
        let around = (clips.len() - middle) as f32;
        let (mut points, mut ids) = (Vec::new(), Vec::new());
        for (i, &clip) in clips.iter().enumerate() {
            let at = match i.checked_sub(middle) {
                Some(i) => (i as f32 / around * std::f32::consts::TAU).sin_cos().into(),
                None => [0.0; 2],
            };
            points.push((at, clip));
            ids.extend(crowd.clip_by_index(rig, clip).map(|id| (at, id)));
        }
        let space = BlendSpace::plane(&ids).following(FOLLOWS);
        let space = crowd.add_blend_space(rig, space)?;
        Ok(Self { space, points, at: [0.0; 2] })
    }
}

/// Shows the square while the characters play the clips of a pad; dragging sets the value.
pub fn show(ui: &mut Ui, viewer: &Viewer, commands: &mut Vec<Command>) {
    let Some(pad) = viewer.crowd.pad().filter(|_| viewer.crowd.playing() == Playing::Pad) else {
        return;
    };
    let square = ui.allocate_response(vec2(SIDE, SIDE), Sense::click_and_drag());
    let (center, scale) = (square.rect.center(), 0.5 * SIDE * WITHIN);
    let place = |[x, y]: [f32; 2]| pos2(center.x + x * scale, center.y - y * scale);
    let painter = ui.painter_at(square.rect);
    let visuals = ui.visuals();
    painter.rect_filled(square.rect, 4.0, visuals.extreme_bg_color);
    let hint = |clip: usize| viewer.list.name(Playing::Clip(clip)).to_owned();
    let near = |at: egui::Pos2| {
        let of = |p: &&([f32; 2], usize)| place(p.0).distance(at);
        pad.points.iter().min_by(|a, b| of(a).total_cmp(&of(b)))
    };
    for &(at, _) in &pad.points {
        painter.circle_filled(place(at), 3.0, visuals.text_color());
    }
    painter.circle_stroke(place(pad.at), 6.0, Stroke::new(2.0, Color32::LIGHT_BLUE));
    if let Some(at) = square.interact_pointer_pos() {
        let to = [(at.x - center.x) / scale, (center.y - at.y) / scale];
        commands.push(Command::Pad(to.map(|v| v.clamp(-1.0 / WITHIN, 1.0 / WITHIN))));
    }
    if let Some(&(_, clip)) = square.hover_pos().and_then(near) {
        square.on_hover_text(hint(clip));
    }
}
