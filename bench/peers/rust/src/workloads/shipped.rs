// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/colour_histogram, line_fit, kmeans_round, match_lines and sort_records.
use crate::Settings;

/// SplitMix64, as support/zipf_text.hpp.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    }
}

pub type Pixel = [u8; 3];

pub fn pixels(s: &Settings) -> Vec<Pixel> {
    let mut random = Random(1);
    let mut at = [90i32, 128, 160];
    (0..s.n)
        .map(|_| {
            let steps = random.next();
            for (c, value) in at.iter_mut().enumerate() {
                *value = (*value + (steps >> (8 * c) & 15) as i32 - 7).clamp(0, 255);
                if (steps >> 40) % 1024 == 0 {
                    *value = (steps >> (8 * c) & 255) as i32;
                }
            }
            [at[0] as u8, at[1] as u8, at[2] as u8]
        })
        .collect()
}

pub type Point = [u8; 2];

pub fn byte_points(s: &Settings) -> Vec<Point> {
    let mut random = Random(2);
    (0..s.n)
        .map(|_| {
            let r = random.next();
            let x = r as u8;
            [x, x / 2 + (r >> 8 & 127) as u8]
        })
        .collect()
}

pub const DIMENSIONS: usize = 3;
pub const CLUSTERS: usize = 100;

pub fn points(s: &Settings) -> Vec<[f32; DIMENSIONS]> {
    let mut random = Random(3);
    let mut next = || (random.next() >> 54) as f32;
    let n = s.n.max(CLUSTERS as i64);
    (0..n).map(|_| [next(), next(), next()]).collect()
}

/// The answer of an array of sums.
pub fn digest(sums: impl Iterator<Item = u64>) -> u64 {
    sums.zip(1u64..)
        .fold(0, |mixed, (sum, place)| mixed.wrapping_add(place.wrapping_mul(sum)))
}

pub const STRINGS: [&str; 3] = ["ab", "xyz", "hello"];

pub fn records(s: &Settings) -> Vec<(u64, u64)> {
    (0..s.n as u64)
        .map(|i| (super::jobs::mixed(i + 1) >> 1, i))
        .collect()
}
