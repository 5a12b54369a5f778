// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/harness/marks.hpp: the tasks of SPC and BPC each leave a byte in their own slot.
use crate::busy;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

pub struct Marks(Vec<AtomicU8>);

impl Marks {
    pub fn new(n: i64) -> Self {
        Marks((0..n).map(|_| AtomicU8::new(0)).collect())
    }
    pub fn slot(&self, i: i64) -> &AtomicU8 {
        &self.0[i as usize]
    }
    pub fn sum(&self) -> u64 {
        self.0
            .iter()
            .map(|mark| u64::from(mark.load(Relaxed)))
            .sum()
    }
}

/// What a task of SPC and BPC does.
pub trait Task: Copy + Send + Sync {
    fn run(self, slot: &AtomicU8);
}

#[derive(Clone, Copy)]
pub struct Empty;
impl Task for Empty {
    #[inline]
    fn run(self, slot: &AtomicU8) {
        slot.store(1, Relaxed);
    }
}

#[derive(Clone, Copy)]
pub struct Busy(pub i64);
impl Task for Busy {
    #[inline]
    fn run(self, slot: &AtomicU8) {
        slot.store(busy(self.0, 1) as u8, Relaxed);
    }
}

/// Of bench/bpc/config.hpp.
pub const DEPTH: i64 = 500;
pub const CONSUMERS: i64 = 9;
