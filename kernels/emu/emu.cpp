// The fibers of the emulator, and the program around it: it answers requests for memory and launches on standard input,
// as kernels.Emulator sends them.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <ucontext.h>
#include <vector>

#define MOTIFD_EMULATE
#include "../device.cuh"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN
#endif
#endif
#ifdef EMU_ASAN
extern "C" void __sanitizer_start_switch_fiber(void**, const void*, size_t);
extern "C" void __sanitizer_finish_switch_fiber(void*, const void**, size_t*);
#endif

// Under ThreadSanitizer every fiber is a thread, and only what the kernels do orders and touches anything: it finds
// what lanes of a warp, or warps, do to the same words without a barrier or a lock in between, with stealing and all.
// A launch has at most 8,128 threads there.
#if defined(__SANITIZE_THREAD__)
#define EMU_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMU_TSAN
#endif
#endif
#ifdef EMU_TSAN
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_switch_to_fiber(void*, unsigned);
void __tsan_acquire(void*);
void __tsan_release(void*);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
}
#define TSAN(x) x
#else
#define TSAN(x)
#endif

// Under MemorySanitizer the kernels alone are instrumented (uninstrumented.txt): it finds what they read of memory
// that nobody wrote. What goes from lane to lane counts as written.
extern "C" {
__attribute__((weak)) void __msan_poison(const volatile void*, size_t);
__attribute__((weak)) void __msan_unpoison(const volatile void*, size_t);
const char* __msan_default_options() { return "poison_in_malloc=0"; }
}

namespace emu {
namespace {
constexpr size_t kStack = 256 << 10;

[[noreturn]] void die(const char* what) {
    fprintf(stderr, "emulator: %s\n", what);
    exit(3);
}

// Internal is a time in which a thread does the emulator's work.
struct Internal {
    Internal() { TSAN(__tsan_ignore_thread_begin()); }
    ~Internal() { TSAN(__tsan_ignore_thread_end()); }
};

// unwritten marks memory that the kernels have not written, and read what the host reads, written or not.
void unwritten(void* p, size_t n) {
    if (__msan_poison) __msan_poison(p, n);
}

void read(void* p, size_t n) {
    if (__msan_unpoison) __msan_unpoison(p, n);
}

struct Warp {
    u32 arrived = 0, meetings = 0;
    // by parity of the barrier: no lane comes to the one after the next before all have left this one
    char order[2];
    Meeting kind = kSync;
    u32 in[kWarp], out[kWarp];
    std::vector<struct Fiber*> waiting;
};

struct Block {
    u32 index, arrived = 0, alive = 0, meetings = 0;
    char order[2];
    std::vector<Warp> warps;
    std::vector<struct Fiber*> waiting;
    std::vector<u64> memory;
};

struct Fiber {
    ucontext_t start;
    void* sp = nullptr;  // where it was left
    std::unique_ptr<char[]> stack{new char[kStack]};
    void* fake = nullptr;
    void* tsan = nullptr;
    Block* block = nullptr;
    u32 thread = 0;
    bool over = false;
};

std::vector<Fiber*> runnable;
char launched, landed;  // a launch's beginning and end, in ThreadSanitizer's order of things
Fiber* current;
Fiber hub;  // the scheduler
const void* hubStack;
size_t hubStackSize;
Entry entry;
const void* params;
u32 nThreads, nBlocks;
u64 random = 1;

u32 draw(u32 n) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return (u32)(random >> 33) % n;
}

#if defined(__x86_64__)
// swap saves the registers that a call preserves and goes on with another stack. swapcontext would enter the kernel.
extern "C" void emuSwap(void** from, void* to);
asm(".text\n.globl emuSwap\n.type emuSwap,@function\nemuSwap:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
    ".size emuSwap,.-emuSwap\n");
#define EMU_SWAP
#endif

void begin();

void prepare(Fiber& f) {
#ifdef EMU_SWAP
    void** top = reinterpret_cast<void**>((reinterpret_cast<size_t>(f.stack.get()) + kStack) & ~size_t(63));
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(begin);
    for (int i = 0; i < 6; i++) *--top = nullptr;
    f.sp = top;
#else
    getcontext(&f.start);
    f.start.uc_stack.ss_sp = f.stack.get();
    f.start.uc_stack.ss_size = kStack;
    makecontext(&f.start, begin, 0);
#endif
}

void go(Fiber& from, Fiber& to) {
#ifdef EMU_ASAN
    bool home = &to == &hub;
    __sanitizer_start_switch_fiber(&from.fake, home ? hubStack : to.stack.get(), home ? hubStackSize : kStack);
#endif
    TSAN(__tsan_switch_to_fiber(to.tsan, 1));  // 1: orders nothing
#ifdef EMU_SWAP
    emuSwap(&from.sp, to.sp);
#else
    swapcontext(&from.start, &to.start);
#endif
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#endif
}

void begin() {
#ifdef EMU_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &hubStack, &hubStackSize);
#endif
    while (true) { // a launch
        TSAN(__tsan_acquire(&launched));
        entry(params);
        TSAN(__tsan_release(&landed));
        Internal internal;
        current->over = true;
        go(*current, hub);
    }
}

void block_() { go(*current, hub); }
}  // namespace

u32 thread() { return current->thread; }
u32 block() { return current->block->index; }
u32 threads() { return nThreads; }
u32 blocks() { return nBlocks; }

void yield() {
    Internal internal;
    runnable.push_back(current);
    block_();
}

void maybeYield(u32 n) {
    Internal internal;
    if (draw(n) == 0) yield();
}

const u32* meet(Meeting kind, u32 value) {
    Internal internal;
    Warp& w = current->block->warps[current->thread / kWarp];
    char* order = &w.order[w.meetings % 2];
    TSAN(if (kind == kSync) __tsan_release(order));  // ballots and shuffles order nothing in memory
    u32 bit = 1u << current->thread % kWarp;
    if (w.arrived == 0) w.kind = kind;
    if (w.kind != kind) die("lanes of a warp meet in different operations");
    w.arrived |= bit;
    w.in[current->thread % kWarp] = value;
    w.waiting.push_back(current);
    if (w.arrived == kAll) {
        memcpy(w.out, w.in, sizeof w.out);
        w.arrived = 0, w.meetings++;
        runnable.insert(runnable.end(), w.waiting.begin(), w.waiting.end());
        w.waiting.clear();
    }
    block_();
    TSAN(if (kind == kSync) __tsan_acquire(order));
    (void)order;
    return w.out;
}

void meetBlock() {
    Internal internal;
    Block& b = *current->block;
    char* order = &b.order[b.meetings % 2];
    TSAN(__tsan_release(order));
    b.waiting.push_back(current);
    if (b.waiting.size() == b.alive) {
        runnable.insert(runnable.end(), b.waiting.begin(), b.waiting.end());
        b.waiting.clear();
        b.meetings++;
    }
    block_();
    TSAN(__tsan_acquire(order));
    (void)order;
}

void* shared(unsigned long bytes) {
    Internal internal;
    Block& b = *current->block;
    if (b.memory.empty()) {
        b.memory.resize((bytes + 7) / 8);
        for (u64& x : b.memory) x = (u64)draw(~0u) << 32 | draw(~0u);  // nothing is zero by itself
        unwritten(b.memory.data(), bytes);
    }
    return b.memory.data();
}

namespace {
struct Registered {
    unsigned long params;
    Entry entry;
};
std::map<std::string, Registered>& registry() {
    static std::map<std::string, Registered> r;
    return r;
}

std::vector<std::unique_ptr<Fiber>> fibers;  // kept from launch to launch

void launch(const Registered& k, u32 nb, u32 nt, const void* args) {
    entry = k.entry, params = args, nBlocks = nb, nThreads = nt;
    std::vector<std::unique_ptr<Block>> grid;
    for (u32 b = 0; b < nb; b++) {
        grid.emplace_back(new Block{b});
        grid.back()->warps.resize(nt / kWarp);
        grid.back()->alive = nt;
        for (u32 t = 0; t < nt; t++) {
            u32 n = b * nt + t;
            if (n == fibers.size()) {
                fibers.emplace_back(new Fiber);
                prepare(*fibers.back());
                TSAN(fibers.back()->tsan = __tsan_create_fiber(0));
            }
            Fiber& f = *fibers[n];
            f.over = false;
            f.block = grid.back().get();
            f.thread = t;
            runnable.push_back(&f);
        }
    }
    TSAN(hub.tsan = __tsan_get_current_fiber());
    TSAN(__tsan_release(&launched));
    for (size_t left = (size_t)nb * nt; left > 0;) {
        if (runnable.empty()) die("deadlock: threads wait for others that have ended or wait elsewhere");
        u32 i = draw(runnable.size());
        current = runnable[i];
        runnable[i] = runnable.back();
        runnable.pop_back();
        go(hub, *current);
        if (current->over) left--;
    }
    TSAN(__tsan_acquire(&landed));
}
}  // namespace

Kernel::Kernel(const char* name, unsigned long bytes, Entry e) { registry()[name] = {bytes, e}; }

namespace {
void get(void* to, size_t n) {
    if (fread(to, 1, n, stdin) != n) exit(0);
}
u64 number() {
    u64 x;
    get(&x, sizeof x);
    return x;
}
void put(const void* from, size_t n) { fwrite(from, 1, n, stdout); }

// serve answers one request: a letter and its operands, 64 bits each. Every request has an answer.
void serve(int op) {
    switch (op) {
    case 'a': {
        u64 n = number();
        void* p = malloc(n);
        memset(p, 0xa5, n);
        unwritten(p, n);
        put(&p, sizeof p);
        return;
    }
    case 'f':
        ::free((void*)number());
        break;
    case 'c': {
        void* p = (void*)number();
        u64 n = number();
        memset(p, 0, n);
        break;
    }
    case 'w': {
        void* p = (void*)number();
        u64 n = number();
        std::vector<char> data(n);
        get(data.data(), n);
        memcpy(p, data.data(), n);
        break;
    }
    case 'r': {
        void* p = (void*)number();
        u64 n = number();
        std::vector<char> data(n);
        memcpy(data.data(), p, n);
        read(data.data(), n);
        put(data.data(), n);
        return;
    }
    case 's':
        random = number() | 1;
        break;
    case 'l': {
        std::string name(number(), ' ');
        get(name.data(), name.size());
        u64 nb = number(), nt = number(), n = number();
        std::vector<u64> args((n + 7) / 8 + 1);
        get(args.data(), n);
        auto k = registry().find(name);
        if (k == registry().end()) die(("no kernel " + name).c_str());
        if (k->second.params != n) die(("the parameters of " + name + " have another size").c_str());
        launch(k->second, nb, nt, args.data());
        break;
    }
    default:
        die("unknown request");
    }
    u64 ok = 0;
    put(&ok, sizeof ok);
}
}  // namespace
}  // namespace emu

int main() {
    TSAN(__tsan_ignore_thread_begin());
    for (int op; (op = getchar()) != EOF;) {
        emu::serve(op);
        fflush(stdout);
    }
    TSAN(__tsan_ignore_thread_end());
}
