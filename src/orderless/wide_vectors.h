/* WIDE_VECTORS before a function: compiled for newer processors too, and the processor chooses when it is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)
#define WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define WIDE_VECTORS
#endif
