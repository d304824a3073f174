#define _GNU_SOURCE
#include "CErrandChild.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

// The reaper is forked from a process with many threads and does not exec, so it only makes system calls on its own
// memory.

int errand_reaper_record(int write_end, pid_t record) {
    ssize_t written;
    do {
        written = write(write_end, &record, sizeof record);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? errno : 0;
}

// MARK: - The registered groups

typedef struct {
    pid_t *groups;
    size_t count;
    size_t capacity;
} registry;

static int grow(registry *registered) {
    size_t capacity = registered->capacity == 0 ? 1024 : registered->capacity * 2;
    pid_t *groups =
        mmap(NULL, capacity * sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (groups == MAP_FAILED) return -1;
    if (registered->count > 0) {
        memcpy(groups, registered->groups, registered->count * sizeof(pid_t));
        munmap(registered->groups, registered->capacity * sizeof(pid_t));
    }
    registered->groups = groups;
    registered->capacity = capacity;
    return 0;
}

static void add(registry *registered, pid_t group) {
    if (registered->count == registered->capacity && grow(registered) != 0) return;
    registered->groups[registered->count] = group;
    registered->count += 1;
}

static void discard(registry *registered, pid_t group) {
    for (size_t index = 0; index < registered->count; index += 1) {
        if (registered->groups[index] != group) continue;
        registered->count -= 1;
        registered->groups[index] = registered->groups[registered->count];
        return;
    }
}

// MARK: - The title of the reaper

#ifdef __linux__
/// Returns the number in the field of /proc/self/stat that is `index` fields after the command's name.
static unsigned long stat_field(const char *text, int index) {
    const char *field = strrchr(text, ')');
    while (field != NULL && index >= 0) {
        field = strchr(field + 1, ' ');
        index -= 1;
    }
    unsigned long number = 0;
    for (field = field == NULL ? "" : field + 1; *field >= '0' && *field <= '9'; field += 1)
        number = number * 10 + (unsigned long)(*field - '0');
    return number;
}

/// Sets the title of the reaper and erases its arguments and environment: in a process list it must not look like a
/// second worker, nor show a password.
static void take_title(void) {
    static const char title[] = "errand-reaper";
    prctl(PR_SET_NAME, title, 0, 0, 0);
    char text[2048];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length <= 0) return;
    text[length] = 0;
    // Fields 48 to 51 of proc(5): start and end of the arguments, start and end of the environment.
    unsigned long arguments = stat_field(text, 45), arguments_end = stat_field(text, 46);
    unsigned long environment = stat_field(text, 47), environment_end = stat_field(text, 48);
    if (environment != 0 && environment < environment_end)
        memset((void *)environment, 0, environment_end - environment);
    if (arguments == 0 || arguments >= arguments_end) return;
    memset((void *)arguments, 0, arguments_end - arguments);
    size_t room = arguments_end - arguments - 1;
    memcpy((void *)arguments, title, room < sizeof title - 1 ? room : sizeof title - 1);
}
#else
static void take_title(void) {}
#endif

/// Closes the worker's files: a reader of the worker's output must reach its end when the worker ends.
static void close_all_but(int kept) {
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, 0U, (unsigned)kept - 1, 0) == 0 &&
        syscall(SYS_close_range, (unsigned)kept + 1, ~0U, 0) == 0)
        return;
#endif
    struct rlimit limit;
    int last = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536) last = (int)limit.rlim_cur;
    for (int descriptor = 0; descriptor < last; descriptor += 1)
        if (descriptor != kept) close(descriptor);
}

// MARK: - The loop of the reaper

/// The record that ends the reaper as if the worker had ended.
enum { END_NOW = 0 };

/// Reads records, and returns when the last writer is gone.
static void keep_watch(int records, registry *registered) {
    union {
        pid_t records[1024];
        char bytes[1024 * sizeof(pid_t)];
    } buffer;
    size_t held = 0;
    for (;;) {
        ssize_t got = read(records, buffer.bytes + held, sizeof buffer.bytes - held);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        held += (size_t)got;
        size_t whole = held / sizeof(pid_t);
        for (size_t index = 0; index < whole; index += 1) {
            pid_t record = buffer.records[index];
            if (record == END_NOW) return;
            if (record > 1) add(registered, record);
            if (record < -1) discard(registered, -record);
        }
        held -= whole * sizeof(pid_t);
        memmove(buffer.bytes, buffer.bytes + whole * sizeof(pid_t), held);
    }
}

/// Runs the reaper. Every signal is blocked, because a signal that ends the worker's terminal or service must not end
/// the reaper first.
static _Noreturn void reaper(int records) {
    registry registered = {0};
    setsid();
    take_title();
    // This also closes the pipe on which the worker waits until the reaper is ready.
    close_all_but(records);
    keep_watch(records, &registered);
    for (size_t index = 0; index < registered.count; index += 1) kill(-registered.groups[index], SIGKILL);
    _exit(0);
}

/// The reaper of this process, for the end of the program.
static volatile int current_pipe = -1;
static volatile pid_t current_pid = -1;
static volatile int program_ends = 0;

/// Waits for the reaper when the program exits by itself: the children end before the program, and no zombie remains if
/// process 1 does not reap.
static void end_with_program(void) {
    // A process that the program has forked has the same numbers, but the reaper is not its child.
    if (current_pid <= 0 || waitpid(current_pid, NULL, WNOHANG) != 0) return;
    program_ends = 1;
    // Closing the pipe is not enough: it stays open while another thread polls it.
    if (errand_reaper_record(current_pipe, END_NOW) != 0) return;
    while (waitpid(current_pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

int errand_reaper_ends_program(void) { return program_ends; }

static void end_with_program_once(void) { atexit(end_with_program); }

static pid_t fork_reaper(int records) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) reaper(records);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

/// Waits until no other process has the other end of a pipe open.
static void await_end(int read_end) {
    char byte;
    while (read(read_end, &byte, 1) < 0 && errno == EINTR) {
    }
}

pid_t errand_reaper_start(int *write_end, int *error) {
    int records, ready, setting_up;
    *error = program_ends ? ECANCELED : errand_child_pipe(&records, write_end);
    if (*error != 0) return -1;
    *error = errand_child_pipe(&ready, &setting_up);
    if (*error != 0) {
        close(records);
        close(*write_end);
        return -1;
    }
    pid_t pid = fork_reaper(records);
    *error = pid < 0 ? errno : 0;
    close(records);
    close(setting_up);
    if (pid < 0) close(*write_end);
    if (pid > 0) await_end(ready);
    close(ready);
    if (pid < 0) return -1;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, end_with_program_once);
    current_pipe = *write_end;
    current_pid = pid;
    return pid;
}
