// Puzzle 16: a perceptron with one hidden layer, divided over ranks: tensor parallelism.
//
// Each rank holds a part of both weights and computes with that part alone. Two sums over the ranks put it together.
// The lesson is README.md beside this file; `./shardlings explain 16` shows it in the terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// y = gelu(x upᵀ + up.bias) downᵀ + down.bias, with h inputs and outputs and f in the middle, on t = tp.size() ranks.
///
/// x, y, grad_x, grad_y  (s, b, h)            whole, and the same on all ranks
/// up.weight             your part of (f, h)  weights are (outputs, inputs). A bias has one number for each row that
/// down.weight           your part of (h, f)  the part of its weight has
/// up.grad_weight, …     as large             zeros; backward leaves the gradients of your parts there
/// z, a                  (s, b, f/t)          input and output of the GELU, empty at first. Forward leaves in them what
///                                            backward wants to have of them: backward gets them again
///
/// Result  y and grad_x on every rank as on one device; each rank the gradients of its own parts
/// Wire    as few all-reduces of (s, b, h) in forward as the best choice of parts allows, as few in backward, each by
///         one call, and nothing else
/// Memory  at most: parts and their gradients; x, y, grad_y; z and a; and what backward makes on its way, which goes as
///         soon as nothing reads it again. A part is as large as tp.mine(f) makes it at most; which rank has which part
///         is up to you
/// Work    1/t of the matrix products: six of s b h f/t, none of them twice
///
/// Calls that you need: tp.mine(n), this rank's part of n rows or columns; Rectangle{rows, columns}, where {0, n} is
/// all of n; matmul(a, b, trans), where nt makes a bᵀ, nn a b and tn aᵀ b, and (s, b, h) is a matrix of s b rows;
/// matmul_add(c, a, b, trans), which adds to c; add_bias(x, bias); sum_rows_add(sum, x), the gradient of a bias;
/// gelu(x); gelu_backward(x, grad), from the GELU's INPUT x; tp.all_reduce(view, ReduceOp::sum).

// >>> your code (about 20 lines)
/// Which rows and columns of up.weight, which has rows x cols, this rank holds. Its bias follows the rows.
Rectangle part_of_up(const Group& tp, Count rows, Count cols) {
  not_implemented();
}

/// The same for down.weight.
Rectangle part_of_down(const Group& tp, Count rows, Count cols) {
  not_implemented();
}

/// Returns y.
Tensor mlp_forward(Group& tp, const Linear& up, const Linear& down, ConstView x, Tensor& z, Tensor& a) {
  not_implemented();
}

/// Returns grad_x.
Tensor mlp_backward(Group& tp, const Linear& up, const Linear& down, ConstView x, ConstView z, ConstView a,
                    ConstView grad_y) {
  not_implemented();
}
// <<<
