// SPDX-License-Identifier: Apache-2.0
//! Inputs, sizes and answers shared by the Rust peers; each mirrors bench/<workload>/config.hpp.
pub mod fib;
pub mod integers;
pub mod jobs;
pub mod latency;
pub mod loops;
pub mod marks;
pub mod matmul;
pub mod mergesort;
pub mod nqueens;
pub mod shipped;
pub mod uts;
