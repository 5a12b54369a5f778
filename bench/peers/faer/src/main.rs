// SPDX-License-Identifier: Apache-2.0
//! The faer peer: its in-place routines on column-major storage, scratch space allocated outside the
//! timed part.
mod dense;

use creek_bench_peers::{locked_in, peer_main, Peer, Sample, Settings};
use dense::*;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::{
    cholesky::llt, lu::partial_pivoting as lu, matmul::matmul, qr::no_pivoting as qr,
};
use faer::{perm::PermRef, Accum, Mat, MatMut, MatRef, Par};

fn start(workers: usize) -> Par {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
    pool.build_global().expect("rayon's thread pool");
    if workers == 1 {
        Par::Seq
    } else {
        Par::rayon(workers)
    }
}

fn view(a: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(a, n, a.len() / n)
}

fn view_mut(a: &mut [f64], n: usize) -> MatMut<'_, f64> {
    let columns = a.len() / n;
    MatMut::from_column_major_slice_mut(a, n, columns)
}

fn with_stack<R>(size: StackReq, f: impl FnOnce(&mut MemStack) -> R) -> R {
    f(MemStack::new(&mut MemBuffer::new(size)))
}

fn dgemm(par: &Par, s: &Settings) -> Sample {
    measure(
        s,
        |n| 2.0 * n * n * n,
        |n| (filled(A, n * n), filled(B, n * n), filled(C, n * n)),
        |n, (a, b, c)| {
            matmul(
                view_mut(c, n),
                Accum::Add,
                view(a, n),
                view(b, n),
                1.0,
                *par,
            )
        },
        |n, (a, b, c)| {
            let x = filled(RIGHT_SIDE, n);
            let (mut y, mut r) = (vec![0.0; n], vec![0.0; n]);
            add_product(&mut y, 1.0, b, &x);
            add_product(&mut r, 1.0, c, &x);
            fill(C, c);
            add_product(&mut r, -1.0, c, &x);
            add_product(&mut r, -1.0, a, &y);
            accepted(n, norm(&r), row_norm(a, n) * row_norm(b, n) * norm(&x))
        },
    )
}

struct Factored {
    a: Vec<f64>,
    rows: Vec<usize>,
    rows_back: Vec<usize>,
    x: Vec<f64>,
    scratch: MemBuffer,
}

fn lu_input(par: Par) -> impl FnMut(usize) -> Factored {
    move |n| Factored {
        a: filled(A, n * n),
        rows: vec![0; n],
        rows_back: vec![0; n],
        x: filled(RIGHT_SIDE, n),
        scratch: MemBuffer::new(StackReq::any_of(&[
            lu::factor::lu_in_place_scratch::<usize, f64>(n, n, par, Default::default()),
            lu::solve::solve_in_place_scratch::<usize, f64>(n, 1, par),
        ])),
    }
}

fn lu_factor(par: Par, n: usize, m: &mut Factored) {
    let stack = MemStack::new(&mut m.scratch);
    let a = view_mut(&mut m.a, n);
    lu::factor::lu_in_place(
        a,
        &mut m.rows,
        &mut m.rows_back,
        par,
        stack,
        Default::default(),
    );
}

fn lu_substitute(par: Par, n: usize, m: &mut Factored) {
    let a = view(&m.a, n);
    let rows = PermRef::new_checked(&m.rows, &m.rows_back, n);
    let stack = MemStack::new(&mut m.scratch);
    lu::solve::solve_in_place(a, a, rows, view_mut(&mut m.x, n), par, stack);
}

fn lu_flops(n: f64) -> f64 {
    2.0 / 3.0 * n * n * n
}

fn lu(par: &Par, s: &Settings) -> Sample {
    let factor = |n, m: &mut Factored| lu_factor(*par, n, m);
    measure(s, lu_flops, lu_input(*par), factor, |n, m| {
        lu_substitute(*par, n, m);
        fill(A, &mut m.a);
        accepted_solution(&m.a, &m.x)
    })
}

fn lu_solve(par: &Par, s: &Settings) -> Sample {
    let solve = |n, m: &mut Factored| {
        lu_factor(*par, n, m);
        lu_substitute(*par, n, m);
    };
    measure(s, lu_flops, lu_input(*par), solve, |_, m| {
        fill(A, &mut m.a);
        accepted_solution(&m.a, &m.x)
    })
}

fn cholesky(par: &Par, s: &Settings) -> Sample {
    let input = |n| {
        let mut a = vec![0.0; n * n];
        fill_positive_definite(&mut a, n);
        let size = llt::factor::cholesky_in_place_scratch::<f64>(n, *par, Default::default());
        (a, MemBuffer::new(size))
    };
    let factor = |n, (a, scratch): &mut (Vec<f64>, MemBuffer)| {
        let (a, stack) = (view_mut(a, n), MemStack::new(scratch));
        llt::factor::cholesky_in_place(a, Default::default(), *par, stack, Default::default())
            .expect("a positive definite matrix");
    };
    measure(
        s,
        |n| n * n * n / 3.0,
        input,
        factor,
        |n, (a, _)| {
            let mut x = filled(RIGHT_SIDE, n);
            with_stack(
                llt::solve::solve_in_place_scratch::<f64>(n, 1, *par),
                |stack| llt::solve::solve_in_place(view(a, n), view_mut(&mut x, n), *par, stack),
            );
            fill_positive_definite(a, n);
            accepted_solution(a, &x)
        },
    )
}

fn qr(par: &Par, s: &Settings) -> Sample {
    let input = |n| {
        let block = qr::factor::recommended_block_size::<f64>(n, n);
        let size = qr::factor::qr_in_place_scratch::<f64>(n, n, block, *par, Default::default());
        (
            filled(A, n * n),
            Mat::<f64>::zeros(block, n),
            MemBuffer::new(size),
        )
    };
    let factor = |n, (a, blocks, scratch): &mut (Vec<f64>, Mat<f64>, MemBuffer)| {
        let (a, stack) = (view_mut(a, n), MemStack::new(scratch));
        qr::factor::qr_in_place(a, blocks.as_mut(), *par, stack, Default::default());
    };
    measure(
        s,
        |n| 4.0 / 3.0 * n * n * n,
        input,
        factor,
        |n, (a, blocks, _)| {
            let mut x = filled(RIGHT_SIDE, n);
            let size = qr::solve::solve_in_place_scratch::<f64>(n, blocks.nrows(), 1, *par);
            with_stack(size, |stack| {
                let (q, x) = (view(a, n), view_mut(&mut x, n));
                qr::solve::solve_in_place(q, blocks.as_ref(), q, x, *par, stack)
            });
            fill(A, a);
            accepted_solution(a, &x)
        },
    )
}

fn main() {
    peer_main(&Peer {
        name: "faer",
        version: locked_in(include_str!("../Cargo.lock"), "faer"),
        start,
        table: &[
            ("cholesky", cholesky),
            ("dgemm", dgemm),
            ("lu", lu),
            ("lu_solve", lu_solve),
            ("qr", qr),
        ],
    });
}
