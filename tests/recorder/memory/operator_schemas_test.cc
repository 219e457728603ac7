#include "recorder/memory/operator_schemas.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

using Kind = ObservedInput::Kind;
using Type = SchemaArgument::Type;
using Written = std::optional<std::vector<bool>>;

const ObservedInput kNothing;
const ObservedInput kTensor = {.kind = Kind::tensor, .tensors = {{.address = 16, .bytes = 4}}};
const ObservedInput kEmptyTensor = {.kind = Kind::tensor, .tensors = {{}}};

ObservedInput of(Kind kind) { return {.kind = kind}; }

Written written(std::vector<Schema> schemas, const std::vector<ObservedInput>& inputs) {
  OperatorSchemas found([&](const std::string&) { return schemas; });
  return found.written("aten::some", inputs);
}

bool fits(SchemaArgument argument, const ObservedInput& input) {
  return written({{argument}}, {input}).has_value();
}

TEST(OperatorSchemas, SayWhatIsWritten) {
  EXPECT_EQ(written({{{Type::tensor, false, true}, {Type::tensor}}}, {kTensor, kTensor}),
            (Written{{true, false}}));
}

TEST(OperatorSchemas, OverloadsThatFitAreJoined) {
  const Schema one = {{Type::tensor, false, true}, {Type::number}};
  const Schema two = {{Type::tensor}, {Type::integer}};
  const Schema other = {{Type::tensor}, {Type::tensor, false, true}};
  EXPECT_EQ(written({two, one, other}, {kTensor, of(Kind::integer)}), (Written{{true, false}}));
}

TEST(OperatorSchemas, NothingFitsWithAnotherNumberOfInputs) {
  EXPECT_EQ(written({{{Type::tensor}}}, {}), std::nullopt);
  EXPECT_EQ(written({{{Type::tensor}}}, {kTensor, kTensor}), std::nullopt);
  EXPECT_EQ(written({{}}, {}), (Written{std::vector<bool>()}));
}

TEST(OperatorSchemas, TypesFitAsPythonsDo) {
  EXPECT_TRUE(fits({Type::integer}, of(Kind::boolean)));  // a bool is an int in Python
  EXPECT_FALSE(fits({Type::boolean}, of(Kind::integer)));
  EXPECT_FALSE(fits({Type::real}, of(Kind::integer)));
  EXPECT_TRUE(fits({Type::number}, of(Kind::complex)));
  EXPECT_TRUE(fits({Type::complex}, of(Kind::complex)));
  EXPECT_FALSE(fits({Type::number}, kTensor));
  EXPECT_TRUE(fits({Type::anything}, kTensor));
  EXPECT_TRUE(fits({Type::other}, kNothing));
  EXPECT_FALSE(fits({Type::other}, of(Kind::real)));
}

TEST(OperatorSchemas, OnlyOptionalArgumentsMayBeMissing) {
  EXPECT_FALSE(fits({Type::tensor}, kNothing));
  EXPECT_TRUE(fits({Type::tensor, true}, kNothing));
  EXPECT_TRUE(fits({Type::tensor, true}, kTensor));
}

TEST(OperatorSchemas, TensorsWithoutMemoryCountAsNothing) {
  EXPECT_FALSE(fits({Type::tensor}, kEmptyTensor));
  EXPECT_TRUE(fits({Type::tensor, true}, kEmptyTensor));
}

TEST(OperatorSchemas, ListsAreOfTensorsAllOfThem) {
  ObservedInput list = {.kind = Kind::tensor_list, .tensors = {{.address = 16}, {.address = 32}}};
  EXPECT_TRUE(fits({Type::tensor_list}, list));
  EXPECT_FALSE(fits({Type::tensor}, list));
  list.has_undefined = true;
  EXPECT_FALSE(fits({Type::tensor_list}, list));
}

TEST(OperatorSchemas, AreAskedForOnceAndOnlyForOperators) {
  std::vector<std::string> asked;
  OperatorSchemas schemas([&](const std::string& name) {
    asked.push_back(name);
    return std::vector<Schema>{{}};
  });
  EXPECT_TRUE(schemas.written("aten::a", {}));
  EXPECT_TRUE(schemas.written("aten::a", {}));
  EXPECT_FALSE(schemas.written("my range", {}));
  EXPECT_EQ(asked, std::vector<std::string>{"aten::a"});
}

}  // namespace
}  // namespace tbtrace::recorder
