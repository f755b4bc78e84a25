//! Seeded damage: truncations, flipped bits, replaced numbers, lost and doubled text.

/// SplitMix64: the same numbers on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(name: &str, case: u64) -> Self {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Random(seed.wrapping_add(case.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`, which may be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            bound => (self.next() % bound as u64) as usize,
        }
    }
}

/// A file and where its parts lie.
pub struct Mutator {
    json: Vec<u8>,
    bin: Option<Vec<u8>>,
    whole: Vec<u8>,
    /// Numbers in the JSON text outside of strings: start and end.
    numbers: Vec<(usize, usize)>,
    /// Strings, with their quotes.
    strings: Vec<(usize, usize)>,
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "4",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
    "255",
    "65535",
    "65536",
    "2147483647",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e30",
    "-1e30",
    "1e38",
    "-1e-40",
    "0.5",
    "1e400",
    "null",
    "[]",
    "{}",
    "1000000",
    "100000000",
];

const FLOATS: &[f32] = &[
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    0.0,
    -0.0,
    -1.0,
    1e20,
];

impl Mutator {
    pub fn new(bytes: &[u8]) -> Self {
        let (json, bin) = match bytes.starts_with(b"glTF") {
            true => {
                let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
                let bin = bytes.get(20 + length + 8..).unwrap_or(&[]);
                (bytes[20..20 + length].to_vec(), Some(bin.to_vec()))
            }
            false => (bytes.to_vec(), None),
        };
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < json.len() {
            let start = at;
            match json[at] {
                b'"' => {
                    at += 1;
                    while at < json.len() && json[at] != b'"' {
                        at += 1 + usize::from(json[at] == b'\\');
                    }
                    at += 1;
                    strings.push((start, at));
                }
                b'-' | b'0'..=b'9' => {
                    while at < json.len() && b"+-.eE0123456789".contains(&json[at]) {
                        at += 1;
                    }
                    numbers.push((start, at));
                }
                _ => at += 1,
            }
        }
        Mutator { json, bin, whole: bytes.to_vec(), numbers, strings }
    }

    /// The damaged file number `case`.
    pub fn variant(&self, case: u64, random: &mut Random) -> Vec<u8> {
        let (mut json, mut bin) = (self.json.clone(), self.bin.clone());
        match case % 8 {
            0 => {
                let length = random.below(self.whole.len());
                return self.whole[..length].to_vec();
            }
            1 => {
                // Anywhere, headers included; the first bytes more often than the rest.
                let mut whole = self.whole.clone();
                let reach = [32, whole.len()][random.below(2)].min(whole.len());
                flip(&mut whole[..reach], 1 + random.below(4), random);
                return whole;
            }
            2 => flip(&mut json, 1 + random.below(3), random),
            3 | 4 => self.replace_numbers(&mut json, 1 + random.below(3), random),
            5 => match &mut bin {
                Some(bin) => flip(bin, 1 << random.below(7), random),
                None => flip(&mut json, 1, random),
            },
            6 => match &mut bin {
                Some(bin) => replace_floats(bin, 1 << random.below(8), random),
                None => self.replace_numbers(&mut json, 1, random),
            },
            _ => self.damage_text(&mut json, random),
        }
        match bin {
            Some(bin) => phalanx_testkit::gltf_file::glb(&json, &bin),
            None => json,
        }
    }

    /// Replaces numbers from the back, so that the places in front stay right.
    fn replace_numbers(&self, json: &mut Vec<u8>, count: usize, random: &mut Random) {
        let mut chosen: Vec<usize> = (0..count).map(|_| random.below(self.numbers.len())).collect();
        chosen.sort_unstable();
        chosen.dedup();
        for &(start, end) in chosen.iter().rev().filter_map(|&i| self.numbers.get(i)) {
            let old = std::str::from_utf8(&self.json[start..end]).unwrap_or("0");
            let old: f64 = old.parse().unwrap_or(0.0);
            let new = match random.below(4) {
                0 => format!("{}", old + 1.0),
                1 => format!("{}", old - 1.0),
                _ => NUMBERS[random.below(NUMBERS.len())].to_owned(),
            };
            json.splice(start..end, new.into_bytes());
        }
    }

    fn damage_text(&self, json: &mut Vec<u8>, random: &mut Random) {
        match random.below(4) {
            // One string in place of another: types, names, URIs, keys.
            0 | 1 if !self.strings.is_empty() => {
                let (start, end) = self.strings[random.below(self.strings.len())];
                let (from, to) = self.strings[random.below(self.strings.len())];
                json.splice(start..end, self.json[from..to].iter().copied());
            }
            2 => {
                let start = random.below(json.len());
                let end = (start + 1 + random.below(64)).min(json.len());
                json.drain(start..end);
            }
            _ => {
                let start = random.below(json.len());
                let end = (start + 1 + random.below(64)).min(json.len());
                let copy = json[start..end].to_vec();
                json.splice(start..start, copy);
            }
        }
    }
}

fn flip(bytes: &mut [u8], count: usize, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    for _ in 0..count {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
}

fn replace_floats(bytes: &mut [u8], count: usize, random: &mut Random) {
    for _ in 0..count {
        let at = random.below(bytes.len() / 4) * 4;
        if let Some(word) = bytes.get_mut(at..at + 4) {
            word.copy_from_slice(&FLOATS[random.below(FLOATS.len())].to_le_bytes());
        }
    }
}
