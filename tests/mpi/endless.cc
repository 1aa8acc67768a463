// endless FILE...: schedules that would walk for hours. A FILE is NAME_RANKS.qs.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "generator/encode.h"
#include "schedule/text.h"

namespace quadrille {
namespace {

const std::map<std::string, std::string> programs = {
    {"loops", R"(algorithm loops for alltoall
port exchange per rank

for i in 0 .. 1000000000000
  let x = i
)"},
    {"steps", R"(algorithm steps for alltoall
port exchange per rank

let peer = wrap(rank + 1, ranks)
for i in 0 .. 1000000000000
  step i after -1
    receive recv[peer] from peer
    send send[peer] to peer
)"},
    {"messages", R"(algorithm messages for alltoall
port exchange per rank

let peer = wrap(rank + 1, ranks)
step 0
  for i in 0 .. 1000000000000
    send send[peer] to peer
)"},
};

int write(const std::string& path) {
  const size_t start = path.rfind('/') + 1, middle = path.find('_', start);
  const auto program = parse_program(programs.at(path.substr(start, middle - start)), path);
  const auto topology = parse_nodes(path.substr(middle + 1, path.find('.', middle) - middle - 1));
  if (!program.ok() || !topology.ok()) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(),
                 (program.ok() ? topology.error() : program.error()).message.c_str());
    return 2;
  }
  const Bytes bytes = encode(*program, {{*topology}, {}});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return 0;
}

}  // namespace
}  // namespace quadrille

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (const int code = quadrille::write(argv[i])) return code;
  return 0;
}
