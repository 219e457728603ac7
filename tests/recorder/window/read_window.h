// The text of a window, and the trace that is read back from it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/drained.h"
#include "fixtures/read_text.h"
#include "readers/formats/format.h"
#include "recorder/window/text.h"
#include "recorder/window/window.h"
#include "wire/json_strict.h"

namespace tbtrace::recorder {

using WindowPointer = std::shared_ptr<const Window>;

inline std::string text_of(const WindowPointer& window) {
  WindowText text(window);
  const fixtures::Drained drained = fixtures::drain(text, 1 << 20);
  EXPECT_TRUE(drained.end.ok());
  return drained.text;
}

/// The trace that a window's text is, which has to be JSON without any fault.
inline Trace read(const WindowPointer& window, ArgumentSet arguments = kOperatorArguments) {
  std::string json;
  EXPECT_TRUE(wire::append_strict_json(json, text_of(window), false));
  Result<Trace> trace = fixtures::trace_of(
      readers::read_source(std::make_unique<WindowText>(window),
                           {.threads = 1, .strict = true, .arguments = arguments}));
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status().message();
    return fixtures::read("[]");
  }
  EXPECT_THAT(trace->issues(), testing::IsEmpty());
  return *std::move(trace);
}

}  // namespace tbtrace::recorder
