// SPDX-License-Identifier: Apache-2.0
//! Mirrors bench/nqueens/config.hpp: boards of up to 16 rows, copied into every task.

pub type Board = [i8; 16];

/// Whether a queen at (row, column) is safe from those in the rows above.
#[inline]
pub fn safe(board: &Board, row: usize, column: i8) -> bool {
    board[..row]
        .iter()
        .enumerate()
        .all(|(i, &other)| other != column && (other - column).unsigned_abs() as usize != row - i)
}

#[inline]
pub fn with(mut board: Board, row: usize, column: i8) -> Board {
    board[row] = column;
    board
}

/// The columns of the safe placements in `row`, and how many there are.
#[inline]
pub fn candidates(board: &Board, row: usize, n: usize) -> ([i8; 16], usize) {
    let mut columns = [0; 16];
    let mut count = 0;
    for column in 0..n as i8 {
        if safe(board, row, column) {
            columns[count] = column;
            count += 1;
        }
    }
    (columns, count)
}

/// Safe placements in all: the number of tasks.
pub fn placements(n: u32, columns: u32, left: u32, right: u32) -> u64 {
    let mut free = !(columns | left | right) & ((1 << n) - 1);
    let mut count = 0;
    while free != 0 {
        let queen = free & free.wrapping_neg();
        count += 1 + placements(
            n,
            columns | queen,
            (left | queen) << 1,
            (right | queen) >> 1,
        );
        free &= free - 1;
    }
    count
}
