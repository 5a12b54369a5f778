// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/count_words, bench/sum_by_key and bench/harness/key_digest.hpp.
use crate::Settings;
use std::process::Command;

/// The text that the C++ peers count, as the serial one beside this program prints it.
pub fn text_of(s: &Settings) -> Vec<u8> {
    let own = std::env::current_exe().expect("the path of this program");
    let printed = Command::new(own.with_file_name("bench_serial"))
        .args(["--print-input", "--workload", &s.workload, "--n"])
        .arg(s.n.to_string())
        .output()
        .expect("bench_serial, which prints the text");
    assert!(printed.status.success(), "bench_serial could not print the text");
    printed.stdout
}

pub fn number_of_text(key: &[u8]) -> u64 {
    key.len() as u64 * 256 + u64::from(key[0])
}

pub fn mixed(mut z: u64) -> u64 {
    z = z.wrapping_mul(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
    z ^ (z >> 31)
}

pub fn pairs_of(s: &Settings) -> Vec<(u64, u64)> {
    let keys = s.n as u64;
    let many = if s.workload == "sum_by_key_large" { 100_000_000 } else { 16_000_000 };
    let count = if keys == 1000 { 100_000 } else { many };
    (0..count)
        .map(|i| (mixed(mixed(i + 1) % keys + 1) >> 1, i % 1000))
        .collect()
}

/// The answer of sums by key; the keys as numbers.
pub fn answer(sums: impl Iterator<Item = (u64, u64)>) -> u64 {
    sums.fold(0u64, |sum, (key, value)| {
        sum.wrapping_add(1_000_003)
            .wrapping_add(key.wrapping_mul(value))
    })
}
