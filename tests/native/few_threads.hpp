// A system that refuses threads: this program's own pthread_create makes as many as a test allows.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>

inline std::atomic<int> threads_left{INT_MAX};

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*begin)(void*), void* given) noexcept {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (threads_left.fetch_sub(1) <= 0) {
        threads_left.store(0);
        return EAGAIN;
    }
    return create(thread, attributes, begin, given);
}
