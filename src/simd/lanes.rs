//! `SimdLevel`: the levels of this machine, pinning one, and the dispatch of kernels.

use super::ops::Lanes;
use fearless_simd::{Level, Simd, SimdBase};
use std::sync::atomic::{AtomicU8, Ordering};
use thiserror::Error;

/// An instruction set that the kernels can run on.
///
/// Results of one level have the same bits on every machine. Levels with fused multiply-add differ from
/// those without in the last bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SimdLevel {
    /// Four lanes without fused operations. SSE2 on x86-64, plain code on processors whose SIMD is not used.
    Portable = 1,
    /// SSE4.2.
    Sse42 = 2,
    /// AVX2 and FMA.
    Avx2 = 3,
    /// AVX-512 (Ice Lake class: F, BW, CD, DQ, VL and VBMI).
    Avx512 = 4,
    /// NEON, which every AArch64 has. It fuses multiply and add.
    Neon = 5,
    /// The 128-bit SIMD of WebAssembly, without the relaxed one: builds with the target feature `simd128` have it.
    Wasm128 = 6,
}

/// A requested level is unknown or not available.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SimdLevelError {
    /// The name is none of portable, sse4.2, avx2, avx512, neon, wasm128.
    #[error("unknown SIMD level \"{0}\" (known: portable, sse4.2, avx2, avx512, neon, wasm128)")]
    Unknown(String),
    /// This machine does not have it.
    #[error("this machine has no {wanted}: its best SIMD level is {best}")]
    Unsupported {
        /// The requested level.
        wanted: SimdLevel,
        /// The best level of this machine.
        best: SimdLevel,
    },
}

/// The level in force as its number; 0 before the first use.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// The lanes of [`dispatch_portable`].
pub(crate) const PORTABLE_WIDTH: usize = 4;

impl SimdLevel {
    /// All levels, those of one processor lowest first.
    pub const ALL: [Self; 6] =
        [Self::Portable, Self::Sse42, Self::Avx2, Self::Avx512, Self::Neon, Self::Wasm128];

    /// The levels of the build's target, lowest first.
    const OF_TARGET: &[Self] = if cfg!(target_arch = "x86_64") {
        &[Self::Portable, Self::Sse42, Self::Avx2, Self::Avx512]
    } else if cfg!(target_arch = "aarch64") {
        &[Self::Neon]
    } else if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        &[Self::Wasm128]
    } else {
        &[Self::Portable]
    };

    /// The best level of this machine.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let level = Level::new();
            if level.as_avx512().is_some() {
                return Self::Avx512;
            }
            if level.as_avx2().is_some() {
                return Self::Avx2;
            }
            if level.as_sse4_2().is_some() {
                return Self::Sse42;
            }
            Self::Portable
        }
        #[cfg(not(target_arch = "x86_64"))]
        // Every machine of the target has them all.
        Self::OF_TARGET[Self::OF_TARGET.len() - 1]
    }

    /// The levels that this machine has, lowest first.
    pub fn supported() -> impl Iterator<Item = Self> {
        let best = Self::best();
        Self::OF_TARGET.iter().copied().filter(move |level| *level <= best)
    }

    /// The level, if this machine has it.
    fn checked(self) -> Result<Self, SimdLevelError> {
        match Self::supported().any(|level| level == self) {
            true => Ok(self),
            false => Err(SimdLevelError::Unsupported { wanted: self, best: Self::best() }),
        }
    }

    /// The level in force: the one that was set, else the one named by `PHALANX_SIMD` if this
    /// machine has it, else the best.
    pub fn current() -> Self {
        match CHOSEN.load(Ordering::Relaxed) {
            0 => {
                let level = Self::from_env().ok().flatten().unwrap_or_else(Self::best);
                CHOSEN.store(level as u8, Ordering::Relaxed);
                level
            }
            n => Self::ALL[usize::from(n) - 1],
        }
    }

    /// Pins the level for the process, from the next job on.
    ///
    /// # Errors
    /// If this machine lacks the level; nothing changes then.
    pub fn set(self) -> Result<(), SimdLevelError> {
        CHOSEN.store(self.checked()? as u8, Ordering::Relaxed);
        Ok(())
    }

    /// The level named by the environment variable `PHALANX_SIMD`, if it is set.
    ///
    /// # Errors
    /// If the name is unknown or this machine lacks the level.
    pub fn from_env() -> Result<Option<Self>, SimdLevelError> {
        match std::env::var("PHALANX_SIMD") {
            Ok(name) if !name.is_empty() => name.parse::<Self>()?.checked().map(Some),
            _ => Ok(None),
        }
    }

    /// The dispatch token. A level that this machine lacks falls back to the best one.
    pub(crate) fn token(self) -> Level {
        let best = Level::new();
        #[cfg(target_arch = "x86_64")]
        {
            let lower = match self {
                Self::Avx512 => None,
                Self::Avx2 => best.as_avx2().map(Level::Avx2),
                Self::Sse42 => best.as_sse4_2().map(Level::Sse4_2),
                Self::Portable => best.as_sse2().map(Level::Sse2),
                Self::Neon | Self::Wasm128 => None,
            };
            lower.unwrap_or(best)
        }
        #[cfg(not(target_arch = "x86_64"))]
        best
    }

    /// The number of f32 lanes in one register of the level.
    pub(crate) fn width(self) -> usize {
        struct Width;
        impl Kernel for Width {
            type Output = usize;
            #[inline(always)]
            fn run<S: Lanes>(self, _: S) -> usize {
                S::f32s::LEN
            }
        }
        dispatch(self, Width)
    }

    /// The level's name on the command line and in `PHALANX_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Sse42 => "sse4.2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
            Self::Wasm128 => "wasm128",
        }
    }
}

impl std::fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for SimdLevel {
    type Err = SimdLevelError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s.to_ascii_lowercase().as_str() {
            "portable" => Ok(Self::Portable),
            "sse4.2" | "sse42" => Ok(Self::Sse42),
            "avx2" => Ok(Self::Avx2),
            "avx512" => Ok(Self::Avx512),
            "neon" => Ok(Self::Neon),
            "wasm128" => Ok(Self::Wasm128),
            _ => Err(SimdLevelError::Unknown(s.to_owned())),
        }
    }
}

/// A kernel: a struct of borrowed inputs and outputs whose `run` is generic over the token.
/// `run` and all it calls must be `#[inline(always)]`; otherwise they are compiled for the base target.
pub(crate) trait Kernel {
    /// The return value.
    type Output;
    /// Runs the kernel on the token's instruction set.
    fn run<S: Lanes>(self, simd: S) -> Self::Output;
}

/// Runs a part of a kernel out of line, at the kernel's level, so that the surrounding code's registers
/// do not cause spills in it.
#[inline(never)]
pub(crate) fn out_of_line<S: Simd, R>(simd: S, work: impl FnOnce() -> R) -> R {
    simd.vectorize(work)
}

/// Runs a kernel on the given level.
pub(crate) fn dispatch<K: Kernel>(level: SimdLevel, kernel: K) -> K::Output {
    dispatch_on(level.token(), kernel)
}

/// Runs a kernel in lanes of [`PORTABLE_WIDTH`] without fused operations: its results have the same bits on every machine.
pub(crate) fn dispatch_portable<K: Kernel>(kernel: K) -> K::Output {
    // NEON fuses.
    #[cfg(target_arch = "aarch64")]
    return kernel.run(fearless_simd::Fallback::new());
    #[cfg(not(target_arch = "aarch64"))]
    dispatch(SimdLevel::Portable, kernel)
}

/// Runs a kernel on the level of a token.
#[inline(always)]
pub(crate) fn dispatch_on<K: Kernel>(level: Level, kernel: K) -> K::Output {
    // fearless_simd's `dispatch!` hides the token's type; the shuffles of `Lanes` differ by token.
    macro_rules! run {
        ($token:expr) => {{
            let token = $token;
            token.vectorize(
                #[inline(always)]
                || kernel.run(token),
            )
        }};
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512(token) => run!(token),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2(token) => run!(token),
        #[cfg(target_arch = "x86_64")]
        Level::Sse4_2(token) => run!(token),
        #[cfg(target_arch = "x86_64")]
        Level::Sse2(token) => run!(token),
        #[cfg(target_arch = "aarch64")]
        Level::Neon(token) => run!(token),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Level::WasmSimd128(token) => run!(token),
        #[cfg(not(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            all(target_arch = "wasm32", target_feature = "simd128")
        )))]
        Level::Fallback(token) => run!(token),
        #[allow(unreachable_patterns)] // `Level` may gain variants.
        _ => unreachable!("the levels of this target are listed above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum<'a>(&'a [f32; 16]);

    impl Kernel for Sum<'_> {
        type Output = f32;
        #[inline(always)]
        fn run<S: Lanes>(self, simd: S) -> f32 {
            let v = fearless_simd::f32x16::load_array_ref(simd, self.0);
            let out = (v + v).to_array();
            out.iter().sum()
        }
    }

    #[test]
    fn every_supported_level_runs() {
        let values = std::array::from_fn(|i| i as f32);
        for level in SimdLevel::supported() {
            assert_eq!(dispatch(level, Sum(&values)), 240.0, "{level}");
        }
        assert!(SimdLevel::supported().any(|level| level == SimdLevel::best()));
    }

    #[test]
    fn names_parse_back() {
        for level in SimdLevel::ALL {
            assert_eq!(level.name().parse::<SimdLevel>(), Ok(level));
        }
        assert!(matches!("mmx".parse::<SimdLevel>(), Err(SimdLevelError::Unknown(_))));
    }
}
