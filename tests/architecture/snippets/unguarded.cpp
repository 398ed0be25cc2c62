#include "base/mutex.h"

class Counter {
 public:
  int next() { return ++value_; }

 private:
  shardlings::Mutex lock_;
  int value_ GUARDED_BY(lock_) = 0;
};

int first() {
  return Counter().next();
}
