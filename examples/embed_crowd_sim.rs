//! A crowd simulation that owns its agents, animated by Phalanx.
//!
//! 2,000 agents cross a square; `dodgy_2d` keeps them apart. The interface between the two is small and is
//! in `gait.rs`: an agent's speed selects and blends Idle, Walk, Jog and Run, and its position and heading
//! become the instance's world transform. The example measures planted feet and fails if they slide by
//! more than 10 % of the distance travelled.
//!
//! `cargo run --release --example embed_crowd_sim`

#[path = "embed_crowd_sim/gait.rs"]
mod gait;
#[path = "embed_crowd_sim/slide.rs"]
mod slide;
#[path = "embed_crowd_sim/square.rs"]
mod square;

use gait::Gait;
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::import::mannequin;
use slide::Feet;
use square::Square;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

const AGENTS: usize = 2000;
const FRAME: f32 = 1.0 / 60.0;
const FRAMES: usize = 900;
/// Frames not measured, since all agents start at rest.
const WARM_UP: usize = 240;
/// One of this many agents is measured.
const MEASURED: usize = 4;
/// Limit for planted feet: the 95th percentile of slide over distance travelled.
const MAX_SLIDE: f64 = 0.1;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let mut square = Square::new(AGENTS);
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let gait = Gait::new(&crowd, id)?;
    let instances =
        (0..AGENTS).map(|i| gait.spawn(&mut crowd, id, i)).collect::<Result<Vec<_>, _>>()?;
    let mut buffer = BoneBuffer::new();
    let mut feet = Feet::new(&rig, AGENTS.div_ceil(MEASURED))?;

    let (mut whole, mut animation) = (Duration::ZERO, Duration::ZERO);
    for frame in 0..FRAMES {
        let start = Instant::now();
        square.step(FRAME);
        let steered = Instant::now();
        for (&instance, agent) in instances.iter().zip(square.agents()) {
            gait.follow(&mut crowd, instance, agent)?;
        }
        crowd.advance(f64::from(FRAME))?;
        crowd.evaluate(&mut buffer);
        let end = Instant::now();
        if frame < WARM_UP {
            continue;
        }
        whole += end - start;
        animation += end - steered;
        let measured = instances.iter().zip(square.agents()).step_by(MEASURED);
        for (i, (&instance, agent)) in measured.enumerate() {
            let rows = crowd.palette_range(instance).ok_or("an instance is hidden")?;
            feet.record(i, agent, &buffer.rows()[rows]);
        }
    }

    let frames = (FRAMES - WARM_UP) as f64;
    let ms = |d: Duration| d.as_secs_f64() * 1e3 / frames;
    println!(
        "{AGENTS} agents: {:.2} ms per frame, of which animation {:.2} ms ({:.0} %)",
        ms(whole),
        ms(animation),
        100.0 * animation.as_secs_f64() / whole.as_secs_f64()
    );
    let [idle, walk, jog, run] = square.speeds();
    println!("standing {idle}, walking {walk}, jogging {jog}, running {run}");
    let slides = feet.slides(FRAME);
    let (Some(median), Some(worst)) = (slides.percentile(0.5), slides.percentile(0.95)) else {
        return Err("no agent moved long enough to be measured".into());
    };
    println!(
        "planted feet slide by {:.1} % of the distance (median), {:.1} % (95th percentile of {} agents)",
        100.0 * median,
        100.0 * worst,
        slides.len()
    );
    println!("ankles and toes are planted {:.0} % of the time", 100.0 * slides.standing);
    if worst > MAX_SLIDE {
        eprintln!("the slide exceeds the limit of {:.0} %", 100.0 * MAX_SLIDE);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
