#include "analyses/attribution/own_code.h"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "analyses/attribution/frame_rows.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {
namespace {

TEST(LibraryPath, IsInAFolderOfPackagesOrOfPython) {
  for (const char* file :
       {"/usr/lib/python3.11/typing.py", "/env/lib/python3.9/site-packages/x/y.py",
        "/usr/lib/python3/dist-packages/z.py", "/opt/conda/lib/python3.13t/queue.py",
        R"(C:\Users\me\AppData\Local\Programs\Python\Python311\Lib\threading.py)",
        R"(C:\tools\miniconda3\envs\a\Lib\site-packages\peft\tuners.py)",
        "/home/me/project/.venv/lib/python3.12/site-packages/mine/net.py",
        "/usr/include/c++/12/bits/std_function.h", "/opt/libtorch/include/torch/csrc/api/nn.h",
        "/tmp/torchinductor_me/ab/cab.py", "<frozen runpy>", "<string>"}) {
    EXPECT_TRUE(is_library_path(file)) << file;
  }
  for (const char* file :
       {"/home/me/torch/train.py", "/home/me/lib/python3_tools/a.py", "/home/me/Lib/a.py",
        "/home/me/miniconda3/train.py", "/srv/transformers/train.py", "/srv/threading.py",
        R"(D:\work\train.py)", "/home/me/include/model.h"}) {
    EXPECT_FALSE(is_library_path(file)) << file;
  }
}

TEST(LibraryPath, BeginsWithTheNameOfALibraryOnceTorchHasCutTheFoldersOff) {
  for (const char* file : {"torch/nn/functional.py",
                           "transformers/models/llama/modeling_llama.py",
                           R"(transformers\trainer.py)",
                           "accelerate/utils/operations.py",
                           "lightning/pytorch/loops.py",
                           "pytorch_lightning/trainer/trainer.py",
                           "deepspeed/runtime/engine.py",
                           "threading.py",
                           "typing.py",
                           "enum.py",
                           "logging/__init__.py",
                           "concurrent/futures/thread.py",
                           "pathlib/_local.py",
                           "re/_compiler.py",
                           "typing_extensions.py",
                           "six.py",
                           "datasets/arrow_dataset.py",
                           "datasets/formatting/formatting.py",
                           "megatron/core/tensor.py",
                           "ray/train/_internal/session.py",
                           "numpy/_core/fromnumeric.py"}) {
    EXPECT_TRUE(is_library_path(file)) << file;
  }
}

TEST(LibraryPath, IsNotThatOfAUsersOwnPackageWithAFamiliarName) {
  for (const char* file :
       {"train.py", "models/torch.py", "datasets/coco.py", "datasets/__init__.py", "evaluate.py",
        "transformers.py", "my_transformers/llama.py", "ray/tracer.py",
        "megatron/training/training.py", "profile.py", "trace.py", "code.py", "statistics.py",
        "test/queue.py", "compression/prune.py", "utils/logging/__init__.py", "lightning/module.py",
        "src/threading.py"}) {
    EXPECT_FALSE(is_library_path(file)) << file;
  }
}

TEST(LibraryNames, AreSortedAndOnce) {
  for (const auto names : {standard_library_names(), distribution_names()}) {
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  }
}

TEST(OwnCode, HasTheMainScriptWhateverItIsCalled) {
  TraceBuilder builder;
  add_frame(builder, "queue.py(9): <module>", 0, 100);
  add_frame(builder, "threading.py(3): run", 10, 20);
  const Trace trace = fixtures::finished(builder);
  const OwnCode own(trace);
  EXPECT_FALSE(own.is_library("queue.py"));
  EXPECT_TRUE(own.is_library("threading.py"));
  EXPECT_FALSE(own.is_library("models/net.py"));
}

TEST(OwnCode, HasThePackageThatAProgramWasStartedAs) {
  TraceBuilder builder;
  add_frame(builder, "<frozen runpy>(198): _run_module_as_main", 0, 100);
  add_frame(builder, "<built-in method exec of module object at 0x7f20>", 5, 90);
  add_frame(builder, "vllm/entrypoints/openai/api_server.py(1): <module>", 10, 80);
  add_frame(builder, "transformers/trainer.py(1): <module>", 20, 5);  // imported
  const Trace trace = fixtures::finished(builder);
  const OwnCode own(trace);
  EXPECT_FALSE(own.is_library("vllm/model_executor/layers/linear.py"));
  EXPECT_TRUE(own.is_library("transformers/trainer.py"));
}

TEST(OwnCode, IsNotAProgramThatRunsAnother) {
  TraceBuilder builder;
  add_frame(builder, "pdb.py(1): <module>", 0, 100);
  add_frame(builder, "torch/distributed/run.py(1): <module>", 5, 90);
  add_frame(builder, "wandb/train.py(1): <module>", 10, 80);
  const Trace trace = fixtures::finished(builder);
  const OwnCode own(trace);
  EXPECT_TRUE(own.is_library("pdb.py"));
  EXPECT_TRUE(own.is_library("torch/nn/functional.py"));
  EXPECT_FALSE(own.is_library("wandb/train.py"));
}

TEST(OwnCode, IsNotWhatAThreadImports) {
  TraceBuilder builder;
  add_frame(builder, "threading.py(1002): _bootstrap", 0, 100, 2);
  add_frame(builder, "<frozen importlib._bootstrap>(241): _call_with_frames_removed", 1, 98, 2);
  add_frame(builder, "transformers/models/llama/modeling_llama.py(1): <module>", 2, 96, 2);
  add_frame(builder, "<frozen importlib._bootstrap>(241): _call_with_frames_removed", 0, 90, 3);
  add_frame(builder, "accelerate/utils.py(1): <module>", 2, 80, 3);
  const Trace trace = fixtures::finished(builder);
  const OwnCode own(trace);
  EXPECT_TRUE(own.is_library("transformers/trainer.py"));
  EXPECT_TRUE(own.is_library("accelerate/utils.py"));
}

TEST(OwnCode, IsKnownFromCallStacksToo) {
  TraceBuilder builder;
  const EventId op = fixtures::add(builder, {.name = "aten::mm", .start = 0, .duration = 10});
  builder.add_argument(
      op, Argument::call_stack,
      builder.intern("torch/nn/functional.py(3): linear;trl/cli.py(4): main;"
                     "trl/__main__.py(1): <module>;<frozen runpy>(88): _run_code"));
  const Trace trace = fixtures::finished(builder);
  const OwnCode own(trace);
  EXPECT_FALSE(own.is_library("trl/cli.py"));
  EXPECT_TRUE(own.is_library("peft/tuners.py"));
}

}  // namespace
}  // namespace tbtrace::analyses
