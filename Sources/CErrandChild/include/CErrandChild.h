#ifndef CERRANDCHILD_H
#define CERRANDCHILD_H

#include <sys/types.h>

/// What to start and with which ends of which pipes.
typedef struct {
    /// Files to try in this order, up to a null pointer: the places of PATH where the command may be.
    char *const *files;
    /// The argument vector, ended by a null pointer.
    char *const *arguments;
    /// The environment, `KEY=value` each, ended by a null pointer.
    char *const *environment;
    /// The child's ends of its three pipes; each is above 2 (see `errand_child_pipe`).
    int input;
    int output;
    int error;
    /// The write end of the reaper's pipe.
    int reaper;
} errand_child_spec;

/// The step that a child could not take.
enum errand_child_step {
    ERRAND_CHILD_STEP_FORK = 1,
    ERRAND_CHILD_STEP_GROUP = 2,
    ERRAND_CHILD_STEP_REAPER = 3,
    ERRAND_CHILD_STEP_PIPES = 4,
    ERRAND_CHILD_STEP_EXEC = 5,
};

/// Why a child did not start: the step and its errno.
typedef struct {
    int step;
    int error;
} errand_child_failure;

/// Starts a child in a process group of its own and registers it with the reaper before it runs anything.
///
/// Call it only from a thread that lives as long as the process: on Linux the child is killed when that thread ends.
/// Returns the child's pid, or -1 with `failure` filled in; then nothing is left to wait for.
pid_t errand_child_spawn(const errand_child_spec *spec, errand_child_failure *failure);

/// Makes a pipe whose ends are closed on exec and lie above standard error. Returns 0, or an errno.
int errand_child_pipe(int *read_end, int *write_end);

/// Raises how many files this process may have open to what is wanted, or as near to it as the system permits; what is run gets the
/// former limit back. Call it before anything is run. Returns what it may have now.
unsigned long errand_child_make_room(unsigned long wanted);

/// In a child: the limit of open files as it was before `errand_child_make_room`.
void errand_child_restore_room(void);

/// Makes a descriptor non-blocking. Returns 0, or an errno.
int errand_child_set_nonblocking(int descriptor);

/// A descriptor that becomes readable when the process ends, or -1 where the system has none.
int errand_child_pidfd(pid_t pid);

/// How a child ended.
typedef struct {
    /// 1 when the child has ended, 0 while it runs.
    int ended;
    /// 1 when a signal ended it.
    int signalled;
    /// The exit status or the number of the signal.
    int status;
} errand_child_ending;

/// Looks, without waiting, whether a child has ended; it stays a zombie, so its pid cannot be used again.
/// Returns 0, or an errno.
int errand_child_look(pid_t pid, errand_child_ending *ending);

/// Removes an ended child from the process table.
void errand_child_reap(pid_t pid);

/// Blocks every signal in the calling thread.
void errand_child_block_signals(void);

/// Makes sure that ended children are kept until they are reaped, should the process have been started with SIGCHLD
/// ignored. A handler of the program's own stays.
void errand_child_keep_endings(void);

/// The environment of this process.
char *const *errand_child_environment(void);

/// Gives the calling thread a name for debuggers and `top`.
void errand_child_name_thread(const char *name);

/// Starts the reaper: a process that sleeps on a pipe and, when the last writer of that pipe is gone (however it
/// ended), kills every process group registered with it and exits. Returns its pid and stores the pipe's write end,
/// or returns -1 with `error` set to an errno.
pid_t errand_reaper_start(int *write_end, int *error);

/// Tells the reaper that a process group lives, or with a negative number that it has ended. Returns 0, or an errno.
int errand_reaper_record(int write_end, pid_t record);

/// 1 once the program exits and has its reaper kill all children: how they end then is no outcome of theirs.
int errand_reaper_ends_program(void);

#endif
