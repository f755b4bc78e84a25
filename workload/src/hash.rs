//! FNV-1a, 64 bits: the hash of the palettes and events that are compared. It does not resist chosen collisions.

/// A running FNV-1a hash (Fowler, Noll and Vo; offset basis and prime of the 64-bit variant).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds an integer as eight little-endian bytes.
    pub fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }

    /// Adds a float by its bits; −0.0 counts as 0.0.
    pub fn write_f32(&mut self, value: f32) {
        let value = if value == 0.0 { 0.0 } else { value };
        self.write(&value.to_bits().to_le_bytes());
    }

    /// The hash of everything added so far.
    pub fn finish(&self) -> u64 {
        self.0
    }
}
