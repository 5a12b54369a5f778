// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/parallel_for/config.hpp.

pub const FACTOR: f64 = 3.0;
pub const ITERATIONS: usize = 100;

pub fn x(n: i64) -> Vec<f64> {
    (0..n).map(|i| (i % 1024) as f64).collect()
}

/// Of every thousandth element, and the last.
pub fn answer(y: &[f64]) -> u64 {
    (y.iter().step_by(1000).sum::<f64>() + y[y.len() - 1]) as u64
}
