/* Denies the system call clock_gettime to the process that preloads this, by a seccomp filter:
 *
 *   CLOCKSCOPE_DENY_CLOCK=ID|all           for this clock, or for all
 *   CLOCKSCOPE_DENY_HOW=errno|trap|kill    EPERM, SIGSYS to the thread, or the end of the process
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

__attribute__((constructor)) static void deny(void)
{
    const char *clock = getenv("CLOCKSCOPE_DENY_CLOCK"), *how = getenv("CLOCKSCOPE_DENY_HOW");
    if (!clock || !how)
        return;
    int all = strcmp(clock, "all") == 0;
    unsigned action = strcmp(how, "trap") == 0   ? SECCOMP_RET_TRAP
                      : strcmp(how, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS
                                                 : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, all ? 2 : 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(clock), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    if (all) {
        filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 2, 3);
        filter[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        _Exit(99);
    }
}
