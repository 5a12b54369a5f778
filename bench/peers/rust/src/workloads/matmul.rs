// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/matmul/config.hpp. Blocks are raw pointers, as quadrants of one matrix interleave.

pub const TILE: usize = 32;

#[derive(Clone, Copy)]
pub struct Block {
    at: *mut f64,
    stride: usize,
}

// SAFETY: the recursion gives each quadrant of the result to one branch; the operands are only read.
unsafe impl Send for Block {}
unsafe impl Sync for Block {}

impl Block {
    pub fn quadrant(self, row: usize, column: usize, half: usize) -> Block {
        // SAFETY: half is half the side of this block, row and column are 0 or 1.
        let at = unsafe { self.at.add(row * half * self.stride + column * half) };
        Block {
            at,
            stride: self.stride,
        }
    }
}

pub fn multiply_tile(c: Block, a: Block, b: Block) {
    for i in 0..TILE {
        // SAFETY: blocks of at least TILE by TILE; c's rows belong to this branch alone.
        let row = unsafe { std::slice::from_raw_parts_mut(c.at.add(i * c.stride), TILE) };
        for k in 0..TILE {
            let factor = unsafe { *a.at.add(i * a.stride + k) };
            let other = unsafe { std::slice::from_raw_parts(b.at.add(k * b.stride), TILE) };
            for j in 0..TILE {
                row[j] += factor * other[j];
            }
        }
    }
}

pub struct Matrices {
    n: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Matrices {
    pub fn new(n: usize) -> Self {
        let fill = |modulus, minus| (0..n * n).map(|i| (i % modulus) as f64 - minus).collect();
        Matrices {
            n,
            a: fill(7, 3.0),
            b: fill(5, 2.0),
            c: vec![0.0; n * n],
        }
    }

    /// C, A and B.
    pub fn blocks(&mut self) -> (Block, Block, Block) {
        let stride = self.n;
        let block = |v: &mut Vec<f64>| Block {
            at: v.as_mut_ptr(),
            stride,
        };
        (block(&mut self.c), block(&mut self.a), block(&mut self.b))
    }

    pub fn answer(&self) -> u64 {
        self.c.iter().fold(0u64, |hash, &x| {
            hash.wrapping_mul(31).wrapping_add(x as i64 as u64)
        })
    }

    pub fn tiles(&self) -> f64 {
        ((self.n / TILE) as f64).powi(3)
    }
}
