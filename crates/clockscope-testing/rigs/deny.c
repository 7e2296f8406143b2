/* Denies a system call to the process that preloads this, by a seccomp filter. Either clock_gettime:
 *
 *   CLOCKSCOPE_DENY_CLOCK=ID|all           for this clock, or for all
 *   CLOCKSCOPE_DENY_HOW=errno|trap|kill    EPERM, SIGSYS to the thread, or the end of the process
 *
 * or another one:
 *
 *   CLOCKSCOPE_DENY_CALL=setaffinity       EPERM: no thread can be bound
 *   CLOCKSCOPE_DENY_CALL=thread            EAGAIN: no thread can be started, while processes can
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

static void install(struct sock_filter *filter, unsigned short length)
{
    struct sock_fprog program = { length, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("seccomp");
        _Exit(99);
    }
}

__attribute__((constructor)) static void deny_call(void)
{
    const char *call = getenv("CLOCKSCOPE_DENY_CALL");
    if (!call)
        return;
    int threads = strcmp(call, "thread") == 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads ? SYS_clone3 : SYS_sched_setaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (threads ? EAGAIN : EPERM)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    install(filter, sizeof filter / sizeof *filter);
}

__attribute__((constructor)) static void deny_clock(void)
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
    install(filter, sizeof filter / sizeof *filter);
}
