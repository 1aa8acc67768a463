// Tested by tests/cli/cli_test.sh, which asks for every refusal.
#include "cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

namespace quadrille::cli {

std::string user_path(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder ? (std::filesystem::path(folder) / path).string() : path;
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  std::error_code error;
  const std::string full = user_path(path);
  if (std::filesystem::is_directory(full, error))
    return Error{fmt::format("{}: is a folder; name a file", path)};
  std::ifstream file(full, std::ios::binary);
  if (!file) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
  if (file.bad()) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  return bytes;
}

Result<bool> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  const std::string full = user_path(path);
  const std::string draft = fmt::format("{}.{}.draft", full, getpid());
  std::FILE* file = std::fopen(draft.c_str(), "wb");
  if (!file) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(draft.c_str(), full.c_str()) == 0) return true;
  const std::string reason = std::strerror(errno);
  std::remove(draft.c_str());
  return Error{fmt::format("{}: {}", path, reason)};
}

Result<bool> write_file(const std::string& path, const std::string& text) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

int run_main(const char* program, int (*run)(int, char**), int argc, char** argv) {
  int code = kBadInput;
  try {
    code = run(argc, argv);
  } catch (const std::bad_alloc&) {
    return bad_input(program, "not enough memory for so large a job");
  } catch (const std::system_error& error) {  // fmt::print's
    return bad_input(program, fmt::format("standard output: {}", error.code().message()));
  }
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  return bad_input(program, fmt::format("standard output: {}", std::strerror(errno)));
}

int bad_input(const char* program, const std::string& message) {
  fmt::print(stderr, "{}: {}\n", program, message);
  return kBadInput;
}

}  // namespace quadrille::cli
