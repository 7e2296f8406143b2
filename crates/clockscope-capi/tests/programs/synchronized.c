/* Has the kernel seem to know the error of its clock: this syscall() is in front of the C
 * library's, in a program or by LD_PRELOAD. x86-64 Linux alone. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

/* The error that the kernel seems to state, and the status that it seems to have. */
long max_error_us = 1000;
int status = STA_PLL | STA_NANO;

/* Passes everything on, and changes the answer about the clock. */
long syscall(long number, ...) {
  long answer, arguments[6];
  int index;
  va_list list;
  va_start(list, number);
  for (index = 0; index < 6; ++index) {
    arguments[index] = va_arg(list, long);
  }
  va_end(list);
  {
    register long fourth __asm__("r10") = arguments[3];
    register long fifth __asm__("r8") = arguments[4];
    register long sixth __asm__("r9") = arguments[5];
    __asm__ __volatile__("syscall"
                         : "=a"(answer)
                         : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
                           "r"(fourth), "r"(fifth), "r"(sixth)
                         : "rcx", "r11", "memory");
  }
  if (answer < 0 && answer > -4096) {
    errno = (int)-answer;
    return -1;
  }
  if (number == SYS_adjtimex) {
    struct timex *timex = (struct timex *)(uintptr_t)arguments[0];
    /* The microseconds become nanoseconds with the status. */
    if (!(timex->status & STA_NANO)) {
      timex->time.tv_usec *= 1000;
    }
    timex->status = status;
    timex->maxerror = max_error_us;
    timex->offset = 0;
    return status & STA_UNSYNC ? TIME_ERROR : TIME_OK;
  }
  return answer;
}
