// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/harness/integers.hpp: the input of the sorts and the hash of their result.

pub fn random_integers(n: i64) -> Vec<u32> {
    let mut x: u64 = 42;
    (0..n)
        .map(|_| {
            x = x
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (x >> 32) as u32
        })
        .collect()
}

pub fn order_hash(data: &[u32]) -> u64 {
    data.iter().fold(0u64, |hash, &value| {
        hash.wrapping_mul(0x9e3779b97f4a7c15)
            .wrapping_add(u64::from(value))
    })
}
