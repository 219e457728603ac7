// A collective as c10d's backends describe it to profilers, without a group that would run one.
// For the calling thread; `body` runs within the range. What a generation of LibTorch has no place
// for is left out.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <torch/torch.h>

#include "libtorch/record/torch_version.h"

namespace tbtrace::testing {

struct CollectiveCall {
  const char* name = "allreduce";
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  torch::ScalarType type = torch::kFloat;
  std::vector<std::int64_t> in_splits = {};
  std::vector<std::int64_t> out_splits = {};
  int rank = 0;
  int first_rank = 0;
  int rank_stride = 1;
  int group_size = 2;
  std::string group = "0";
  std::string description = "default_pg";
  std::int64_t sequence = 0;
  bool is_message = false;
  bool is_async = true;
  std::vector<torch::Tensor> tensors = {};
};

template <typename Body>
void run_collective(const CollectiveCall& call, Body&& body) {
#if TBTRACE_TORCH_AT_LEAST(2, 10)
  std::vector<torch::Tensor> in = call.tensors;
  std::vector<torch::Tensor> out = call.tensors;
  RECORD_PARAM_COMMS_DATA_WITH_ASYNC_OP(std::make_tuple(call.sequence, call.is_message),
                                        std::make_tuple(call.group, call.description), in, out,
                                        call.rank, call.name, call.in_elements, call.out_elements,
                                        call.type, call.in_splits, call.out_splits, call.first_rank,
                                        call.rank_stride, call.group_size, call.is_async);
#else
  RECORD_PARAM_COMMS(call.rank, call.name, static_cast<int>(call.in_elements),
                     static_cast<int>(call.out_elements), call.type, call.in_splits,
                     call.out_splits);
#endif
  std::forward<Body>(body)();
}

inline void run_collective(const CollectiveCall& call) {
  run_collective(call, [] {});
}

}  // namespace tbtrace::testing
