// Reads the file of one process of a traced run, and checks its form, which runtime/execute/trace_format.h describes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/execute/trace_format.h"
#include "schedule/result.h"
#include "schedule/topology.h"

namespace quadrille::trace {

struct BindingSection {
  qd_trace_binding head;
  std::vector<Run> runs, remote_runs;  // nodes of the own group and of the other
};

struct SetupSection {
  qd_trace_setup head;
  size_t binding;                                          // index in File::bindings
  std::vector<int64_t> parameters, counts, remote_counts;  // one count stands for all ranks
};

struct PartSection {
  qd_trace_part head;
  size_t setup;  // index in File::setups
  std::span<const qd_trace_message> receives, sends;
};

struct File {
  std::string path;
  int32_t rank = 0;  // in MPI_COMM_WORLD
  bool is_full = false;
  std::vector<BindingSection> bindings;
  std::vector<SetupSection> setups;
  std::vector<PartSection> parts;  // in the order in which they began
  std::vector<uint64_t> words;     // the whole file; receives and sends point here
};

// Reads a trace. Errors begin with the path.
Result<File> read_file(const std::string& path);

}  // namespace quadrille::trace
