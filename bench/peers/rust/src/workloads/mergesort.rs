// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/mergesort/config.hpp: the leaves; the recursions are the peers'.

pub const SORT_LEAF: usize = 512;
pub const MERGE_LEAF: usize = 2048;

/// Sorts a leaf of `data`; the result ends up in `spare` if `into_spare`.
pub fn sort_leaf(data: &mut [u32], spare: &mut [u32], into_spare: bool) {
    data.sort_unstable();
    if into_spare {
        spare.copy_from_slice(data);
    }
}

pub fn merge_leaf(a: &[u32], b: &[u32], out: &mut [u32]) {
    let (mut i, mut j) = (0, 0);
    for slot in out {
        if j == b.len() || (i < a.len() && a[i] <= b[j]) {
            *slot = a[i];
            i += 1;
        } else {
            *slot = b[j];
            j += 1;
        }
    }
}

/// Where to cut the longer run `a` and the shorter `b` so that the parts merge independently.
pub fn cut(a: &[u32], b: &[u32]) -> (usize, usize) {
    let i = a.len() / 2;
    (i, b.partition_point(|&x| x < a[i]))
}
