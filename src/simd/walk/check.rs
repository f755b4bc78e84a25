//! The checks of [`Walk::new`](super::Walk::new) on a step's local matrix, and the errors of steps.

use super::Local;
use thiserror::Error;

/// The error of rejected steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum WalkError {
    #[error("the rows of a matrix are no distance apart")]
    Stride,
    #[error(
        "step {step}: a local matrix from row {row} on, {stride} apart, ends outside {rows} rows"
    )]
    Moving { step: usize, row: u32, stride: usize, rows: usize },
    #[error("step {step}: constant {constant} of {constants}")]
    Constant { step: usize, constant: u32, constants: usize },
    #[error("step {step}: parent {parent} of {models} model matrices")]
    Parent { step: usize, parent: u16, models: usize },
    #[error("step {step}: no step before it keeps the model matrix of its parent, {parent}")]
    Order { step: usize, parent: u16 },
    #[error("step {step}: its product goes to {model} of {models} model matrices")]
    Model { step: usize, model: u16, models: usize },
    #[error("the steps write {rows} palette rows, and there are {binds} inverse binds")]
    Rows { rows: usize, binds: usize },
}

/// The number of rows that constants take, in triples: the first rows of `stride` matrices, then their second rows, then
/// their third rows. The last triple is filled up.
pub(super) fn constant_rows(constants: usize, stride: usize) -> usize {
    constants.next_multiple_of(stride) * 3
}

/// Checks where a step's local matrix is. Replaces the number of a constant by its first row.
pub(super) fn check_local(
    step: usize,
    local: &mut Local,
    constants: usize,
    (rows, stride): (usize, usize),
) -> Result<(), WalkError> {
    match local {
        // The last of its three rows is two strides further.
        Local::Moving(row) if (*row as usize) >= rows.saturating_sub(2 * stride) => {
            Err(WalkError::Moving { step, row: *row, stride, rows })
        }
        Local::Moving(_) | Local::Done => Ok(()),
        Local::Constant(constant) => {
            let n = *constant as usize;
            if n >= constants {
                return Err(WalkError::Constant { step, constant: *constant, constants });
            }
            // Triples are stored as a whole, so the row two strides further exists.
            *constant = (n / stride * 3 * stride + n % stride) as u32;
            Ok(())
        }
    }
}
