// The parts of a training loop as ranges with the names that torch's Python gives them, so that
// step times and summaries show what the loop waits for: the data loader and the optimizer.
// Target tbtrace::torch; does not include any torch header. <tbtrace/profiler.h> includes it.
// For the thread that trains; outside of recordings each call costs a few nanoseconds more than
// what it calls. What loaders and optimizers throw passes through.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <tbtrace/export.h>
#include <tbtrace/ranges.h>

// Of <torch/torch.h>.
namespace at {
class Tensor;
}
namespace torch::optim {
class Optimizer;
}

namespace TBTRACE_EXPORT tbtrace {

namespace loop_detail {

template <typename Given>
concept Iterable = requires(Given& given) {
  std::begin(given) != std::end(given);
  ++std::declval<decltype(std::begin(given))&>();
};

template <typename Given>
concept PointsToIterable = !Iterable<Given> && requires(Given & given) {
  *given;
}
&&Iterable<std::remove_reference_t<decltype(*std::declval<Given&>())>>;

template <typename Given>
concept IsOptimizer = std::is_base_of_v<torch::optim::Optimizer, std::remove_cvref_t<Given>>;

/// `enumerate(DataLoader)#StatelessDataLoader.__next__`
std::string name_of_loading(const std::type_info& loader);

}  // namespace loop_detail

/// What data_loader() returns: the loader's batches, each of which is waited for in a range.
/// `Loader` is a reference to a loader that outlives this, or the loader itself.
template <typename Loader>
class DataLoaderRange {
 private:
  using Base = std::remove_reference_t<Loader>;
  using Position = decltype(std::begin(std::declval<Base&>()));

 public:
  explicit DataLoaderRange(Loader&& loader)
      : loader_(std::forward<Loader>(loader)), name_(loop_detail::name_of_loading(typeid(Base))) {}

  class End {
   private:
    friend class DataLoaderRange;
    using Sentinel = decltype(std::end(std::declval<Base&>()));
    explicit End(Sentinel end) : end_(std::move(end)) {}
    Sentinel end_;
  };

  class Iterator {
   public:
    decltype(auto) operator*() const { return *at_; }
    auto* operator->() const { return std::addressof(*at_); }
    Iterator& operator++() {
      const record_function range(*name_);
      ++at_;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const End& end) const { return !(at_ != end.end_); }

   private:
    friend class DataLoaderRange;
    Iterator(Position at, const std::string& name) : at_(std::move(at)), name_(&name) {}
    mutable Position at_;
    const std::string* name_;
  };

  /// Loads the first batch.
  Iterator begin() {
    const record_function range(name_);
    Iterator first(std::begin(loader_), name_);
    // LibTorch's loaders load it only when it is looked at.
    static_cast<void>(first == end());
    return first;
  }
  End end() { return End(std::end(loader_)); }

 private:
  Loader loader_;
  std::string name_;
};

/// `for (auto& batch : tbtrace::data_loader(*loader))`: each wait for the next batch becomes a
/// range `enumerate(DataLoader)#<class>.__next__`, as in Python; the last one finds the end. Takes
/// a data loader of torch::data, a pointer to one, or anything else with begin() and end().
template <typename Loader>
auto data_loader(Loader&& loader) {
  if constexpr (loop_detail::PointsToIterable<std::remove_reference_t<Loader>>) {
    return DataLoaderRange<decltype(*loader)>(*loader);
  } else {
    static_assert(loop_detail::Iterable<std::remove_reference_t<Loader>>,
                  "data_loader() takes a data loader of torch::data, a pointer to one, or anything "
                  "else with begin() and end()");
    return DataLoaderRange<Loader>(std::forward<Loader>(loader));
  }
}

/// `optimizer.step()` in a range `Optimizer.step#<class>.step`, as in Python.
void step(torch::optim::Optimizer& optimizer);
/// With a closure that computes the loss, which LBFGS needs. Returns what optimizer.step() returns.
at::Tensor step(torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& closure);

/// `optimizer.zero_grad()` in a range `Optimizer.zero_grad#<class>.zero_grad`, as in Python.
void zero_grad(torch::optim::Optimizer& optimizer);

template <typename Given, typename... Closure>
requires(!loop_detail::IsOptimizer<Given>) void step(Given&& /*given*/, Closure&&... /*closure*/) {
  static_assert(loop_detail::IsOptimizer<Given>,
                "step() takes a torch::optim::Optimizer; of a pointer to one, write "
                "step(*optimizer). A profiler's step is profiler.step()");
}
template <typename Given>
requires(!loop_detail::IsOptimizer<Given>) void zero_grad(Given&& /*given*/) {
  static_assert(loop_detail::IsOptimizer<Given>,
                "zero_grad() takes a torch::optim::Optimizer; of a pointer to one, write "
                "zero_grad(*optimizer)");
}

}  // namespace tbtrace
