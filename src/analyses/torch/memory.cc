#include "analyses/torch/memory.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "analyses/attribution/owners.h"

namespace tbtrace::analyses {

TorchRows::Memory TorchMemory::bytes_of(const MemoryRecord& record) {
  if (record.out_of_memory) return {};
  return {is_cpu_memory(record.device_type) ? record.bytes : 0,
          is_device_memory(record.device_type) ? record.bytes : 0};
}

TorchMemory::TorchMemory(std::span<const MemoryRecord> records,
                         std::span<const MemoryRecord> events)
    : records_(records) {
  const auto failed = [](const MemoryRecord& record) { return record.out_of_memory; };
  if (!events.empty() || std::any_of(records_.begin(), records_.end(), failed)) {
    own_.assign(records_.begin(), records_.end());
    own_.insert(own_.end(), events.begin(), events.end());
    std::stable_sort(own_.begin(), own_.end(), [](const MemoryRecord& a, const MemoryRecord& b) {
      return a.time_ns < b.time_ns;
    });
    std::copy_if(own_.begin(), own_.end(), std::back_inserter(failed_), failed);
    std::erase_if(own_, failed);
    records_ = own_;
  }
  sums_.reserve(records_.size() / kSumStep + 1);
  sums_.emplace_back();
  for (std::size_t end = kSumStep; end <= records_.size(); end += kSumStep) {
    TorchRows::Memory next = sums_.back();
    next += sum_of(end - kSumStep, end);
    sums_.push_back(next);
  }
}

TorchRows::Memory TorchMemory::sum_of(std::size_t first, std::size_t last) const {
  TorchRows::Memory sum;
  for (const MemoryRecord& record : records_.subspan(first, last - first)) sum += bytes_of(record);
  return sum;
}

TorchRows::Memory TorchMemory::sum_before(std::size_t record) const {
  TorchRows::Memory sum = sums_[record / kSumStep];
  sum += sum_of(record - record % kSumStep, record);
  return sum;
}

void TorchMemory::settle_before(std::int64_t time_ns) {
  for (; next_ < records_.size() && records_[next_].time_ns < time_ns; ++next_) {
    if (records_[next_].time_ns <= covered_until_) continue;
    leftovers_.push_back(records_[next_]);
  }
}

void TorchMemory::cover(std::int64_t start_ns, std::int64_t end_ns) {
  settle_before(start_ns);
  covered_until_ = std::max(covered_until_, end_ns);
}

std::vector<MemoryRecord> TorchMemory::leftovers() {
  settle_before(INT64_MAX);
  leftovers_.insert(leftovers_.end(), failed_.begin(), failed_.end());
  std::stable_sort(
      leftovers_.begin(), leftovers_.end(),
      [](const MemoryRecord& a, const MemoryRecord& b) { return a.time_ns < b.time_ns; });
  return std::move(leftovers_);
}

std::size_t TorchMemory::first_from(std::int64_t time_ns) const {
  const auto found = std::lower_bound(
      records_.begin(), records_.end(), time_ns,
      [](const MemoryRecord& record, std::int64_t time) { return record.time_ns < time; });
  return static_cast<std::size_t>(found - records_.begin());
}

TorchRows::Memory TorchMemory::sum_until(std::size_t first, std::int64_t end_ns) const {
  // Most ranges are short: double the distance until it is too far, then do a binary search.
  std::size_t low = first;
  std::size_t far = first;
  for (std::size_t step = 1; far < records_.size() && records_[far].time_ns <= end_ns; step *= 2) {
    low = far + 1;
    far = std::min(far + step, records_.size());
  }
  const auto end = std::upper_bound(
      records_.begin() + static_cast<std::ptrdiff_t>(low),
      records_.begin() + static_cast<std::ptrdiff_t>(far), end_ns,
      [](std::int64_t time, const MemoryRecord& record) { return time < record.time_ns; });
  const auto last = static_cast<std::size_t>(end - records_.begin());
  if (last - first <= 2 * kSumStep) return sum_of(first, last);
  const TorchRows::Memory before = sum_before(first);
  const TorchRows::Memory with = sum_before(last);
  return {with.cpu_bytes - before.cpu_bytes, with.device_bytes - before.device_bytes};
}

}  // namespace tbtrace::analyses
