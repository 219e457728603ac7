#include "other_words.h"

#include <algorithm>
#include <array>
#include <span>

namespace tbtrace::tools {
namespace {

struct Word {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array kVerbs = {
    Word{"flame", "flamegraph"},
    Word{"export_stacks", "flamegraph"},
    Word{"compare", "diff"},
    Word{"top", "ops"},
    Word{"stats", "ops"},
    Word{"operators", "ops"},
    Word{"key_averages", "ops"},
    Word{"timeline", "report"},
    Word{"html", "report"},
    Word{"view", "open"},
    Word{"export", "convert"},
    Word{"nccl", "collectives"},
    Word{"comm", "collectives"},
    Word{"stragglers", "collectives"},
    Word{"straggler", "collectives"},
    Word{"ranks", "collectives"},
    Word{"slowest", "steps"},
    Word{"critical-path", "whatif --critical-path"},
    Word{"path", "whatif --critical-path"},
    Word{"prefill", "serving"},
    Word{"decode", "serving"},
    Word{"oom", "memory"},
    Word{"snapshot", "memory"},
    // Reports of Nsight Systems.
    Word{"cuda_gpu_kern_sum", "kernels"},
    Word{"gpukernsum", "kernels"},
    Word{"cuda_gpu_sum", "kernels"},
    Word{"gpu_gaps", "gpu --gaps"},
    // Functions of HolisticTraceAnalysis.
    Word{"get_gpu_kernel_breakdown", "kernels"},
    Word{"get_temporal_breakdown", "gpu"},
    Word{"get_comm_comp_overlap", "gpu"},
    Word{"get_idle_time_breakdown", "gpu"},
    Word{"get_potential_stragglers", "collectives"},
    Word{"critical_path_analysis", "whatif --critical-path"},
    // Verbs that have become views of others.
    Word{"idle", "gpu --gaps"},
    Word{"gaps", "gpu --gaps"},
    Word{"flops", "model --by operator"},
    Word{"threads", "check --threads"},
    Word{"doctor", "--version --verbose"},
    Word{"partial", "save"},
    Word{"baseline", "save --for diff"},
    Word{"merge-partials", "add"},
};

constexpr std::array kOptions = {
    Word{"n", "row-limit"},      Word{"top", "row-limit"},  Word{"limit", "row-limit"},
    Word{"by", "group-by"},      Word{"sort", "sort-by"},   Word{"order-by", "sort-by"},
    Word{"filter", "name"},      Word{"regex", "name"},     Word{"out", "output"},
    Word{"json", "format json"}, Word{"csv", "format csv"}, Word{"force-overwrite", "overwrite"},
};

std::string_view found_in(std::span<const Word> words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &Word::theirs);
  return found == words.end() ? std::string_view() : found->ours;
}

}  // namespace

std::string_view verb_for_word(std::string_view word) { return found_in(kVerbs, word); }

std::string_view option_for_word(std::string_view word) { return found_in(kOptions, word); }

}  // namespace tbtrace::tools
