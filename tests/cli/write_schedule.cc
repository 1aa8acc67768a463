// write_schedule TEXT NODES OUT [PARAMETER...]: the schedule file of a program in text form, right
// or wrong, for tests of the commands. NODES of two groups are joined by a slash.
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
  Job job;
  std::istringstream nodes(argv[2]);
  for (std::string group; std::getline(nodes, group, '/');)
    job.groups.push_back(parse_nodes(group).value());
  for (int i = 4; i < argc; ++i) job.parameters.push_back(std::stoll(argv[i]));
  const Bytes file = encode(*program, job);
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), file.size());
  return out.good() ? 0 : 2;
}
