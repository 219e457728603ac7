// What a program tells a recording: ranges with their arguments, instants, and values over time.
// Target tbtrace::torch; does not include any torch header. <tbtrace/profiler.h> includes it.
// Safe from any thread: each call is recorded by the profilers that record the calling thread, and
// costs a few nanoseconds if there is none. Texts may hold any bytes. Nothing here throws, but for
// want of memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <variant>

#include <tbtrace/export.h>

namespace torch::nn {
class Module;
}

namespace TBTRACE_EXPORT tbtrace {

namespace range_detail {
struct Range;
}

/// `{"batch", 16}`: a key with a number, a bool or a text, for as long as the call that it is given
/// to.
class RangeArgument {
 public:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view>;

  template <typename Given>
  // NOLINTNEXTLINE(google-explicit-constructor): so that lists can be written as in Python
  RangeArgument(std::string_view key, const Given& value) : key_(key), value_(value_of(value)) {}

  std::string_view key() const { return key_; }
  const Value& value() const& { return value_; }
  Value value() && { return value_; }

 private:
  template <typename Given>
  static Value value_of(const Given& value) {
    if constexpr (std::is_same_v<Given, bool>) {
      return value;
    } else if constexpr (std::signed_integral<Given>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (std::unsigned_integral<Given>) {
      return static_cast<std::uint64_t>(value);
    } else if constexpr (std::floating_point<Given>) {
      return static_cast<double>(value);
    } else {
      static_assert(std::is_convertible_v<const Given&, std::string_view>,
                    "the value of an argument is a number, a bool or a text; of a tensor, give "
                    "tensor.item<double>()");
      return std::string_view(value);
    }
  }

  std::string_view key_;
  Value value_;
};

using RangeArguments = std::initializer_list<RangeArgument>;

/// Marks a range of the calling thread for every profiler, from here to the end of the scope:
/// `tbtrace::record_function range("forward", {{"batch", 16}});`. The arguments are the member
/// `Arguments` of the range in files (`Argument::range_arguments`); of a key that is there twice,
/// the last value counts.
class record_function {
 public:
  explicit record_function(std::string_view name, RangeArguments arguments = {});
  ~record_function();
  record_function(const record_function&) = delete;
  record_function& operator=(const record_function&) = delete;

 private:
  std::unique_ptr<range_detail::Range> range_;
};

/// A range that begins here and ends when end() is first called, on any thread. It counts as
/// asynchronous, as in torch: no parent, no self time.
class async_range {
 public:
  explicit async_range(std::string_view name, RangeArguments arguments = {});
  ~async_range();  ///< ends it
  async_range(async_range&& other) noexcept;
  async_range& operator=(async_range&& other) noexcept;

  void end();

 private:
  std::unique_ptr<range_detail::Range> range_;
};

#define TBTRACE_RECORD_FUNCTION_JOIN_(a, b) a##b
#define TBTRACE_RECORD_FUNCTION_NAME_(line) TBTRACE_RECORD_FUNCTION_JOIN_(tbtrace_range_, line)
/// Marks the rest of the scope as a range: `TBTRACE_RECORD_FUNCTION("name");`, with arguments as
/// record_function takes them.
#define TBTRACE_RECORD_FUNCTION(...) \
  const ::tbtrace::record_function TBTRACE_RECORD_FUNCTION_NAME_(__LINE__)(__VA_ARGS__)

/// The value of something from now on, such as the loss: a chart over time in Perfetto and
/// `chrome://tracing`. Files have an event of phase `C`.
void counter(std::string_view name, double value);

/// Something that happens now, such as a checkpoint that was written: a mark on the thread's track.
void instant(std::string_view name, RangeArguments arguments = {});

/// Marks that the calling thread is in the module's forward, from here to the end of the scope.
/// Adds a frame `nn.Module: Class_k` if a profiler records with `with_modules` or `with_stack`, or
/// has a model from attach(). torch's own profiler sees a user annotation.
class module_scope {
 public:
  explicit module_scope(const torch::nn::Module& module);
  ~module_scope();
  module_scope(const module_scope&) = delete;
  module_scope& operator=(const module_scope&) = delete;

 private:
  std::unique_ptr<range_detail::Range> range_;
};

/// First line of a module's forward: `TBTRACE_MODULE_SCOPE(*this);`
#define TBTRACE_MODULE_SCOPE(module) \
  const ::tbtrace::module_scope TBTRACE_RECORD_FUNCTION_NAME_(__LINE__)(module)

}  // namespace tbtrace
