#include "libtorch/record/operator_names.h"

#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include "libtorch/record/torch_version.h"

namespace tbtrace::libtorch {
namespace {

using recorder::NameNumber;

#if TBTRACE_TORCH_AT_LEAST(2, 0)
constexpr std::nullopt_t kAnyKey = std::nullopt;
#else
constexpr c10::nullopt_t kAnyKey = c10::nullopt;
#endif

const char* text_of(const std::string& name, const std::string& overload = "") {
  return c10::Dispatcher::singleton().findSchema({name, overload})->schema().name().c_str();
}

/// `name.overload`; `-` where no operator is known.
std::string found(const char* text) {
  const NameNumber number = operator_name(text);
  if (number == NameNumber::none) return "-";
  const auto at = static_cast<std::uint32_t>(number);
  EXPECT_NE(at & recorder::kOfProcess, 0U);
  const recorder::Name& name =
      recorder::process_names()[static_cast<NameNumber>(at & ~recorder::kOfProcess)];
  return name.text + "." + name.overload;
}

TEST(OperatorNames, AreKnownWithTheirOverloads) {
  load_operator_names();
  EXPECT_EQ(found(text_of("aten::add", "Tensor")), "aten::add.Tensor");
  EXPECT_EQ(found(text_of("aten::add", "Scalar")), "aten::add.Scalar");
  EXPECT_EQ(found(text_of("aten::relu")), "aten::relu.");
  const std::string same = "aten::relu";
  EXPECT_EQ(found(same.c_str()), "-") << "addresses tell operators";
}

TEST(OperatorNames, ANewOperatorIsKnownAlthoughThereAreAsManyAsBefore) {
  std::optional<torch::Library> library;
  library.emplace(torch::Library::DEF, "tbtrace_one", kAnyKey, __FILE__, __LINE__);
  library->def("first() -> ()");
  load_operator_names();
  const char* const first = text_of("tbtrace_one::first");
  EXPECT_EQ(found(first), "tbtrace_one::first.");
  library.reset();
  EXPECT_EQ(found(first), "-") << "others may have its address by now";
  library.emplace(torch::Library::DEF, "tbtrace_two", kAnyKey, __FILE__, __LINE__);
  library->def("second() -> ()");
  load_operator_names();
  EXPECT_EQ(found(text_of("tbtrace_two::second")), "tbtrace_two::second.");
}

}  // namespace
}  // namespace tbtrace::libtorch
