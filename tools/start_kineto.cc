// Preloaded into a LibTorch program that `tbtrace record` starts: Kineto asks there what to record,
// as it does in Python. Links with nothing, so that it loads into any program.

extern "C" {

/// torch::global_kineto_init(), in LibTorch 2.7 and newer.
__attribute__((weak, visibility("default"))) void start_kineto() __asm__(
    "_ZN5torch18global_kineto_initEv");

/// Runs after the constructors of the program's libraries, and before those of the program.
__attribute__((constructor)) static void begin() {
  if (start_kineto != nullptr) start_kineto();
}
}
