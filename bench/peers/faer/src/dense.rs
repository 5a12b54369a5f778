// SPDX-License-Identifier: Apache-2.0
//! Inputs, repetitions and checks: the same as bench/harness/dense.hpp, so that answers compare.
use creek_bench_peers::{timed, Sample, Settings};
use std::process::exit;

/// Which matrix or vector of a workload an element belongs to.
pub const A: u64 = 1;
pub const B: u64 = 2;
pub const C: u64 = 3;
pub const RIGHT_SIDE: u64 = 4;

/// Element `index` of input `which`, uniform in [-0.5, 0.5).
pub fn element(which: u64, index: usize) -> f64 {
    let mut z = (which << 56)
        .wrapping_add(index as u64)
        .wrapping_mul(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
    ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53) - 0.5
}

pub fn fill(which: u64, x: &mut [f64]) {
    for (index, value) in x.iter_mut().enumerate() {
        *value = element(which, index);
    }
}

pub fn filled(which: u64, size: usize) -> Vec<f64> {
    let mut x = vec![0.0; size];
    fill(which, &mut x);
    x
}

/// Symmetric and positive definite, because n on the diagonal outweighs its row.
pub fn fill_positive_definite(a: &mut [f64], n: usize) {
    for j in 0..n {
        for i in 0..n {
            a[i + j * n] =
                element(A, i.min(j) * n + i.max(j)) + if i == j { n as f64 } else { 0.0 };
        }
    }
}

/// y += factor * m x
pub fn add_product(y: &mut [f64], factor: f64, m: &[f64], x: &[f64]) {
    for (column, xj) in m.chunks_exact(y.len()).zip(x) {
        for (yi, mij) in y.iter_mut().zip(column) {
            *yi += factor * mij * xj;
        }
    }
}

/// The largest magnitude; not a number if there is one that is not.
pub fn norm(x: &[f64]) -> f64 {
    let not_a_number = x.iter().any(|v| v.is_nan());
    let most = x.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if not_a_number {
        f64::NAN
    } else {
        most
    }
}

/// The largest sum of the magnitudes of a row.
pub fn row_norm(m: &[f64], n: usize) -> f64 {
    let mut sums = vec![0.0; n];
    for column in m.chunks_exact(n) {
        for (sum, v) in sums.iter_mut().zip(column) {
            *sum += v.abs();
        }
    }
    norm(&sums)
}

/// The answer if the scaled residual is that of a backward stable algorithm.
pub fn accepted(n: usize, error: f64, scale: f64) -> u64 {
    let residual = error / (f64::EPSILON * n as f64 * scale);
    if residual < 16.0 {
        return n as u64;
    }
    eprintln!("faer: the scaled residual is {residual}, not below 16");
    exit(1)
}

/// ||A x - b|| / (eps n (||A|| ||x|| + ||b||)), as HPL has it.
pub fn accepted_solution(a: &[f64], x: &[f64]) -> u64 {
    let n = x.len();
    let b = filled(RIGHT_SIDE, n);
    let mut r = b.clone();
    add_product(&mut r, -1.0, a, x);
    accepted(n, norm(&r), row_norm(a, n) * norm(x) + norm(&b))
}

/// A first call at up to 2000, then so many at n that they take some tenths of a second; the figure
/// is their median. `prepare` is not timed.
pub fn measure<T>(
    s: &Settings,
    flops: fn(f64) -> f64,
    mut prepare: impl FnMut(usize) -> T,
    mut call: impl FnMut(usize, &mut T),
    check: impl FnOnce(usize, &mut T) -> u64,
) -> Sample {
    let n = s.n as usize;
    let first = n.min(2000);
    call(first, &mut prepare(first));
    let work = flops(n as f64);
    let most = if n < 500 { 3.0 } else { 51.0 };
    let calls = (4e10 / work).clamp(1.0, most) as usize;
    let mut times = Vec::new();
    let mut state = prepare(n);
    for i in 0..calls {
        if i > 0 {
            drop(state);
            state = prepare(n);
        }
        times.push(timed(|| call(n, &mut state)).0);
    }
    times.sort_by(f64::total_cmp);
    Sample {
        total_ns: times[calls / 2],
        work,
        answer: check(n, &mut state),
    }
}
