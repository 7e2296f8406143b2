/* Disables the time-stamp counter for the process that preloads this. In a constructor, because the setting survives
 * exec and the dynamic loader itself reads the counter. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

__attribute__((constructor)) static void disable(void)
{
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) {
        perror("prctl(PR_SET_TSC)");
        _Exit(99);
    }
}
