//! Memory over time: frames that allocate nothing, rounds that leave nothing behind, the soak. One test at a
//! time, since allocations of the process are counted.

mod allocation;
mod allocation_modifiers;
mod allocation_scene;
mod allocation_springs;
mod forgotten_plans;
mod reordered;
mod soak;
mod state;

#[global_allocator]
static ALLOCATOR: phalanx_testkit::alloc::Counting = phalanx_testkit::alloc::Counting;
