// Traces that are valid JSON, whatever the bytes that they are made of: each byte is a choice. So a
// fuzzer finds its way among keys and values instead of among broken texts. If asked for, some
// phases lack their quotes, which the reader takes too. No expression makes two choices: compilers
// would make them in different orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tbtrace::fuzz {

enum class Phases : std::uint8_t { quoted, unquoted_too };

class GrammarText {
 public:
  explicit GrammarText(std::string_view choices, Phases phases = Phases::quoted)
      : choices_(choices), phases_(phases) {}

  std::string trace() {
    comma_ = "," + blank();
    colon_ = blank() + ":" + blank();
    const std::size_t shape = next() % 8;
    if (shape == 0) return events();
    std::string text = "{" + blank();
    if (shape & 1) text += top_member() + comma_;
    if (shape == 7) text += member("\"traceEvents\"", events()) + comma_;
    text += member("\"traceEvents\"", events());
    if (shape & 2) text += comma_ + top_member();
    if (shape & 4) text += comma_ + top_member();
    text += blank() + "}";
    return text + blank();
  }

 private:
  using Texts = std::span<const std::string_view>;

  std::size_t next() {
    if (choices_.empty()) return 0;
    const auto choice = static_cast<unsigned char>(choices_.front());
    choices_.remove_prefix(1);
    return choice;
  }

  std::string pick(Texts texts) { return std::string(texts[next() % texts.size()]); }

  std::string blank() {
    static constexpr std::string_view kBlanks[] = {"", "", " ", "\n", "\r\n\t", "    "};
    return pick(kBlanks);
  }

  std::string member(std::string_view key, const std::string& value) const {
    return std::string(key) + colon_ + value;
  }

  std::string top_member() {
    static constexpr std::string_view kKeys[] = {
        R"("schemaVersion")", R"("baseTimeNanoseconds")",
        R"("with_stack")",    R"("deviceProperties")",
        R"("own")",           R"("base\u0054imeNanoseconds")",
        R"("a\"b")",          R"("distributedInfo")"};
    const std::string key = pick(kKeys);
    return member(key, value());
  }

  std::string events() {
    std::string text = "[" + blank();
    const std::size_t most = 1 + next() % 16;
    for (std::size_t count = 0; count < most && !choices_.empty(); ++count) {
      if (count > 0) text += comma_;
      text += next() % 16 == 0 ? value() : event();
    }
    return text + blank() + "]";
  }

  std::string event() {
    static constexpr std::string_view kPhases[] = {R"("X")", R"("X")", R"("X")",      R"("B")",
                                                   R"("E")", R"("i")", R"("s")",      R"("f")",
                                                   R"("M")", R"("t")", R"("\u0058")", R"("I")"};
    static constexpr std::string_view kKeys[] = {
        R"("name")", R"("cat")", R"("pid")",       R"("tid")", R"("dur")",  R"("id")",  R"("args")",
        R"("ts")",   R"("ph")",  R"("na\u006de")", R"("own")", R"("args")", R"("tid")", R"("dur")"};
    std::string text = "{" + blank();
    text += member(R"("ph")", phase(kPhases));
    text += comma_ + member(R"("name")", name());
    text += comma_ + member(R"("ts")", time());
    for (std::size_t count = next() % 8; count > 0; --count) {
      const std::string key = pick(kKeys);
      text += comma_ + member(key, value_of(key));
    }
    return text + blank() + "}";
  }

  std::string phase(Texts phases) {
    const std::size_t choice = next();
    const std::string_view phase = phases[choice % phases.size()];
    const bool is_bare = phases_ == Phases::unquoted_too && choice >= 128 && phase.size() == 3;
    return std::string(is_bare ? phase.substr(1, 1) : phase);
  }

  std::string value_of(std::string_view key) {
    if (next() % 8 == 0) return value();
    if (key == R"("args")") return arguments();
    if (key == R"("cat")") return category();
    if (key == R"("ts")" || key == R"("dur")") return time();
    if (key == R"("pid")" || key == R"("tid")" || key == R"("id")") return id();
    return key == R"("own")" ? value() : name();
  }

  std::string arguments() {
    static constexpr std::string_view kKeys[] = {
        R"("External id")",  R"("correlation")", R"("Ev Idx")",          R"("finished")",
        R"("name")",         R"("Bytes")",       R"("Device Type")",     R"("Device Id")",
        R"("Python id")",    R"("Call stack")",  R"("Input Dims")",      R"("stream")",
        R"("grid")",         R"("dtype")",       R"("blocks per SM")",   R"("Python module id")",
        R"("asynchronous")", R"("Addr")",        R"("Total Allocated")", R"("own")",
        R"("s\u0074ream")",  R"("bytes")",       R"("Input type")",      R"("Total Reserved")"};
    std::string text = "{" + blank();
    for (std::size_t count = next() % 6; count > 0; --count) {
      const std::string key = pick(kKeys);
      text += member(key, next() % 2 == 0 ? id() : value());
      if (count > 1) text += comma_;
    }
    return text + blank() + "}";
  }

  std::string name() {
    static constexpr std::string_view kNames[] = {R"("a")",
                                                  R"("aten::mm")",
                                                  R"("[memory]")",
                                                  R"("[OutOfMemory]")",
                                                  R"("process_name")",
                                                  R"("thread_name")",
                                                  R"("ProfilerStep#1")",
                                                  R"("")",
                                                  R"("},{\"ph\":\"X\"")",
                                                  R"("\\")",
                                                  R"("\ud83d\ude00\u00e9")",
                                                  R"("cudaLaunchKernel")",
                                                  R"("b")",
                                                  "5",
                                                  R"("]}")",
                                                  R"("\n")"};
    return pick(kNames);
  }

  std::string category() {
    static constexpr std::string_view kCategories[] = {R"("cpu_op")",
                                                       R"("kernel")",
                                                       R"("cuda_runtime")",
                                                       R"("cpu_instant_event")",
                                                       R"("ac2g")",
                                                       R"("fwdbwd")",
                                                       R"("async_gpu")",
                                                       R"("user_annotation")",
                                                       R"("")",
                                                       R"("gpu_memcpy")",
                                                       R"("forward_backward")",
                                                       R"("own")",
                                                       R"("python_function")",
                                                       R"("Trace")"};
    return pick(kCategories);
  }

  std::string time() {
    static constexpr std::string_view kTimes[] = {"1",
                                                  "2",
                                                  "3",
                                                  "5",
                                                  "8",
                                                  "13",
                                                  "0",
                                                  "0.5",
                                                  "1.0005",
                                                  "2e0",
                                                  R"("4")",
                                                  "-1",
                                                  "7.125",
                                                  "1700000000123456.789",
                                                  "4611686018427387.903",
                                                  "4611686018427387.904",
                                                  "1e30",
                                                  "12e-1"};
    return pick(kTimes);
  }

  std::string id() {
    static constexpr std::string_view kIds[] = {"0",
                                                "1",
                                                "2",
                                                "7",
                                                R"("1")",
                                                "1.0",
                                                "1e0",
                                                R"("stream 7")",
                                                "-1",
                                                "18446744073709551615",
                                                "null",
                                                R"("")",
                                                "9223372036854775808",
                                                "5.5",
                                                R"("\u0037")",
                                                "10e-1"};
    return pick(kIds);
  }

  std::string value() {
    static constexpr std::string_view kValues[] = {"null",
                                                   "true",
                                                   "false",
                                                   R"("")",
                                                   R"("text")",
                                                   R"("5.0")",
                                                   R"("+5")",
                                                   R"("N/A")",
                                                   R"(" 5")",
                                                   R"("false")",
                                                   R"("true")",
                                                   "0",
                                                   "-0",
                                                   "5.5",
                                                   "1e300",
                                                   "4294967295",
                                                   "4294967296",
                                                   "[]",
                                                   "{}",
                                                   "[1]",
                                                   "[1,2,3]",
                                                   "[1,2,3,4]",
                                                   "[ 1 , 2 ]",
                                                   R"("[1,2]")",
                                                   R"("[1")",
                                                   "[[2],[]]",
                                                   "[-1]",
                                                   R"({"a":{"ph":"X","b":[1]}})",
                                                   R"([{"ph":"X","name":"n","ts":1},{"ph":"X"}])",
                                                   R"("a;b;")",
                                                   R"({"traceEvents":[{"ph":"X"}]})",
                                                   R"("\"")",
                                                   R"(["],[{"])",
                                                   R"("\/\b\f")"};
    return pick(kValues);
  }

  std::string_view choices_;
  Phases phases_;
  std::string comma_;
  std::string colon_;
};

}  // namespace tbtrace::fuzz
