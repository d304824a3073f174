#define _GNU_SOURCE
#include "CErrandChild.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
#endif

// Between fork and exec the child only makes system calls on prepared data, without locks or allocations. On Linux it
// even shares the parent's memory until exec (vfork), so it changes only its stack.

static _Noreturn void give_up(int report, int step, int error) {
    errand_child_failure failure = {step, error};
    ssize_t written;
    do {
        written = write(report, &failure, sizeof failure);
    } while (written < 0 && errno == EINTR);
    _exit(127);
}

static void set_default(int number) {
#if defined(__linux__) && defined(SYS_rt_sigaction)
    // Bypasses the C library, which does not change the two signals that it reserves: these too may have been ignored
    // when the worker started. All zeros is the default action, and longer than the part that the kernel reads.
    const char action[64] = {0};
    syscall(SYS_rt_sigaction, number, action, NULL, (size_t)8);
#else
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, NULL);
#endif
}

/// Resets signals: the worker's handlers must not run in a child that shares its memory, and the child must not inherit
/// ignored signals. SIGPIPE stays ignored until the reaper has the record.
static void default_signals(void) {
    for (int number = 1; number < NSIG; number += 1) set_default(number);
    struct sigaction action = {0};
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

static void unblock_signals(void) {
    set_default(SIGPIPE);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/// Makes the kernel kill the child when the thread that started it ends. A different parent pid shows that the parent
/// ended before this call.
static void die_with(pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    if (getppid() != parent) _exit(127);
}

static void close_others_on_exec(void) {
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
#endif
    struct rlimit limit;
    int last = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536) last = (int)limit.rlim_cur;
    for (int descriptor = 3; descriptor < last; descriptor += 1) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// Tries the files on PATH as execvp does, without its fallback to a shell. Returns the errno to report: that of a file
/// that is not executable takes precedence over those of missing files.
static int become(const errand_child_spec *spec) {
    int error = ENOENT;
    for (char *const *file = spec->files; *file != NULL; file += 1) {
        execve(*file, spec->arguments, spec->environment);
        if (errno == ENOENT || errno == ENOTDIR) continue;
        error = errno;
        if (errno != EACCES) break;
    }
    return error;
}

static _Noreturn void child(const errand_child_spec *spec, pid_t parent, int report) {
    default_signals();
    if (setpgid(0, 0) != 0) give_up(report, ERRAND_CHILD_STEP_GROUP, errno);
    die_with(parent);
    int failure = errand_reaper_record(spec->reaper, getpid());
    if (failure != 0) give_up(report, ERRAND_CHILD_STEP_REAPER, failure);
    if (dup2(spec->input, 0) < 0 || dup2(spec->output, 1) < 0 || dup2(spec->error, 2) < 0)
        give_up(report, ERRAND_CHILD_STEP_PIPES, errno);
    close_others_on_exec();
    errand_child_restore_room();
    unblock_signals();
    give_up(report, ERRAND_CHILD_STEP_EXEC, become(spec));
}

/// Waits until the child has called exec or reported its failure. Returns whether it failed.
static int read_report(int report, errand_child_failure *failure) {
    ssize_t got;
    do {
        got = read(report, failure, sizeof *failure);
    } while (got < 0 && errno == EINTR);
    return got == sizeof *failure;
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static pid_t fork_child(const errand_child_spec *spec, pid_t parent, int report) {
#ifdef __linux__
    pid_t pid = vfork();
#else
    pid_t pid = fork();
#endif
    if (pid == 0) child(spec, parent, report);
    return pid;
}
#pragma clang diagnostic pop

static pid_t fork_quietly(const errand_child_spec *spec, int report) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork_child(spec, getpid(), report);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

pid_t errand_child_spawn(const errand_child_spec *spec, errand_child_failure *failure) {
    int report_read, report_write;
    failure->step = ERRAND_CHILD_STEP_FORK;
    failure->error = errand_child_pipe(&report_read, &report_write);
    if (failure->error != 0) return -1;

    pid_t pid = fork_quietly(spec, report_write);
    failure->error = pid < 0 ? errno : 0;
    close(report_write);
    int failed = pid < 0 || read_report(report_read, failure);
    close(report_read);
    if (!failed) return pid;
    if (pid > 0) {
        // Removes the record before it reaps the pid: until then the pid cannot be reused.
        if (failure->step > ERRAND_CHILD_STEP_REAPER) errand_reaper_record(spec->reaper, -pid);
        errand_child_reap(pid);
    }
    return -1;
}
