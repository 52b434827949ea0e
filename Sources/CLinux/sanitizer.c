#include "nsh_linux.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NSH_THREAD_SANITIZER 1
#endif
#endif

#ifdef NSH_THREAD_SANITIZER

void __tsan_acquire(void *address);
void __tsan_release(void *address);

void nsh_lock_taken(void *lock) { __tsan_acquire(lock); }
void nsh_lock_given(void *lock) { __tsan_release(lock); }

#else

void nsh_lock_taken(void *lock) { (void)lock; }
void nsh_lock_given(void *lock) { (void)lock; }

#endif
