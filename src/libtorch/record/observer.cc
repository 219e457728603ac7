#include "libtorch/record/observer.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "cupti/collector.h"
#include "libtorch/record/attached_models.h"
#include "libtorch/record/collectives.h"
#include "libtorch/record/input_encoding.h"
#include "libtorch/record/log_of_this_thread.h"
#include "libtorch/record/observer_handles.h"
#include "libtorch/record/operator_names.h"
#include "libtorch/record/script_context.h"
#include "libtorch/record/unwind.h"
#include "recorder/log/active.h"
#include "recorder/log/inputs.h"
#include "recorder/log/record.h"

namespace tbtrace::libtorch {

namespace {

using recorder::Scope;
using recorder::ThreadLog;

thread_local constinit std::string_view next_name;
thread_local constinit std::string_view next_arguments;
thread_local constinit const void* next_module = nullptr;

std::uint64_t key_of(const at::RecordFunction& function) {
  return reinterpret_cast<std::uintptr_t>(&function);
}

/// Only ranges of users, collectives among them, are ever made asynchronous.
bool is_async(const at::RecordFunction& function) {
  return function.scope() == at::RecordScope::USER_SCOPE && function.isAsync();
}

/// Whether c10d describes the range. Newer LibTorch has asked that already.
template <typename Function>
bool is_collective(const Function& function, const char* text) {
  if constexpr (requires { function.isNcclMeta(); }) {
    return function.isNcclMeta();
  } else {
    return text == recorder::kCollectiveRange;
  }
}

/// Of ranges that are not operators of the dispatcher.
recorder::NameNumber range_name(const at::RecordFunction& function, const char* text,
                                ThreadLog& log) {
  if (is_collective(function, text)) [[unlikely]] {
    if (auto collective = described_collective()) {
      return log.names().add(text, *std::move(collective));
    }
  }
  return log.names().find(text);
}

/// Of the range of a user, or a module's forward, which is one to torch.
void describe_user_range(const at::RecordFunction& function, ThreadLog& log,
                         recorder::BeginRecord& record) {
  record.name = next_name.data() != nullptr ? log.names().find(next_name)
                                            : range_name(function, function.name(), log);
  record.arguments = next_arguments;
  if (next_module == nullptr) return;
  record.scope = Scope::module;
  record.module = reinterpret_cast<std::uintptr_t>(next_module);
}

/// Everything except what options ask for.
recorder::BeginRecord begin_record(const at::RecordFunction& function, ThreadLog& log) {
  recorder::BeginRecord record;
  record.scope = static_cast<Scope>(function.scope());
  if (record.scope == Scope::user) {
    describe_user_range(function, log, record);
  } else {
    const char* const text = function.name();
    record.name = operator_name(text);
    if (record.name == recorder::NameNumber::none) record.name = range_name(function, text, log);
  }
  record.key = key_of(function);
  record.sequence_number = function.seqNr();
  record.forward_thread = function.forwardThreadId();
  return record;
}

void record_inputs(const at::RecordFunction& function, recorder::InputsWriter& inputs,
                   recorder::BeginRecord& record) {
  encode_inputs(function.inputs(), inputs);
  record.inputs = inputs.data();
  record.inputs_size = static_cast<std::uint32_t>(inputs.size());
}

recorder::NameNumber text_name(ThreadLog& log, const std::string& text) {
  return text.empty() ? recorder::NameNumber::none : log.names().find(text);
}

/// Everything that the recording's options ask for. Returns the ticks of the begin.
std::uint64_t record_with_context(const at::RecordFunction& function, ThreadLog& log) {
  const recorder::RecordingOptions& options = log.options();
  recorder::BeginRecord record = begin_record(function, log);
  recorder::InputsWriter inputs;
  if (options.wants_inputs()) record_inputs(function, inputs, record);
  if (options.has_storages()) {
    std::vector<std::uint64_t>& storages = log.scratch();
    add_storages(function.inputs(), storages);
    record.storages = storages;
  }
  if (options.modules != nullptr && record.scope == Scope::function) {
    const recorder::ModuleTensor* const tensor =
        module_tensor(function.inputs(), record.sequence_number >= 0, *options.modules);
    if (tensor != nullptr) record.module = tensor->number;
  }
  const bool has_scripts = options.modules != nullptr && options.modules->has_scripts();
  if (has_scripts && record.scope == Scope::torchscript_function) {
    record.module = script_module(function.inputs(), *options.modules);
  }
  std::vector<void*> stack;
  if (options.with_stack && record.scope != Scope::module) {
    stack = unwind();
    record.stack = stack;
    // torch leaves those out that belong to a node's run.
    if (record.scope != Scope::backward_function) {
      record.script_stack = text_name(log, script_stack());
    }
  }
  if ((options.with_modules || has_scripts) && record.scope != Scope::backward_function) {
    record.script_modules = text_name(log, script_modules());
  }
  record.ticks = recorder::ticks();
  write(log, record);
  return record.ticks;
}

/// Calls `record(log)`. What is thrown for want of memory, or by LibTorch, is a lost record, and
/// not the program's.
template <typename Record>
void record_or_lose(std::size_t slot, const Record& record) noexcept {
  ThreadLog* const log = log_of_this_thread(slot);
  if (log == nullptr) return;
  try {
    record(*log);
  } catch (...) {
    log->count_lost();
  }
}

// Most records are operators' and fit where the last one ends. They are written by what follows
// here, which calls nothing but LibTorch: LibTorch's own code fills the processor's caches, so that
// each line of code and of memory that is touched costs time. All else is written by these:

[[gnu::cold, gnu::noinline]] void record_range(const at::RecordFunction& function,
                                               std::size_t slot) noexcept {
  const std::uint64_t ticks = recorder::ticks();
  record_or_lose(slot, [&](ThreadLog& log) {
    recorder::BeginRecord record = begin_record(function, log);
    record.ticks = ticks;
    write(log, record);
  });
}

[[gnu::cold, gnu::noinline]] void record_range_with_inputs(const at::RecordFunction& function,
                                                           std::size_t slot) noexcept {
  record_or_lose(slot, [&](ThreadLog& log) {
    recorder::BeginRecord record = begin_record(function, log);
    recorder::InputsWriter inputs;
    record_inputs(function, inputs, record);
    record.ticks = recorder::ticks();
    write(log, record);
  });
}

[[gnu::cold, gnu::noinline]] void record_end(const at::RecordFunction& function,
                                             std::size_t slot) noexcept {
  const std::uint64_t ticks = recorder::ticks();
  if (ThreadLog* const log = log_of_this_thread(slot)) {
    write(*log, recorder::EndRecord{
                    .ticks = ticks, .key = key_of(function), .is_async = is_async(function)});
  }
}

/// The thread's log if it has so much room, and the processor's counter is the clock.
[[gnu::always_inline]] inline ThreadLog* ready_log(std::size_t slot, std::size_t words) {
  using namespace recorder::active_detail;
  const ThreadSlot& own = thread_slots[slot];
  if (own.number != current[slot].load(std::memory_order_acquire)) return nullptr;
  const bool is_ready =
      own.log != nullptr && recorder::ticks_detail::kOrigin.use_counter && own.log->has_room(words);
  return is_ready ? own.log : nullptr;
}

using recorder::record_detail::BeginWords;

/// The words of an operator of the dispatcher; without a name, it is something else. No range of a
/// user has such a name: RecordFunction copies its text.
[[gnu::always_inline]] inline BeginWords operator_words(const at::RecordFunction& function,
                                                        recorder::NameNumber name) {
  return {.key = key_of(function),
          .name = name,
          .scope = static_cast<Scope>(function.scope()),
          .sequence_number = function.seqNr(),
          .forward_thread = function.forwardThreadId()};
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  const recorder::NameNumber name = operator_name(function.name());
  ThreadLog* const log = ready_log(kSlot, BeginWords::kMost);
  if (log == nullptr || name == recorder::NameNumber::none) [[unlikely]] {
    record_range(function, kSlot);
  } else {
    put(*log, log->next(), recorder::ticks_detail::counter_ticks(), operator_words(function, name));
  }
  return nullptr;
}

/// Encodes the inputs where they are to stay. False if that cannot be done; nothing is written
/// then.
[[gnu::always_inline]] inline bool record_in_place(const at::RecordFunction& function,
                                                   ThreadLog& log, const BeginWords& words) {
  std::uint64_t* const start = log.next();
  std::uint64_t* const after = words.put(start, 0, recorder::record_detail::kHasInputs, 0);
  char* const room = reinterpret_cast<char*>(after);
  const auto* const end = reinterpret_cast<const char*>(log.end_of_room());
  recorder::InputsWriter inputs(room, static_cast<std::size_t>(end - room));
  if (!encode_inputs(function.inputs(), inputs, log) || inputs.data() != room) return false;
  words.complete(start, recorder::ticks_detail::counter_ticks(), inputs.size());
  log.set_last_begin(words.key);
  log.commit(after + (inputs.size() + 7) / 8);
  return true;
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_with_inputs(const at::RecordFunction& function) {
  constexpr std::size_t kUsualInputs = 8;
  const recorder::NameNumber name = operator_name(function.name());
  ThreadLog* const log = ready_log(kSlot, BeginWords::kMost + kUsualInputs);
  bool is_written = false;
  if (log != nullptr && name != recorder::NameNumber::none) [[likely]] {
    try {
      is_written = record_in_place(function, *log, operator_words(function, name));
    } catch (...) {  // is tried again, and counted if it fails again
    }
  }
  if (!is_written) [[unlikely]]
    record_range_with_inputs(function, kSlot);
  return nullptr;
}

template <std::size_t kSlot>
void end(const at::RecordFunction& function, at::ObserverContext*) noexcept {
  ThreadLog* const log = ready_log(kSlot, recorder::record_detail::kEndWords);
  if (log == nullptr || function.scope() == at::RecordScope::USER_SCOPE) [[unlikely]] {
    record_end(function, kSlot);
    return;
  }
  recorder::record_detail::put(
      *log, log->next(),
      {.ticks = recorder::ticks_detail::counter_ticks(), .key = key_of(function)});
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_with_context(const at::RecordFunction& function) {
  record_or_lose(kSlot, [&](ThreadLog& log) { record_with_context(function, log); });
  return nullptr;
}

/// Of operators, which launches belong to; not of ranges around them.
bool is_told_to_cupti(const at::RecordFunction& function) {
  return function.scope() != at::RecordScope::USER_SCOPE;
}

template <std::size_t kSlot>
std::unique_ptr<at::ObserverContext> begin_checked(const at::RecordFunction& function) {
  std::uint64_t ticks = 0;
  record_or_lose(kSlot, [&](ThreadLog& log) { ticks = record_with_context(function, log); });
  if (is_told_to_cupti(function)) cupti::push_operator(ticks);
  return nullptr;
}

template <std::size_t kSlot>
void end_checked(const at::RecordFunction& function, at::ObserverContext* context) noexcept {
  end<kSlot>(function, context);
  if (is_told_to_cupti(function)) cupti::pop_operator();
}

std::unique_ptr<at::ObserverContext> begin_nothing(const at::RecordFunction&) { return nullptr; }

/// torch's callbacks are plain functions, so each slot has its own.
struct Callbacks {
  at::RecordFunctionCallback::StartCallback begin;
  at::RecordFunctionCallback::StartCallback begin_with_inputs;
  at::RecordFunctionCallback::StartCallback begin_with_context;
  at::RecordFunctionCallback::StartCallback begin_checked;
  at::RecordFunctionCallback::EndCallback end;
  at::RecordFunctionCallback::EndCallback end_checked;
};

template <std::size_t... kSlot>
constexpr std::array<Callbacks, sizeof...(kSlot)> all_callbacks(std::index_sequence<kSlot...>) {
  return {{{begin<kSlot>, begin_with_inputs<kSlot>, begin_with_context<kSlot>, begin_checked<kSlot>,
            end<kSlot>, end_checked<kSlot>}...}};
}

constexpr auto kCallbacks = all_callbacks(std::make_index_sequence<recorder::kSlots>());

/// Calls `record(log, names)` for each observer of ranges among the callbacks.
template <typename Record>
void record_in_each(const at::StepCallbacks& callbacks, const Record& record) noexcept {
  for (const auto& callback : callbacks.callbacks_) {
    for (std::size_t slot = 0; slot < recorder::kSlots; ++slot) {
      const bool is_own =
          callback.end_ == kCallbacks[slot].end || callback.end_ == kCallbacks[slot].end_checked;
      if (is_own) record_or_lose(slot, record);
    }
  }
}

}  // namespace

ObserverHandle add_observer(std::size_t slot, const ObserverOptions& options) {
  recorder::logical_thread_id.store(
      [] { return static_cast<std::uint64_t>(at::RecordFunction::currentThreadId()); });
  const Callbacks& callbacks = kCallbacks[slot];
  auto* begin = options.inputs ? callbacks.begin_with_inputs : callbacks.begin;
  if (options.context) begin = callbacks.begin_with_context;
  auto* end = callbacks.end;
  if (options.check_launches) {
    begin = callbacks.begin_checked;
    end = callbacks.end_checked;
  }
  auto callback = at::RecordFunctionCallback(begin, end).needsInputs(options.inputs);
  if (!options.ranges) {
    // torch takes no scopes for all of them.
    callback =
        at::RecordFunctionCallback(begin_nothing).scopes({at::RecordScope::LITE_INTERPRETER});
  }
  return add_callback(slot, std::move(callback), options.all_threads);
}

void remove_observer(ObserverHandle handle) { remove_callback(handle); }

bool observes_this_thread(ObserverHandle handle) {
  for (const auto& entry : at::get_record_function_tls_().sorted_tls_callbacks_) {
    if (entry.handle_ == handle) return true;
  }
  return false;
}

void record_instant(const at::StepCallbacks& callbacks, std::string_view name,
                    std::string_view arguments) noexcept {
  const std::uint64_t ticks = recorder::ticks();
  record_in_each(callbacks, [&](ThreadLog& log) {
    write(log, recorder::InstantRecord{
                   .ticks = ticks, .name = log.names().find(name), .arguments = arguments});
  });
}

void record_counter(const at::StepCallbacks& callbacks, std::string_view name,
                    double value) noexcept {
  const std::uint64_t ticks = recorder::ticks();
  record_in_each(callbacks, [&](ThreadLog& log) {
    write(log,
          recorder::CounterRecord{.ticks = ticks, .name = log.names().find(name), .value = value});
  });
}

NextRange::NextRange(std::string_view name, std::string_view arguments, const void* module) {
  next_name = name;
  next_arguments = arguments;
  next_module = module;
}

NextRange::~NextRange() {
  next_name = {};
  next_arguments = {};
  next_module = nullptr;
}

}  // namespace tbtrace::libtorch
