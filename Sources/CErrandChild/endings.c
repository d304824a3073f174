#define _GNU_SOURCE
#include "CErrandChild.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#endif

int errand_child_pidfd(pid_t pid) {
#ifdef __linux__
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

int errand_child_look(pid_t pid, errand_child_ending *ending) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    memset(ending, 0, sizeof *ending);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno != EINTR) return errno;
    }
    if (info.si_pid == 0) return 0;
    ending->ended = 1;
    ending->signalled = info.si_code != CLD_EXITED;
    ending->status = info.si_status;
    return 0;
}

void errand_child_reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void errand_child_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

void errand_child_keep_endings(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0) return;
    int has_handler = action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
    if (has_handler && !(action.sa_flags & SA_NOCLDWAIT)) return;
    if (!has_handler) action.sa_handler = SIG_DFL;
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
}

#ifdef __APPLE__
#include <crt_externs.h>
char *const *errand_child_environment(void) { return *_NSGetEnviron(); }
#else
extern char **environ;
char *const *errand_child_environment(void) { return environ; }
#endif

void errand_child_name_thread(const char *name) {
#ifdef __linux__
    pthread_setname_np(pthread_self(), name);
#else
    pthread_setname_np(name);
#endif
}
