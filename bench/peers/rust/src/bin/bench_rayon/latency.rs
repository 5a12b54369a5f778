// SPDX-License-Identifier: Apache-2.0
//! Wake-up, idle cost and round trip; and rayon's deque, which is crossbeam's, alone.
use creek_bench_peers::workloads::latency;
use creek_bench_peers::{busy, timed, Sample, Settings};
use crossbeam_deque::Worker;
use rayon::prelude::*;
use rayon::ThreadPool;
use std::time::Instant;

pub fn wakeup(pool: &ThreadPool, s: &Settings) -> Sample {
    latency::wakeup(s, || pool.install(Instant::now))
}

pub fn idle(pool: &ThreadPool, s: &Settings) -> Sample {
    latency::idle(s, || {
        pool.install(|| {
            (0..1000u64).into_par_iter().for_each(|i| {
                std::hint::black_box(busy(s.grain, i));
            })
        });
    })
}

pub fn round_trip(pool: &ThreadPool, s: &Settings) -> Sample {
    pool.install(|| latency::round_trips(s, |m| rayon::join(|| m.wait(), || m.answer()).0))
}

pub fn deque(_: &ThreadPool, s: &Settings) -> Sample {
    const BURST: i64 = 64;
    let worker = Worker::new_lifo();
    let (total_ns, answer) = timed(|| {
        let mut sum = 0u64;
        for i in (0..s.n).step_by(BURST as usize) {
            for k in 0..BURST {
                worker.push((i + k) as u64);
            }
            for _ in 0..BURST {
                sum += worker.pop().expect("nobody steals");
            }
        }
        sum
    });
    Sample {
        total_ns,
        work: s.n as f64,
        answer,
    }
}
