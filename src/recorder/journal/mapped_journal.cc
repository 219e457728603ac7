#include "recorder/journal/mapped_journal.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/journal/checksums.h"

namespace tbtrace::recorder::journal {

namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// 0: there is nothing, or it is not a file.
std::size_t size_of(int descriptor) {
  struct stat file = {};
  const bool is_file = ::fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode);
  return is_file ? static_cast<std::size_t>(file.st_size) : 0;
}

bool is_locked(int descriptor) {
  struct flock whole = {};
  whole.l_type = F_RDLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(descriptor, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/// The process ended before the head was whole, and so before anything was stored after it. Stores
/// into the head may have come in any order.
bool is_being_made(const SegmentHead& head, const char* end) {
  const bool is_whole = head.magic != std::array<char, 8>{} && head.version != 0 &&
                        head.byte_order != 0 && head.slot_bytes != 0 && head.slots.load() != 0;
  const char* const rest = reinterpret_cast<const char*>(&head) + kSegmentHeadBytes;
  return !is_whole && std::all_of(rest, end, [](char c) { return c == '\0'; });
}

}  // namespace

MappedJournal::~MappedJournal() {
  for (const auto& [memory, bytes] : mappings_) ::munmap(memory, bytes);
}

std::optional<std::pair<char*, std::size_t>> MappedJournal::map(int descriptor) {
  const std::size_t bytes = size_of(descriptor);
  if (bytes < sizeof(SegmentHead)) return std::nullopt;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  return mappings_.emplace_back(static_cast<char*>(memory), bytes);
}

Result<std::shared_ptr<MappedJournal>> MappedJournal::open(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kHeadName;
  const auto unreadable = [&](const std::string& why) {
    return Status(StatusCode::unreadable_input, path.string() + ": " + why);
  };
  const Descriptor file(path);
  if (file.number() < 0) {
    return unreadable(std::generic_category().message(errno) +
                      "; give the folder that a recording had as its journal");
  }
  const std::shared_ptr<MappedJournal> journal(new MappedJournal);
  journal->is_alive_ = is_locked(file.number());
  if (size_of(file.number()) == 0) return journal;
  const auto head = journal->map(file.number());
  if (!head || head->second < kHeadBytes) return unreadable("this is not the head of a journal");
  if (std::all_of(head->first, head->first + kHeadBytes, [](char c) { return c == '\0'; })) {
    return journal;
  }
  journal->head_ = reinterpret_cast<const Head*>(head->first);
  if (journal->head_->is_begun.load() == 0) {
    journal->head_ = nullptr;
    return journal;
  }
  if (journal->head_->magic != kHeadMagic) return unreadable("this is not the head of a journal");
  if (journal->head_->byte_order != kByteOrder || journal->head_->version != kVersion) {
    return unreadable(
        "the journal was written by another version of tbtrace or on another kind of machine; "
        "recover it with that version, there");
  }
  if (journal->head_->checksum != checksum_of(*journal->head_)) {
    return unreadable("the head of the journal is damaged");
  }
  std::vector<std::filesystem::path> segments;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(kSegmentStart)) segments.push_back(at->path());
  }
  if (error) return unreadable("the folder cannot be read: " + error.message());
  std::sort(segments.begin(), segments.end());
  for (const std::filesystem::path& segment : segments) journal->add_segment(segment);
  return journal;
}

void MappedJournal::add_segment(const std::filesystem::path& path) {
  const Descriptor file(path);
  // The process ended while it made the file.
  if (file.number() >= 0 && size_of(file.number()) == 0) return;
  const auto memory = file.number() < 0 ? std::nullopt : map(file.number());
  if (!memory || memory->second < kSegmentHeadBytes) {
    ++unreadable_;
    return;
  }
  const auto& segment = *reinterpret_cast<const SegmentHead*>(memory->first);
  if (is_being_made(segment, memory->first + memory->second)) return;
  const std::size_t left = memory->second - kSegmentHeadBytes;
  const bool is_sound = segment.magic == kSegmentMagic && segment.version == kVersion &&
                        segment.byte_order == kByteOrder && segment.slot_bytes > kSlotHeadBytes &&
                        segment.slot_bytes % sizeof(std::uint64_t) == 0 &&
                        segment.slots.load() != 0;
  if (!is_sound) {
    ++unreadable_;
    return;
  }
  const auto slot_bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(segment.slot_bytes, left + 1));
  const std::size_t there = left / slot_bytes;
  const std::uint64_t slots = segment.slots.load();
  if (there < slots) ++unreadable_;
  for (std::size_t number = 0; number < std::min<std::uint64_t>(there, slots); ++number) {
    auto* const head =
        reinterpret_cast<SlotHead*>(memory->first + kSegmentHeadBytes + number * slot_bytes);
    if (head->window.load() != 0) slots_.push_back({head, slot_bytes});
  }
}

}  // namespace tbtrace::recorder::journal
