/* Shared by programs that print what is wrong, and end with the number of such lines. */

#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

static int wrong = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: expected %s\n", __LINE__, #condition);                                      \
      ++wrong;                                                                                     \
    }                                                                                              \
  } while (0)

#endif /* EXPECT_H */
