//! Files: .phx, baked clips and their stored form, and damaged files of every kind.

mod baked;
#[cfg(feature = "meshopt")]
mod hostile;
mod phx;

use libtest_mimic::Arguments;
use phalanx_testkit::alloc;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let mut arguments = Arguments::from_args();
    // Memory is counted per thread and reading uses one, so trials may run side by side.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let mut all = phx::trials();
    all.extend(baked::trials());
    #[cfg(feature = "meshopt")]
    all.extend(hostile::trials());
    libtest_mimic::run(&arguments, all).exit();
}
