#include "CErrandChild.h"

#include <limits.h>
#include <sys/resource.h>

// The default soft limit is low for programs that use select(), so children get the former limit back.
static struct rlimit usual;
static int is_raised = 0;

unsigned long errand_child_make_room(unsigned long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    struct rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
#ifdef __APPLE__
    // A higher value is an error on Darwin, whatever the hard limit is.
    if (raised.rlim_cur > OPEN_MAX) raised.rlim_cur = OPEN_MAX;
#endif
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0) return limit.rlim_cur;
    usual = limit;
    is_raised = 1;
    return raised.rlim_cur;
}

void errand_child_restore_room(void) {
    if (is_raised) setrlimit(RLIMIT_NOFILE, &usual);
}
