//! Skeletons over the picture, and the name of the joint at the pointer.

use super::screen_joints::ScreenJoints;
use super::viewer::Viewer;
use egui::{Align2, Color32, FontId, Response, Ui, vec2};
use glam::Vec2;

/// Colour of joints and the lines between them, unlike any model or ground.
const JOINT: Color32 = Color32::from_rgb(255, 0, 220);
const NAME: Color32 = Color32::from_rgb(225, 228, 232);
const BACK: Color32 = Color32::from_rgba_premultiplied(16, 19, 24, 205);

/// Distance from the pointer at which a joint is named, in points.
const REACH: f32 = 10.0;

/// Paints skeletons, whose places are in pixels of the picture.
pub fn show(ui: &Ui, picture: &Response, viewer: &Viewer, shown: &ScreenJoints) {
    let pixels = ui.ctx().pixels_per_point();
    let place = |p: Vec2| picture.rect.min + vec2(p.x, p.y) / pixels;
    let painter = ui.painter_at(picture.rect);
    for joint in &shown.joints {
        if let Some(line) = joint.line {
            painter.line_segment(line.map(place), (1.5, JOINT));
        }
        if let Some(at) = joint.at {
            painter.circle_filled(place(at), 2.0, JOINT);
        }
    }
    let font = FontId::proportional(13.0);
    if let Some(limit) = shown.limit() {
        let at = picture.rect.left_bottom() + vec2(10.0, -10.0);
        let text = painter.layout_no_wrap(limit, font.clone(), NAME);
        let room = Align2::LEFT_BOTTOM.anchor_size(at, text.size());
        painter.rect_filled(room.expand(4.0), 3.0, BACK);
        painter.galley(room.min, text, NAME);
    }
    let pointer = picture.hover_pos().map(|p| (p - picture.rect.min) * pixels);
    let nearest = pointer.and_then(|p| shown.nearest(Vec2::new(p.x, p.y), REACH * pixels));
    let named = nearest.and_then(|(joint, at)| Some((viewer.joints.get(joint)?, place(at))));
    if let Some((name, at)) = named {
        painter.circle_stroke(at, 4.5, (1.5, NAME));
        let text = painter.layout_no_wrap(name.clone(), font, NAME);
        // Above the joint, within the picture.
        let room = Align2::CENTER_BOTTOM.anchor_size(at - vec2(0.0, 10.0), text.size());
        let inside = picture.rect.shrink(6.0);
        let low = vec2(inside.left() - room.left(), inside.top() - room.top()).max(vec2(0.0, 0.0));
        let room = room.translate(low);
        let over = vec2(inside.right() - room.right(), 0.0).min(vec2(0.0, 0.0));
        let room = room.translate(over);
        painter.rect_filled(room.expand(4.0), 3.0, BACK);
        painter.galley(room.min, text, NAME);
    }
}
