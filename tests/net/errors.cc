// MPI's error codes, classes and texts, and whether MPI is initialized.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "tests/net/world.h"

namespace {

struct Code {
  int error_class;
  std::string text;
};
std::map<int, Code> codes;  // of the process, as the runtime's codes are
int next_class = MPI_ERR_LASTCODE / 2;

}  // namespace

extern "C" {

SIMULATED(Initialized, int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}

SIMULATED(Finalized, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

SIMULATED(Get_library_version, char* version, int* length) {
  version[*length = 0] = '\0';
  return MPI_SUCCESS;
}

SIMULATED(Add_error_class, int* error_class) {
  *error_class = next_class++;
  codes[*error_class] = {*error_class, ""};
  return MPI_SUCCESS;
}

SIMULATED(Add_error_code, int error_class, int* code) {
  *code = next_class++;
  codes[*code] = {error_class, ""};
  return MPI_SUCCESS;
}

SIMULATED(Add_error_string, int code, const char* text) {
  const auto found = codes.find(code);
  if (found == codes.end()) return MPI_ERR_ARG;
  found->second.text = text;
  return MPI_SUCCESS;
}

SIMULATED(Error_class, int code, int* error_class) {
  const auto found = codes.find(code);
  *error_class = found == codes.end() ? code : found->second.error_class;
  return MPI_SUCCESS;
}

SIMULATED(Error_string, int code, char* text, int* length) {
  const auto found = codes.find(code);
  if (found != codes.end())
    std::snprintf(text, MPI_MAX_ERROR_STRING, "%s", found->second.text.c_str());
  else
    std::snprintf(text, MPI_MAX_ERROR_STRING, "MPI's error class %d%s", code,
                  code == MPI_ERR_TRUNCATE ? " (a message is too long)" : "");
  *length = static_cast<int>(std::strlen(text));
  return MPI_SUCCESS;
}

}  // extern "C"
