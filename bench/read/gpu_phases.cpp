// Records the times of a read's first and last launch, and of the begin and end of its last wait. These functions wrap
// the driver's for the native code of the package (src/headrace/gpu/bindings.cpp). They read the clock in each call.
#include <chrono>

namespace {

using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                       void**);
using Wait = int (*)(void*);

Launch real_launch;
Wait real_wait;
double first_launch, last_launch, wait_begun, wait_done;
unsigned launches;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

extern "C" {

void forward(Launch launch, Wait wait) {
    real_launch = launch;
    real_wait = wait;
}

void begin() { launches = 0; }

// Writes seconds since `begin`, by the clock of Python's `time.monotonic`.
void marks(double* seconds) {
    const double found[] = {first_launch, last_launch, wait_begun, wait_done};
    for (int i = 0; i < 4; ++i) seconds[i] = found[i];
}

int launch(void* kernel, unsigned x, unsigned y, unsigned z, unsigned u, unsigned v, unsigned w, unsigned shared,
           void* stream, void** arguments, void** extra) {
    if (launches++ == 0) first_launch = now();
    const int status = real_launch(kernel, x, y, z, u, v, w, shared, stream, arguments, extra);
    last_launch = now();
    return status;
}

int wait(void* event) {
    wait_begun = now();
    const int status = real_wait(event);
    wait_done = now();
    return status;
}
}
