// SPDX-License-Identifier: Apache-2.0
//! SPC and BPC by `rayon::scope`.
use creek_bench_peers::workloads::marks::{Busy, Empty, Marks, Task, CONSUMERS, DEPTH};
use creek_bench_peers::{timed, Sample, Settings};
use rayon::{scope, ThreadPool};

fn single<T: Task>(pool: &ThreadPool, s: &Settings, task: T) -> Sample {
    let marks = Marks::new(s.n);
    let done = &marks;
    let (total_ns, ()) = pool.install(|| {
        timed(|| {
            scope(|scope| {
                for i in 0..s.n {
                    scope.spawn(move |_| task.run(done.slot(i)));
                }
            })
        })
    });
    Sample {
        total_ns,
        work: s.n as f64,
        answer: marks.sum(),
    }
}

pub fn spc(pool: &ThreadPool, s: &Settings) -> Sample {
    single(pool, s, Empty)
}

pub fn spc_1us(pool: &ThreadPool, s: &Settings) -> Sample {
    single(pool, s, Busy(s.grain))
}

fn produce<T: Task>(level: i64, done: &Marks, task: T) {
    scope(|scope| {
        if level > 0 {
            scope.spawn(move |_| produce(level - 1, done, task));
        }
        for i in 0..CONSUMERS {
            scope.spawn(move |_| task.run(done.slot(level * CONSUMERS + i)));
        }
    })
}

fn bouncing<T: Task>(pool: &ThreadPool, s: &Settings, task: T) -> Sample {
    let marks = Marks::new(DEPTH * CONSUMERS);
    let (total_ns, ()) =
        pool.install(|| timed(|| (0..s.n).for_each(|_| produce(DEPTH - 1, &marks, task))));
    Sample {
        total_ns,
        work: (s.n * DEPTH * (CONSUMERS + 1)) as f64,
        answer: marks.sum(),
    }
}

pub fn bpc(pool: &ThreadPool, s: &Settings) -> Sample {
    bouncing(pool, s, Empty)
}

pub fn bpc_1us(pool: &ThreadPool, s: &Settings) -> Sample {
    bouncing(pool, s, Busy(s.grain))
}
