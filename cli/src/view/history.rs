//! [`History`]: times of the last frames, stage by stage.

use std::collections::VecDeque;
use std::time::Duration;

/// Number of frames in the graph: four seconds at 60 per second.
pub const FRAMES: usize = 240;

/// Time of a frame by stage, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameTime {
    /// Advancing time and culling.
    pub advance: f32,
    /// Evaluating poses into the bone buffer.
    pub evaluate: f32,
    /// Recording commands for the device, uploads included.
    pub draw: f32,
    /// Panels and overlays.
    pub interface: f32,
    /// The rest of the frame: waiting for the device or the screen.
    pub wait: f32,
    /// Time from frame to frame.
    pub total: f32,
}

impl FrameTime {
    /// The stages with their names, in the order of a frame.
    pub fn stages(&self) -> [(&'static str, f32); 5] {
        [
            ("advance, cull", self.advance),
            ("evaluate", self.evaluate),
            ("draw", self.draw),
            ("interface", self.interface),
            ("waiting for the device", self.wait),
        ]
    }

    /// Ends the frame; time that no other stage took counts as waiting.
    pub fn end(mut self, total: f32) -> Self {
        let worked = self.advance + self.evaluate + self.draw + self.interface;
        self.wait = (total - worked).max(0.0);
        self.total = total;
        self
    }
}

/// A duration in milliseconds.
pub fn milliseconds(time: Duration) -> f32 {
    time.as_secs_f32() * 1e3
}

/// The last [`FRAMES`] frames.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<FrameTime>);

impl History {
    /// Adds a frame; drops the oldest if there are too many.
    pub fn add(&mut self, frame: FrameTime) {
        if self.0.len() == FRAMES {
            self.0.pop_front();
        }
        self.0.push_back(frame);
    }

    /// The frames, oldest first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &FrameTime> {
        self.0.iter()
    }

    /// Mean of every stage over the last second.
    pub fn mean(&self) -> FrameTime {
        let mut sum = FrameTime::default();
        let mut frames = 0.0f32;
        for f in self.0.iter().rev() {
            sum.advance += f.advance;
            sum.evaluate += f.evaluate;
            sum.draw += f.draw;
            sum.interface += f.interface;
            sum.wait += f.wait;
            sum.total += f.total;
            frames += 1.0;
            if sum.total > 1e3 {
                break;
            }
        }
        let n = frames.max(1.0);
        FrameTime {
            advance: sum.advance / n,
            evaluate: sum.evaluate / n,
            draw: sum.draw / n,
            interface: sum.interface / n,
            wait: sum.wait / n,
            total: sum.total / n,
        }
    }

    /// Time at the graph's full height, in milliseconds: a round number above nearly all frames.
    pub fn scale(&self) -> f32 {
        let mut totals: Vec<f32> = self.0.iter().map(|f| f.total).collect();
        totals.sort_by(f32::total_cmp);
        let high = totals.get(totals.len() * 19 / 20).copied().unwrap_or(0.0);
        let steps = [8.4, 16.7, 33.4, 66.7, 133.4, 266.7];
        steps.into_iter().find(|&s| s >= high).unwrap_or(1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_stage_took_was_waiting() {
        let frame = FrameTime {
            advance: 1.0,
            evaluate: 2.0,
            draw: 3.0,
            interface: 4.0,
            ..FrameTime::default()
        };
        let slow = frame.end(849.0);
        assert_eq!((slow.wait, slow.total), (839.0, 849.0));
        let sum: f32 = slow.stages().iter().map(|s| s.1).sum();
        assert_eq!(sum, slow.total);
        // Stage times and total are measured by different readings and may disagree slightly.
        assert_eq!(frame.end(9.5).wait, 0.0);
    }

    #[test]
    fn the_oldest_frames_go_and_means_are_of_the_last_second() {
        let mut history = History::default();
        assert_eq!(history.mean(), FrameTime::default());
        for i in 0..FRAMES + 50 {
            let late = i >= FRAMES;
            history.add(FrameTime {
                total: if late { 100.0 } else { 10.0 },
                draw: if late { 4.0 } else { 1.0 },
                ..FrameTime::default()
            });
        }
        assert_eq!(history.frames().len(), FRAMES);
        let mean = history.mean();
        assert!((mean.total - 100.0).abs() < 1e-3 && (mean.draw - 4.0).abs() < 1e-4);
        assert_eq!(history.scale(), 133.4);
    }
}
