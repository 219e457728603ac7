// A growing array of plain values that moves by remapping pages instead of copying them.
// Owns its memory; views are valid until the next call that changes the column.
// Not synchronised: one writer, or any number of readers.
// Running out of memory ends the program through std::bad_alloc, as with std::vector.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace tbtrace {

/// std::vector doubles its memory while it copies; a trace of 10 GB cannot afford that. For large
/// blocks realloc() moves page tables (mremap) on Linux, and untouched capacity costs nothing.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>, "moved by realloc");

 public:
  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  T* data() { return data_; }
  const T& operator[](std::size_t row) const {
    assert(row < size_);
    return data_[row];
  }
  T& operator[](std::size_t row) {
    assert(row < size_);
    return data_[row];
  }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T& back() { return (*this)[size_ - 1]; }
  std::span<const T> view() const { return {data_, size_}; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }

  /// Makes room for `count` more values and returns where they go; their content is undefined.
  T* extend(std::size_t count) {
    if (capacity_ - size_ < count) grow(size_ + count);
    T* place = data_ + size_;
    size_ += count;
    return place;
  }

  void append(std::span<const T> values) {
    if (!values.empty()) std::memcpy(extend(values.size()), values.data(), values.size_bytes());
  }

  void resize(std::size_t size, T value) {
    if (size > size_) {
      const std::size_t added = size - size_;
      std::fill_n(extend(added), added, value);
    }
    size_ = size;
  }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) reallocate(capacity);
  }

  /// Forgets the values and keeps the memory.
  void clear() { size_ = 0; }

  /// Forgets the values and gives the memory back.
  void release() { Column().swap(*this); }

  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void grow(std::size_t needed) {
    reallocate(std::max({needed, capacity_ + capacity_ / 2, std::size_t{16}}));
  }

  void reallocate(std::size_t capacity) {
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tbtrace
