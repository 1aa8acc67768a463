// write_schedule TEXT NODES [--remote-nodes NODES] OUT [PARAMETER...]: writes the schedule file of a program's text.
// The schedule may be wrong: tests of the commands need such files.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "generator/encode.h"
#include "schedule/text.h"

int main(int argc, char** argv) {
  using namespace quadrille;
  if (argc < 4) return 2;
  std::stringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  const Result<Program> program = parse_program(text.str(), argv[1]);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    return 2;
  }
  Job job{{parse_nodes(argv[2]).value()}, {}};
  int next = 3;
  if (argv[next] == std::string("--remote-nodes") && argc > 5) {
    job.groups.push_back(parse_nodes(argv[4]).value());
    next = 5;
  }
  const char* const path = argv[next++];
  for (; next < argc; ++next) job.parameters.push_back(std::stoll(argv[next]));
  const Bytes file = encode(*program, job);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), file.size());
  return out.good() ? 0 : 2;
}
