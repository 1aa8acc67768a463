/* Reads the settings from the environment of this process, once. communicator.c compares their hash between ranks,
 * and gives all ranks the rules that rank 0 has read. If a setting is wrong, nothing is served. Tested by
 * tests/preload/choice_test.sh. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitted/universal.h"
#include "preload/rules.h"
#include "runtime/program/program.h"

extern char** environ;

static struct preload_settings settings = {.mode = PRELOAD_ADAPT};

/* Adds the hash of a setting and its name. The sum does not depend on the order of the environment. */
static void hash(const char* name, const char* bytes, size_t length) {
  settings.hash += preload_hash(preload_hash(PRELOAD_HASH, name, strlen(name)), bytes, length);
}

static void (*tell)(const char* error);

void preload_tell_errors(void (*each)(const char* error)) { tell = each; }

/* Passes an error to `tell`, and keeps the first one in the settings. */
__attribute__((format(printf, 1, 2))) static void refuse(const char* format, ...) {
  char text[PRELOAD_TEXT];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (tell) tell(text);
  if (!settings.error[0]) memcpy(settings.error, text, sizeof text);
}

static const char* const modes[] = {"off", "on", "adapt", "verify",
                                    "learn"}; /* enum preload_mode */

const char* preload_mode_name(enum preload_mode mode) { return modes[mode]; }

static void read_mode(const char* value) {
  int mode = PRELOAD_OFF;
  while (mode <= PRELOAD_LEARN && strcmp(value, modes[mode]) != 0) mode++;
  if (mode > PRELOAD_LEARN)
    return refuse("QUADRILLE=%.40s is no mode: write off, on, adapt, verify or learn", value);
  settings.mode = (enum preload_mode)mode;
}

static void read_sums(const char* value) {
  static const char* const sums[] = {"native", "any", "canonical"}; /* enum preload_sums */
  int found = PRELOAD_NATIVE_SUMS;
  while (found <= PRELOAD_CANONICAL_SUMS && strcmp(value, sums[found]) != 0) found++;
  if (found > PRELOAD_CANONICAL_SUMS)
    return refuse("QUADRILLE_SUMS=%.40s is not known: write native, any or canonical", value);
  settings.sums = (enum preload_sums)found;
}

/* Reads a variable such as QUADRILLE_ALLTOALL=linear. Adds a rule for one group, for two, or for both. */
static void read_collective(int collective, const char* variable, const char* value) {
  char errors[2][PRELOAD_TEXT];
  int found = 0;
  for (int groups = 1; groups <= 2; groups++) {
    struct preload_rule rule = preload_any_rule(collective, groups);
    if (!preload_parse_algorithm(value, &rule, errors[groups - 1])) continue;
    if (!preload_add_rule(&settings, &rule)) refuse("memory ran out while rules were read");
    found = 1;
  }
  if (!found) refuse("%s: %.480s", variable, errors[0]);
}

/* The variables that name no collective. Other code reads the first ELSEWHERE. The next TEXTS are kept as texts: two rules
 * files, and then others. */
enum { ELSEWHERE = 5, TEXTS = 4 };
static const char* const variables[] = {
    "QUADRILLE",          "QUADRILLE_DEBUG", "QUADRILLE_STALL",      "QUADRILLE_TRACE",
    "QUADRILLE_MPI",      "QUADRILLE_RULES", "QUADRILLE_SITE_RULES", "QUADRILLE_REPORT",
    "QUADRILLE_VERIFIER", "QUADRILLE_SUMS"};
enum { VARIABLES = sizeof variables / sizeof *variables, NAME = 64 };

static int are_same(char a, char b) {
  return toupper((unsigned char)a) == toupper((unsigned char)b);
}

static int least(int a, int b) { return a < b ? a : b; }

/* Returns how many letters are wrong, surplus, missing or swapped. Both names have fewer than NAME letters. */
static int distance(const char* a, const char* b) {
  int rows[NAME][NAME] = {{0}};
  const int m = (int)strlen(a), n = (int)strlen(b);
  for (int j = 1; j <= n; j++) rows[0][j] = j;
  for (int i = 1; i <= m; i++) {
    rows[i][0] = i;
    for (int j = 1; j <= n; j++) {
      const int other = least(rows[i - 1][j], rows[i][j - 1]) + 1;
      rows[i][j] = least(other, rows[i - 1][j - 1] + !are_same(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && are_same(a[i - 1], b[j - 2]) && are_same(a[i - 2], b[j - 1]))
        rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[m][n];
}

/* Finds the variable that the user may have meant: one letter in four may be wrong. Returns 0 if there is none. */
static int is_misspelt(const char* variable, char meant[NAME]) {
  int fewest = NAME;
  for (int i = 1; i < VARIABLES + PRELOAD_COLLECTIVE_COUNT; i++) {
    char known[NAME] = "QUADRILLE_";
    const size_t prefix = strlen(known);
    snprintf(known + prefix, NAME - prefix, "%s",
             i < VARIABLES ? variables[i] + prefix : preload_collectives[i - VARIABLES].name);
    const int wrong = distance(variable, known), most = (int)(strlen(known) - prefix) / 4;
    if (wrong > (most > 1 ? most : 1) || wrong >= fewest) continue;
    fewest = wrong;
    memcpy(meant, known, NAME);
  }
  for (char* c = meant; fewest < NAME && *c; c++) *c = (char)toupper((unsigned char)*c);
  return fewest < NAME;
}

/* Returns a new copy of a file's name, with the job's number for %j and the host's name for %h. */
static char* expanded(const char* name) {
  static const char* const numbers[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
  char process[32], host[256] = "host";
  const char* job = NULL;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !(job && *job); i++)
    job = getenv(numbers[i]);
  snprintf(process, sizeof process, "%d", (int)getpid()); /* if no batch system runs the job */
  gethostname(host, sizeof host - 1);
  char* text = NULL;
  size_t length = 0;
  FILE* const to = open_memstream(&text, &length);
  for (; to && *name; name++) {
    const int is_mark = name[0] == '%' && name[1] && strchr("jh%", name[1]);
    if (is_mark) name++;
    if (is_mark && *name != '%')
      fputs(*name == 'h' ? host : job && *job ? job : process, to);
    else
      fputc(*name, to);
  }
  if (to) fclose(to);
  return text;
}

/* Reads VARIABLE=VALUE, where VARIABLE begins with QUADRILLE. An empty variable counts as unset. Values are copied, since a program
 * may overwrite its environment. Other software may have variables of its own, such as QUADRILLE_HOME. */
static void read_variable(const char* entry) {
  const char* value = strchr(entry, '=') + 1;
  if (!value[0]) return;
  char variable[NAME], meant[NAME];
  snprintf(variable, sizeof variable, "%.*s", (int)(value - 1 - entry), entry);
  int number = 0;
  while (number < VARIABLES && strcmp(variable, variables[number]) != 0) number++;
  if (number < ELSEWHERE) return;
  const char** const kept[TEXTS] = {&settings.rules_file, &settings.site_rules, &settings.report,
                                    &settings.verifier};
  if (number < ELSEWHERE + TEXTS) {
    *kept[number - ELSEWHERE] = number < ELSEWHERE + TEXTS - 1 ? expanded(value) : strdup(value);
    if (number < ELSEWHERE + 2) hash("", variable, strlen(variable)); /* rank 0 reads the file */
    return;
  }
  const int collective = number < VARIABLES ? -1 : preload_collective_of(variable + 10);
  if (collective < 0 && number == VARIABLES && !is_misspelt(variable, meant)) {
    if (!settings.ignored[0]) memcpy(settings.ignored, variable, sizeof variable);
    return;
  }
  hash("", entry, strlen(entry));
  if (collective >= 0) return read_collective(collective, variable, value);
  if (number < VARIABLES) return read_sums(value);
  refuse("%s is not known: did you mean %s?", variable, meant);
}

static char first_folder[QD_MAX_PATH];

void preload_keep_to(const char* folder) { snprintf(first_folder, QD_MAX_PATH, "%s", folder); }

const char* preload_full_name(const char* name, char* full) {
  if (!first_folder[0] && !getcwd(first_folder, sizeof first_folder)) first_folder[0] = '\0';
  return qd_full_name(first_folder, name, full);
}

/* Whose words a file may hold: anybody's; those of this user or root; or also those of another account, for all users. */
enum author { ANYBODY, OWN, SITE };

static int is_own(const struct stat* file) {
  return file->st_uid == geteuid() || file->st_uid == 0;
}

/* Returns whether its owner, root and this user alone decide what the name leads to. So nobody else may write the file
 * or a folder above it, and no folder is a third user's. A symbolic link could lead through other folders. If
 * /tmp, say, is above it, anybody could have made the folders below. */
static int is_owners_alone(const char* name, const struct stat* file) {
  char real[PATH_MAX];
  struct stat one;
  if (!realpath(name, real) || strcmp(real, name) != 0 || lstat(real, &one) != 0) return 0;
  if (one.st_dev != file->st_dev || one.st_ino != file->st_ino) return 0;
  for (;;) {
    if (one.st_mode & (S_IWGRP | S_IWOTH) || !(is_own(&one) || one.st_uid == file->st_uid))
      return 0;
    if (!real[1]) return 1;
    char* const slash = strrchr(real, '/');
    slash[slash == real] = '\0'; /* the slash of "/file" stays */
    if (lstat(real, &one) != 0) return 0;
  }
}

/* Reads a file that holds the words of such an author. */
static unsigned char* read_file(const char* path, size_t most, size_t* length, enum author author) {
  struct stat status = {.st_mode = 0};
  char full[QD_MAX_PATH];
  const char* const name = preload_full_name(path, full);
  errno = 0;
  const int opened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* even of a pipe */
  if (opened < 0) return NULL;
  const int is_plain = fstat(opened, &status) == 0 && S_ISREG(status.st_mode);
  int refused = 0;
  if (author != ANYBODY && is_plain && (!is_own(&status) || status.st_mode & S_IWOTH))
    refused = author == OWN || is_own(&status) ? EPERM : is_owners_alone(name, &status) ? 0 : EXDEV;
  FILE* file = is_plain && !refused ? fdopen(opened, "rb") : NULL;
  if (!file) {
    close(opened);
    errno = refused ? refused : is_plain ? ENOMEM : S_ISDIR(status.st_mode) ? EISDIR : ENOTSUP;
    return NULL;
  }
  unsigned char* bytes = malloc(most + 1);
  *length = bytes ? fread(bytes, 1, most + 1, file) : 0;
  if (bytes && *length > most) errno = EFBIG;
  const int failed = !bytes || ferror(file) || *length > most;
  fclose(file);
  unsigned char* fitting = failed ? NULL : realloc(bytes, *length + 1);
  if (!fitting) free(bytes);
  return fitting;
}

unsigned char* preload_read(const char* path, size_t most, size_t* length) {
  return read_file(path, most, length, ANYBODY);
}

unsigned char* preload_read_own(const char* path, size_t most, size_t* length) {
  return read_file(path, most, length, OWN);
}

const char* preload_file_reason(void) {
  return errno == ENOTSUP ? "a pipe or a device cannot hold this; name a plain file"
         : errno == EPERM ? "it belongs to another user, or all users may write it; copy it, or "
                            "take that right away with chmod o-w"
         : errno == EXDEV
             ? "it is another user's, and a third one could replace it; give the "
               "folders above it to that user or root, take other rights away with "
               "chmod go-w, and name it in full, without symbolic links, '.', '..' and '//'"
         : errno == ELOOP ? "it is a symbolic link; name the file itself"
                          : strerror(errno);
}

/* Adds the schedules of files that were read since the last call to the hash. */
static void hash_schedules(void) {
  static int known;
  if (known < quadrille_universal_count) known = quadrille_universal_count;
  for (; known < preload_schedule_count(); known++)
    hash(preload_schedule_name(known), (const char*)preload_schedule(known)->bytes,
         preload_schedule(known)->length);
}

/* ---- What this job runs with, and what the rules of the file were measured with */

/* The files whose rules are not of this job's library, version and machine. */
static struct {
  const char* name;
  struct preload_origin of;
} others[2];
static int other_count;

/* Copies a text as one word: blanks become hyphens. Leaves out digits if `has_digits` is 0. */
static void take_word(char* to, size_t size, const char* from, size_t length, int has_digits) {
  size_t used = 0;
  for (size_t i = 0; i < length && used + 1 < size; i++)
    if (has_digits || !isdigit((unsigned char)from[i]))
      to[used++] = isgraph((unsigned char)from[i]) && from[i] != '#' ? from[i] : '-';
  to[used] = '\0';
}

void preload_know_library(const char* version, int is_in_job) {
  struct preload_origin* const here = &settings.here;
  char host[sizeof here->machine] = "";
  const char *number = version, *const cluster = getenv("SLURM_CLUSTER_NAME");
  /* as in "Open MPI v4.1.4, package ...", "MPICH Version: 4.0.2" */
  while (*number &&
         !(isdigit((unsigned char)*number) && number > version && strchr(" \tv", number[-1])))
    number++;
  size_t length = (size_t)(number - version);
  const char* const word = strstr(version, " Version");
  if (word && word < number) length = (size_t)(word - version);
  while (length > 0 && strchr(" \t:v", version[length - 1])) length--;
  take_word(here->library, sizeof here->library, version, length, 1);
  take_word(here->version, sizeof here->version, number, strcspn(number, " ,\t\n"), 1);
  if (!is_in_job) return;
  gethostname(host, sizeof host - 1);
  const char* const machine = cluster && *cluster ? cluster : host;
  take_word(here->machine, sizeof here->machine, machine, strlen(machine), machine == cluster);
}

void preload_know_nodes(int nodes) { settings.here.nodes = nodes; }

static int differ(const char* a, const char* b) { return *a && *b && strcmp(a, b) != 0; }

static void describe(const struct preload_origin* of, char* text, size_t size) {
  char nodes[32] = "";
  if (of->nodes > 0)
    snprintf(nodes, sizeof nodes, ", %d node%s", of->nodes, of->nodes == 1 ? "" : "s");
  snprintf(text, size, "%s%s%s%s%s%s", of->library, *of->version ? " " : "", of->version,
           *of->machine ? " on machine " : "", of->machine, nodes);
}

int preload_has_other_origin(int number, char text[PRELOAD_TEXT]) {
  char ours[256], theirs[256];
  if (number >= other_count) return 0;
  const struct preload_origin* const of = &others[number].of;
  describe(&settings.here, ours, sizeof ours);
  describe(of, theirs, sizeof theirs);
  snprintf(text, PRELOAD_TEXT, "%.400s: its rules are of %s, and this is %s; %s",
           others[number].name, theirs, ours,
           differ(settings.here.library, of->library) ? "the file is left alone"
                                                      : "learn anew if they are no gain here");
  return 1;
}

static int has_rules; /* whether the rules of a file were taken */

/* Adds the rules of the file *path. If it is of another MPI library, forgets them, and the file. */
static void take_file(const char** path, const char* text, size_t length) {
  char wrong[PRELOAD_TEXT];
  const struct preload_origin *const here = &settings.here, *const of = &settings.of_file;
  const char* const name = *path ? *path : "the rules of rank 0";
  const int before = settings.rule_count, schedules = preload_schedule_count();
  const int is_right = preload_read_rules(name, text, length, &settings, wrong);
  const int is_left = differ(here->library, of->library);
  if (!is_right && !is_left) refuse("%s", wrong);
  if (is_left || differ(here->version, of->version) || differ(here->machine, of->machine))
    others[other_count].name = name, others[other_count++].of = *of;
  if (!is_left) return;
  settings.rule_count = before;
  preload_drop_schedules(schedules);
  *path = NULL;
}

void preload_take_rules(const char* text, size_t length) {
  const size_t own = strnlen(text, length); /* the site's rules stand behind a zero */
  has_rules = 1;
  if (length > 0) hash("", text, length); /* an empty file counts as none */
  if (own > 0 || own == length) take_file(&settings.rules_file, text, own);
  if (own < length) take_file(&settings.site_rules, text + own + 1, length - own - 1);
  hash_schedules();
}

/* Reads a rules file of this variable. Returns its text, or NULL. The user's own may not exist yet. */
static char* read_rules(const char* variable, const char* path, enum author author, int may_lack,
                        size_t* length) {
  *length = 0;
  if (!path) return NULL;
  char* const text = (char*)read_file(path, PRELOAD_MOST_RULES, length, author);
  if (!text && (errno != ENOENT || !may_lack))
    refuse("%s: %.500s: %s", variable, path, preload_file_reason());
  if (!text || !memchr(text, '\0', *length)) return text;
  refuse("%s: %.500s: a text has no byte with the value 0", variable, path);
  free(text);
  *length = 0;
  return NULL;
}

char* preload_read_own_rules(size_t* length) {
  const struct preload_settings* const of = preload_settings();
  size_t own = 0, more = 0;
  *length = 0;
  if (has_rules) return NULL;
  char* text =
      read_rules("QUADRILLE_RULES", of->rules_file, OWN, preload_finds_rules(of->mode), &own);
  char* const site = read_rules("QUADRILLE_SITE_RULES", of->site_rules, SITE, 0, &more);
  if (site) {
    char* const joined = realloc(text, own + more + 1);
    if (!joined) refuse("memory ran out while rules were read");
    if (joined) {
      joined[own] = '\0';
      memcpy(joined + own + 1, site, more);
      text = joined, own += more + 1;
    }
    free(site);
  }
  if (text) preload_take_rules(text, own);
  *length = text ? own : 0;
  return text;
}

static void read_all(void) {
  const char* mode = getenv("QUADRILLE");
  if (mode && mode[0]) read_mode(mode);
  hash("", (const char*)&settings.mode, sizeof settings.mode);
  for (char** entry = environ; *entry; entry++)
    if (strncmp(*entry, "QUADRILLE", 9) == 0 && strchr("=_", (*entry)[9]) && strchr(*entry, '='))
      read_variable(*entry);
  if (settings.mode == PRELOAD_LEARN && !settings.rules_file)
    settings.rules_file = "quadrille-rules.txt";
  if (settings.mode == PRELOAD_LEARN && !settings.report) settings.report = "1";
  settings.first_of_file = settings.rule_count;
  hash_schedules();
}

const struct preload_settings* preload_settings(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_all);
  return &settings;
}

/* Returns 0 if the file can be written, else 1 and a sentence. */
static int loses(const char* variable, const char* name, char text[PRELOAD_TEXT]) {
  if (preload_may_write(name)) return 0;
  snprintf(text, PRELOAD_TEXT, "%s: %.500s cannot be written: %s", variable, name,
           preload_file_reason());
  return 1;
}

int preload_loses_rules(char text[PRELOAD_TEXT]) {
  const char* name = preload_settings()->rules_file;
  return name && preload_finds_rules(settings.mode) && loses("QUADRILLE_RULES", name, text);
}

int preload_loses_report(char text[PRELOAD_TEXT]) {
  const char* name = preload_settings()->report;
  return name && strcmp(name, "1") != 0 && loses("QUADRILLE_REPORT", name, text);
}
