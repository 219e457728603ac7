#include "chrome/rows/name_class.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::chrome {
namespace {

void expect_class(NameClass expected, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) EXPECT_EQ(class_of_name(name), expected) << name;
}

TEST(NameClass, OfAStepNeedsAWholeNumber) {
  expect_class(NameClass::step, {"ProfilerStep#5", "ProfilerStep#0", "ProfilerStep#007",
                                 "ProfilerStep#-1", "ProfilerStep#5#x"});
  expect_class(NameClass::unsound_step, {"ProfilerStep#", "ProfilerStep#x", "ProfilerStep#5x",
                                         "ProfilerStep##5", "ProfilerStep#1.5"});
  expect_class(NameClass::plain, {"ProfilerStep", "ProfilerStep*", "profilerstep#5",
                                  "MyProfilerStep#5", " ProfilerStep#5"});
}

TEST(NameClass, OfDataLoading) {
  expect_class(NameClass::data_loader,
               {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "enumerate(DataLoader)#.__next__", "enumerate(DataPipe)#IterableWrapper",
                "enumerate(DataPipe)#"});
  expect_class(NameClass::plain,
               {"enumerate(DataLoader)#_SingleProcessDataLoaderIter", "enumerate(DataLoader)",
                "enumerate(DataPipe)", "enumerate(Data)#x.__next__", "e", "enumerate"});
}

TEST(NameClass, OfTraining) {
  expect_class(NameClass::optimizer,
               {"Optimizer.step#SGD.step", "Optimizer.step", "Optimizer.stepper"});
  expect_class(NameClass::plain,
               {"Optimizer.zero_grad#SGD.zero_grad", "Optimizer", "optimizer.step"});
  expect_class(NameClass::data_parallel, {"DataParallel.forward"});
  expect_class(NameClass::distributed_data_parallel, {"DistributedDataParallel.forward"});
  expect_class(NameClass::plain, {"DataParallel.forward ", "DataParallel", "D"});
  expect_class(NameClass::lightning, {"[pl][profile]run_training_batch", "[pl][module]torch: a.b"});
  expect_class(NameClass::plain, {"[pl]", "[pl][other]"});
}

TEST(NameClass, OfMemoryRecords) {
  expect_class(NameClass::memory, {"[memory]", "[OutOfMemory]"});
  expect_class(NameClass::plain, {"memory", "[memory] ", "[Memory]", "[outOfMemory]", "["});
}

TEST(NameClass, OfCollectives) {
  for (const std::string backend : {"nccl:", "gloo:"}) {
    for (const std::string known :
         {"broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter"}) {
      EXPECT_EQ(class_of_name(backend + known), NameClass::collective);
      EXPECT_EQ(known_collective(backend + known), backend + known);
    }
  }
  expect_class(NameClass::plain,
               {"nccl:", "nccl", "nccl:send", "nccl:all_to_all", "gloo:barrier", "mpi:all_reduce",
                "nccl:all_reduce_", "NCCL:all_reduce", "c10d::allreduce_", "all_reduce"});
}

TEST(NameClass, OfCollectivesThatMoveTheSameData) {
  const std::vector<std::pair<std::string_view, std::string_view>> variants = {
      {"nccl:_all_gather_base", "nccl:all_gather"},
      {"nccl:_reduce_scatter_base", "nccl:reduce_scatter"},
      {"nccl:allreduce_coalesced", "nccl:all_reduce"},
      {"gloo:all_gather_into_tensor", "gloo:all_gather"},
      {"nccl:_broadcast_oop", "nccl:broadcast"},
      {"nccl:_reduce_oop", "nccl:reduce"},
  };
  for (const auto& [variant, known] : variants) {
    EXPECT_EQ(class_of_name(variant), NameClass::collective_variant);
    EXPECT_EQ(known_collective(variant), known);
    EXPECT_EQ(class_of_name(known), NameClass::collective);
  }
  EXPECT_EQ(known_collective("nccl:send"), "");
  EXPECT_EQ(known_collective("aten::mm"), "");
  EXPECT_EQ(known_collective(""), "");
}

TEST(NameClass, OfMostNamesIsPlain) {
  expect_class(NameClass::plain,
               {"", "aten::mm", "\n", "P", "#", "n", "g", "gemm", std::string_view("\0", 1)});
}

}  // namespace
}  // namespace tbtrace::chrome
