#define _GNU_SOURCE
#include "CErrandChild.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/// Moves a descriptor above standard error. A process may have started with 0, 1 or 2 closed, and a child's pipe end
/// with such a number would be overwritten while the ends are moved to their places.
static int lift(int descriptor) {
    if (descriptor > 2) return descriptor;
    int lifted = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(descriptor);
    errno = error;
    return lifted;
}

static int open_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int errand_child_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (open_pipe(ends) != 0) return errno;
    ends[0] = lift(ends[0]);
    int error = ends[0] < 0 ? errno : 0;
    ends[1] = lift(ends[1]);
    if (error == 0 && ends[1] < 0) error = errno;
    if (error != 0) {
        if (ends[0] >= 0) close(ends[0]);
        if (ends[1] >= 0) close(ends[1]);
        return error;
    }
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

long errand_child_write(int descriptor, const void *bytes, unsigned long count) {
    sigset_t broken_pipe, before, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    long written = write(descriptor, bytes, count);
    int error = errno;
    // The signal goes to the thread that has written.
    if (written < 0 && error == EPIPE && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1) {
        int taken;
        sigwait(&broken_pipe, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

int errand_child_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0) return errno;
    return 0;
}
