//! [`FrameRenderer`]: draws pictures of a crowd, on a graphics device or, if none works, in software.

use super::error::CliError;
use super::{memory, quiet};
use ::phalanx_render;
use image::RgbaImage;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId};
use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions, GpuOptions, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx_render::{
    Backend, Camera, Canvas, DrawCounts, DrawInstance, DrawModel, DrawnBy, GpuModels, GpuRenderer,
    Look, Palette, PaletteLerp, PictureSize, RenderError, Scene,
};
use std::str::FromStr;

/// Address space needed to open a device, create its pipelines and draw. With 950 to 1,300 MB in all, Mesa's
/// GL driver ended the process when memory ran out; with 1,500 MB it drew.
const DRIVER_BYTES: u64 = 1536 << 20;

/// Bytes per pixel of the picture, with all samples: 600 MB were measured for 4096 x 4096.
const PIXEL_BYTES: u64 = 40;

/// `--backend`: how shaders read palettes; `None` is the best that the device supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaletteArg(pub Option<PaletteBackend>);

impl FromStr for PaletteArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(None));
        }
        let named = PaletteBackend::ALL.into_iter().find(|b| b.to_string() == text);
        let backend = named.ok_or("expected auto, storage, texture or uniform")?;
        Ok(Self(Some(backend)))
    }
}

/// The content of a picture of a crowd.
pub struct Shot<'a> {
    /// The models, the same in all pictures of one renderer. The first is the rig's; those of the rig's details follow.
    pub models: &'a [DrawModel<'a>],
    /// Instances, without their palettes; those that have no rows after the evaluation are not drawn.
    pub instances: &'a [DrawInstance],
    pub morph_weights: &'a [f32],
    pub camera: Camera,
    pub look: Look,
}

impl Shot<'_> {
    fn scene<'a>(&'a self, instances: &'a [DrawInstance], palette: Palette<'a>) -> Scene<'a> {
        Scene {
            models: self.models,
            instances,
            palette,
            morph_weights: self.morph_weights,
            camera: self.camera,
            look: self.look,
        }
    }

    /// The instances that have rows in the crowd's last frame, with their palettes and the model of their detail.
    fn with_rows(&self, crowd: &Crowd, ids: &[InstanceId]) -> Vec<DrawInstance> {
        let with_rows = |(instance, &id): (&DrawInstance, &InstanceId)| {
            let pair = crowd.shown(id)?;
            Some(DrawInstance {
                model: pair.detail.map_or(instance.model, |detail| 1 + detail as u32),
                palette_offset: pair.from.start as u32,
                lerp: (pair.from != pair.to).then_some(PaletteLerp {
                    to_offset: pair.to.start as u32,
                    factor: pair.factor,
                }),
                ..*instance
            })
        };
        let all = self.instances.iter().zip(ids);
        all.filter_map(with_rows).collect()
    }
}

/// Draws pictures on one device, or in software.
pub struct FrameRenderer {
    device: Option<Device>,
    backend: Backend,
    heap: BoneBuffer,
    drawn_by: DrawnBy,
}

struct Device {
    renderer: GpuRenderer,
    bones: GpuBoneBuffer,
    loaded: Option<(GpuModels, Canvas)>,
}

impl FrameRenderer {
    /// Opens a device for palettes of up to `joints` rows, unless `backend` is software. With an explicit
    /// `palettes` choice a failing device is an error: there is no fallback to the software rasteriser.
    pub fn new(backend: Backend, palettes: PaletteArg, joints: usize) -> Result<Self, CliError> {
        let backend = match (backend, palettes.0) {
            (Backend::Auto, Some(_)) => Backend::Gpu,
            _ => backend,
        };
        let device = match backend {
            Backend::Software => None,
            Backend::Auto | Backend::Gpu => Some(room(DRIVER_BYTES).and_then(|()| {
                let device = quiet::during(|| Device::open(palettes, joints));
                device.map_err(CliError::from)
            })),
        };
        let mut renderer = Self {
            device: None,
            backend,
            heap: BoneBuffer::new(),
            drawn_by: DrawnBy::Software { instead: None },
        };
        match device {
            None => {}
            Some(Ok(device)) => {
                renderer.drawn_by = DrawnBy::Gpu(device.renderer.gpu().adapter_name());
                renderer.device = Some(device);
            }
            Some(Err(error)) => renderer.give_up(error)?,
        }
        Ok(renderer)
    }

    /// Name of the renderer, and how shaders read palettes.
    pub fn name(&self) -> String {
        match &self.device {
            Some(d) => format!("{}, {} palettes", self.drawn_by, d.renderer.backend()),
            None => self.drawn_by.to_string(),
        }
    }

    /// Evaluates a crowd and draws the instances named by `ids`.
    pub fn draw(
        &mut self,
        crowd: &mut Crowd,
        ids: &[InstanceId],
        shot: Shot,
        size: PictureSize,
    ) -> Result<(RgbaImage, DrawCounts), CliError> {
        if let Some(device) = &mut self.device {
            let drawn = room(device_bytes(crowd, size)).and_then(|()| {
                let drawn = quiet::during(|| device.draw(crowd, ids, &shot, size));
                drawn.map_err(CliError::from)
            });
            match drawn {
                Ok(drawn) => return Ok(drawn),
                Err(error) => self.give_up(error)?,
            }
        }
        self.heap.try_reserve(most_rows(crowd))?;
        crowd.evaluate(&mut self.heap);
        let instances = shot.with_rows(crowd, ids);
        let scene = shot.scene(&instances, self.heap.rows().into());
        let picture = phalanx_render::draw(&scene, size, Backend::Software)?;
        Ok((picture.image, picture.counts))
    }

    /// Falls back to software if allowed. The crowd itself is unaffected.
    fn give_up(&mut self, error: CliError) -> Result<(), CliError> {
        let instead = match &error {
            CliError::Render(RenderError::Gpu(error)) => error.to_string(),
            CliError::DeviceMemory { .. } => error.to_string(),
            _ => return Err(error),
        };
        if self.backend != Backend::Auto {
            return Err(error);
        }
        let instead = Some(instead);
        self.drawn_by = DrawnBy::Software { instead };
        quiet::during(|| self.device = None);
        Ok(())
    }
}

impl Drop for FrameRenderer {
    fn drop(&mut self) {
        quiet::during(|| self.device = None);
    }
}

/// Fails if a driver's memory is not available.
fn room(bytes: u64) -> Result<(), CliError> {
    match memory::has_room(bytes) {
        true => Ok(()),
        false => Err(CliError::DeviceMemory { bytes }),
    }
}

/// Bytes that a crowd may need on a device: its palettes in two staging buffers and in pages, over-allocated
/// by half, and in the heap for the fallback; and the picture's pixels with all their samples.
fn device_bytes(crowd: &Crowd, size: PictureSize) -> u64 {
    let pixels = u64::from(size.width) * u64::from(size.height);
    4 * (size_of::<Affine3x4>() * most_rows(crowd)) as u64 + PIXEL_BYTES * pixels
}

/// Palette rows of a crowd whose instances are all evaluated. With tiers, twice the rows of the last frame, since a
/// wider picture shows more instances.
fn most_rows(crowd: &Crowd) -> usize {
    if let Some(frame) = crowd.tier_stats() {
        let ids = crowd.instances().map(|i| i.rig());
        let rows = ids.filter_map(|rig| crowd.rig(rig).ok()).map(|rig| rig.palette_len());
        let own = frame.tiers.iter().map(|t| t.instances - t.shared).sum::<usize>();
        // An interpolated instance has two palettes.
        let palettes = 2 * own + frame.shared_palettes;
        return 2 * palettes * rows.max().unwrap_or(0);
    }
    let rigs = crowd.instances().filter_map(|i| crowd.rig(i.rig()).ok());
    rigs.map(|rig| rig.palette_len()).sum()
}

impl Device {
    fn open(palettes: PaletteArg, joints: usize) -> Result<Self, RenderError> {
        let renderer = GpuRenderer::open(&GpuOptions::default(), joints, palettes.0)?;
        Ok(Self {
            bones: GpuBoneBuffer::new(
                renderer.gpu(),
                renderer.backend(),
                &GpuBoneOptions::default(),
            )?,
            renderer,
            loaded: None,
        })
    }

    fn draw(
        &mut self,
        crowd: &mut Crowd,
        ids: &[InstanceId],
        shot: &Shot,
        size: PictureSize,
    ) -> Result<(RgbaImage, DrawCounts), RenderError> {
        let Self { renderer, bones, loaded } = self;
        let (models, canvas) = match loaded {
            Some(loaded) if loaded.1.size() == size => loaded,
            _ => loaded.insert((renderer.load(shot.models)?, renderer.canvas(size)?)),
        };
        bones.evaluate(crowd, renderer.gpu())?;
        let instances = shot.with_rows(crowd, ids);
        let scene = shot.scene(&instances, (&*bones).into());
        let counts = renderer.paint(models, &scene, canvas)?;
        Ok((renderer.read(canvas)?, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_have_names() {
        let named = |name: &str| name.parse::<PaletteArg>();
        assert_eq!(named("auto"), Ok(PaletteArg(None)));
        assert_eq!(named("uniform"), Ok(PaletteArg(Some(PaletteBackend::Uniform))));
        assert!(named("storage").is_ok() && named("texture").is_ok());
        assert!(named("").is_err() && named("gpu").is_err());
    }
}
