/* Checks what `doctor` sees without MPI: the launcher in the path, the user's program, LD_PRELOAD and Quadrille's
 * variables. The preload library's own code reads the settings and rules. Tested by tests/preload/doctor_test.sh. */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/rules.h"
#include "tools/doctor.h"

static const struct {
  const char *name, *suffix, *launcher;
  const char* version; /* a text that its launcher prints for --version */
  const char* symbol;  /* a symbol that only this library defines, under any file name */
} known[] = {
    [DOCTOR_OPENMPI] = {"Open MPI", "openmpi", "mpirun.openmpi", "Open MPI", "ompi_mpi_comm_world"},
    [DOCTOR_MPICH] = {"MPICH", "mpich", "mpiexec.hydra", "HYDRA", "MPIR_Dup_fn"},
};

const char* doctor_mpi_name(enum doctor_mpi mpi) {
  return mpi == DOCTOR_UNKNOWN ? "another MPI library" : known[mpi].name;
}

/* ---- Other programs */

/* Runs the command in the child process of `capture`, without a preloaded library. */
static void become(char* const command[], int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(output);
  unsetenv("LD_PRELOAD");
  execvp(command[0], command);
  _exit(127);
}

/* Runs a command and keeps the beginning of its output. Returns its exit code; 127 if it cannot be run. */
static int capture(char* const command[], char* text, size_t size) {
  int ends[2], status = 0;
  size_t length = 0;
  char rest[256];
  text[0] = '\0';
  if (pipe(ends) != 0) return 127;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) become(command, ends[1]);
  close(ends[1]);
  for (ssize_t got = 1; child > 0 && got > 0;) {
    const size_t room = size - 1 - length;
    got = room > 0 ? read(ends[0], text + length, room) : read(ends[0], rest, sizeof rest);
    if (got > 0 && room > 0) length += (size_t)got;
  }
  text[length] = '\0';
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

int doctor_find_in_path(const char* name, char found[PATH_MAX]) {
  const char* path = getenv("PATH");
  while (path && *path) {
    const int length = (int)strcspn(path, ":");
    snprintf(found, PATH_MAX, "%.*s/%s", length, path, name);
    if (length > 0 && access(found, X_OK) == 0) return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

/* ---- The MPI library */

/* Finds out which MPI library the launcher in the path is for. Leaves `mpi` alone if QUADRILLE_MPI names one. */
static void look_at_launcher(struct doctor_environment* environment) {
  char path[PATH_MAX], other[PATH_MAX], text[4096];
  if (!doctor_find_in_path("mpirun", path) && !doctor_find_in_path("mpiexec", path)) {
    doctor_fact("mpi", "PATH has no mpirun and no mpiexec");
    if (!doctor_find_in_path("srun", other))
      doctor_finding(
          "PATH has no mpirun, mpiexec or srun: load the module of your MPI library, or "
          "add its bin folder to PATH");
    return;
  }
  capture((char*[]){path, "--version", NULL}, text, sizeof text);
  enum doctor_mpi mpi = DOCTOR_OPENMPI;
  while (mpi < DOCTOR_UNKNOWN && !strstr(text, known[mpi].version)) mpi++;
  const char* number = strstr(text, mpi == DOCTOR_MPICH ? "Version:" : ") ");
  number = number ? number + strcspn(number, "0123456789\n") : "";
  doctor_fact("mpi", "%s %.*s: %s", doctor_mpi_name(mpi), (int)strspn(number, "0123456789."),
              number, path);
  const char* chosen = getenv("QUADRILLE_MPI");
  if (mpi == DOCTOR_UNKNOWN)
    doctor_finding(
        "%s is of another MPI library than Open MPI and MPICH, so no preload library is "
        "for its programs: put the launcher of one of them first in PATH",
        path);
  else if (!chosen || !*chosen)
    environment->mpi = mpi;
  else if (mpi != environment->mpi)
    doctor_finding(
        "QUADRILLE_MPI=%s, but %s is of %s: unset QUADRILLE_MPI, or start programs by %s", chosen,
        path, known[mpi].name, known[environment->mpi].launcher);
}

static int has_symbol(const unsigned char* file, size_t length, const char* name) {
  return memmem(file, length, name, strlen(name) + 1) != NULL;
}

/* Finds the MPI library that this library file is or uses. Returns 0 if the file has nothing to do with MPI. */
static int find_mpi(const char* path, enum doctor_mpi* mpi) {
  enum { LONGEST = 1 << 28 };
  size_t length = 0;
  unsigned char* const file = preload_read(path, LONGEST, &length);
  if (!file) return 0;
  for (*mpi = DOCTOR_OPENMPI; *mpi < DOCTOR_UNKNOWN; ++*mpi)
    if (has_symbol(file, length, known[*mpi].symbol)) break;
  if (strstr(path, "/libmpi_abi.so")) *mpi = DOCTOR_UNKNOWN;
  const int is_mpi = *mpi < DOCTOR_UNKNOWN || has_symbol(file, length, "PMPI_Init");
  free(file);
  return is_mpi;
}

/* Looks at the libraries that `ldd` has listed, as NAME => PATH (ADDRESS). */
static void look_at_libraries(const struct doctor_environment* environment, char* listed) {
  const char *program = environment->program, *path = NULL;
  enum doctor_mpi mpi = DOCTOR_UNKNOWN;
  int has_mpi = 0;
  char* rest = NULL;
  if (strstr(listed, "libasan.so"))
    doctor_finding(
        "%s has the address sanitizer, whose library comes first: LD_PRELOAD=\"$(gcc "
        "-print-file-name=libasan.so) %s\"",
        program, environment->library);
  for (char* line = strtok_r(listed, "\n", &rest); line && !has_mpi;
       line = strtok_r(NULL, "\n", &rest)) {
    path = strchr(line, '/');
    if (!path) continue;
    line[strcspn(line, "(") - 1] = '\0';
    has_mpi = find_mpi(path, &mpi);
  }
  if (!has_mpi) {
    doctor_fact("program", "%s is linked with no MPI library; it may load one when it runs",
                program);
    return;
  }
  if (mpi == DOCTOR_UNKNOWN) {
    doctor_finding(
        "%s is linked with %s, which is neither Open MPI's nor MPICH's, or has the standard ABI of "
        "MPI: no preload library is for it; link it by mpicc of one of them",
        program, path);
    return;
  }
  doctor_fact("program", "%s is linked with %s", program, known[mpi].name);
  if (mpi != environment->mpi)
    doctor_finding("%s is linked with %s, but %s would start it: start it by %s", program,
                   known[mpi].name, doctor_mpi_name(environment->mpi), known[mpi].launcher);
}

static void look_at_program(const struct doctor_environment* environment) {
  char text[1 << 14], start[2] = "";
  const char* program = environment->program;
  FILE* const file = fopen(program, "r");
  const int is_script =
      file && fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, "#!", 2) == 0;
  if (file) fclose(file);
  if (is_script)
    doctor_fact("program", "%s is a script; name the program that it starts to see its MPI library",
                program);
  else if (capture((char*[]){"ldd", (char*)program, NULL}, text, sizeof text) == 0)
    look_at_libraries(environment, text);
  else
    doctor_finding(
        "%s is linked statically or is no program, so LD_PRELOAD does not reach it: link it "
        "dynamically",
        program);
}

/* Sets `library`. The preload library is installed beside the folder of this program. */
static void find_library(struct doctor_environment* environment) {
  char self[PATH_MAX] = "";
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  for (int i = 0; i < 2; i++) {
    char* const slash = strrchr(self, '/');
    if (slash) *slash = '\0';
  }
  snprintf(environment->library, sizeof environment->library, "%.*s/libquadrille_preload_%s.so",
           PATH_MAX - 64, self, known[environment->mpi].suffix);
  if (access(environment->library, R_OK) != 0)
    doctor_finding("%s: %s: install Quadrille again", environment->library, strerror(errno));
}

/* Checks one entry of LD_PRELOAD. */
static void look_at_preloaded(struct doctor_environment* environment, const char* path) {
  char wrong[64];
  const enum doctor_mpi other = environment->mpi == DOCTOR_MPICH ? DOCTOR_OPENMPI : DOCTOR_MPICH;
  if (!strstr(path, "libquadrille_")) return;
  snprintf(wrong, sizeof wrong, "libquadrille_preload_%s", known[other].suffix);
  if (strstr(path, wrong))
    doctor_finding("LD_PRELOAD has %s, which is for %s, but the job's MPI library is %s: write %s",
                   path, known[other].name, known[environment->mpi].name, environment->library);
  else if (!strstr(path, "libquadrille_preload_"))
    doctor_finding("LD_PRELOAD has %s, which intercepts no call: write %s", path,
                   environment->library);
  else if (strchr(path, '/') && access(path, R_OK) != 0)
    doctor_finding("LD_PRELOAD has %s, which cannot be read (%s): write %s", path, strerror(errno),
                   environment->library);
  else
    environment->is_preloaded = 1;
}

void doctor_look_at_mpi(struct doctor_environment* environment) {
  if (environment->is_started)
    doctor_fact("mpi", "%s", environment->version);
  else
    look_at_launcher(environment);
  find_library(environment);
  if (environment->program) look_at_program(environment);
  const char* value = getenv("DOCTOR_LD_PRELOAD"); /* set if this program has restarted itself */
  if (!value) value = getenv("LD_PRELOAD");
  char *const preloaded = strdup(value ? value : ""), *rest = NULL;
  for (char* one = preloaded ? strtok_r(preloaded, ": ", &rest) : NULL; one;
       one = strtok_r(NULL, ": ", &rest))
    look_at_preloaded(environment, one);
  free(preloaded);
  doctor_fact(
      "preload", "%s%s", environment->library,
      environment->is_preloaded ? ", which LD_PRELOAD has" : "; LD_PRELOAD does not have it");
}

/* ---- Variables */

static int is_set(const char* name) {
  const char* value = getenv(name);
  return value && *value && strcmp(value, "0") != 0;
}

static void tell(const char* error) { doctor_finding("%s", error); }

/* Returns whether the process can write files into the folder. The runtime makes a missing folder, but no parents. */
static int may_write_into(const char* folder) {
  char path[PATH_MAX];
  struct stat status;
  errno = ENOTDIR;
  if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode)) return 0;
  if (access(folder, W_OK | X_OK) == 0) return 1;
  snprintf(path, sizeof path, "%s", folder);
  return errno == ENOENT && access(dirname(path), W_OK | X_OK) == 0;
}

static void look_at_runtime(void) {
  const char *stall = getenv("QUADRILLE_STALL"), *trace = getenv("QUADRILLE_TRACE");
  char* end = NULL;
  const double seconds = stall ? strtod(stall, &end) : 0;
  if (stall && *stall && (*end != '\0' || !isfinite(seconds) || seconds < 0))
    doctor_finding("QUADRILLE_STALL=%s is no number of seconds: write one, such as 10", stall);
  if (is_set("QUADRILLE_DEBUG"))
    doctor_finding(
        "QUADRILLE_DEBUG is set, which logs and compares every call: unset it for runs that "
        "count");
  if (!trace || !*trace) return;
  if (!may_write_into(trace))
    doctor_finding("QUADRILLE_TRACE=%s: %s: name a folder that every process can write to", trace,
                   strerror(errno));
  else
    doctor_finding(
        "QUADRILLE_TRACE is set, which notes every message: unset it for runs that count");
}

static void look_at_rules(const struct preload_settings* settings) {
  const int rules = settings->rule_count - settings->first_of_file;
  const unsigned long long hash = settings->hash;
  const char* state = "no file";
  char unreadable[PRELOAD_TEXT];
  const int is_there = settings->rules_file && access(settings->rules_file, R_OK) == 0;
  if (is_there && settings->error[0]) {
    doctor_fact("rules", "%s: no rule holds, since the settings are wrong", settings->rules_file);
    return;
  }
  if (is_there) {
    doctor_fact("rules", "%s: %d rule%s; %d from variables; hash of all settings %016llx",
                settings->rules_file, rules, rules == 1 ? "" : "s", settings->first_of_file, hash);
    return;
  }
  if (settings->rules_file) {
    const char* why = errno == ENOENT ? "the file does not exist yet" : strerror(errno);
    snprintf(unreadable, sizeof unreadable, "%.200s: %s", settings->rules_file, why);
    state = unreadable;
  }
  doctor_fact("rules", "%s; %d from variables; hash of all settings %016llx", state,
              settings->first_of_file, hash);
}

void doctor_look_at_variables(void) {
  static const char* const does[] = {
      [PRELOAD_OFF] = "MPI's own collectives make all calls",
      [PRELOAD_ON] = "calls follow rules; MPI's own collectives make the others",
      [PRELOAD_ADAPT] = "calls follow rules, or what was faster in comparisons with MPI's own",
      [PRELOAD_VERIFY] = "each call is made twice, and the results are compared",
      [PRELOAD_LEARN] = "calls follow rules; the others compare all schedules at once"};
  char text[PRELOAD_TEXT];
  size_t length = 0;
  preload_tell_errors(tell);
  const struct preload_settings* settings = preload_settings();
  free(preload_read_own_rules(&length));
  doctor_fact("mode", "%s: %s", preload_mode_name(settings->mode), does[settings->mode]);
  look_at_rules(settings);
  if (settings->mode == PRELOAD_OFF)
    doctor_finding("QUADRILLE=off serves no call: unset it, or write QUADRILLE=adapt");
  if (settings->mode == PRELOAD_VERIFY)
    doctor_finding("QUADRILLE=verify makes each call twice: unset it for runs that count");
  if (preload_loses_rules(text))
    doctor_finding("%s: name a file in a folder that you can write to", text);
  if (preload_loses_report(text))
    doctor_finding("%s: name a file in a folder that you can write to", text);
  if (!settings->error[0] && preload_unfollowed_file()[0])
    doctor_finding("%s", preload_unfollowed_file());
  look_at_runtime();
}
