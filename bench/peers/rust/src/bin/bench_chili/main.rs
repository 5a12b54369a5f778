// SPDX-License-Identifier: Apache-2.0
//! The chili peer: heartbeat scheduling. It has `join` and nothing else, so it runs the workloads
//! that fork in two.
use chili::{Config, Scope, ThreadPool};
use creek_bench_peers::workloads::{fib as fib_config, latency, nqueens as queens, uts as tree};
use creek_bench_peers::{locked, peer_main, timed, Peer, Sample, Settings};
use std::num::NonZero;

/// chili counts the calling thread, which takes part.
fn start(workers: usize) -> ThreadPool {
    ThreadPool::with_config(Config {
        thread_count: NonZero::new(workers),
        ..Default::default()
    })
}

fn fib_of(scope: &mut Scope, n: i64) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = scope.join(|s| fib_of(s, n - 1), |s| fib_of(s, n - 2));
    a + b
}

fn fib(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut scope = pool.scope();
    let (total_ns, answer) = timed(|| fib_of(&mut scope, s.n));
    Sample {
        total_ns,
        work: fib_config::forks(s.n),
        answer,
    }
}

/// Solutions below the placements of `columns` in `row`: halves the list down to one placement.
fn branch(scope: &mut Scope, board: &queens::Board, row: usize, n: usize, columns: &[i8]) -> u64 {
    match columns {
        [] => 0,
        [column] => solve(scope, &queens::with(*board, row, *column), row + 1, n),
        _ => {
            let (left, right) = columns.split_at(columns.len() / 2);
            let (a, b) = scope.join(
                |s| branch(s, board, row, n, left),
                |s| branch(s, board, row, n, right),
            );
            a + b
        }
    }
}

fn solve(scope: &mut Scope, board: &queens::Board, row: usize, n: usize) -> u64 {
    if row == n {
        return 1;
    }
    let (columns, count) = queens::candidates(board, row, n);
    branch(scope, board, row, n, &columns[..count])
}

fn nqueens(pool: &ThreadPool, s: &Settings) -> Sample {
    let work = queens::placements(s.n as u32, 0, 0, 0) as f64;
    let mut scope = pool.scope();
    let (total_ns, answer) = timed(|| solve(&mut scope, &[0; 16], 0, s.n as usize));
    Sample {
        total_ns,
        work,
        answer,
    }
}

fn search_children(
    scope: &mut Scope,
    at: &tree::Node,
    first: usize,
    last: usize,
    limit: i64,
) -> u64 {
    if last - first == 1 {
        return search(scope, &tree::child(at, first), limit);
    }
    let middle = first + (last - first) / 2;
    let (a, b) = scope.join(
        |s| search_children(s, at, first, middle, limit),
        |s| search_children(s, at, middle, last, limit),
    );
    a + b
}

fn search(scope: &mut Scope, at: &tree::Node, limit: i64) -> u64 {
    match tree::children(at, limit) {
        0 => 1,
        count => 1 + search_children(scope, at, 0, count, limit),
    }
}

fn uts(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut scope = pool.scope();
    let (total_ns, answer) = timed(|| search(&mut scope, &tree::root(), s.n));
    Sample {
        total_ns,
        work: answer as f64,
        answer,
    }
}

fn idle(pool: &ThreadPool, s: &Settings) -> Sample {
    latency::idle(s, || {
        fib(pool, &Settings { n: 25, ..s.clone() });
    })
}

fn main() {
    peer_main(&Peer {
        name: "chili",
        version: locked("chili"),
        start,
        table: &[
            ("fib", fib),
            ("idle", idle),
            ("nqueens", nqueens),
            ("uts", uts),
        ],
    });
}
