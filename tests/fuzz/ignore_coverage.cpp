// The callback of g++'s -fsanitize-coverage=trace-pc in programs that count no coverage: native tests, and the
// bindings, which are linked with the objects of the fuzzers.
extern "C" void __sanitizer_cov_trace_pc() {}
