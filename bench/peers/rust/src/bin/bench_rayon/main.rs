// SPDX-License-Identifier: Apache-2.0
//! The rayon peer. Each workload is written as rayon's users would: `join` where two branches fork,
//! `scope` and `spawn` where tasks are produced one by one, parallel iterators over arrays.
mod arrays;
mod forks;
mod jobs;
mod latency;
mod producers;
mod shipped;

use creek_bench_peers::{locked, peer_main, Peer};
use rayon::{ThreadPool, ThreadPoolBuilder};

fn start(workers: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .expect("rayon's thread pool")
}

fn main() {
    peer_main(&Peer {
        name: "rayon",
        version: locked("rayon"),
        start,
        table: &[
            ("axpy", arrays::axpy),
            ("bpc", producers::bpc),
            ("bpc_1us", producers::bpc_1us),
            ("colour_histogram", shipped::colour_histogram),
            ("count_bigrams", jobs::count_bigrams),
            ("count_matches", shipped::count_matches),
            ("count_words", jobs::count_words),
            ("count_words_real", jobs::count_words),
            ("deque", latency::deque),
            ("distinct_keys", jobs::distinct_keys),
            ("fib", forks::fib),
            ("filter_lines", shipped::filter_lines),
            ("idle", latency::idle),
            ("inverted_index", jobs::inverted_index),
            ("kmeans_round", shipped::kmeans_round),
            ("line_fit", shipped::line_fit),
            ("loop_20us", arrays::loop_20us),
            ("matmul", forks::matmul),
            ("mergesort", forks::mergesort),
            ("nqueens", forks::nqueens),
            ("parallel_sort", arrays::parallel_sort),
            ("round_trip", latency::round_trip),
            ("sort_records", shipped::sort_records),
            ("spc", producers::spc),
            ("spc_1us", producers::spc_1us),
            ("sum", arrays::sum),
            ("sum_by_key", jobs::sum_by_key),
            ("sum_by_key_large", jobs::sum_by_key),
            ("uts", forks::uts),
            ("wakeup", latency::wakeup),
        ],
    });
}
