/// \file
/// One operation being handled: its arguments are looked up and checked, its result allocated, its kernel launched and
/// its cost charged. Keeps the handlers of the verbs to what is particular about each.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "api/arguments.h"
#include "back/kernels/kernel_ids.h"
#include "base/inline_list.h"
#include "base/shape_format.h"
#include "front/ops/handlers.h"

namespace shardlings::front {

namespace unpacked = detail::unpacked;

class Op {
 public:
  /// Whose memory the arguments are in: the device's, or that of the first argument, where host and device can do it.
  enum class Runs : std::uint8_t { on_device, where_data_are };
  Op(OpContext& of, const detail::Call& call, Runs runs = Runs::on_device);

  /// \name Arguments, in the order of the kernel's inputs and outputs
  /// As the table of verbs has them. All but may_read throw InvalidArgument for an empty view. What is returned stands
  /// in the Op, as long as that lives.
  /// @{
  const Operand& reads(detail::Argument<detail::FieldKind::reads> argument) {
    return reads(argument.index, argument.name);
  }
  const Operand& takes(detail::Argument<detail::FieldKind::takes> argument) {
    return reads(argument.index, argument.name);
  }
  /// Read, and written where it was.
  const Operand& writes(detail::Argument<detail::FieldKind::writes> argument) { return writes(argument, 2); }
  /// Written whatever was there.
  const Operand& overwrites(detail::Argument<detail::FieldKind::writes> argument) { return writes(argument, 1); }
  /// An argument that may be left out; the kernel gets a null pointer then.
  const Operand& may_read(detail::Argument<detail::FieldKind::may_read> argument) {
    return may_read(argument.index, argument.name);
  }
  /// One of the parts that a call is given.
  const Operand& part(int i) { return reads(i, "a part"); }
  /// Allocates a result, which becomes the next output of the kernel and the next tensor of the reply.
  const Operand& returns(Shape shape, DType dtype, Kind kind = Kind::activation);
  /// Replies with an argument's own storage.
  void returns_argument(const Operand& argument) { reply_.tensor[replies_++] = argument.ref; }
  /// @}

  /// \name Checks: each throws InvalidArgument with a sentence that begins with the operation's name
  /// @{
  /// The sentence is made only if it does not hold: give shapes as they are, not as texts.
  template <class... Args>
  void require(bool holds, fmt::format_string<Args...> sentence, Args&&... args) {
    if (!holds) fail(fmt::format(sentence, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(const std::string& sentence);
  bool on_host() const { return memory_ == Memory::host; }
  /// f32 or bf16, which is then the kernel's type.
  void computes_on(const Operand& x, const char* what);
  void has_type(const Operand& x, const char* what, DType dtype);
  void same_type(const Operand& a, const char* a_name, const Operand& b, const char* b_name);
  void same_size(const Operand& a, const char* a_name, const Operand& b, const char* b_name);
  /// `x` holds exactly n elements: one for each of `unit` ("row of x").
  void has_size(const Operand& x, const char* what, Count n, const char* unit);
  /// Computes on x; a sum into which bf16 is added may be kept in f32.
  void accumulates(const Operand& sum, const char* sum_name, const Operand& x, const char* x_name);
  /// @}

  /// Of x, no more than so many elements are read or written: table look-ups.
  void touches_only(const Operand& x, Count elements);
  /// Inputs and outputs may be the same memory only where nothing is read after it was written.
  void no_aliases() { aliases_ = false; }
  void matrix_product() { matrix_ = true; }
  /// What messages add to the operation's name: "nt" makes "matmul (nt)".
  void variant(const char* variant) { variant_ = variant; }
  /// What the trace calls it, where that is not its verb's name.
  void traced_as(const char* name) { traced_as_ = name; }
  void scalars(std::initializer_list<float> values);

  void type(DType dtype) { kernel_.dtype = dtype; }

  /// Launches the kernel with these numbers and charges it.
  detail::Reply run(back::KernelId id, std::initializer_list<Count> numbers, Count flops);
  /// The same in two steps, for operations that take several launches.
  void launch(back::KernelId id, std::initializer_list<Count> numbers);
  detail::Reply finish(Count flops);

  const detail::Call& call() const { return call_; }
  /// For operations whose kernel begins elsewhere than its arguments.
  back::Kernel& kernel() { return kernel_; }

 private:
  struct Argument {
    Operand operand;
    const char* what = "";
    int passes = 1;  // over the memory: 2 if it is read and written
    Count touched = operand.size();
  };

  const Operand& reads(int i, const char* what);
  const Operand& may_read(int i, const char* what);
  const Operand& writes(detail::Argument<detail::FieldKind::writes> argument, int passes);
  Operand look_up(int i, const char* what, bool writes);
  detail::Reply hand_to_host(const Cost& cost);
  /// `make` returns an Argument.
  template <class Make>
  const Operand& add_output(Make&& make);
  void check_overlaps();
  void overlap_error(const Argument& output, const char* other);
  void adopt_label(const Operand& x);
  void label_outputs();
  bool results_are_empty() const;
  Bytes traffic() const;

  OpContext& of_;
  const detail::Call& call_;
  Location place_;
  Memory memory_ = Memory::device;
  std::vector<std::uint64_t> after_;  ///< on the host: work that is over before
  const char* name_;
  const char* variant_ = "";
  const char* traced_as_ = nullptr;
  back::Kernel kernel_;
  detail::Reply reply_;
  // Few have many arguments: to fill the places of all would take a tenth of the time of a small operation.
  InlineList<Argument, back::Kernel::kInputs> in_;
  InlineList<Argument, back::Kernel::kOutputs> out_;
  int replies_ = 0;
  Label label_;
  std::size_t checked_ = 0;  ///< so many arguments and results do not overlap
  bool aliases_ = true;
  bool matrix_ = false;
};

/// `shape` without its last extent, as a vector of rows.
inline Shape rows_of(const Shape& shape) {
  return Shape(shape.rows());
}

}  // namespace shardlings::front
