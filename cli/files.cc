// Tested by tests/cli/cli_test.sh, which triggers every refusal.
#include "cli/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>
#include <system_error>

namespace quadrille::cli {

std::string user_path(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder ? (std::filesystem::path(folder) / path).string() : path;
}

namespace {

// Returns whether the command `quadrille` (install/quadrille.sh) started this program from lib/quadrille.
bool is_installed() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return folder.filename() == "quadrille" && folder.parent_path().filename() == "lib";
}

}  // namespace

std::string program_name(const char* program) { return is_installed() ? "quadrille" : program; }

std::string typed(const char* program) {
  return is_installed() ? "quadrille" : fmt::format("bazel run //{} --", program);
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-./+=,:@%").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

constexpr size_t kMostBytes = 16 << 20;

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  std::error_code error;
  const std::string full = user_path(path);
  if (std::filesystem::is_directory(full, error))
    return Error{fmt::format("{}: is a folder; name a file", path)};
  std::ifstream file(full, std::ios::binary);
  if (!file) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  std::vector<uint8_t> bytes;
  while (file && bytes.size() <= kMostBytes) {
    constexpr size_t kLeast = 1 << 16;
    const size_t before = bytes.size(), more = std::max(before, kLeast);
    bytes.resize(before + more);
    file.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(more));
    bytes.resize(before + static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (bytes.size() > kMostBytes)
    return Error{
        fmt::format("{}: has more than {} MiB, the most that is read", path, kMostBytes >> 20)};
  return bytes;
}

namespace {

Error failure(const std::string& path) {
  return Error{fmt::format("{}: {}", path, std::strerror(errno))};
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

bool write_all(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(written);
  }
  return true;
}

// Writes all bytes and closes; returns 0 or the errno.
int fill(int file, std::span<const uint8_t> bytes) {
  const bool written = write_all(file, bytes);
  const int error = errno;
  if (close(file) != 0 && written) return errno;
  return written ? 0 : error;
}

// Returns the target of a chain of symbolic links, whether it exists or not.
std::filesystem::path follow_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // `target` alone if that is absolute
  }
  return path;
}

// Writes into a device or a pipe. A folder cannot be opened so, and the error says why.
Result<bool> write_into(const std::string& path, std::span<const uint8_t> bytes) {
  const int file = open(user_path(path).c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return failure(path);
  errno = fill(file, bytes);
  if (errno != 0) return failure(path);
  return true;
}

// A file beside its target, whose place it takes in the end. The destructor removes it if it has not done so.
class Draft {
 public:
  Draft() = default;
  ~Draft() {
    if (!draft_.empty()) std::remove(draft_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Result<bool> write(const std::string& path, std::span<const uint8_t> bytes) {
    struct stat old = {};
    const bool there = stat(user_path(path).c_str(), &old) == 0;
    if (there && !S_ISREG(old.st_mode)) return write_into(path, bytes);
    if (!there && errno == ELOOP) return failure(path);
    target_ = follow_links(user_path(path)).string();
    const std::string draft = fmt::format("{}.{}.draft", target_, getpid());
    constexpr mode_t kNewFile = 0666, kPermissions = 07777;
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFile);
    if (file < 0) return failure(path);
    draft_ = draft;
    const int error = there && fchmod(file, old.st_mode & kPermissions) != 0 ? errno : 0;
    const int filled = fill(file, bytes);
    errno = error == 0 ? filled : error;
    if (errno != 0) return failure(path);
    return true;
  }

  Result<bool> put_in_place(const std::string& path) {
    if (!draft_.empty() && std::rename(draft_.c_str(), target_.c_str()) != 0) return failure(path);
    draft_.clear();
    return true;
  }

 private:
  std::string target_, draft_;  // empty if the target is a device or a pipe
};

}  // namespace

Result<bool> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  Draft draft;
  Result<bool> written = draft.write(path, bytes);
  return written.ok() ? draft.put_in_place(path) : written;
}

Result<bool> write_files(const std::vector<Output>& files) {
  std::vector<Draft> drafts(files.size());
  const auto told = [](const Output& file, const Result<bool>& failed) {
    return Error{fmt::format("{}: {}", file.flag, failed.error().message)};
  };
  for (size_t i = 0; i < files.size(); ++i)
    if (const auto written = drafts[i].write(files[i].path, bytes_of(files[i].contents));
        !written.ok())
      return told(files[i], written);
  for (size_t i = 0; i < files.size(); ++i)
    if (const auto placed = drafts[i].put_in_place(files[i].path); !placed.ok())
      return told(files[i], placed);
  return true;
}

Result<bool> write_file(const std::string& path, const std::string& text) {
  return write_file(path, bytes_of(text));
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat first = {}, second = {};
  return stat(user_path(one).c_str(), &first) == 0 &&
         stat(user_path(other).c_str(), &second) == 0 && S_ISREG(first.st_mode) &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

std::string same_file_text(const std::string& flag, const std::string& path) {
  return fmt::format("{}: {}: is the file that is read, and would be replaced; name another", flag,
                     path);
}

int run_main(const char* program, int (*run)(int, char**), int argc, char** argv) {
  int code = kBadInput;
  try {
    code = run(argc, argv);
  } catch (const std::bad_alloc&) {
    return bad_input(program, "not enough memory for so large a job");
  } catch (const std::system_error& error) {  // thrown by fmt::print
    return bad_input(program, fmt::format("standard output: {}", error.code().message()));
  }
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  return bad_input(program, fmt::format("standard output: {}", std::strerror(errno)));
}

// Messages may quote a file with any bytes. Control characters do not reach the terminal.
int bad_input(const char* program, const std::string& message) {
  std::string text = message;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  fmt::print(stderr, "{}: {}\n", program, text);
  return kBadInput;
}

int print_or_write(const char* program, const std::string& out, const std::string& text) {
  if (out.empty()) {
    fmt::print("{}", text);
    return ExitCode::kVerified;
  }
  const Result<bool> written = write_file(out, text);
  return written.ok() ? ExitCode::kVerified
                      : bad_input(program, "--out: " + written.error().message);
}

}  // namespace quadrille::cli
