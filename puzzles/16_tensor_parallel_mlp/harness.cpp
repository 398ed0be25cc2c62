// Loads the parts that the learner's functions name, calls forward and backward, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(part_of_up, Rectangle(const Group& tp, Count rows, Count cols));
SHARDLINGS_LEARNER_FUNCTION(part_of_down, Rectangle(const Group& tp, Count rows, Count cols));
SHARDLINGS_LEARNER_FUNCTION(mlp_forward,
                            Tensor(Group& tp, const Linear& up, const Linear& down, ConstView x, Tensor& z, Tensor& a));
SHARDLINGS_LEARNER_FUNCTION(mlp_backward, Tensor(Group& tp, const Linear& up, const Linear& down, ConstView x,
                                                 ConstView z, ConstView a, ConstView grad_y));

namespace {

/// What the learner has chosen, as numbers: up's rows and columns, down's rows and columns.
std::vector<float> numbers_of(const Rectangle& up, const Rectangle& down) {
  std::vector<float> numbers;
  for (const Range& range : {up.rows, up.cols, down.rows, down.cols}) {
    numbers.push_back(static_cast<float>(range.begin));
    numbers.push_back(static_cast<float>(range.end));
  }
  return numbers;
}

Rectangle checked(const std::string& function, Rectangle part, Count rows, Count cols) {
  submission::Harness::check_choice(function, "rows", part.rows, rows);
  submission::Harness::check_choice(function, "columns", part.cols, cols);
  return part;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Group& tp = h.rank().world();
  const Count width = h.kase().model.hidden;
  const Count middle = h.model().entries(0).front().rows;
  const Shape shape{h.kase().model.sequence, h.kase().batch, width};
  submission::LinearShard up = h.linear(0, "", checked("part_of_up", part_of_up(tp, middle, width), middle, width));
  submission::LinearShard down =
      h.linear(1, "", checked("part_of_down", part_of_down(tp, width, middle), width, middle));
  const Tensor x = h.normals(0, shape, Kind::activation);
  const Tensor grad_y = h.normals(1, shape, Kind::activation);
  Tensor z, a;
  h.begin();
  const Tensor y = mlp_forward(tp, up.linear(), down.linear(), x, z, a);
  const Tensor grad_x = mlp_backward(tp, up.linear(), down.linear(), x, z, a, grad_y);
  h.end();
  h.put("y", y);
  h.put("grad_x", grad_x);
  h.put_gradients("gradient of up", up);
  h.put_gradients("gradient of down", down);
  h.put_of_rank("parts", h.tensor(numbers_of(up.place.part, down.place.part), Kind::other));
}
