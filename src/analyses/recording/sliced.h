// What a trace says of the slicing that made it: the member `tbtrace_slice`, docs/formats/slice.md.
// What slicing left out was recorded, so nothing may ask for it to be recorded.
// Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

inline constexpr std::string_view kSliceMember = "tbtrace_slice";

/// The file is foreign input: what it does not say, or says in no useful form, is empty.
struct SlicedPart {
  std::string source;         ///< name of the file that this is a part of
  std::string without;        ///< kinds of rows that were left out: `frames, memory`
  bool has_choice = false;    ///< only some threads or names were taken
  bool begins_later = false;  ///< than the recording: what is first in it is not the first

  /// Of the time that it has, everything is there.
  bool is_whole() const { return without.empty() && !has_choice; }
};

/// nullopt if the trace is not a slice.
std::optional<SlicedPart> sliced_part(const Trace& trace);

/// Whether rows of the kind (slice_kind_name()) were left out of the trace, or may have been.
bool was_left_out(const Trace& trace, std::string_view kind);

/// `slicing left out the frames of train.json.gz; slice it again with them`, or that only some
/// threads or names were taken.
std::string left_out_text(const Trace& trace, std::string_view kind);

}  // namespace tbtrace::analyses
