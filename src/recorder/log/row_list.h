// Rows that are only added, in chunks that are kept for the next recording.
// Owns its chunks. One writer, or any number of readers. No memory: std::bad_alloc, and the rows
// stay what they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "recorder/log/chunk.h"

namespace tbtrace::recorder {

template <typename Row>
class RowList {
  static_assert(std::is_trivially_copyable_v<Row> && alignof(Row) <= alignof(std::uint64_t));

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;

    Iterator() = default;
    Iterator(const RowList& rows, std::size_t at) : rows_(&rows), at_(at) {}
    const Row& operator*() const { return (*rows_)[at_]; }
    const Row* operator->() const { return &(*rows_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const RowList* rows_ = nullptr;
    std::size_t at_ = 0;
  };

  RowList() = default;
  RowList(std::initializer_list<Row> rows) {
    for (const Row& row : rows) push_back(row);
  }
  RowList(const RowList& other) {
    for (const Row& row : other) push_back(row);
  }
  RowList(RowList&& other) noexcept
      : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  RowList& operator=(RowList other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~RowList() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  const Row& operator[](std::size_t row) const {
    return *std::launder(reinterpret_cast<const Row*>(chunks_[row / kRows]->words()) + row % kRows);
  }
  Row& operator[](std::size_t row) { return const_cast<Row&>(std::as_const(*this)[row]); }

  void push_back(const Row& row) {
    if (size_ == chunks_.size() * kRows) add_chunk();
    new (reinterpret_cast<Row*>(chunks_.back()->words()) + size_ % kRows) Row(row);
    ++size_;
  }

 private:
  struct Give {
    void operator()(Chunk* chunk) const { give_chunk(chunk); }
  };
  static constexpr std::size_t kRows = (kChunkBytes - sizeof(Chunk)) / sizeof(Row);

  void add_chunk() {
    std::unique_ptr<Chunk, Give> chunk(take_spare_chunk());
    if (chunk == nullptr) throw std::bad_alloc();
    chunks_.push_back(std::move(chunk));
  }

  std::vector<std::unique_ptr<Chunk, Give>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace tbtrace::recorder
