// SPDX-License-Identifier: Apache-2.0
//! Sums by key: each task folds a part of the input into a map of hashbrown, and maps are merged.
use creek_bench_peers::workloads::jobs;
use creek_bench_peers::{timed, Sample, Settings};
use hashbrown::HashMap;
use rayon::prelude::*;
use rayon::ThreadPool;

fn merged<K: Eq + std::hash::Hash>(a: HashMap<K, u64>, b: HashMap<K, u64>) -> HashMap<K, u64> {
    let (mut into, from) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for (key, sum) in from {
        *into.entry(key).or_insert(0) += sum;
    }
    into
}

type Counts<'a> = HashMap<&'a [u8], u64>;

fn count(
    pool: &ThreadPool,
    s: &Settings,
    in_line: for<'a> fn(&'a [u8], &mut Counts<'a>),
) -> Sample {
    let text = jobs::text_of(s);
    let (total_ns, counts) = pool.install(|| {
        timed(|| {
            text.par_split(|&byte| byte == b'\n')
                .fold(HashMap::new, |mut counts, line| {
                    in_line(line, &mut counts);
                    counts
                })
                .reduce(HashMap::new, merged)
        })
    });
    let numbers = counts
        .iter()
        .map(|(key, &n)| (jobs::number_of_text(key), n));
    Sample {
        total_ns,
        work: text.len() as f64,
        answer: jobs::answer(numbers),
    }
}

fn words_in<'a>(line: &'a [u8], counts: &mut Counts<'a>) {
    for word in line.split(|&byte| byte == b' ') {
        if !word.is_empty() {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
}

fn bigrams_in<'a>(line: &'a [u8], counts: &mut Counts<'a>) {
    let mut begin = 0;
    let mut blanks = line.iter().enumerate().filter(|(_, &byte)| byte == b' ');
    let mut middle = blanks.next().map(|(at, _)| at);
    while let Some(blank) = middle {
        if blank + 1 == line.len() {
            return;
        }
        middle = blanks.next().map(|(at, _)| at);
        let pair = &line[begin..middle.unwrap_or(line.len())];
        *counts.entry(pair).or_insert(0) += 1;
        begin = blank + 1;
    }
}

pub fn count_words(pool: &ThreadPool, s: &Settings) -> Sample {
    count(pool, s, words_in)
}

pub fn count_bigrams(pool: &ThreadPool, s: &Settings) -> Sample {
    count(pool, s, bigrams_in)
}

pub fn sum_by_key(pool: &ThreadPool, s: &Settings) -> Sample {
    let pairs = jobs::pairs_of(s);
    let (total_ns, sums) = pool.install(|| {
        timed(|| {
            pairs
                .par_iter()
                .fold(HashMap::new, |mut sums, &(key, value)| {
                    *sums.entry(key).or_insert(0) += value;
                    sums
                })
                .reduce(HashMap::new, merged)
        })
    });
    Sample {
        total_ns,
        work: pairs.len() as f64,
        answer: jobs::answer(sums.iter().map(|(&key, &sum)| (key % 1024, sum))),
    }
}
