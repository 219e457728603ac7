// How a recording's lists become Python: JSON text whose strings are written by
// append_json_string() is Python's too, but for the three words.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <tbtrace/arguments.h>
#include <tbtrace/replay_program.h>

#include "trace/input_lists.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"
#include "writers/replay/calls.h"
#include "writers/replay/program_py.h"

namespace tbtrace {
namespace {

constexpr std::string_view kHead = R"(#!/usr/bin/env python3
"""Runs an operator with the inputs that a recording has of it, and times it.

    python FILE [--device cuda] [--repeats N] [--threads N]

Written by `tbtrace replay`. Needs torch alone. Sizes, types and strides of tensors are those of the recording, and so
are the values of other inputs. Values of tensors are not recorded: numbers are random, integers 0 or 1, indices any that there are. `recorded`
and the median beside it are the calls of the recording.
"""
import argparse
import ast
import ctypes
import functools
import statistics
import time

import torch

WARM_UP = 5
)";

/// torch's own names of types in a recording.
constexpr std::string_view kTypes = R"(TYPES = {
    "float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long int": "int64", "long": "int64", "int": "int32", "short int": "int16", "short": "int16",
    "signed char": "int8", "unsigned char": "uint8", "bool": "bool",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
}


)";

/// A list as Python reads it; an empty one if the text is not the JSON of a list, since a program
/// runs what it holds.
std::string python_list(std::string_view json) {
  std::string list;
  if (!json.starts_with('[') || !wire::append_strict_json(list, json, true)) return "[]";
  std::string python;
  bool is_text = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (c == '"') is_text = !is_text;
    if (is_text && c == '\\') python.push_back(list[at++]);
    const std::string_view rest = std::string_view(list).substr(at);
    std::string_view spelled;
    for (const auto& [word, in_python] :
         {std::pair<std::string_view, std::string_view>("null", "None"),
          {"true", "True"},
          {"false", "False"}}) {
      if (is_text || !rest.starts_with(word)) continue;
      spelled = in_python;
      at += word.size() - 1;
    }
    if (spelled.empty()) {
      python.push_back(list[at]);
    } else {
      python += spelled;
    }
  }
  return python;
}

std::string without_blanks(std::string_view text) {
  std::string kept(text);
  std::erase(kept, ' ');
  return kept;
}

void append_calls(std::string& program, const Trace& trace, const writers::CallsOfInputs& calls) {
  const auto list = [&](Argument which) {
    return python_list(trace.argument_text(calls.first, which));
  };
  const auto us = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-3; };
  const std::vector<std::int64_t>& times = calls.times_ns;
  program += fmt::format(
      "    {{\"calls\": {}, \"least_us\": {:.3f}, \"median_us\": {:.3f},\n"
      "     \"dims\": {},\n     \"types\": {},\n     \"strides\": {},\n     \"values\": {}}},\n",
      times.size(), us(times.front()), us(times[(times.size() - 1) / 2]),
      list(Argument::input_dims), list(Argument::input_types), list(Argument::input_strides),
      list(Argument::concrete_inputs));
}

Status not_there(const ReplayOptions& options, const Trace& trace,
                 const writers::CallsOfOperator& found) {
  const std::string op = "'" + options.op + "'";
  if (found.inputs.empty()) {
    return {StatusCode::invalid_argument,
            "the trace has no operator " + op + "; the summary of operators has them all"};
  }
  if (shapes_of(trace, inputs_of(trace, found.inputs.front().first)).empty()) {
    return {StatusCode::invalid_argument,
            "the recording has no inputs of " + op + "; record with record_shapes=True"};
  }
  return {StatusCode::invalid_argument, "the trace has no calls of " + op + " with the shapes " +
                                            options.shapes +
                                            ", as the summary of operators by shape has them"};
}

}  // namespace

Result<std::string> replay_program(const Trace& trace, const ReplayOptions& options) {
  if (options.op.find("::") == std::string::npos) {
    return Status(StatusCode::invalid_argument,
                  "'" + options.op +
                      "' is a node of autograd's graph or a range, which torch cannot call by "
                      "name; take an operator that it calls, such as aten::mm");
  }
  const writers::CallsOfOperator found = writers::calls_of(trace, options.op);
  const std::string wanted = without_blanks(options.shapes);
  std::string calls;
  std::size_t count = 0;
  for (const writers::CallsOfInputs& each : found.inputs) {
    const std::string shapes = shapes_of(trace, inputs_of(trace, each.first));
    if (shapes.empty() || (!wanted.empty() && without_blanks(shapes) != wanted)) continue;
    if (++count > options.most_inputs) break;
    append_calls(calls, trace, each);
  }
  if (calls.empty()) return not_there(options, trace, found);
  std::string program(kHead);
  program += "OPERATOR = ";
  wire::append_json_string(program, options.op);
  program += fmt::format("\nDEVICE = \"{}\"\nCALLS = [\n", found.is_on_device ? "cuda" : "cpu");
  program += calls;
  program += "]\n";
  program += kTypes;
  program += kReplayProgram;
  return program;
}

}  // namespace tbtrace
