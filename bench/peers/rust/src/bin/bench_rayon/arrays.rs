// SPDX-License-Identifier: Apache-2.0
//! Loops and the sort, by parallel iterators and slices.
use creek_bench_peers::workloads::{integers, loops};
use creek_bench_peers::{busy, timed, Sample, Settings};
use rayon::prelude::*;
use rayon::ThreadPool;

pub fn axpy(pool: &ThreadPool, s: &Settings) -> Sample {
    let x = loops::x(s.n);
    let mut y = vec![1.0; x.len()];
    let (total_ns, ()) = pool.install(|| {
        timed(|| {
            y.par_iter_mut()
                .zip(&x)
                .for_each(|(y, x)| *y += loops::FACTOR * x)
        })
    });
    Sample {
        total_ns,
        work: s.n as f64,
        answer: loops::answer(&y),
    }
}

pub fn sum(pool: &ThreadPool, s: &Settings) -> Sample {
    let x = loops::x(s.n);
    let (total_ns, total) = pool.install(|| timed(|| x.par_iter().sum::<f64>()));
    Sample {
        total_ns,
        work: s.n as f64,
        answer: total as u64,
    }
}

pub fn loop_20us(pool: &ThreadPool, s: &Settings) -> Sample {
    let steps = 20 * s.grain / loops::ITERATIONS as i64;
    let mut out = vec![0u64; loops::ITERATIONS];
    let (total_ns, ()) = pool.install(|| {
        timed(|| {
            for _ in 0..s.n {
                out.par_iter_mut()
                    .enumerate()
                    .for_each(|(i, slot)| *slot = busy(steps, i as u64));
            }
        })
    });
    let answer = out.iter().fold(0u64, |a, b| a.wrapping_add(*b));
    Sample {
        total_ns,
        work: s.n as f64,
        answer,
    }
}

pub fn parallel_sort(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut data = integers::random_integers(s.n);
    let (total_ns, ()) = pool.install(|| timed(|| data.par_sort_unstable()));
    Sample {
        total_ns,
        work: s.n as f64,
        answer: integers::order_hash(&data),
    }
}
