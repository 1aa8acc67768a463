/* doctor: prints on one screen what a job would get from Quadrille here, and what is wrong.
 *
 *   quadrille doctor [PROGRAM]                   what can be known before a job
 *   mpirun -n 64 quadrille doctor [PROGRAM]      also the layout, and what would serve calls
 *
 * Every rank checks its own environment. Rank 0 prints its findings, and those that only other ranks have.
 * Exit codes: 0 all is well, 1 something is wrong, 2 bad usage. Tested by tests/preload/doctor_test.sh. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "preload/rules.h"
#include "runtime/quadrille.h"
#include "tools/all_ranks.h"
#include "tools/doctor.h"
#include "tools/launcher.h"

enum { FINDINGS = 32 };
static char findings[FINDINGS][DOCTOR_TEXT];
static int finding_count, rank, ranks = 1;

void doctor_fact(const char* name, const char* format, ...) {
  va_list values;
  if (rank != 0) return;
  va_start(values, format);
  printf("%-9s ", name);
  vprintf(format, values);
  printf("\n");
  va_end(values);
}

static int is_found(const char* text) {
  for (int i = 0; i < finding_count; i++)
    if (strcmp(findings[i], text) == 0) return 1;
  return 0;
}

void doctor_finding(const char* format, ...) {
  char text[DOCTOR_TEXT];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  for (char* at = text; *at; at++)
    if ((unsigned char)*at < ' ') *at = '?'; /* a variable's value may have control characters */
  if (finding_count < FINDINGS && !is_found(text))
    memcpy(findings[finding_count++], text, sizeof text);
}

/* Adds a finding of another rank, unless rank 0 or a lower rank has it too. */
static void add_other(int other, const char* text) {
  char named[DOCTOR_TEXT];
  if (is_found(text)) return;
  for (int before = 1; before < other; before++) {
    snprintf(named, sizeof named, "rank %d: %.*s", before, DOCTOR_TEXT - 24, text);
    if (is_found(named)) return;
  }
  doctor_finding("rank %d: %.*s", other, DOCTOR_TEXT - 24, text);
}

/* Adds the findings that only other ranks have to those of rank 0. Collective. */
static void gather_findings(void) {
  for (int other = 1; other < ranks; other++) {
    static char texts[FINDINGS][DOCTOR_TEXT];
    if (rank == other)
      MPI_Send(findings, finding_count * DOCTOR_TEXT, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    MPI_Status status;
    int length = 0;
    MPI_Recv(texts, sizeof texts, MPI_CHAR, other, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    for (int i = 0; i < length / DOCTOR_TEXT; i++) add_other(other, texts[i]);
  }
}

/* ---- The environment. The preload library's own code reads the settings and rules. */

/* The MPI libraries that Quadrille serves, or another one, or any by the standard ABI of MPI. */
enum mpi { DOCTOR_OPENMPI, DOCTOR_MPICH, DOCTOR_UNKNOWN, DOCTOR_ABI, DOCTOR_KINDS };
struct environment {
  enum mpi mpi;           /* of the job; before it is known, the one that this program is for */
  int is_started;         /* whether a launcher started this program */
  const char* version;    /* of the MPI library, if is_started */
  const char* program;    /* the user's program, or NULL */
  char library[PATH_MAX]; /* the preload library for `mpi` */
  int is_preloaded;       /* LD_PRELOAD has that library */
  int has_abi;      /* the program, or the preloaded library, is for the standard ABI of MPI */
  int is_sanitized; /* the program has the address sanitizer */
};

static const struct {
  const char *name, *suffix, *launcher;
  const char* version; /* a text that its launcher prints for --version */
  const char* symbol;  /* a symbol that only this library defines, under any file name */
} known[] = {
    [DOCTOR_OPENMPI] = {"Open MPI", "openmpi", "mpirun.openmpi", "Open MPI", "ompi_mpi_comm_world"},
    [DOCTOR_MPICH] = {"MPICH", "mpich", "mpiexec.hydra", "HYDRA", "MPIR_Dup_fn"},
    [DOCTOR_UNKNOWN] = {.name = "another MPI library"},
    [DOCTOR_ABI] = {.name = "a library with the standard ABI of MPI", .suffix = "abi"},
};

/* ---- Other programs */

/* Runs a program without a preloaded library, and keeps the beginning of its output. Returns whether it ends well. The
 * shell, too, runs without that library, which may need the job's MPI library. */
static int capture(const char* program, const char* argument, char* text, size_t size) {
  char rest[256];
  const char* const preload = getenv("LD_PRELOAD");
  char* const kept = preload ? strdup(preload) : NULL;
  fflush(stdout);
  setenv("DOCTOR_PROGRAM", program, 1);
  setenv("DOCTOR_ARGUMENT", argument, 1);
  unsetenv("LD_PRELOAD");
  FILE* const output = popen("exec \"$DOCTOR_PROGRAM\" \"$DOCTOR_ARGUMENT\" 2>&1", "r");
  if (kept) setenv("LD_PRELOAD", kept, 1);
  free(kept);
  text[output ? fread(text, 1, size - 1, output) : 0] = '\0';
  while (output && fread(rest, 1, sizeof rest, output) > 0) continue;
  return output && pclose(output) == 0;
}

/* Finds a program in PATH, and sets `found` to its full name. Returns 0 if it is not there. */
static int find_in_path(const char* name, char found[PATH_MAX]) {
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
static void look_at_launcher(struct environment* environment) {
  char path[PATH_MAX], other[PATH_MAX], text[4096];
  if (!find_in_path("mpirun", path) && !find_in_path("mpiexec", path)) {
    doctor_fact("mpi", "PATH has no mpirun and no mpiexec");
    if (!find_in_path("srun", other))
      doctor_finding(
          "PATH has no mpirun, mpiexec or srun: load the module of your MPI library, or add its "
          "bin folder to PATH");
    return;
  }
  capture(path, "--version", text, sizeof text);
  enum mpi mpi = DOCTOR_OPENMPI;
  while (mpi < DOCTOR_UNKNOWN && !strstr(text, known[mpi].version)) mpi++;
  const char* number = strstr(text, mpi == DOCTOR_MPICH ? "Version:" : ") ");
  number = number ? number + strcspn(number, "0123456789\n") : "";
  snprintf(other, sizeof other, "%s %.*s", known[mpi].name, (int)strspn(number, "0123456789."),
           number);
  preload_know_library(mpi == DOCTOR_UNKNOWN ? "" : other, 0);
  doctor_fact("mpi", "%s: %s", other, path);
  const char* chosen = getenv("QUADRILLE_MPI");
  if (mpi == DOCTOR_UNKNOWN)
    doctor_finding(
        "%s is of another MPI library than Open MPI and MPICH, so no preload library is for its "
        "programs: put the launcher of one of them first in PATH",
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

/* Returns whether a file calls persistent collectives. Open MPI 4 has them as MPIX_. A file that has all of them, or
 * PMPI's, is a library that passes them on. */
static int has_persistent(const unsigned char* file, size_t length) {
  static const char* const forms[] = {"PMPI_%c%s_init", "PMPIX_%c%s_init", "PMPI_%c%s_init_c"};
  enum { FORMS = sizeof forms / sizeof *forms };
  int found = 0;
  for (int collective = 0; collective < PRELOAD_COLLECTIVE_COUNT; collective++) {
    const char* const one = preload_collectives[collective].name;
    char name[64];
    snprintf(name, sizeof name, "mpi_%s_init_", one); /* in Fortran */
    int has = has_symbol(file, length, name);
    for (int form = 0; form < FORMS; form++) {
      snprintf(name, sizeof name, forms[form], one[0] - 'a' + 'A', one + 1);
      has |= has_symbol(file, length, name + 1) && !has_symbol(file, length, name);
    }
    found += has;
  }
  return 0 < found && found < PRELOAD_COLLECTIVE_COUNT;
}

/* Finds the MPI library that this file is or uses. Returns 0 if the file has nothing to do with MPI. Sets
 * *is_persistent if it calls persistent collectives. */
static int find_mpi(const char* path, enum mpi* mpi, int* is_persistent) {
  enum { LONGEST = 1 << 28 };
  size_t length = 0;
  unsigned char* const file = preload_read(path, LONGEST, &length);
  if (!file) return 0;
  for (*mpi = DOCTOR_OPENMPI; *mpi < DOCTOR_UNKNOWN; ++*mpi)
    if (has_symbol(file, length, known[*mpi].symbol)) break;
  const int is_mpi = *mpi < DOCTOR_UNKNOWN || has_symbol(file, length, "PMPI_Init");
  *is_persistent |= has_persistent(file, length);
  free(file);
  return is_mpi;
}

/* Looks at the libraries that `ldd` has listed, as NAME => PATH (ADDRESS). Sets `mpi` for programs of the standard ABI
 * of MPI, which any launcher may start. */
static void look_at_libraries(struct environment* environment, char* listed) {
  const char *program = environment->program, *first = NULL;
  enum mpi mpi = DOCTOR_UNKNOWN, own;
  int is_persistent = 0;
  char* rest = NULL;
  find_mpi(program, &own, &is_persistent);
  for (char* line = strtok_r(listed, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    enum mpi one = DOCTOR_UNKNOWN;
    const char* const path = strchr(line, '/');
    char* const missing = strstr(line, " => not found");
    if (missing) {
      *missing = '\0';
      doctor_finding("%s needs %s, which is not found: add its folder to LD_LIBRARY_PATH", program,
                     line + strspn(line, "\t "));
    }
    if (!path) continue;
    char* const address = strrchr(line, '('); /* the path may have one, too */
    if (address) address[-1] = '\0';
    if (strstr(path, "/libasan.so")) environment->is_sanitized = 1;
    if (strstr(path, "/libmpi_abi.so")) environment->has_abi = 1;
    if (!find_mpi(path, &one, &is_persistent)) continue;
    if (!first || mpi == DOCTOR_UNKNOWN)
      first = path, mpi = one;
    else if (one != mpi && one != DOCTOR_UNKNOWN)
      doctor_finding("%s is linked with two MPI libraries, by %s and %s: build all of it with one",
                     program, first, path);
  }
  if (!first) {
    doctor_fact("program", "%s is linked with no MPI library; it may load one when it runs",
                program);
    return;
  }
  if (mpi == DOCTOR_UNKNOWN && !environment->has_abi) {
    doctor_finding(
        "%s is linked with %s, which is neither Open MPI's nor MPICH's: no preload library is for "
        "it; link it by mpicc of one of them",
        program, first);
    return;
  }
  doctor_fact("program", "%s is linked with %s%s", program,
              known[environment->has_abi ? DOCTOR_ABI : mpi].name,
              is_persistent ? "; its persistent collectives are MPI's own" : "");
  if (mpi != environment->mpi && mpi != DOCTOR_UNKNOWN)
    doctor_finding("%s is linked with %s, but %s would start it: start it by %s%s%s", program,
                   known[mpi].name, known[environment->mpi].name, known[mpi].launcher,
                   environment->is_started ? ", or for SLURM's srun set QUADRILLE_MPI=" : "",
                   environment->is_started ? known[mpi].suffix : "");
}

/* Looks for what makes the dynamic linker ignore LD_PRELOAD: the program gets rights that its user does not have. */
static void look_at_rights(const char* program) {
  struct stat status = {.st_mode = 0};
  stat(program, &status);
  if ((status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
      (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid()) ||
      (getuid() != 0 && getxattr(program, "security.capability", NULL, 0) > 0))
    doctor_finding(
        "%s is setuid, setgid or has capabilities, so LD_PRELOAD does not reach it: start a copy "
        "of it without these rights",
        program);
}

static void look_at_program(struct environment* environment) {
  char text[1 << 16], start[2] = "";
  const char* program = environment->program;
  FILE* const file = fopen(program, "r");
  const int is_script =
      file && fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, "#!", 2) == 0;
  if (file) fclose(file);
  if (is_script)
    doctor_fact("program", "%s is a script; name the program that it starts to see its MPI library",
                program);
  else if (capture("ldd", program, text, sizeof text) && !strstr(text, "statically linked"))
    look_at_rights(program), look_at_libraries(environment, text);
  else
    doctor_finding(
        "%s is linked statically or is no program, so LD_PRELOAD does not reach it: link it "
        "dynamically",
        program);
}

/* Sets `library`. The preload library is installed beside the folder of this program. */
static void find_library(struct environment* environment) {
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
static void look_at_preloaded(struct environment* environment, const char* path) {
  char wrong[64];
  enum mpi other = DOCTOR_OPENMPI;
  if (!strstr(path, "libquadrille_")) return;
  for (; other < DOCTOR_KINDS; other++) {
    snprintf(wrong, sizeof wrong, "libquadrille_preload_%s", known[other].suffix);
    if (other != environment->mpi && known[other].suffix && strstr(path, wrong)) break;
  }
  if (other < DOCTOR_KINDS)
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

/* Reports on the MPI library, the program and the preload library. Sets `mpi`, `library` and `is_preloaded`. */
static void look_at_mpi(struct environment* environment) {
  if (environment->is_started)
    doctor_fact("mpi", "%s", environment->version);
  else
    look_at_launcher(environment);
  const char* value = getenv("DOCTOR_LD_PRELOAD"); /* set if this program has restarted itself */
  if (!value) value = getenv("LD_PRELOAD");
  if (environment->program)
    look_at_program(environment);
  else
    environment->has_abi = value && strstr(value, "libquadrille_preload_abi");
  if (environment->has_abi) environment->mpi = DOCTOR_ABI;
  find_library(environment);
  if (environment->is_sanitized)
    doctor_finding(
        "%s has the address sanitizer, whose library comes first: LD_PRELOAD=\"$(gcc "
        "-print-file-name=libasan.so) %s\"",
        environment->program, environment->library);
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
        "QUADRILLE_DEBUG is set, which logs and compares every call: unset it for runs that count");
  if (!trace || !*trace) return;
  if (!may_write_into(trace))
    doctor_finding("QUADRILLE_TRACE=%s: %s: name a folder that every process can write to", trace,
                   strerror(errno));
  else
    doctor_finding(
        "QUADRILLE_TRACE is set, which notes every message: unset it for runs that count");
}

static void look_at_rules(const struct preload_settings* settings) {
  const char* const file = settings->rules_file;
  const int rules = settings->rule_count - settings->first_of_file;
  const int is_there = file && access(file, R_OK) == 0;
  char state[2 * PATH_MAX] = "no file", files[PATH_MAX] = "";
  snprintf(files, sizeof files, "%.500s%s%.500s", is_there ? file : "",
           is_there && settings->site_rules ? " and " : "",
           settings->site_rules ? settings->site_rules : "");
  if (files[0] && settings->error[0])
    return doctor_fact("rules", "%s: no rule holds, since the settings are wrong", files);
  if (files[0])
    snprintf(state, sizeof state, "%s: %d rule%s", files, rules, rules == 1 ? "" : "s");
  else if (file)
    snprintf(state, sizeof state, "%.200s: %s", file,
             errno == ENOENT ? "the file does not exist yet" : strerror(errno));
  doctor_fact("rules", "%s; %d from variables; hash of all settings %016llx", state,
              settings->first_of_file, (unsigned long long)settings->hash);
}

/* Reports the mode and the rules, and what is wrong with Quadrille's variables. */
static void look_at_variables(void) {
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
  for (int i = 0; preload_has_other_origin(i, text); i++) doctor_finding("%s", text);
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

/* ---- Before a job, and in one */

/* Looks for a driver of GPUs, and for ranks that differ from rank 0. Returns 0 if nothing is served then.
 * Collective. */
static int compare_ranks(const struct environment* environment) {
  enum { HASH, PRELOADED, WORDS };
  const uint64_t mine[WORDS] = {
      [HASH] = preload_settings()->hash, [PRELOADED] = (uint64_t)environment->is_preloaded};
  uint64_t first[WORDS];
  memcpy(first, mine, sizeof first);
  MPI_Bcast(first, WORDS, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  int least[WORDS]; /* the lowest rank that differs, for each word; `ranks` if none does */
  const char* driver = find_driver();
  for (int i = 0; i < WORDS; i++)
    least[i] = (int)combine((uint64_t)(mine[i] != first[i] ? rank : ranks), MPI_MIN);
  if (rank == 0 && least[HASH] < ranks)
    doctor_finding(
        "rank %d has other QUADRILLE variables or rules than rank 0, so nothing would be served: "
        "give all ranks the same, by mpirun -x NAME or srun --export=ALL",
        least[HASH]);
  if (rank == 0 && least[PRELOADED] < ranks)
    doctor_finding(
        "rank %d and rank 0 do not both have the library in LD_PRELOAD, so the job would hang: "
        "give it to all ranks, by mpirun -x LD_PRELOAD or srun --export=ALL",
        least[PRELOADED]);
  if (rank == 0 && driver) doctor_finding("%s", driver);
  return least[HASH] == ranks && !driver;
}

/* Prints the findings. Returns the exit code. */
static int conclude(void) {
  if (finding_count == 0) printf("all is well\n");
  if (finding_count > 0) printf("%d to mend:\n", finding_count);
  for (int i = 0; i < finding_count; i++) printf("- %s\n", findings[i]);
  return finding_count > 0;
}

/* Returns whether a launcher of any MPI library, or SLURM's, started this process. */
static int is_started(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (getenv(variables[i])) return 1;
  return 0;
}

static void look_before_a_job(struct environment* environment) {
  const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *tasks = getenv("SLURM_NTASKS");
  look_at_mpi(environment);
  look_at_variables();
  if (nodes)
    doctor_fact("layout", "SLURM gives %s nodes and %s tasks", nodes,
                tasks ? tasks : "any number of");
  doctor_fact("calls",
              "layout and calls are known under the launcher: mpirun -n RANKS quadrille doctor");
}

static int look_in_a_job(struct environment* environment) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, code = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(version, &length);
  preload_know_library(version, 1);
  version[strcspn(version, ",\n")] = '\0';
  for (char* tab = version; (tab = strchr(tab, '\t'));) *tab = ' ';
  environment->version = version;
  if (started_by_another("doctor")) {
    MPI_Finalize();
    return 2;
  }
  look_at_mpi(environment);
  look_at_variables();
  doctor_look_at_calls(compare_ranks(environment));
  gather_findings();
  if (rank == 0) code = conclude();
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return rank == 0 ? code : 0;
}

/* Starts this program again without Quadrille's libraries in LD_PRELOAD, which would otherwise serve its calls of
 * MPI. Keeps the former value in DOCTOR_LD_PRELOAD. */
static void leave_library(char** words) {
  char others[1 << 14] = "", *rest = NULL;
  const char* preloaded = getenv("LD_PRELOAD");
  if (!preloaded || !strstr(preloaded, "libquadrille_") || getenv("DOCTOR_LD_PRELOAD")) return;
  char* const copy = strdup(preloaded);
  for (char* one = copy ? strtok_r(copy, ": ", &rest) : NULL; one;
       one = strtok_r(NULL, ": ", &rest)) {
    const size_t length = strlen(others);
    if (!strstr(one, "libquadrille_"))
      snprintf(others + length, sizeof others - length, "%s ", one);
  }
  free(copy);
  setenv("DOCTOR_LD_PRELOAD", preloaded, 1);
  setenv("LD_PRELOAD", others, 1);
  execv("/proc/self/exe", words);
}

static const char usage[] =
    "usage: [mpirun -n RANKS] quadrille doctor [PROGRAM]\n\n"
    "Says which MPI library is in the path, which library to preload for it, and what is wrong\n"
    "with the environment. Under mpirun it also says which schedules would serve calls on these\n"
    "ranks. With PROGRAM it says whether the program fits. Exit codes: 0 all is well, 1\n"
    "something is wrong, 2 bad usage.\n";

int main(int count, char** words) {
  const char* program = count == 2 ? words[1] : NULL;
  if (wants_help(count, words, usage)) return 0;
  if (count > 2 || (program && program[0] == '-')) {
    fprintf(stderr, "%s", usage);
    return 2;
  }
  leave_library(words);
  struct stat status;
  char in_path[PATH_MAX];
  if (program && stat(program, &status) == 0 && S_ISDIR(status.st_mode)) {
    fprintf(stderr, "doctor: %s: is a folder; name a program by its path\n", program);
    return 2;
  }
  if (program && !strchr(program, '/') && access(program, F_OK) != 0 &&
      find_in_path(program, in_path))
    program = in_path;
  if (program && access(program, R_OK) != 0) {
    fprintf(stderr, "doctor: %s: %s; name a program by its path\n", program, strerror(errno));
    return 2;
  }
#ifdef OPEN_MPI
  struct environment environment = {.mpi = DOCTOR_OPENMPI, .program = program};
#else
  struct environment environment = {.mpi = DOCTOR_MPICH, .program = program};
#endif
  environment.is_started = is_started();
  if (environment.is_started) return look_in_a_job(&environment);
  look_before_a_job(&environment);
  return conclude();
}
