//! Base colour textures: the mip chain that both backends sample.

use phalanx::mesh::Image;

/// Decodes an 8-bit sRGB value to linear.
pub(super) fn to_linear(v: u8) -> f32 {
    let v = f32::from(v) / 255.0;
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// Encodes a linear value, 0 to 1, as 8-bit sRGB.
pub(super) fn to_srgb(v: f32) -> u8 {
    let v = v.clamp(0.0, 1.0);
    let encoded = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    // NaN becomes 0.
    (encoded * 255.0 + 0.5) as u8
}

/// The mip chain of an image, down to one texel. Texels are averaged in linear space.
///
/// An image that does not hold `width × height × 4` bytes returns a chain of itself alone.
pub(super) fn mip_chain(image: &Image) -> Vec<Image> {
    let mut chain = vec![image.clone()];
    let linear: Vec<f32> = (0..=255).map(to_linear).collect();
    while let Some(last) = chain.last() {
        let texels = u64::from(last.width) * u64::from(last.height);
        if texels <= 1 || last.rgba.len() as u64 != texels * 4 {
            break;
        }
        let half = half(last, &linear);
        chain.push(half);
    }
    chain
}

fn half(image: &Image, linear: &[f32]) -> Image {
    let (width, height) = ((image.width / 2).max(1), (image.height / 2).max(1));
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    let texel = |x: u32, y: u32, c: usize| {
        let (x, y) = (x.min(image.width - 1), y.min(image.height - 1));
        let at = (y as usize * image.width as usize + x as usize) * 4 + c;
        image.rgba.get(at).copied().unwrap_or(0)
    };
    for y in 0..height {
        for x in 0..width {
            for c in 0..4 {
                let four = [(0, 0), (1, 0), (0, 1), (1, 1)]
                    .map(|(dx, dy)| texel(x * 2 + dx, y * 2 + dy, c));
                rgba.push(if c < 3 {
                    let sum: f32 =
                        four.iter().map(|&v| linear.get(v as usize).copied().unwrap_or(0.0)).sum();
                    to_srgb(sum / 4.0)
                } else {
                    (four.iter().map(|&v| u16::from(v)).sum::<u16>() / 4) as u8
                });
            }
        }
    }
    Image { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_goes_there_and_back() {
        for v in 0..=255 {
            assert_eq!(to_srgb(to_linear(v)), v);
        }
        assert_eq!((to_srgb(f32::NAN), to_srgb(9.0), to_srgb(-1.0)), (0, 255, 0));
    }

    #[test]
    fn chains_end_at_one_texel_and_average_light() {
        let mut rgba = [[0, 0, 0, 255], [255, 255, 255, 255]].concat();
        rgba.extend_from_slice(&rgba.clone());
        rgba.extend_from_slice(&rgba.clone());
        let image = Image { width: 2, height: 4, rgba };
        let sizes: Vec<_> =
            mip_chain(&image).iter().map(|i| (i.width, i.height, i.rgba.len())).collect();
        assert_eq!(sizes, vec![(2, 4, 32), (1, 2, 8), (1, 1, 4)]);
        // Half the light is far brighter than half the code.
        assert_eq!(mip_chain(&image)[2].rgba, vec![188, 188, 188, 255]);
    }
}
