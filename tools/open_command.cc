#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "console.h"
#include "options.h"
#include "report_command.h"
#include "shell_word.h"

namespace tbtrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAbout =
    "Writes the page of `tbtrace report`, opens it in the browser, and prints its path. Without "
    "-o\n"
    "the page is in ~/.cache/tbtrace/pages, under a name that stays the same for the same inputs.\n"
    "In an SSH session without a display no browser is started; a line for scp says how to fetch\n"
    "the page.\n";

/// How long to wait for a browser that does not return before it counts as started.
constexpr std::chrono::seconds kPatience(3);

constexpr const char* kOpener =
#ifdef __APPLE__
    "open";
#else
    "xdg-open";
#endif

/// Empty if it is not set.
std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool has_display() {
#ifdef __APPLE__
  return true;
#else
  return !environment("DISPLAY").empty() || !environment("WAYLAND_DISPLAY").empty();
#endif
}

/// Whether a character is an ASCII letter, a digit or one of `others`.
bool is_one_of(std::string_view others, char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         others.find(c) != std::string_view::npos;
}

/// A name for the inputs that needs no quotes in a shell.
std::string page_name(const std::vector<std::string>& inputs) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::string& input : inputs) {
    std::error_code failed;
    const fs::path place = input == "-" ? fs::path(input) : fs::weakly_canonical(input, failed);
    for (const char c : (failed ? input : place.string()) + '\0') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
  }
  std::string stem = fs::path(inputs.front()).lexically_normal().filename().string();
  if (stem.empty()) {  // of `ranks/`
    stem = fs::path(inputs.front()).lexically_normal().parent_path().filename().string();
  }
  stem = inputs.front() == "-" ? "standard_input" : stem.substr(0, stem.find('.', 1));
  std::string name;
  for (const char c : stem.substr(0, 80)) {
    name += is_one_of("_-", c) ? c : '_';
  }
  std::ostringstream number;
  number << std::hex << std::setfill('0') << std::setw(8) << (hash >> 32U);
  return name + "-" + number.str() + ".html";
}

/// The folder for pages, created if necessary. Nobody else can read it.
std::string page_folder(std::error_code& failed) {
  fs::path cache = environment("XDG_CACHE_HOME");
  if (!cache.is_absolute()) cache = fs::path(environment("HOME")) / ".cache";
  const fs::path folder = cache / "tbtrace" / "pages";
  if (!folder.is_absolute()) failed = std::make_error_code(std::errc::not_a_directory);  // no HOME
  if (failed) return folder.string();
  if (fs::create_directories(folder, failed)) {
    fs::permissions(folder, fs::perms::owner_all, failed);
  }
  return folder.string();
}

/// `file://` and the path, with what an address cannot have as %XX.
std::string address_of(const std::string& path) {
  std::ostringstream address;
  address << "file://" << std::hex << std::uppercase;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_one_of("/._-~", c)) {
      address << c;
    } else {
      address << '%' << (byte < 16 ? "0" : "") << static_cast<int>(byte);
    }
  }
  return address.str();
}

/// The words of a command of $BROWSER with the address. The address is the last word if nothing
/// stands for it.
std::vector<std::string> words_of(const std::string& command, const std::string& address) {
  std::vector<std::string> words;
  std::istringstream text(command);
  bool has_address = false;
  for (std::string word; text >> word;) {
    if (const std::size_t place = word.find("%s"); place != std::string::npos) {
      word.replace(place, 2, address);
      has_address = true;
    }
    words.push_back(word);
  }
  if (!words.empty() && !has_address) words.push_back(address);
  return words;
}

/// Starts a program that outlives this one. Returns what went wrong, empty if nothing did: it has
/// ended with 0 or still runs.
std::string start(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const ::pid_t child = ::fork();
  if (child < 0) return "cannot be started";
  if (child == 0) {
    ::setsid();  // Ctrl-C in the terminal is not for the browser
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (int descriptor = 0; descriptor < 3; ++descriptor) ::dup2(nowhere, descriptor);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    int state = 0;
    if (::waitpid(child, &state, WNOHANG) == child) {
      if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return {};
      if (WIFEXITED(state) && WEXITSTATUS(state) == 127) return "was not found";
      return WIFEXITED(state) ? "failed with exit code " + std::to_string(WEXITSTATUS(state))
                              : "was killed by signal " + std::to_string(WTERMSIG(state));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

/// Tries the commands of $BROWSER, or the system's opener.
void show(const std::string& path, Console& console) {
  const std::string chosen = environment("BROWSER");
  if (chosen.empty() && !has_display()) {
    console.message("open", "there is no display; open the page in a browser, or set BROWSER");
    return;
  }
  std::istringstream commands(chosen.empty() ? kOpener : chosen);
  std::string failures;
  for (std::string command; std::getline(commands, command, ':');) {
    const std::vector<std::string> words = words_of(command, address_of(path));
    if (words.empty()) continue;
    const std::string failure = start(words);
    if (failure.empty()) return;
    failures += (failures.empty() ? "" : ", ") + words.front() + " " + failure;
  }
  console.warning("open", (failures.empty() ? "BROWSER names no program" : failures) +
                              "; open the page in a browser, or set BROWSER");
}

/// The command that fetches a file from this machine. SSH_CONNECTION has the addresses and ports of
/// the client and of the server.
std::string fetching(const std::string& path) {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  std::istringstream connection(environment("SSH_CONNECTION"));
  std::string server;
  std::string port;
  connection >> server >> server >> server >> port;
  const std::string user = environment("USER");
  const std::string place =
      (user.empty() ? "" : user + "@") + (*host == '\0' ? server : host) + ":" + path;
  const bool is_plain = std::ranges::all_of(place, [](char c) { return is_one_of("/._-+,:@", c); });
  return "scp " + (port.empty() || port == "22" ? "" : "-P " + port + " ") +
         (is_plain ? place : shell_word(place)) + " .";
}

int run(const OptionParser& parser) {
  StandardOptions standard = parser.standard();
  Console console(standard.console);
  if (output_of(standard) == "-" && !standard.output.empty()) {
    return parser.wrong("a browser needs a file: name one with -o, or leave -o out");
  }
  if (standard.output.empty()) {
    std::error_code failed;
    const std::string folder = page_folder(failed);
    if (failed) {
      console.error(folder, "cannot make the directory: " + failed.message() +
                                "; name a file with -o, or set XDG_CACHE_HOME");
      return kUnwritableOutput;
    }
    standard.output = (fs::path(folder) / page_name(standard.inputs)).string();
    standard.overwrite = true;
  }
  const int code = write_report(parser, standard, console);
  if (code != kDone && code != kSomeInputsFailed) return code;
  const std::string path = fs::absolute(standard.output).lexically_normal().string();
  std::cout << printable(path) << std::endl;  // before a browser can take long
  if (!environment("SSH_CONNECTION").empty() && !has_display()) {
    console.message("open", "this machine has no display; on yours: " + fetching(path));
  } else {
    show(path, console);
  }
  return code;
}

}  // namespace

Command open_command() {
  return {
      .name = "open",
      .summary = "the page of report, written and opened in the browser",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = report_options(),
      .examples = {{"tbtrace open trace.json.gz", "look at a trace"},
                   {"tbtrace open ranks/ --limit 10MB", "look at a job"},
                   {"tbtrace open trace.json.gz -o report.html",
                    "a page to keep; browsers that were installed as a snap cannot read ~/.cache"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
