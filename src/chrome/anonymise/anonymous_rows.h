// The document of a trace without what says something about its owner.
// The rules of RowDocument hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <tbtrace/trace.h>

#include "analyses/attribution/own_code.h"
#include "chrome/anonymise/anonymous_texts.h"
#include "chrome/anonymise/keyed_words.h"
#include "chrome/rows/copied_rows.h"

namespace tbtrace::chrome {

class AnonymousDocument final : public CopyDocument {
 public:
  /// `words` must outlive it.
  AnonymousDocument(const Trace& trace, io::ByteSink& sink, Receipt receipt, KeyedWords& words)
      : CopyDocument(trace, sink, std::move(receipt)),
        words_(words),
        own_(trace),
        texts_(words, &own_) {}

  std::unique_ptr<readers::BlockSink> make() override;

  std::uint64_t arguments_left_out() const { return arguments_left_out_; }
  std::uint64_t members_left_out() const { return members_left_out_; }
  const analyses::OwnCode& own_code() const { return own_; }
  void count_left_out(std::uint64_t arguments) { arguments_left_out_ += arguments; }

 private:
  bool write_member(std::string& json, std::string_view key, std::string_view value,
                    Changes& changes) override;

  KeyedWords& words_;
  analyses::OwnCode own_;
  AnonymousTexts texts_;
  std::atomic<std::uint64_t> arguments_left_out_ = 0;
  std::uint64_t members_left_out_ = 0;
};

class AnonymousRows final : public CopiedRows {
 public:
  AnonymousRows(const Trace& trace, AnonymousDocument& document, KeyedWords& words)
      : CopiedRows(trace, document),
        trace_(trace),
        document_(document),
        texts_(words, &document.own_code()) {}

 protected:
  void begin_row(const CopiedRow& row) override;
  bool write_member(const RowMember& member) override;
  bool write_argument(const RowMember& member) override;

 private:
  const std::string& kernel(const std::string& name);
  void write_value(std::string_view json, AnonymousTexts::Kind kind);
  void write_key(const RowMember& member, bool is_known);
  bool write_unknown(const RowMember& member);

  const Trace& trace_;
  AnonymousDocument& document_;
  AnonymousTexts texts_;
  std::unordered_map<std::string, std::string> kernels_;
  bool is_frame_ = false;
  bool is_kernel_ = false;
};

}  // namespace tbtrace::chrome
