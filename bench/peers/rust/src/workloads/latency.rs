// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/wakeup, bench/idle and bench/round_trip.
use crate::{Sample, Settings};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::{Duration, Instant};

/// The median of what was measured, as bench::median_sample.
pub fn median_sample(mut nanoseconds: Vec<f64>, answer: u64) -> Sample {
    if nanoseconds.is_empty() {
        return Sample {
            total_ns: 0.0,
            work: 0.0,
            answer,
        };
    }
    nanoseconds.sort_unstable_by(f64::total_cmp);
    let count = nanoseconds.len();
    Sample {
        total_ns: nanoseconds[count / 2] * count as f64,
        work: count as f64,
        answer,
    }
}

/// `submit()` hands over a task and returns the moment at which that task began, when it is done.
pub fn wakeup(s: &Settings, submit: impl Fn() -> Instant) -> Sample {
    let latencies = (0..s.n)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(5));
            let handed = Instant::now();
            submit().duration_since(handed).as_nanos() as f64
        })
        .collect();
    median_sample(latencies, s.n as u64)
}

/// Sum over the process's threads of the time they ran, in nanoseconds, from the scheduler.
fn cpu_ns() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return 0.0;
    };
    threads
        .flatten()
        .filter_map(|t| std::fs::read_to_string(t.path().join("schedstat")).ok())
        .filter_map(|line| {
            line.split_whitespace()
                .next()
                .and_then(|ns| ns.parse::<f64>().ok())
        })
        .sum()
}

/// Processor time burnt in n ms of idleness, from 10 ms after `warm()`.
pub fn idle(s: &Settings, warm: impl Fn()) -> Sample {
    warm();
    std::thread::sleep(Duration::from_millis(10));
    let before = cpu_ns();
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(s.n as u64));
    let work = start.elapsed().as_nanos() as f64;
    Sample {
        total_ns: cpu_ns() - before,
        work,
        answer: 1,
    }
}

/// One trip's answer, on lines of its own.
#[repr(align(128))]
#[derive(Default)]
pub struct Mailbox(AtomicBool);

impl Mailbox {
    pub fn answer(&self) {
        self.0.store(true, Release);
    }
    /// Whether the answer came within about 2 ms.
    pub fn wait(&self) -> bool {
        let start = Instant::now();
        while !(0..1000).any(|_| self.0.load(Acquire)) {
            if start.elapsed() > Duration::from_millis(2) {
                return false;
            }
        }
        true
    }
    pub fn reset(&self) {
        self.0.store(false, Relaxed);
    }
}

/// `trip` makes a task that answers, waits for it and says whether the answer came meanwhile.
pub fn round_trips(s: &Settings, trip: impl Fn(&Mailbox) -> bool) -> Sample {
    let mailbox = Mailbox::default();
    let mut times = Vec::new();
    let mut given_up_ns = 0.0;
    for _ in 0..s.n {
        if given_up_ns > 1e9 {
            break;
        }
        mailbox.reset();
        let (ns, answered) = crate::timed(|| trip(&mailbox));
        if answered {
            times.push(ns);
        } else {
            given_up_ns += ns;
        }
    }
    median_sample(times, 1)
}
