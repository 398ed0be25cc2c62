/// \file
/// Scratch memory of one device for its kernels. Not counted: a GPU library's workspace is not the learner's either.
#pragma once

#include <cstddef>
#include <memory>

namespace shardlings::back::cpu {

class Workspace {
 public:
  /// Room for n floats, uninitialised, until the next call of floats(). Throws std::bad_alloc.
  float* floats(std::size_t n) {
    if (n > size_) {
      memory_.reset();  // first, so that both are never held at once
      size_ = 0;
      memory_.reset(new float[n]);
      size_ = n;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<float[]> memory_;
  std::size_t size_ = 0;
};

}  // namespace shardlings::back::cpu
