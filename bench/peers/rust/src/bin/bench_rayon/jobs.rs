// SPDX-License-Identifier: Apache-2.0
//! Groups by key: each task folds a part of the input into a map of hashbrown, and maps are merged.
use creek_bench_peers::workloads::jobs;
use creek_bench_peers::{timed, Sample, Settings};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use rayon::ThreadPool;

/// Merges the smaller map into the other.
fn merged<K: Eq + std::hash::Hash, V: Default>(
    a: HashMap<K, V>,
    b: HashMap<K, V>,
    add: impl Fn(&mut V, V),
) -> HashMap<K, V> {
    let (mut into, from) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for (key, value) in from {
        add(into.entry(key).or_default(), value);
    }
    into
}

fn sums<K: Eq + std::hash::Hash>(a: HashMap<K, u64>, b: HashMap<K, u64>) -> HashMap<K, u64> {
    merged(a, b, |into, from| *into += from)
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
                .reduce(HashMap::new, sums)
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

type Lists<'a> = HashMap<&'a [u8], Vec<u64>>;

pub fn inverted_index(pool: &ThreadPool, s: &Settings) -> Sample {
    let text = jobs::text_of(s);
    let begin_of = |line: &[u8]| line.as_ptr() as u64 - text.as_ptr() as u64;
    let (total_ns, lists) = pool.install(|| {
        timed(|| {
            text.par_split(|&byte| byte == b'\n')
                .fold(HashMap::new, |mut lists: Lists, line| {
                    let begin = begin_of(line);
                    for word in line.split(|&byte| byte == b' ').filter(|w| !w.is_empty()) {
                        lists.entry(word).or_default().push(begin);
                    }
                    lists
                })
                .reduce(HashMap::new, |a, b| merged(a, b, |into, from| into.extend(from)))
        })
    });
    let numbers = lists
        .iter()
        .map(|(key, list)| (jobs::number_of_text(key), list.iter().sum()));
    Sample {
        total_ns,
        work: text.len() as f64,
        answer: jobs::answer(numbers),
    }
}

pub fn distinct_keys(pool: &ThreadPool, s: &Settings) -> Sample {
    let pairs = jobs::pairs_of(s);
    let (total_ns, keys) = pool.install(|| {
        timed(|| {
            pairs
                .par_iter()
                .fold(HashSet::new, |mut keys, &(key, _)| {
                    keys.insert(key);
                    keys
                })
                .reduce(HashSet::new, |a, b| {
                    let (mut into, from) = if a.len() < b.len() { (b, a) } else { (a, b) };
                    into.extend(from);
                    into
                })
        })
    });
    Sample {
        total_ns,
        work: pairs.len() as f64,
        answer: jobs::answer(keys.iter().map(|&key| (key % 1024, 1))),
    }
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
                .reduce(HashMap::new, sums)
        })
    });
    Sample {
        total_ns,
        work: pairs.len() as f64,
        answer: jobs::answer(sums.iter().map(|(&key, &sum)| (key % 1024, sum))),
    }
}
