#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/repair.h>

#include "chrome/convert/convert_trace.h"
#include "chrome/rows/copied_rows.h"
#include "io/archives/input.h"
#include "io/discarded_text.h"
#include "io/sink.h"
#include "trace/issues.h"
#include "wire/json_emitter.h"
#include "wire/json_strict.h"

namespace tbtrace {
namespace {

constexpr std::string_view kReceiptMember = "tbtrace_repair";

/// Issues of a text that is not what it should be, whatever its events mean.
constexpr std::array kDamages = std::to_array<IssueId>({
    IssueId::input_truncated,
    IssueId::input_damaged,
    IssueId::event_unreadable,
    IssueId::event_too_large,
    IssueId::member_unreadable,
    IssueId::event_incomplete,
    IssueId::time_unreadable,
    IssueId::unescaped_text,
    IssueId::invalid_utf8,
    IssueId::trailing_text,
    IssueId::events_replaced,
    IssueId::comma_misplaced,
});

std::string_view id_of(IssueId issue) { return kIssueTable[static_cast<std::size_t>(issue)].id; }

bool is_damage(const Issue& issue) {
  return std::ranges::any_of(kDamages, [&](IssueId each) { return id_of(each) == issue.id; });
}

class Repair {
 public:
  Repair(const std::string& path, const RepairOptions& options) : path_(path), options_(options) {}

  Result<RepairReport> run(const std::string& output) {
    if (Status place = io::check_place(output, options_.overwrite); !place.ok()) return place;
    if (Status opened = open(); !opened.ok()) return opened;
    take_losses();
    for (const Issue& issue : converter_->issues()) {
      if (is_damage(issue)) report_.issues.push_back(issue);
    }
    if (report_.issues.empty() && file_->blocks().is_strict()) {
      io::DiscardedText unused;
      if (Status tried = write(unused); !tried.ok()) return tried;
      report_.was_whole = report_.changes.empty();
    }
    if (options_.strict && !report_.was_whole) {
      return Status(StatusCode::check_failed,
                    "strict repairing failed: the file is not valid JSON, or is damaged");
    }
    Result<std::unique_ptr<io::ByteSink>> sink =
        io::open_output(output, {.overwrite = options_.overwrite});
    if (!sink.ok()) return sink.status();
    if (Status written = report_.was_whole ? copy(**sink) : write(**sink); !written.ok()) {
      return written;
    }
    return std::move(report_);
  }

 private:
  Status open() {
    Result<std::unique_ptr<io::Rereadable>> input = io::open_rereadable(path_);
    if (!input.ok()) return input.status();
    auto file = std::make_unique<chrome::FileRows>(*std::move(input));
    file_ = file.get();
    auto opened =
        chrome::TraceConverter::open(std::move(file), {.dialect = Dialect::kineto,
                                                       .threads = options_.reading_threads,
                                                       .on_progress = options_.on_progress});
    if (!opened.ok()) return opened.status();
    converter_ = *std::move(opened);
    return {};
  }

  void take_losses() {
    const Losses& losses = file_->blocks().losses;
    for (const Loss& loss : losses.kept) {
      const std::uint64_t bytes = loss.end - loss.start;
      const bool is_known = loss.id != IssueId::input_damaged;
      report_.losses.push_back(
          {id_of(loss.id), loss.start, is_known ? std::optional(bytes) : std::nullopt});
      report_.lost_bytes += bytes;
    }
    report_.losses_left_out = losses.others;
    report_.lost_bytes += losses.others_bytes;
  }

  Status write(io::ByteSink& sink) {
    chrome::CopyDocument* rows = nullptr;
    chrome::CopyDocument document(converter_->trace(), sink, {.key = kReceiptMember, .json = [&] {
                                                                report_.read_events = rows->rows();
                                                                report_.changes = rows->changes();
                                                                note_lenience();
                                                                report_.receipt = receipt();
                                                                return report_.receipt;
                                                              }});
    rows = &document;
    return converter_->write(document, sink).status();
  }

  void note_lenience() {
    if (!file_->blocks().is_strict()) ++report_.changes["document_rewritten"];
  }

  Status copy(io::ByteSink& sink) {
    if (Status copied = file_->copy(sink); !copied.ok()) return copied;
    return sink.close();
  }

  /// docs/formats/repair.md.
  std::string receipt() const {
    std::string json;
    wire::JsonEmitter out(json);
    out.begin_object();
    out.member("schema", "tbtrace.repair/1");
    out.member("source", std::filesystem::path(path_).filename().string());
    out.key("read_events");
    out.integer(report_.read_events);
    out.key("lost_bytes");
    out.integer(report_.lost_bytes);
    out.key("damages");
    out.begin_array();
    for (const LostStretch& loss : report_.losses) {
      out.begin_object();
      out.key("at_byte");
      out.integer(loss.at_byte);
      out.member("kind", loss.kind);
      out.key("bytes");
      if (loss.bytes) {
        out.integer(*loss.bytes);
      } else {
        out.null();
      }
      out.end_object();
    }
    out.end_array();
    out.key("damages_left_out");
    out.integer(report_.losses_left_out);
    out.key("issues");
    out.begin_object();
    for (const Issue& issue : report_.issues) {
      out.key(issue.id);
      out.integer(issue.count);
    }
    out.end_object();
    out.key("changes");
    out.begin_object();
    for (const auto& [id, count] : report_.changes) {
      out.key(id);
      out.integer(count);
    }
    out.end_object();
    // Of a file that was repaired before.
    const auto& members = converter_->trace().metadata();
    if (const auto before = members.find(kReceiptMember); before != members.end()) {
      std::string strict;
      if (wire::append_strict_json(strict, before->second, true)) {
        out.key("repaired_before");
        out.raw(strict);
      }
    }
    out.end_object();
    return json;
  }

  const std::string& path_;
  const RepairOptions& options_;
  chrome::FileRows* file_ = nullptr;  // of the converter
  std::unique_ptr<chrome::TraceConverter> converter_;
  RepairReport report_;
};

}  // namespace

Result<RepairReport> repair_trace(const std::string& path, const std::string& output,
                                  const RepairOptions& options) {
  return Repair(path, options).run(output);
}

}  // namespace tbtrace
