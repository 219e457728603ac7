// Records itself, built without NDEBUG, which LibTorch is built with.
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/profiler.h>

#ifdef NDEBUG
#error "this is to be a build with assertions"
#endif

int main() {
  tbtrace::Profiler profiler({.record_shapes = true, .profile_memory = true});
  profiler.start();
  {
    const tbtrace::record_function range("forward");
    torch::mm(torch::ones({2, 3}), torch::ones({3, 4}));
  }
  profiler.stop();
  std::cout << profiler.key_averages({.group_by_input_shape = true}).table({.row_limit = -1});
  return 0;
}
