//! Devices that fail while they draw: typed errors or a picture, and the crowd goes on.

use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions, GpuError, GpuOptions, PaletteBackend};
use phalanx_render::{Backend, GpuRenderer, Palette, PictureSize, RenderError, draw};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::parade::{Parade, WIDE};
use crate::scenes::device_lock;
use phalanx_testkit::memory::with_memory;

/// Says that a process is the one of [`no_memory`] or of [`no_memory_in_software`].
pub const CHILD: &str = "PHALANX_RENDER_TEST_CHILD";

/// Frames until another thread destroys the device, at any moment of a frame. The frame that fails says
/// that the device is lost, and its rows are in heap memory or still to be drawn.
pub fn destroyed_while_drawing() {
    let _one_at_a_time = device_lock();
    let camera = Parade::camera(0.0);
    for attempt in 0..9u64 {
        let backend = PaletteBackend::ALL[attempt as usize % 3];
        let mut renderer =
            GpuRenderer::open(&GpuOptions::default(), 47, Some(backend)).expect("the backend");
        let mut bones = GpuBoneBuffer::new(renderer.gpu(), backend, &GpuBoneOptions::default())
            .expect("the backend");
        let mut parade = Parade::new(30);
        let device = renderer.gpu().device.clone();
        let killer = std::thread::spawn(move || {
            // The first frames make pipelines; later ones take milliseconds.
            std::thread::sleep(Duration::from_millis(40 * attempt));
            device.destroy();
        });
        // Whenever the other thread runs. A destroyed device reports its loss when its last work is done: the frame
        // after that fails.
        let mut reported = false;
        let failed = loop {
            let gone = killer.is_finished();
            parade.crowd.advance(0.01).expect("a short step");
            parade.look(&camera);
            let evaluated = bones.evaluate(&mut parade.crowd, renderer.gpu());
            assert_eq!(evaluated.is_err(), bones.heap().is_some());
            let palette = Palette::from(&bones);
            let drawn = parade.picture(camera, palette, |s| renderer.draw(s, WIDE));
            if let Some(error) = evaluated.err().map(RenderError::Gpu).or(drawn.err()) {
                break error;
            }
            assert!(!reported, "{backend}, attempt {attempt}: the device is gone");
            if gone {
                let waited = renderer.gpu().wait();
                waited.expect_err("the device is gone");
                reported = true;
            }
        };
        killer.join().expect("nothing panics");
        let lost = matches!(failed, RenderError::Gpu(GpuError::Lost { .. }));
        assert!(lost, "{backend}, attempt {attempt}: {failed:?}");
        // The same crowd without the device.
        parade.look(&camera);
        bones.evaluate(&mut parade.crowd, renderer.gpu()).expect_err("the device is gone");
        let palette = Palette::from(&bones);
        let picture = parade.picture(camera, palette, |s| draw(s, WIDE, Backend::Software));
        assert!(picture.expect("a picture").counts.instances > 0);
    }
}

pub fn no_memory() {
    in_a_process("device");
}

pub fn no_memory_in_software() {
    in_a_process("software");
}

fn in_a_process(what: &str) {
    let program = std::env::current_exe().expect("the test knows itself");
    // Mesa's device selection prints a line of its own to standard error without this folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(program);
    command.env(CHILD, what).env("XDG_RUNTIME_DIR", folder);
    let out = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&out.stdout);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{:?}: {text}{error}", out.status);
    assert!(text.contains("refused, then drawn"), "{text}{error}");
}

/// Runs a test in a child process.
pub fn child(what: &str) {
    match what {
        "software" => without_memory_in_software(),
        _ => without_memory(),
    }
}

/// A picture of 512 MiB of samples meets 200 MiB of memory, then as much as it likes.
fn without_memory_in_software() {
    let large = PictureSize { width: 4096, height: 4096 };
    let mut parade = Parade::new(10);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    let mut heap = phalanx::crowd::BoneBuffer::new();
    parade.crowd.evaluate(&mut heap);
    let mut picture =
        |size| parade.picture(camera, heap.rows().into(), |s| draw(s, size, Backend::Software));
    // The workers and what they keep are there from here on.
    let before = picture(WIDE).expect("a picture").image;
    let (refused, small) = with_memory(200 << 20, || (picture(large), picture(WIDE)));
    let error = refused.expect_err("there is no memory");
    let PictureSize { width, height } = large;
    let needed = 512 << 20;
    let expected = RenderError::OutOfMemory { width, height, needed };
    assert_eq!(error, expected);
    assert_eq!(small.expect("a picture").image, before);
    let drawn = picture(large).expect("there is memory").image;
    assert_eq!(drawn.dimensions(), (4096, 4096));
    println!("refused, then drawn");
}

/// A canvas of 600 MB meets 200 MiB of memory, then as much as it
/// likes.
fn without_memory() {
    let large = PictureSize { width: 4096, height: 4096 };
    let mut renderer = GpuRenderer::open(&GpuOptions::default(), 47, None).expect("an adapter");
    let mut parade = Parade::new(10);
    let camera = Parade::camera(0.0);
    parade.look(&camera);
    let mut heap = phalanx::crowd::BoneBuffer::new();
    parade.crowd.evaluate(&mut heap);
    let mut picture = |renderer: &mut GpuRenderer| {
        let drawn = parade.picture(camera, heap.rows().into(), |s| renderer.draw(s, WIDE));
        drawn.expect("a picture").image
    };
    // Threads, pipelines and buffers that a picture needs are there from here on.
    let before = picture(&mut renderer);
    renderer.gpu().wait().expect("the device works");
    let refused = with_memory(200 << 20, || renderer.canvas(large));
    // wgpu does not ask GL whether a texture has got its memory.
    let gl = renderer.gpu().adapter_name().ends_with("(gl)");
    match refused {
        Ok(_) => assert!(gl, "a canvas without memory"),
        Err(error) => assert_eq!(error, RenderError::Gpu(GpuError::OutOfMemory)),
    }
    assert_eq!(picture(&mut renderer), before);
    renderer.canvas(large).expect("there is memory");
    println!("refused, then drawn");
}
