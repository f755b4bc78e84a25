//! Playing and evaluating, on rigs made in code: crowds, mixers, root motion, handles, the scene graph.

mod additive;
mod channels;
mod crowd;
mod handles;
mod limits;
mod modifiers;
mod oracle_rules;
mod playback;
mod root_motion_play;
mod scene_graph;
mod scheduled;
mod tiers;
mod units;
