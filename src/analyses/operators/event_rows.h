// The rows of prof.events(), created one at a time from the columns of TorchEvents.
// Owns the columns of all its recordings; the Traces they come from must outlive it. One thread at
// a time: a row's memory is reused for the next.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <tbtrace/operators.h>

#include "report/row_source.h"

namespace tbtrace::analyses {

/// Rows that are events and have more fields than an operator table shows.
class EventSource : public report::RowSource {
 public:
  /// Valid until the next call.
  virtual const FunctionEvent& event(std::size_t number) = 0;
};

/// The rows of one or several recordings, newest first.
class EventRows final : public EventSource {
 public:
  explicit EventRows(std::span<const Trace* const> traces);
  ~EventRows() override;

  const OperatorRows& facts() const override { return facts_; }
  std::size_t size() const override { return size_; }
  const OperatorRow& numbers(std::size_t number) override;
  const OperatorRow& row(std::size_t number) override;
  const FunctionEvent& event(std::size_t number) override;
  OperatorKind kind(std::size_t number) override;
  std::string_view key(std::size_t number) override;

 private:
  class Recording;

  /// The recording that a row belongs to.
  const Recording& of(std::size_t number) const;

  OperatorRows facts_;  // without rows
  std::vector<std::unique_ptr<const Recording>> recordings_;
  std::size_t size_ = 0;
  FunctionEvent event_;
};

}  // namespace tbtrace::analyses
