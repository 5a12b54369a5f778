// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/uts/config.hpp: the same tree.

#[derive(Clone, Copy)]
pub struct Node {
    pub state: u64,
    pub depth: i64,
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

pub fn root() -> Node {
    Node {
        state: mix(19),
        depth: 0,
    }
}

#[inline]
pub fn child(parent: &Node, index: usize) -> Node {
    let step = 0x9e3779b97f4a7c15u64.wrapping_mul(index as u64 + 1);
    Node {
        state: mix(parent.state.wrapping_add(step)),
        depth: parent.depth + 1,
    }
}

/// Geometrically distributed with mean 4, at most 64.
#[inline]
pub fn children(at: &Node, depth_limit: i64) -> usize {
    const Q: f64 = 0.8;
    if at.depth == 0 {
        return 4;
    }
    if at.depth >= depth_limit {
        return 0;
    }
    let u = (at.state >> 11) as f64 / (1u64 << 53) as f64;
    let (mut count, mut tail) = (0, Q);
    while u < tail && count < 64 {
        count += 1;
        tail *= Q;
    }
    count
}
