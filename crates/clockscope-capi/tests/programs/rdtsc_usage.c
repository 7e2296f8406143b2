/* The usage that the README of rdtsc shows, unchanged, in a function. */

#include "rdtsc.h"

#include <stdio.h>
#include <unistd.h>

int main(void) {
  uint64_t start_ticks, end_ticks;

  rdtsc_calibrate();  /* Sets global varialbe rdtsc_ticks_per_sec. */

  RDTSC(start_ticks);
  usleep(1000);
  RDTSC(end_ticks)

  printf("duration of usleep(1000) is %f sec.\n",
      (double)(end_ticks - start_ticks) / (double)rdtsc_ticks_per_sec);
  return 0;
}
