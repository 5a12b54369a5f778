// SPDX-License-Identifier: Apache-2.0
//! What creek ships as jobs, as rayon's users would write it: folds over chunks, memchr's search.
use creek_bench_peers::workloads::{jobs, shipped};
use creek_bench_peers::{timed, Sample, Settings};
use memchr::{memchr, memmem, memrchr};
use rayon::prelude::*;
use rayon::ThreadPool;

/// Adds up arrays of sums over chunks of the data.
fn sums<T: Sync, const N: usize>(
    pool: &ThreadPool,
    data: &[T],
    add: impl Fn(&[T], &mut [u64; N]) + Sync,
) -> Sample {
    let (total_ns, all) = pool.install(|| {
        timed(|| {
            data.par_chunks(1 << 16)
                .fold(
                    || [0u64; N],
                    |mut sums, chunk| {
                        add(chunk, &mut sums);
                        sums
                    },
                )
                .reduce(|| [0u64; N], added)
        })
    });
    Sample {
        total_ns,
        work: std::mem::size_of_val(data) as f64,
        answer: shipped::digest(all.into_iter()),
    }
}

fn added<T: Copy + std::ops::AddAssign, const N: usize>(mut a: [T; N], b: [T; N]) -> [T; N] {
    for (into, from) in a.iter_mut().zip(b) {
        *into += from;
    }
    a
}

pub fn colour_histogram(pool: &ThreadPool, s: &Settings) -> Sample {
    sums(pool, &shipped::pixels(s), |pixels, counts: &mut [u64; 768]| {
        for [r, g, b] in pixels {
            counts[*r as usize] += 1;
            counts[256 + *g as usize] += 1;
            counts[512 + *b as usize] += 1;
        }
    })
}

pub fn line_fit(pool: &ThreadPool, s: &Settings) -> Sample {
    sums(pool, &shipped::byte_points(s), |points, sums: &mut [u64; 5]| {
        let mut here = [0u32; 5]; // at most 2^16 points
        let mut squares = [0u64; 3];
        for part in points.chunks(1 << 12) {
            let mut products = [0u32; 3]; // at most 2^12 of them
            for &[x, y] in part {
                let (x, y) = (x as u32, y as u32);
                here[0] += x;
                here[1] += y;
                products[0] += x * x;
                products[1] += y * y;
                products[2] += x * y;
            }
            for (into, from) in squares.iter_mut().zip(products) {
                *into += from as u64;
            }
        }
        sums[0] += here[0] as u64;
        sums[1] += here[1] as u64;
        for (into, from) in sums[2..].iter_mut().zip(squares) {
            *into += from;
        }
    })
}

pub fn kmeans_round(pool: &ThreadPool, s: &Settings) -> Sample {
    const D: usize = shipped::DIMENSIONS;
    const SUMS: usize = shipped::CLUSTERS * (D + 1) + 1;
    let points = shipped::points(s);
    let centres = &points[..shipped::CLUSTERS];
    let nearest = |point: &[f32; D]| {
        let mut best = (f32::INFINITY, 0);
        for (c, centre) in centres.iter().enumerate() {
            let mut distance = 0.0;
            for j in 0..D {
                let away = point[j] - centre[j];
                distance += away * away;
            }
            if distance < best.0 {
                best = (distance, c);
            }
        }
        best
    };
    let (total_ns, all) = pool.install(|| {
        timed(|| {
            points
                .par_chunks(8192)
                .fold(
                    || [0f64; SUMS],
                    |mut sums, chunk| {
                        for point in chunk {
                            let (distance, c) = nearest(point);
                            let row = &mut sums[c * (D + 1)..];
                            for j in 0..D {
                                row[j] += point[j] as f64;
                            }
                            row[D] += 1.0;
                            sums[SUMS - 1] += distance as f64;
                        }
                        sums
                    },
                )
                .reduce(|| [0f64; SUMS], added)
        })
    });
    Sample {
        total_ns,
        work: points.len() as f64,
        answer: shipped::digest(all.into_iter().map(|sum| sum as u64)),
    }
}

/// Returns parts of the text that end with a line.
fn parts(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let enough = rest.len().min(1 << 20);
        let end = memchr(b'\n', &rest[enough..]).map_or(rest.len(), |at| enough + at + 1);
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    parts
}

/// Calls `f` with each line that has the string, without its end.
fn for_each_line_with<'a>(text: &'a [u8], finder: &memmem::Finder, mut f: impl FnMut(&'a [u8])) {
    let mut rest = text;
    while let Some(at) = finder.find(rest) {
        let begin = memrchr(b'\n', &rest[..at]).map_or(0, |before| before + 1);
        let end = memchr(b'\n', &rest[at..]).map_or(rest.len(), |behind| at + behind);
        f(&rest[begin..end]);
        rest = &rest[(end + 1).min(rest.len())..];
    }
}

pub fn count_matches(pool: &ThreadPool, s: &Settings) -> Sample {
    let text = jobs::text_of(s);
    let finders = shipped::STRINGS.map(memmem::Finder::new);
    let (total_ns, lines) = pool.install(|| {
        timed(|| {
            parts(&text)
                .par_iter()
                .map(|part| {
                    let mut lines = [0u64; 3];
                    for (count, finder) in lines.iter_mut().zip(&finders) {
                        for_each_line_with(part, finder, |_| *count += 1);
                    }
                    lines
                })
                .reduce(|| [0u64; 3], added)
        })
    });
    Sample {
        total_ns,
        work: text.len() as f64,
        answer: jobs::answer((1..).zip(lines)),
    }
}

pub fn filter_lines(pool: &ThreadPool, s: &Settings) -> Sample {
    let text = jobs::text_of(s);
    let finder = memmem::Finder::new(shipped::STRINGS[1]);
    let (total_ns, found) = pool.install(|| {
        timed(|| {
            parts(&text)
                .par_iter()
                .map(|part| {
                    let mut lines = Vec::new();
                    for_each_line_with(part, &finder, |line| lines.push(line));
                    lines
                })
                .collect::<Vec<_>>()
        })
    });
    Sample {
        total_ns,
        work: text.len() as f64,
        answer: jobs::answer(found.iter().flatten().map(|line| (line.len() as u64, 1))),
    }
}

pub fn sort_records(pool: &ThreadPool, s: &Settings) -> Sample {
    let mut records = shipped::records(s);
    let (total_ns, ()) = pool.install(|| timed(|| records.par_sort_unstable_by_key(|each| each.0)));
    Sample {
        total_ns,
        work: records.len() as f64,
        answer: jobs::answer((1..).zip(records.iter().map(|each| each.0 % 1024 + each.1 % 1024))),
    }
}
