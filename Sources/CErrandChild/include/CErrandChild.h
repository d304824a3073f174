#ifndef CERRANDCHILD_H
#define CERRANDCHILD_H

#include <sys/types.h>

/// The parameters of a child.
typedef struct {
    /// The files to try in this order, up to a null pointer: the files on PATH that the command may refer to.
    char *const *files;
    /// The argument vector, terminated by a null pointer.
    char *const *arguments;
    /// The environment as `KEY=value` texts, terminated by a null pointer.
    char *const *environment;
    /// The child's ends of its three pipes; each is above 2 (see `errand_child_pipe`).
    int input;
    int output;
    int error;
    /// The write end of the reaper's pipe.
    int reaper;
} errand_child_spec;

/// The step at which a child failed to start.
enum errand_child_step {
    ERRAND_CHILD_STEP_FORK = 1,
    ERRAND_CHILD_STEP_GROUP = 2,
    ERRAND_CHILD_STEP_REAPER = 3,
    ERRAND_CHILD_STEP_PIPES = 4,
    ERRAND_CHILD_STEP_EXEC = 5,
};

/// The reason why a child did not start: the step and its errno.
typedef struct {
    int step;
    int error;
} errand_child_failure;

/// Starts a child in its own process group and registers it with the reaper before it runs anything.
///
/// Call it only from a thread that lives as long as the process: on Linux the child is killed when that thread ends.
/// Returns the child's pid, or -1 with `failure` set; then there is no child to wait for.
pid_t errand_child_spawn(const errand_child_spec *spec, errand_child_failure *failure);

/// Makes a pipe whose ends are closed on exec and have numbers above standard error. Returns 0, or an errno.
int errand_child_pipe(int *read_end, int *write_end);

/// Raises the limit of open files of this process to `wanted`, or as near to it as the system permits; children get the
/// former limit back. Call it before anything is started. Returns the new limit.
unsigned long errand_child_make_room(unsigned long wanted);

/// Restores, in a child, the limit of open files from before `errand_child_make_room`.
void errand_child_restore_room(void);

/// Makes a descriptor non-blocking. Returns 0, or an errno.
int errand_child_set_nonblocking(int descriptor);

/// Writes to a pipe as `write` does, but never raises SIGPIPE, whatever the process does with that signal.
long errand_child_write(int descriptor, const void *bytes, unsigned long count);

/// Returns a descriptor that becomes readable when the process ends, or -1 if the system has none.
int errand_child_pidfd(pid_t pid);

/// How a child ended.
typedef struct {
    /// 1 if the child has ended, 0 while it runs.
    int ended;
    /// 1 if a signal ended it.
    int signalled;
    /// The exit status or the number of the signal.
    int status;
} errand_child_ending;

/// Checks, without waiting, whether a child has ended; the child stays a zombie, so its pid cannot be reused. Returns
/// 0, or an errno.
int errand_child_look(pid_t pid, errand_child_ending *ending);

/// Removes an ended child from the process table.
void errand_child_reap(pid_t pid);

/// Blocks every signal in the calling thread.
void errand_child_block_signals(void);

/// Keeps ended children until they are reaped, even if the process was started with SIGCHLD ignored. A handler of the
/// program stays.
void errand_child_keep_endings(void);

/// Returns the environment of this process.
char *const *errand_child_environment(void);

/// Sets the name of the calling thread for debuggers and `top`.
void errand_child_name_thread(const char *name);

/// Starts the reaper: a process that sleeps on a pipe and, when the last writer of that pipe has ended in any way,
/// kills every process group registered with it and exits. Returns its pid and stores the pipe's write end, or returns
/// -1 with `error` set to an errno.
pid_t errand_reaper_start(int *write_end, int *error);

/// Registers a process group with the reaper, or with a negative number removes one that has ended. Returns 0, or an
/// errno.
int errand_reaper_record(int write_end, pid_t record);

/// Returns 1 once the program exits and its reaper kills all children: their ends are then not outcomes to report.
int errand_reaper_ends_program(void);

#endif
