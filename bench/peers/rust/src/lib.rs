// SPDX-License-Identifier: Apache-2.0
//! The protocol of a benchmark peer (see bench/README.md) and what the workloads share: the same
//! sizes, inputs and answers as the C++ peers' config.hpp files, so that answers can be compared.
pub mod workloads;

use std::process::exit;
use std::time::Instant;

/// What one run is asked to do.
#[derive(Clone, Debug)]
pub struct Settings {
    pub workload: String,
    pub n: i64,
    pub workers: usize,
    pub grain: i64,
}

/// What one run gave: `total_ns / work` is the figure.
pub struct Sample {
    pub total_ns: f64,
    pub work: f64,
    pub answer: u64,
}

pub type Run<P> = fn(&P, &Settings) -> Sample;

/// A runtime under test: its name, version and the table of what it can run.
pub struct Peer<P: 'static> {
    pub name: &'static str,
    pub version: String,
    pub start: fn(usize) -> P,
    pub table: &'static [(&'static str, Run<P>)],
}

/// A crate's name and the version that Cargo.lock of this crate holds it at.
pub fn locked(name: &str) -> String {
    locked_in(include_str!("../Cargo.lock"), name)
}

/// ... that another Cargo.lock, whose text is `lock`, does.
pub fn locked_in(lock: &str, name: &str) -> String {
    let line = format!("name = \"{name}\"");
    let mut lines = lock
        .lines()
        .skip_while(|l| *l != line);
    let version = lines
        .nth(1)
        .and_then(|l| l.strip_prefix("version = "))
        .unwrap_or("?");
    format!("{name} {}", version.trim_matches('"'))
}

/// Wall nanoseconds that `f` takes, and its result.
pub fn timed<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = f();
    (start.elapsed().as_nanos() as f64, result)
}

/// `steps` dependent multiply-adds, as bench::busy of the C++ peers. The empty assembly keeps the
/// value in a register, where `black_box` would send it through memory and make a step longer.
pub fn busy(steps: i64, mut x: u64) -> u64 {
    for _ in 0..steps {
        x = x
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        // SAFETY: no instruction, no memory.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags));
        }
    }
    x
}

struct Options {
    list: bool,
    runs: usize,
    warmup: usize,
    settings: Settings,
}

fn parse(peer: &str) -> Options {
    let mut options = Options {
        list: false,
        runs: 3,
        warmup: 1,
        settings: Settings {
            workload: String::new(),
            n: 0,
            workers: 1,
            grain: 700,
        },
    };
    let mut args = std::env::args().skip(1);
    let fail = |what: String| -> ! {
        eprintln!("{peer}: {what}");
        exit(2)
    };
    while let Some(arg) = args.next() {
        if arg == "--list" {
            options.list = true;
            continue;
        }
        let Some(value) = args.next() else {
            fail(format!("{arg}: needs a value"))
        };
        let number = || -> i64 {
            value
                .parse()
                .unwrap_or_else(|_| fail(format!("{arg}: '{value}' is not a number")))
        };
        match arg.as_str() {
            "--workload" => options.settings.workload = value,
            "--n" => options.settings.n = number(),
            "--workers" => options.settings.workers = number().max(1) as usize,
            "--grain" => options.settings.grain = number(),
            "--runs" => options.runs = number().max(1) as usize,
            "--warmup" => options.warmup = number().max(0) as usize,
            _ => fail(format!("unknown option '{arg}'")),
        }
    }
    options
}

/// The main() of a peer.
pub fn peer_main<P>(peer: &Peer<P>) {
    let options = parse(peer.name);
    if options.list {
        for (name, _) in peer.table {
            println!(
                r#"{{"workload":"{name}","peer":"{}","version":"{}"}}"#,
                peer.name, peer.version
            );
        }
        return;
    }
    let s = &options.settings;
    let Some((_, run)) = peer.table.iter().find(|(name, _)| *name == s.workload) else {
        eprintln!(
            "{}: unknown workload '{}' (see --list)",
            peer.name, s.workload
        );
        exit(2)
    };
    if s.n <= 0 {
        eprintln!("{}: --n must be given and positive", peer.name);
        exit(2);
    }
    let pool = (peer.start)(s.workers);
    for _ in 0..options.warmup {
        run(&pool, s);
    }
    for _ in 0..options.runs {
        let got = run(&pool, s);
        if got.work <= 0.0 {
            eprintln!(
                "{}: {}: nothing could be measured here",
                peer.name, s.workload
            );
            exit(3);
        }
        println!(
            r#"{{"workload":"{}","peer":"{}","version":"{}","workers":{},"n":{},"work":{:?},"total_ns":{:?},"ns_per_task":{:?},"answer":"{}"}}"#,
            s.workload,
            peer.name,
            peer.version,
            s.workers,
            s.n,
            got.work,
            got.total_ns,
            got.total_ns / got.work,
            got.answer
        );
    }
}
