//! The legend of tiers, in a corner of the picture: colours, statistics of the last frame, and the budget.

use super::super::crowd::tiers_file::{self, BudgetArg};
use super::super::text::{count, duration};
use super::tiers::{Color, ColorBy, MICROSECONDS, PALETTES, rate_color, tier_color};
use super::viewer::{Command, MOST, Viewer};
use egui::{Align2, Area, Color32, DragValue, FontId, Frame, Grid, Id, Rect, Sense, Ui, vec2};
use phalanx::crowd::{Tier, TierFrame};

const BACK: Color32 = Color32::from_rgba_premultiplied(16, 19, 24, 205);
const TEXT: Color32 = Color32::from_rgb(225, 228, 232);
const MARGIN: f32 = 8.0;
/// Side of a colour's square, in points.
const SQUARE: f32 = 11.0;

/// Longest time of a budget, in milliseconds.
const LONGEST: f64 = 100.0;

/// Shows the legend in the lower right corner of the picture while tiers are on.
pub fn show(ui: &Ui, picture: Rect, viewer: &Viewer, commands: &mut Vec<Command>) {
    let Some(by) = viewer.tiers.color_by else {
        return;
    };
    let Some((tiers, frame)) = viewer.crowd.tiers() else {
        return;
    };
    let area = Area::new(Id::unique("tiers"))
        .fixed_pos(picture.right_bottom() - vec2(MARGIN, MARGIN))
        .pivot(Align2::RIGHT_BOTTOM)
        .constrain_to(picture)
        .fade_in(false);
    area.show(ui.ctx(), |ui| {
        let back = Frame::new().fill(BACK).corner_radius(4.0);
        back.inner_margin(MARGIN).show(ui, |ui| {
            ui.style_mut().override_font_id = Some(FontId::proportional(12.0));
            ui.visuals_mut().override_text_color = Some(TEXT);
            ui.spacing_mut().item_spacing = vec2(8.0, 3.0);
            ui.horizontal(|ui| {
                ui.strong("Tiers, coloured by");
                for choice in ColorBy::ALL {
                    if ui.selectable_label(choice == by, choice.name()).clicked() {
                        commands.push(Command::Tiers(Some(choice)));
                    }
                }
                if ui.button("Off").clicked() {
                    commands.push(Command::Tiers(None));
                }
            });
            let legend = by.legend(tiers);
            if !legend.is_empty() {
                ui.horizontal(|ui| {
                    for (color, text) in legend {
                        square(ui, color);
                        ui.label(text);
                    }
                });
            }
            table(ui, by, &tiers.tiers, frame);
            ui.label(format!(
                "{} shared palettes, {} of them evaluated; {} out of the picture",
                count(frame.shared_palettes as u64),
                count(frame.shared_evaluated as u64),
                count(frame.out as u64),
            ));
            budget(ui, viewer, frame, commands);
        });
    });
}

fn square(ui: &mut Ui, [r, g, b]: Color) {
    let (rect, _) = ui.allocate_exact_size(vec2(SQUARE, SQUARE), Sense::hover());
    let color = Color32::from_rgb(r, g, b);
    ui.painter().rect_filled(rect, 2.0, color);
}

fn table(ui: &mut Ui, by: ColorBy, tiers: &[Tier], frame: &TierFrame) {
    let grid = Grid::new("tiers").spacing(vec2(10.0, 2.0));
    grid.min_col_width(SQUARE).min_row_height(14.0).show(ui, |ui| {
        for text in [
            "",
            "tier",
            "from pixels",
            "rate",
            "sharing",
            "characters",
            "evaluated",
            "shared",
            "held",
            "oldest",
        ] {
            ui.weak(text);
        }
        ui.end_row();
        for (number, (tier, now)) in tiers.iter().zip(&frame.tiers).enumerate() {
            match by {
                ColorBy::Tier => square(ui, tier_color(number)),
                ColorBy::Rate => square(ui, rate_color(tier.rate)),
                ColorBy::Sharing => {
                    ui.label("");
                }
            }
            ui.label(number.to_string());
            ui.label(tier.height.to_string());
            ui.label(tiers_file::rate(tier.rate, tier.interpolate));
            ui.label(tiers_file::sharing(tier.shared_error));
            for value in [now.instances, now.evaluated, now.shared, now.held] {
                ui.label(count(value as u64));
            }
            ui.label(now.oldest.to_string());
            ui.end_row();
        }
    });
}

/// The budget and its use in the last frame.
fn budget(ui: &mut Ui, viewer: &Viewer, frame: &TierFrame, commands: &mut Vec<Command>) {
    let budget = viewer.tiers.budget();
    ui.horizontal(|ui| {
        ui.strong("Budget");
        let choices = [
            ("none", None),
            ("palettes", Some(BudgetArg::Palettes(PALETTES))),
            ("time", Some(BudgetArg::Microseconds(MICROSECONDS))),
        ];
        for (name, choice) in choices {
            let chosen = budget.map(|b| std::mem::discriminant(&b))
                == choice.as_ref().map(std::mem::discriminant);
            if ui.selectable_label(chosen, name).clicked() && !chosen {
                commands.push(Command::Budget(choice));
            }
        }
        match budget {
            None => {}
            Some(BudgetArg::Palettes(mut palettes)) => {
                let value = DragValue::new(&mut palettes)
                    .range(0..=2 * MOST)
                    .clamp_existing_to_range(false)
                    .speed(10.0);
                if ui.add(value).changed() {
                    commands.push(Command::Budget(Some(BudgetArg::Palettes(palettes))));
                }
            }
            Some(BudgetArg::Microseconds(microseconds)) => {
                let mut milliseconds = microseconds / 1e3;
                let value = DragValue::new(&mut milliseconds).range(0.01..=LONGEST);
                // A budget that was given is shown as it is.
                let value = value.clamp_existing_to_range(false);
                let value = value.speed(0.02).suffix(" ms").fixed_decimals(2);
                if ui.add(value).changed() {
                    let time = BudgetArg::Microseconds(milliseconds * 1e3);
                    commands.push(Command::Budget(Some(time)));
                }
                let taken = viewer.tiers.taken().as_nanos() as f64;
                ui.label(format!("took {}", duration(taken)));
            }
        }
    });
    ui.label(state(viewer.tiers.palettes(), frame));
}

/// Text for the use that a frame made of its budget.
fn state(budget: Option<usize>, frame: &TierFrame) -> String {
    let number = |n: usize| count(n as u64);
    let own: usize = frame.tiers.iter().map(|t| t.evaluated).sum();
    let waiting: usize = frame.tiers.iter().map(|t| t.waiting).sum();
    let oldest = frame.tiers.iter().map(|t| t.oldest).max().unwrap_or(0);
    let evaluated = number(own + frame.shared_evaluated);
    let of = budget.map_or(String::new(), |n| format!(" of {}", number(n)));
    format!(
        "{evaluated}{of} evaluated, {} waiting, {} beyond the budget, oldest {oldest} frames",
        number(waiting),
        number(frame.beyond_budget),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::crowd::TierStats;

    #[test]
    fn the_budget_is_told_with_what_it_did() {
        let tier = TierStats { evaluated: 1000, waiting: 4, oldest: 7, ..TierStats::default() };
        let other = TierStats { oldest: 3, waiting: 5, ..TierStats::default() };
        let frame = TierFrame {
            tiers: vec![tier, other],
            shared_evaluated: 20,
            beyond_budget: 2,
            ..TierFrame::default()
        };
        assert_eq!(
            state(Some(1018), &frame),
            "1,020 of 1,018 evaluated, 9 waiting, 2 beyond the budget, oldest 7 frames"
        );
        assert!(state(None, &frame).starts_with("1,020 evaluated, 9 waiting"));
    }
}
