// The lines of a range by their definition, by the texts that RandomModel uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "analyses/modules/places_by_definition.h"

namespace tbtrace::analyses {

/// `line model.py:4 forward`; empty for what is not a line.
inline std::string line_named(std::string_view frame, const char* level) {
  const std::size_t open = frame.find('(');
  const std::size_t close = frame.find("): ");
  if (frame.starts_with('<') || open == frame.npos || close == frame.npos) return {};
  return std::string(level) + " " + std::string(frame.substr(0, open)) + ":" +
         std::string(frame.substr(open + 1, close - open - 1)) + " " +
         std::string(frame.substr(close + 3));
}

inline bool is_of_library(const std::string& line) { return line.find(" torch/") != line.npos; }

class LineWays {
 public:
  LineWays(const Trace& trace, bool libraries) : trace_(trace), libraries_(libraries) {
    for (std::size_t row = 0; row < trace.events().size(); ++row) {
      const auto event = static_cast<EventId>(row);
      has_frames_ = has_frames_ || (trace.kind(event) == EventKind::python_function &&
                                    !trace.events().is_module(event));
    }
  }

  Way operator()(const Way& around, EventId range) const {
    const std::string_view stack = trace_.argument_text(range, Argument::call_stack);
    if (!stack.empty() && !has_frames_) {
      const Way way = of_stack(stack);
      if (!way.empty()) return way;
    }
    if (!trace_.events().is_python_frame(range)) return around;
    Way way = around;
    const std::string_view caller = trace_.argument_text(range, Argument::call_from);
    if (const std::size_t colon = caller.find(':'); colon != caller.npos) {
      std::string name = "line " + std::string(caller) + " ";
      // The function around it, if it is in the same file.
      const std::string file(caller.substr(0, colon));
      const std::string above = around.empty() ? "" : around.back();
      const std::string place = above.substr(above.find(' ') + 1);
      if (place.starts_with(file + ":")) name += place.substr(place.rfind(' ') + 1);
      add(way, name);
    }
    add(way, line_named(trace_.name(range), "function"));
    return way;
  }

 private:
  void add(Way& way, const std::string& line) const {
    if (!line.empty() && (libraries_ || !is_of_library(line))) way.push_back(line);
  }

  Way of_stack(std::string_view stack) const {
    if (stack.find("__enter__") != stack.npos) return {};
    Way way;
    for (std::size_t end = stack.size(); end > 0;) {  // outermost last in the text
      const std::size_t before = stack.rfind(';', end - 1);
      const std::size_t start = before == stack.npos ? 0 : before + 1;
      if (start < end) add(way, line_named(stack.substr(start, end - start), "line"));
      end = start == 0 ? 0 : before;
    }
    return way;
  }

  const Trace& trace_;
  bool libraries_;
  bool has_frames_ = false;
};

}  // namespace tbtrace::analyses
