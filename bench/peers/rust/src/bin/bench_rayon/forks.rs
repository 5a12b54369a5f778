// SPDX-License-Identifier: Apache-2.0
//! The workloads that fork in two, by `rayon::join`.
use creek_bench_peers::workloads::{
    fib as fib_config, integers, matmul as tiles, mergesort as runs,
};
use creek_bench_peers::workloads::{nqueens as queens, uts as tree};
use creek_bench_peers::{timed, Sample, Settings};
use rayon::{join, ThreadPool};

fn fib_of(n: i64) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = join(|| fib_of(n - 1), || fib_of(n - 2));
    a + b
}

pub fn fib(pool: &ThreadPool, s: &Settings) -> Sample {
    let (total_ns, answer) = pool.install(|| timed(|| fib_of(s.n)));
    Sample {
        total_ns,
        work: fib_config::forks(s.n),
        answer,
    }
}

/// Solutions below the placements of `columns` in `row`: halves the list down to one placement.
fn branch(board: &queens::Board, row: usize, n: usize, columns: &[i8]) -> u64 {
    match columns {
        [] => 0,
        [column] => solve(&queens::with(*board, row, *column), row + 1, n),
        _ => {
            let (left, right) = columns.split_at(columns.len() / 2);
            let (a, b) = join(
                || branch(board, row, n, left),
                || branch(board, row, n, right),
            );
            a + b
        }
    }
}

fn solve(board: &queens::Board, row: usize, n: usize) -> u64 {
    if row == n {
        return 1;
    }
    let (columns, count) = queens::candidates(board, row, n);
    branch(board, row, n, &columns[..count])
}

pub fn nqueens(pool: &ThreadPool, s: &Settings) -> Sample {
    let work = queens::placements(s.n as u32, 0, 0, 0) as f64;
    let (total_ns, answer) = pool.install(|| timed(|| solve(&[0; 16], 0, s.n as usize)));
    Sample {
        total_ns,
        work,
        answer,
    }
}

fn search_children(at: &tree::Node, first: usize, last: usize, limit: i64) -> u64 {
    if last - first == 1 {
        return search(&tree::child(at, first), limit);
    }
    let middle = first + (last - first) / 2;
    let (a, b) = join(
        || search_children(at, first, middle, limit),
        || search_children(at, middle, last, limit),
    );
    a + b
}

fn search(at: &tree::Node, limit: i64) -> u64 {
    match tree::children(at, limit) {
        0 => 1,
        count => 1 + search_children(at, 0, count, limit),
    }
}

pub fn uts(pool: &ThreadPool, s: &Settings) -> Sample {
    let (total_ns, answer) = pool.install(|| timed(|| search(&tree::root(), s.n)));
    Sample {
        total_ns,
        work: answer as f64,
        answer,
    }
}

fn multiply(c: tiles::Block, a: tiles::Block, b: tiles::Block, n: usize) {
    if n == tiles::TILE {
        return tiles::multiply_tile(c, a, b);
    }
    let half = n / 2;
    for k in 0..2 {
        let part = |i, j| {
            multiply(
                c.quadrant(i, j, half),
                a.quadrant(i, k, half),
                b.quadrant(k, j, half),
                half,
            )
        };
        join(
            || join(|| part(0, 0), || part(0, 1)),
            || join(|| part(1, 0), || part(1, 1)),
        );
    }
}

pub fn matmul(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut m = tiles::Matrices::new(s.n as usize);
    let (c, a, b) = m.blocks();
    let (total_ns, ()) = pool.install(|| timed(|| multiply(c, a, b, s.n as usize)));
    Sample {
        total_ns,
        work: m.tiles(),
        answer: m.answer(),
    }
}

fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
    if a.len() < b.len() {
        return merge(b, a, out);
    }
    if out.len() <= runs::MERGE_LEAF {
        return runs::merge_leaf(a, b, out);
    }
    let (i, j) = runs::cut(a, b);
    let ((a_low, a_high), (b_low, b_high)) = (a.split_at(i), b.split_at(j));
    let (low, high) = out.split_at_mut(i + j);
    join(|| merge(a_low, b_low, low), || merge(a_high, b_high, high));
}

fn sort(data: &mut [u32], spare: &mut [u32], into_spare: bool) {
    if data.len() <= runs::SORT_LEAF {
        return runs::sort_leaf(data, spare, into_spare);
    }
    let half = data.len() / 2;
    let (data_low, data_high) = data.split_at_mut(half);
    let (spare_low, spare_high) = spare.split_at_mut(half);
    join(
        || sort(data_low, spare_low, !into_spare),
        || sort(data_high, spare_high, !into_spare),
    );
    if into_spare {
        merge(data_low, data_high, spare);
    } else {
        merge(spare_low, spare_high, data);
    }
}

pub fn mergesort(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut data = integers::random_integers(s.n);
    let mut spare = vec![0; data.len()];
    let (total_ns, ()) = pool.install(|| timed(|| sort(&mut data, &mut spare, false)));
    Sample {
        total_ns,
        work: s.n as f64,
        answer: integers::order_hash(&data),
    }
}
