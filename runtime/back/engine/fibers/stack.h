/// \file
/// A fiber's stack.
#pragma once

#include <cstddef>

namespace shardlings::back {

/// Addresses with a page below them that nobody may touch, so that an overflow is a crash on the spot. Only what is
/// used takes memory.
class Stack {
 public:
  Stack();  ///< Throws std::bad_alloc.
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* bottom() const;
  std::size_t size() const;

 private:
  void* mapping_;
};

}  // namespace shardlings::back
