#include "readers/formats/other_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "readers/formats/json_members.h"
#include "readers/formats/protobuf_shape.h"

namespace tbtrace::readers {
namespace {

/// `start`: the bytes. `members`: if it is a JSON object, the names of its first level.
struct Content {
  std::string_view start;
  std::vector<std::string_view> members;

  bool holds(std::string_view text) const { return start.find(text) != std::string_view::npos; }
  bool begins(std::string_view text) const { return start.starts_with(text); }
  bool has_member(std::string_view name) const {
    return std::find(members.begin(), members.end(), name) != members.end();
  }
  std::string_view without_blanks() const {
    return start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  }
};

struct Row {
  bool (*is)(const Content& content);
  std::string_view sentence;
};

// JSON. None of them has `traceEvents`, wherever it stands: the names are others.

bool is_execution_trace(const Content& c) {
  return c.has_member("schema") && c.has_member("nodes") && !c.has_member("traceEvents");
}
bool is_own_result(const Content& c) {
  if (c.members.empty() || c.members.front() != "schema") return false;
  const std::size_t colon = c.start.find(':');
  const std::size_t value = c.start.find_first_not_of(" \t\r\n", colon + 1);
  return value != std::string_view::npos && c.start.substr(value).starts_with("\"tbtrace.");
}
bool is_speedscope(const Content& c) {
  return c.has_member("$schema") && c.holds("speedscope.app/file-format-schema.json");
}
bool is_firefox_profile(const Content& c) {
  return c.has_member("meta") && c.has_member("threads") && c.has_member("libs");
}
bool is_notebook(const Content& c) { return c.has_member("cells") && !c.has_member("traceEvents"); }
/// Lists in a list; events are objects.
bool is_memory_timeline(const Content& c) {
  std::string_view text = c.without_blanks();
  if (!text.starts_with('[')) return false;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('[');
}

// Python.

/// Protocols 2 to 5 say so; older ones are text.
bool is_pickle(const Content& c) {
  return c.start.size() > 2 && c.start[0] == '\x80' && c.start[1] >= 2 && c.start[1] <= 5;
}
/// Of a list of segments alone, or of a dict with them and traces.
bool is_snapshot(const Content& c) {
  return is_pickle(c) &&
         ((c.holds("segments") && c.holds("device_traces")) ||
          (c.holds("total_size") && (c.holds("blocks") || c.holds("allocated_size"))) ||
          (c.holds("device_traces") && c.holds("action")));
}

/// The name of the first file in a zip archive (APPNOTE.TXT, section 4.3.7).
std::string_view first_zipped(const Content& c) {
  constexpr std::size_t kHeader = 30;
  if (!c.begins("PK\x03\x04") || c.start.size() < kHeader) return {};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(c.start[at]); };
  return c.start.substr(kHeader, byte(26) | byte(27) << 8);
}
bool is_npz(const Content& c) { return first_zipped(c).ends_with(".npy"); }
bool is_saved_tensors(const Content& c) {
  const std::string_view first = first_zipped(c);
  return first.ends_with("/data.pkl") || first.ends_with("/.format_version") ||
         first.ends_with("/.data/serialization_id");
}

// Other profilers.

bool is_sqlite(const Content& c) { return c.begins(std::string_view("SQLite format 3\0", 16)); }
bool is_nsys_sqlite(const Content& c) {
  return is_sqlite(c) && (c.holds("TARGET_INFO_") || c.holds("CUPTI_ACTIVITY_KIND_") ||
                          c.holds("META_DATA_CAPTURE"));
}
bool is_rocpd(const Content& c) { return is_sqlite(c) && c.holds("rocpd_"); }
bool is_binary(const Content& c) { return c.start.find('\0') != std::string_view::npos; }
bool is_nsys_report(const Content& c) {
  return is_binary(c) && (c.holds("QuadD") || c.holds("Nsight Systems"));
}
/// The first record of TensorBoard's files says which version they are of.
bool is_event_file(const Content& c) {
  constexpr std::size_t kMost = 80;
  return is_binary(c) && c.start.substr(0, kMost).find("brain.Event:") != std::string_view::npos;
}
/// XSpace: its planes have names such as `/host:CPU`.
bool is_xplane(const Content& c) {
  const std::vector<ProtobufField> planes = protobuf_fields(c.start, false);
  if (planes.empty() || planes.front().number != 1) return false;
  for (const ProtobufField& field : protobuf_fields(planes.front().content, false)) {
    if (field.number == 2) {
      return field.content.starts_with('/') || field.content == "Task Environment";
    }
    if (field.number > 2) break;
  }
  return false;
}
/// Packets, one after the other, that say when or where they were written.
bool is_perfetto(const Content& c) {
  const std::vector<ProtobufField> packets = protobuf_fields(c.start, false);
  bool any_known = false;
  for (const ProtobufField& packet : packets) {
    if (packet.number != 1) return false;
    const std::vector<ProtobufField> fields = protobuf_fields(packet.content, !packet.is_cut);
    if (fields.empty() && !packet.content.empty() && !packet.is_cut) return false;
    any_known =
        any_known || std::any_of(fields.begin(), fields.end(),
                                 [](const ProtobufField& field) { return field.number > 2; });
  }
  return any_known;
}

bool is_html(const Content& c) {
  std::string_view text = c.start;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const auto starts = [&](std::string_view lower) {
    return text.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
             return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b | 0x20) : b);
           });
  };
  return starts("<!doctype html") || starts("<html");
}
bool is_utf16(const Content& c) { return c.begins("\xff\xfe") || c.begins("\xfe\xff"); }

/// A kind that its first bytes tell.
template <char... kBytes>
bool begins_with(const Content& c) {
  constexpr std::array kMagic = {kBytes...};
  return c.begins(std::string_view(kMagic.data(), kMagic.size()));
}

// The first row that fits counts. Sources: torch/cuda/memory.py (_dump_snapshot); Kineto's and
// PARAM's execution trace; Nsight Systems' exporter schema; tsl/profiler/protobuf/xplane.proto;
// perfetto/trace/trace.proto; file(1)'s magic.
constexpr std::array kRows = std::to_array<Row>({
    {is_execution_trace,
     "is an execution trace (ExecutionTraceObserver, Chakra), which has operators but no times; "
     "read it with PARAM or Chakra, and give tbtrace the profiler's trace of the same run"},
    {is_own_result,
     "is a result that tbtrace wrote, not a trace; give it the trace that the result was made of"},
    {is_speedscope, "is a speedscope profile, not a trace; open it at https://www.speedscope.app"},
    {is_firefox_profile,
     "is a profile of the Firefox Profiler, not a trace; open it at https://profiler.firefox.com"},
    {is_notebook, "is a Jupyter notebook, not a trace; open it with Jupyter"},
    {is_memory_timeline,
     "is a list of lists, such as a memory timeline (export_memory_timeline()), not a trace; give "
     "tbtrace the file that export_chrome_trace() wrote"},
    {is_snapshot,
     "is a memory snapshot (torch.cuda.memory._dump_snapshot()), not a trace; `tbtrace memory` "
     "and, in Python, tbtrace.read_memory_snapshot() show what held the memory"},
    {is_pickle,
     "is a Python pickle, not a trace; give tbtrace the file that prof.export_chrome_trace() "
     "wrote"},
    {is_npz, "is a NumPy archive (.npz), not a trace; open it with numpy.load()"},
    {begins_with<'\x93', 'N', 'U', 'M', 'P', 'Y'>,
     "is a NumPy array (.npy), not a trace; open it with numpy.load()"},
    {is_saved_tensors,
     "is a PyTorch file that torch.save() or torch.jit.save() wrote, not a trace; open it with "
     "torch.load()"},
    {is_nsys_sqlite,
     "is an Nsight Systems export (SQLite), not a Chrome trace; open its report in Nsight Systems, "
     "or record with torch.profiler"},
    {is_rocpd,
     "is a database of ROCm's profiler (rocpd), not a Chrome trace; convert it to JSON with "
     "rpd2tracing.py, or record with torch.profiler"},
    {is_sqlite, "is an SQLite database, not a trace; open it with sqlite3"},
    {begins_with<'N', 'V', 'R', '\0'>,
     "is an Nsight Compute report, not a trace; open it in Nsight Compute"},
    {is_event_file,
     "is an event file of TensorBoard, not a trace; open it with `tensorboard --logdir`, and give "
     "tbtrace the .pt.trace.json of the run"},
    {is_nsys_report,
     "is an Nsight Systems report, not a Chrome trace; open it in Nsight Systems, or record with "
     "torch.profiler"},
    {is_xplane,
     "is an XSpace (xplane.pb) of JAX or TensorFlow, not a Chrome trace; open it with "
     "TensorBoard's "
     "profile plugin (XProf), or give tbtrace the .trace.json.gz beside it"},
    {is_perfetto,
     "is a Perfetto trace (protobuf), not a Chrome trace; open it at https://ui.perfetto.dev, or "
     "convert it with `traceconv json`"},
    {is_html,
     "is a web page (HTML), not a trace; a page for signing in or an error may have been "
     "downloaded "
     "instead of the trace: download it again"},
    {is_utf16,
     "is UTF-16 text, as PowerShell's `>` writes it; convert it with `iconv -f UTF-16 -t UTF-8`"},
    {begins_with<'\x04', '\x22', '\x4d', '\x18'>,
     "is lz4 data, which tbtrace does not read; unpack it with `lz4 -d`"},
    {begins_with<'7', 'z', '\xbc', '\xaf', '\x27', '\x1c'>,
     "is a 7-Zip archive, which tbtrace does not read; unpack it with `7z x`"},
    {begins_with<'R', 'a', 'r', '!', '\x1a', '\x07'>,
     "is a RAR archive, which tbtrace does not read; unpack it with `unrar x`"},
    {begins_with<'\x1f', '\x9d'>,
     "is data of compress(1), which tbtrace does not read; unpack it with `uncompress`"},
    {begins_with<'P', 'A', 'R', '1'>, "is a Parquet file, not a trace; open it with pandas"},
    {begins_with<'\x89', 'H', 'D', 'F'>, "is an HDF5 file, not a trace; open it with h5py"},
    {begins_with<'\x7f', 'E', 'L', 'F'>,
     "is a program or library (ELF), not a trace; name a trace"},
});

}  // namespace

bool is_memory_snapshot(std::string_view start) { return is_snapshot({start, {}}); }

std::string_view other_file(std::string_view start) {
  const Content content = {start, member_names(start)};
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.is(content); });
  return row == kRows.end() ? std::string_view() : row->sentence;
}

}  // namespace tbtrace::readers
