/* doctor: prints on one screen what a job would get from Quadrille here, and what is wrong.
 *
 *   quadrille doctor [PROGRAM]                   what can be known before a job
 *   mpirun -n 64 quadrille doctor [PROGRAM]      also the layout, and what would serve calls
 *
 * Every rank checks its own environment. Rank 0 prints its findings, and those that only other ranks have.
 * Exit codes: 0 all is well, 1 something is wrong, 2 bad usage. Tested by tests/preload/doctor_test.sh. */
#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Looks for a driver of GPUs, and for ranks that differ from rank 0. Returns 0 if nothing is served then.
 * Collective. */
static int compare_ranks(const struct doctor_environment* environment) {
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
        "rank %d has other QUADRILLE variables or rules than rank 0, so nothing would be "
        "served: give all ranks the same, by mpirun -x NAME or srun --export=ALL",
        least[HASH]);
  if (rank == 0 && least[PRELOADED] < ranks)
    doctor_finding(
        "rank %d and rank 0 do not both have the library in LD_PRELOAD, so the job would "
        "hang: give it to all ranks, by mpirun -x LD_PRELOAD or srun --export=ALL",
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

static void look_before_a_job(struct doctor_environment* environment) {
  const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *tasks = getenv("SLURM_NTASKS");
  doctor_look_at_mpi(environment);
  doctor_look_at_variables();
  if (nodes)
    doctor_fact("layout", "SLURM gives %s nodes and %s tasks", nodes,
                tasks ? tasks : "any number of");
  doctor_fact("calls",
              "layout and calls are known under the launcher: mpirun -n RANKS quadrille doctor");
}

static int look_in_a_job(struct doctor_environment* environment) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, code = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  for (char* tab = version; (tab = strchr(tab, '\t'));) *tab = ' ';
  environment->version = version;
  if (started_by_another("doctor")) {
    MPI_Finalize();
    return 2;
  }
  doctor_look_at_mpi(environment);
  doctor_look_at_variables();
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

static int usage(FILE* file) {
  fprintf(
      file,
      "usage: [mpirun -n RANKS] quadrille doctor [PROGRAM]\n\n"
      "Says which MPI library is in the path, which library to preload for it, and what is wrong\n"
      "with the environment. Under mpirun it also says which schedules would serve calls on these\n"
      "ranks. With PROGRAM it says whether the program fits. Exit codes: 0 all is well, 1\n"
      "something is wrong, 2 bad usage.\n");
  return file == stdout ? 0 : 2;
}

int main(int count, char** words) {
  const char* program = count == 2 ? words[1] : NULL;
  if (count > 2 || (program && program[0] == '-')) {
    const int wants_help =
        count == 2 && (strcmp(program, "--help") == 0 || strcmp(program, "-h") == 0);
    return usage(wants_help ? stdout : stderr);
  }
  leave_library(words);
  struct stat status;
  char in_path[PATH_MAX];
  if (program && stat(program, &status) == 0 && S_ISDIR(status.st_mode)) {
    fprintf(stderr, "doctor: %s: is a folder; name a program by its path\n", program);
    return 2;
  }
  if (program && !strchr(program, '/') && access(program, F_OK) != 0 &&
      doctor_find_in_path(program, in_path))
    program = in_path;
  if (program && access(program, R_OK) != 0) {
    fprintf(stderr, "doctor: %s: %s; name a program by its path\n", program, strerror(errno));
    return 2;
  }
#ifdef OPEN_MPI
  struct doctor_environment environment = {.mpi = DOCTOR_OPENMPI, .program = program};
#else
  struct doctor_environment environment = {.mpi = DOCTOR_MPICH, .program = program};
#endif
  environment.is_started = is_started();
  if (environment.is_started) return look_in_a_job(&environment);
  look_before_a_job(&environment);
  return conclude();
}
