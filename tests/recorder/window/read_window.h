// The file of a window, and the trace that is read back from it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "chrome/kineto/rows.h"
#include "fixtures/read_text.h"
#include "io/sink.h"
#include "readers/chrome/replay.h"
#include "readers/formats/format.h"
#include "recorder/window/head.h"
#include "recorder/window/rows.h"
#include "recorder/window/window.h"
#include "trace/trace_builder.h"
#include "wire/json_strict.h"

namespace tbtrace::recorder {

using WindowPointer = std::shared_ptr<const Window>;

/// All rows and members as they are, whatever readers would take.
inline std::string text_of(const WindowPointer& window, bool with_overloads = false) {
  TraceBuilder head;
  for (const auto& [key, json] : trace_members(*window)) head.set_metadata(key, json);
  const Trace members = std::move(head).finish();
  std::string text;
  const auto sink = io::memory_sink(text);
  chrome::KinetoDocument document(members, *sink);
  readers::WholeReplay rows(document);
  EXPECT_TRUE(document.begin().ok());
  pass_rows(*window, {.arguments = {}, .overloads = with_overloads, .members = true}, rows);
  EXPECT_TRUE(rows.failure().ok());
  EXPECT_TRUE(document.end().ok());
  return text;
}

/// The trace that a window's file is, which has to be JSON without any fault.
inline Trace read(const WindowPointer& window, ArgumentSet arguments = kOperatorArguments,
                  bool with_overloads = false) {
  const std::string text = text_of(window, with_overloads);
  std::string json;
  EXPECT_TRUE(wire::append_strict_json(json, text, false));
  Result<Trace> trace = fixtures::trace_of(readers::read_source(
      io::memory_source(text), {.threads = 1, .strict = true, .arguments = arguments}));
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status().message();
    return fixtures::read("[]");
  }
  EXPECT_THAT(trace->issues(), testing::IsEmpty());
  return *std::move(trace);
}

}  // namespace tbtrace::recorder
