// A window as the Chrome trace that torch.profiler would have written of it: strict JSON, in pieces
// as they are asked for.
// Keeps the window. One thread per object. Reading it cannot fail.
// The format is docs/formats/chrome_json.md, in its Kineto dialect, an event a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/source.h"
#include "recorder/window/device_text.h"
#include "recorder/window/event_lines.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

class WindowText final : public io::ByteSource {
 public:
  /// `with_overloads`: operators are named `aten::add.Tensor`, as torch's profiler names them with
  /// capture_overload_names; readers take the overload off again.
  explicit WindowText(std::shared_ptr<const Window> window, bool with_overloads = false);

  Result<std::size_t> read(std::span<char> buffer) override;
  std::uint64_t position() const override { return position_; }
  std::uint64_t total() const override { return 0; }

 private:
  enum class Part : unsigned char { head, events, devices, arrows, foot, end };

  void append_some();
  void append_event();
  void append_head();
  void append_names();
  void append_range(std::size_t row);
  void append_module(std::size_t row);
  void append_memory(std::size_t row);
  void append_arrow(std::size_t row);
  void append_foot();
  void append_place(std::uint32_t log);
  void append_times(std::uint64_t start_ticks, std::uint64_t end_ticks);

  std::shared_ptr<const Window> window_;
  bool with_overloads_;
  std::int64_t process_;
  std::int64_t base_ns_;
  std::uint64_t first_id_;       // `External id` of the first range
  std::int64_t next_event_ = 0;  // `Ev Idx`

  Part part_ = Part::head;
  std::size_t next_range_ = 0;
  std::size_t next_module_ = 0;
  std::size_t next_memory_ = 0;
  std::size_t next_arrow_ = 0;

  std::string text_;
  std::size_t taken_ = 0;  // of text_
  EventLines lines_;       // into text_
  std::optional<DeviceText> devices_;
  std::uint64_t position_ = 0;
};

}  // namespace tbtrace::recorder
