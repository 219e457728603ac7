// The positions in the tables of rules against the arguments that operators have in torch
// (tests/data/operator_schemas.tsv, recorded from torch itself).
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyses/attribution/operator_names.h"
#include "analyses/flops/element_rules.h"
#include "analyses/flops/rules.h"
#include "analyses/modules/weight_rules.h"

namespace tbtrace::analyses {
namespace {

using Names = std::vector<std::string_view>;

struct Schema {
  std::string operator_name;  ///< with its overload
  std::vector<std::string> arguments;

  bool has(std::string_view name) const { return std::ranges::count(arguments, name) > 0; }
  int position(std::string_view name) const {
    const auto found = std::ranges::find(arguments, name);
    return found == arguments.end() ? -1 : static_cast<int>(found - arguments.begin());
  }
  std::string_view name_at(int position) const {
    const auto at = static_cast<std::size_t>(position);
    return at < arguments.size() ? std::string_view(arguments[at]) : "nothing";
  }
};

/// By the operator's name without its overload.
std::map<std::string, std::vector<Schema>, std::less<>> read_schemas() {
  std::map<std::string, std::vector<Schema>, std::less<>> schemas;
  std::ifstream file(TBTRACE_TEST_DATA "/operator_schemas.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream cells(line);
    Schema schema;
    std::string versions;
    std::getline(cells, schema.operator_name, '\t');
    std::getline(cells, versions, '\t');
    for (std::string name; cells >> name;) schema.arguments.push_back(name);
    schemas[std::string(without_overload(schema.operator_name))].push_back(std::move(schema));
  }
  return schemas;
}

/// What the formula needs at each of its positions: the first of these names that a schema has.
const std::vector<Names>& wanted(FlopFormula formula) {
  using F = FlopFormula;
  static const Names weight = {"weight", "W"};
  static const Names input = {"input", "self", "X"};
  static const std::vector<Names> convolution = {
      input,        weight,         {"stride"},         {"padding"},
      {"dilation"}, {"transposed"}, {"output_padding"}, {"groups"}};
  static const std::vector<Names> gradients = {{"grad_output"}, {"input", "self"}, {"weight"},
                                               {"transposed"},  {"output_mask"},   {"groups"}};
  static const std::vector<Names> input_gradient = {{"grad_output"}, {"self_size"}, {"weight"}};
  static const std::vector<Names> weight_gradient = {{"grad_output"}, {"self"}, {"weight_size"}};
  static const std::vector<Names> attention = {{"query", "q"}, {"key", "k"}, {"value", "v"}};
  static const std::vector<Names> by_sequence = {
      {"query", "q"}, {"key", "k"}, {"value", "v"}, {"cum_seq_q", "cu_seqlens_q"}};
  static const std::map<FlopFormula, std::vector<Names>> all = {
      {F::product,
       {{"mat1", "batch1", "mat", "self"}, {"mat2", "batch2", "vec", "tensor", "other"}}},
      {F::linear, {input, {"ORI_W", "weight", "W", "mat2"}}},
      {F::grouped, {{"self"}, {"mat2"}}},
      {F::outer, {{"vec1", "self"}, {"vec2"}}},
      {F::convolution, convolution},
      {F::transposed, convolution},
      {F::transposed_packed, convolution},
      {F::gradients, gradients},
      {F::transposed_gradients, gradients},
      {F::input_gradient, input_gradient},
      {F::weight_gradient, weight_gradient},
      {F::transposed_input_gradient, input_gradient},
      {F::transposed_weight_gradient, weight_gradient},
      {F::attention, attention},
      {F::attention_by_sequence, by_sequence},
      {F::attention_gradients, attention},
      {F::attention_gradients_by_sequence, by_sequence},
      {F::recurrent,
       {{"input", "data"},
        {"weight"},
        {"mode"},
        {"hidden_size"},
        {"proj_size"},
        {"num_layers"},
        {"bidirectional"}}},
      {F::recurrent_layer, {{"input"}, {"weight0"}, {"weight1"}}},
      {F::recurrent_gradients, {{"input"}, {"weight"}, {"output_mask"}}},
      {F::recurrent_layer_gradients, {{"input"}, {"weight1"}, {"weight2"}}},
  };
  return all.at(formula);
}

/// -1 if the schema has none of the names.
int position_of(const Schema& schema, const Names& names) {
  const auto found =
      std::ranges::find_if(names, [&](std::string_view name) { return schema.has(name); });
  return found == names.end() ? -1 : schema.position(*found);
}

/// Of before 1.5, with the bias among the first arguments; the files of that time have no values.
bool is_of_old_scripts(const Schema& schema) {
  return schema.operator_name.starts_with("aten::cudnn_convolution") &&
         schema.operator_name.ends_with(".deprecated");
}

TEST(RulesOfProducts, HaveThePositionsOfTorch) {
  const auto schemas = read_schemas();
  for (const FlopRule& rule : flop_rules()) {
    const auto found = schemas.find(rule.name);
    ASSERT_NE(found, schemas.end()) << rule.name << " is not in operator_schemas.tsv";
    const std::vector<Names>& names = wanted(rule.formula);
    for (const Schema& schema : found->second) {
      if (is_of_old_scripts(schema)) continue;
      const bool has_added = rule.may_add && schema.has("other");
      for (std::size_t slot = 0; slot < names.size(); ++slot) {
        SCOPED_TRACE(schema.operator_name + ", " + std::string(names[slot].front()));
        const int at = rule.at[slot];
        const int expected = position_of(schema, names[slot]);
        // A mask is the last argument. The weights of `aten::lstm` are found by their type, and
        // what `miopen_rnn` is needs no values.
        const bool is_last =
            names[slot].front() == "output_mask" && expected + 1 == std::ssize(schema.arguments);
        const bool is_found_otherwise = rule.formula == FlopFormula::recurrent && slot > 0;
        if (at < 0 && (is_last || is_found_otherwise)) continue;
        EXPECT_EQ(has_added && slot > 0 && at >= 0 ? at + 1 : at, expected)
            << "the rule has " << (at < 0 ? "no position" : schema.name_at(at));
      }
    }
  }
}

TEST(RulesOfElements, HaveThePositionsOfTorch) {
  const auto schemas = read_schemas();
  for (const ElementRule& rule : element_rules()) {
    if (!rule.name.starts_with("aten::")) {  // what autograd records inside an operator
      EXPECT_EQ(rule.per, ElementCount::nothing) << rule.name;
      continue;
    }
    const auto found = schemas.find(rule.name);
    ASSERT_NE(found, schemas.end()) << rule.name << " is not in operator_schemas.tsv";
    if (rule.per != ElementCount::normalization) continue;
    for (const Schema& schema : found->second) {
      if (schema.operator_name.ends_with(".no_stats")) continue;  // always as in training
      EXPECT_EQ(rule.weight, position_of(schema, {"weight"})) << schema.operator_name;
      EXPECT_EQ(rule.training, position_of(schema, {"training"})) << schema.operator_name;
    }
  }
}

TEST(RulesOfWeights, HaveThePositionsOfTorch) {
  const auto schemas = read_schemas();
  for (const WeightRule& rule : weight_rules()) {
    const auto found = schemas.find(rule.name);
    ASSERT_NE(found, schemas.end()) << rule.name << " is not in operator_schemas.tsv";
    for (const Schema& schema : found->second) {
      const bool is_addmm = rule.name == "aten::addmm";
      std::array<int, 2> expected = {position_of(schema, {is_addmm ? "self" : "weight"}),
                                     position_of(schema, {is_addmm ? "mat2" : "bias"})};
      EXPECT_EQ(rule.arguments[0], expected[0]) << schema.operator_name;
      EXPECT_EQ(rule.arguments[1], expected[1]) << schema.operator_name;
    }
  }
}

TEST(RulesOfSamples, HaveThePositionsOfTorch) {
  int count = 0;
  for (const auto& [name, overloads] : read_schemas()) {
    const int position = position_of_samples(name);
    if (position < 0) continue;
    for (const Schema& schema : overloads) {
      if (is_of_old_scripts(schema)) continue;
      ++count;
      EXPECT_EQ(position, position_of(schema, {"indices", "mat1", "input", "self"}))
          << schema.operator_name;
    }
  }
  EXPECT_GT(count, 10);
}

TEST(Rules, HaveOneRowForAnOperator) {
  std::vector<std::string_view> names;
  for (const FlopRule& rule : flop_rules()) names.push_back(rule.name);
  for (const ElementRule& rule : element_rules()) names.push_back(rule.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  EXPECT_EQ(twice, names.end()) << *twice;
}

}  // namespace
}  // namespace tbtrace::analyses
