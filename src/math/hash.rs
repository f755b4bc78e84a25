//! FNV-1a, 64 bits: the hash of skeletons, snapshots and palettes. It does not resist chosen collisions.

/// A running FNV-1a hash (Fowler, Noll and Vo; offset basis and prime of the 64-bit variant).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fnv1a(u64);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_of_the_published_algorithm() {
        let hash = |s: &str| {
            let mut h = Fnv1a::default();
            h.write(s.as_bytes());
            h.finish()
        };
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
        let float = |v: f32| {
            let mut h = Fnv1a::default();
            h.write_f32(v);
            h.finish()
        };
        assert_eq!(float(0.0), float(-0.0));
        assert_ne!(float(0.0), float(1.0));
    }
}
