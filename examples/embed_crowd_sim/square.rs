//! The simulation: agents that cross a square and avoid each other. It contains no animation.

use dodgy_2d::{Agent as Body, AvoidanceOptions, Vec2};
use std::borrow::Cow;
use std::f32::consts::{PI, TAU};

/// Side in metres; 8 square metres per agent.
const SIDE: f32 = 126.0;
const RADIUS: f32 = 0.35;
/// Agents within this distance are avoided, in metres.
const SIGHT: f32 = 4.0;
/// Largest acceleration, in m/s².
const ACCELERATION: f32 = 2.0;
/// Frames between two avoidance updates of an agent.
const LOOK: usize = 4;
/// Largest turn rate, in radians per second.
const TURN: f32 = 3.0;
/// Speed below which agents do not turn, in m/s.
const SLOW: f32 = 0.2;

/// An agent of the square.
#[derive(Clone, Debug)]
pub struct Agent {
    /// x and z, in metres.
    pub position: [f32; 2],
    /// Angle about the vertical in radians, 0 along z.
    pub heading: f32,
    velocity: Vec2,
    wanted: Vec2,
    goal: Vec2,
    pace: f32,
    seed: u32,
}

impl Agent {
    /// Speed in m/s.
    pub fn speed(&self) -> f32 {
        self.velocity.length()
    }

    fn place(&self) -> Vec2 {
        Vec2::from(self.position)
    }

    /// A pseudo-random number in [0, 1), from a linear congruential generator.
    fn random(&mut self) -> f32 {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.seed >> 8) as f32 / (1 << 24) as f32
    }

    fn anywhere(&mut self) -> Vec2 {
        Vec2::new(self.random(), self.random()) * SIDE
    }
}

/// The simulated square.
pub struct Square {
    agents: Vec<Agent>,
    frame: usize,
}

impl Square {
    /// Agents spread over the square, at rest, each with its own goal and pace.
    pub fn new(count: usize) -> Self {
        let agents = (0..count as u32).map(|i| {
            let mut agent = Agent {
                position: [0.0; 2],
                heading: 0.0,
                velocity: Vec2::ZERO,
                wanted: Vec2::ZERO,
                goal: Vec2::ZERO,
                pace: 0.0,
                seed: i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995,
            };
            // Neighbouring seeds give similar first numbers, so those are skipped.
            (0..4).for_each(|_| {
                agent.random();
            });
            agent.position = agent.anywhere().to_array();
            agent.goal = agent.anywhere();
            agent.heading = agent.random() * TAU;
            // One in twenty stands; most walk, some jog, few run.
            let [kind, spread] = [agent.random(), agent.random()];
            agent.pace = match kind {
                k if k < 0.05 => 0.0,
                k if k < 0.55 => 1.1 + 0.6 * spread,
                k if k < 0.85 => 2.2 + 0.9 * spread,
                _ => 3.6 + 0.9 * spread,
            };
            agent
        });
        Self { agents: agents.collect(), frame: 0 }
    }

    /// All agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Number of agents that stand, walk, jog and run.
    pub fn speeds(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for agent in &self.agents {
            let gait = [0.5, 2.1, 3.6].iter().filter(|s| agent.speed() >= **s).count();
            counts[gait] += 1;
        }
        counts
    }

    /// Advances all agents.
    pub fn step(&mut self, seconds: f32) {
        self.look(seconds * LOOK as f32);
        self.frame += 1;
        for agent in &mut self.agents {
            let change = (agent.wanted - agent.velocity).clamp_length_max(ACCELERATION * seconds);
            agent.velocity += change;
            agent.position = (agent.place() + agent.velocity * seconds).to_array();
            if agent.speed() > SLOW {
                let turn = agent.velocity.x.atan2(agent.velocity.y) - agent.heading;
                let turn = (turn + PI).rem_euclid(TAU) - PI;
                agent.heading += turn.clamp(-TURN * seconds, TURN * seconds);
            }
            if agent.place().distance(agent.goal) < 3.0 {
                agent.goal = agent.anywhere();
            }
        }
    }

    /// Updates the desired velocity of one in `LOOK` agents.
    fn look(&mut self, ahead: f32) {
        let cells = Cells::new(&self.agents);
        let options = AvoidanceOptions {
            obstacle_margin: 0.0,
            time_horizon: 3.0,
            obstacle_time_horizon: 1.0,
        };
        let body = |agent: &Agent| Body {
            position: agent.place(),
            velocity: agent.velocity,
            radius: RADIUS,
            avoidance_responsibility: 1.0,
        };
        let mut near = Vec::new();
        for i in (self.frame % LOOK..self.agents.len()).step_by(LOOK) {
            let agent = &self.agents[i];
            near.clear();
            for j in cells.around(agent.place()).filter(|&j| j != i) {
                let other = &self.agents[j];
                if other.place().distance(agent.place()) < SIGHT {
                    near.push(Cow::Owned(body(other)));
                }
            }
            let way = (agent.goal - agent.place()).normalize_or_zero() * agent.pace;
            let wanted =
                body(agent).compute_avoiding_velocity(&near, &[], way, agent.pace, ahead, &options);
            self.agents[i].wanted = wanted;
        }
    }
}

/// Agents by grid cell of the square.
struct Cells {
    cells: Vec<Vec<usize>>,
    width: usize,
}

impl Cells {
    fn new(agents: &[Agent]) -> Self {
        let width = (SIDE / SIGHT) as usize + 1;
        let mut cells = Self { cells: vec![Vec::new(); width * width], width };
        for (i, agent) in agents.iter().enumerate() {
            let [x, z] = cells.cell(agent.place());
            cells.cells[z * width + x].push(i);
        }
        cells
    }

    /// Cell of a position; positions outside the square count at its edge.
    fn cell(&self, place: Vec2) -> [usize; 2] {
        (place / SIGHT).to_array().map(|v| (v.max(0.0) as usize).min(self.width - 1))
    }

    fn around(&self, place: Vec2) -> impl Iterator<Item = usize> + '_ {
        let [x, z] = self.cell(place);
        let range = |v: usize| v.saturating_sub(1)..(v + 2).min(self.width);
        range(z)
            .flat_map(move |z| range(x).map(move |x| z * self.width + x))
            .flat_map(|cell| self.cells[cell].iter().copied())
    }
}
