// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/fib/config.hpp.

/// Inner nodes of the call tree of fib(n): fib(n + 1) - 1.
pub fn forks(n: i64) -> f64 {
    let (mut a, mut b) = (0.0, 1.0);
    for _ in 0..=n {
        (a, b) = (b, a + b);
    }
    a - 1.0
}
