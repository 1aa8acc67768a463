// Makes fibers of contexts of the C library, and reuses stacks. The address sanitizer is told of each switch. Without
// it, a context only starts a fiber. Later switches are jumps, since swapcontext makes a system call.
#include "tests/net/fibers.h"

#include <setjmp.h>
#include <ucontext.h>

#include "schedule/result.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace quadrille::net {

struct Fiber {
  int index = 0;
  std::function<void(int)>* body = nullptr;
  std::unique_ptr<char[]> stack;
  ucontext_t context{};
  jmp_buf place;
  bool has_started = false, has_ended = false;
};

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr size_t kStack = 1 << 20;
#else
constexpr size_t kStack = 1 << 18;
#endif

Fiber* running = nullptr;
std::vector<std::unique_ptr<char[]>> spare_stacks;

#ifdef __SANITIZE_ADDRESS__
ucontext_t scheduler;
const void* scheduler_stack = nullptr;
size_t scheduler_size = 0;

void swap(ucontext_t* from, const ucontext_t* to, const void* stack, size_t size, bool is_last) {
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(is_last ? nullptr : &fake, stack, size);
  swapcontext(from, to);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
void leave(Fiber* fiber) {
  swap(&fiber->context, &scheduler, scheduler_stack, scheduler_size, fiber->has_ended);
}
void enter(Fiber* fiber) { swap(&scheduler, &fiber->context, fiber->stack.get(), kStack, false); }
void arrived() { __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_size); }
#else
jmp_buf scheduler_place;

// The fortified _longjmp refuses to go to another stack.
extern "C" [[noreturn]] void jump_to(jmp_buf place, int value) __asm__("_longjmp");

void leave(Fiber* fiber) {
  if (_setjmp(fiber->place) == 0) jump_to(scheduler_place, 1);
}
void enter(Fiber* fiber) {
  if (_setjmp(scheduler_place) != 0) return;
  if (fiber->has_started) jump_to(fiber->place, 1);
  fiber->has_started = true;
  setcontext(&fiber->context);
}
void arrived() {}
#endif

void start() {
  arrived();
  Fiber* const fiber = running;
  (*fiber->body)(fiber->index);
  fiber->has_ended = true;
  leave(fiber);
}

std::unique_ptr<char[]> take_stack() {
  if (spare_stacks.empty()) return std::make_unique_for_overwrite<char[]>(kStack);
  std::unique_ptr<char[]> stack = std::move(spare_stacks.back());
  spare_stacks.pop_back();
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(stack.get(), kStack);
#endif
  return stack;
}

void prepare(Fiber& fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStack;
  makecontext(&fiber.context, start, 0);
}

}  // namespace

Fibers::Fibers(int count, std::function<void(int)> body) {
  auto shared = std::make_shared<std::function<void(int)>>(std::move(body));
  for (int i = 0; i < count; ++i) {
    auto fiber = std::make_unique<Fiber>();
    fiber->index = i;
    fiber->stack = take_stack();
    fiber->body = new std::function<void(int)>([shared](int index) { (*shared)(index); });
    prepare(*fiber);
    fibers_.push_back(std::move(fiber));
  }
}

Fibers::~Fibers() {
  check(running == nullptr, "fibers end while one of them runs");
  for (auto& fiber : fibers_) {
    spare_stacks.push_back(std::move(fiber->stack));
    delete fiber->body;
  }
}

void Fibers::resume(int index) {
  check(running == nullptr, "a fiber resumes another");
  running = fibers_[static_cast<size_t>(index)].get();
  check(!running->has_ended, "a fiber is resumed that has ended");
  enter(running);
  running = nullptr;
}

bool Fibers::has_ended(int index) const { return fibers_[static_cast<size_t>(index)]->has_ended; }

void Fibers::pause() {
  check(running != nullptr, "nothing runs that could pause");
  leave(running);
}

int Fibers::current() { return running ? running->index : -1; }

}  // namespace quadrille::net
