"""Programs for idle_simulator.py: one for each cause of idle time, and traps that look like another one."""
from idle_machine import MICROSECOND, MILLISECOND, Machine

PROGRAMS = {}


class Program:
    """`cause` is what most of the idle time goes to, at least `share` of it. `disputed`: why the rules say otherwise.
    `has_costly_waits`: copies and synchronization cost what they are said to cost: the program is faster without."""

    def __init__(self, function, names, stacks, cause, share, disputed, has_costly_waits):
        self.function, self.names, self.stacks, self.cause, self.share = function, names, stacks, cause, share
        self.disputed, self.has_costly_waits = disputed, has_costly_waits

    def run(self, rng, has_waits=True):
        machine = Machine(rng, self.names, self.stacks)
        machine.has_waits = has_waits
        self.function(machine, machine.host())
        return machine


def program(cause, runtimes=("cuda",), stacks=(False, True), share=0.5, disputed=None, has_costly_waits=False):
    def add(function):
        for names in runtimes:
            for has_stacks in stacks:
                name = f"{function.__name__}, {names}{', stacks' if has_stacks else ''}"
                PROGRAMS[name] = Program(function, names, has_stacks, cause, share, disputed, has_costly_waits)
        return function
    return add


ALL = ("cuda", "hip", "xpu", "ascend", "mtia")
WITH_ALLOCATOR = ("cuda", "hip", "xpu", "ascend")
WITH_MEMCPYS = WITH_ALLOCATOR  # MTIA has its copies among the kernels


def steps(host, count=5, warm_up=True):
    if warm_up:
        for name in ("aten::mm", "aten::relu", "aten::add"):
            host.run(name)
        host.item()
    for number in range(count):
        with host.frame("train.py(10): main"), host.step(number):
            yield number


def layers(host, count=6, **options):
    for _ in range(count):
        for name in ("aten::mm", "aten::relu", "aten::add"):
            host.run(name, **options)


LONG = {"duration": 40 * MICROSECOND}


# What the page lists.

@program("data", ALL)
def loader(_, host):
    for _ in steps(host):
        with host.range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data"):
            with host.frame("torch/utils/data/dataloader.py(700): __next__"):
                host.spend(host.between(2000, 5000), "data")
            with host.operator("aten::stack"):
                host.spend(host.between(100, 300), "data")
        layers(host, **LONG)
        host.synchronize()


@program("cold_start", ALL)
def first_calls(_, host):
    for number in range(4):
        with host.frame("train.py(10): main"), host.step(number):
            for name in ("aten::conv2d", "aten::bmm", "aten::gelu", "aten::sum"):
                with host.operator(name):
                    host.spend(host.between(2, 9), "launches")
                    is_first = number == 0
                    host.launch("kernel_of_" + name, call_ns=host.between(4000, 20_000) if is_first else None,
                                label="cold_start" if is_first else "launches", **LONG)
            layers(host, 3, **LONG)


@program("cold_start", WITH_ALLOCATOR)
def streams_and_code(_, host):
    for number in steps(host, 3):
        if number == 0:
            with host.operator("aten::empty_strided"):
                host.call("stream", host.between(300, 900), "cold_start")
            with host.operator("aten::convolution"):
                for _ in range(5):
                    host.call("module", host.between(200, 3000), "cold_start")
        layers(host, **LONG)


@program("cold_start")
def first_operators(_, host):
    """A library that sets itself up in an operator, before it calls anything."""
    for number in steps(host, 5, warm_up=False):
        layers(host, 2, **LONG)
        host.run("aten::cudnn_convolution", own=30 * MILLISECOND if number == 0 else host.between(30, 60), **LONG)
        if number == 0:
            start, end, _, wait = host.parts[-3]
            host.parts[-3] = (start, end, "cold_start", wait)


@program("cold_start")
def compilation_in_the_first_step(_, host):
    for number in steps(host, 4):
        if number == 0:
            with host.range("cpu_op", "_compile.compile_inner (dynamo_timed)", "cold_start"):
                host.spend(host.between(40_000, 80_000), "cold_start")
                with host.operator("aten::mm"):
                    host.spend(host.between(100, 200), "cold_start")
        layers(host, 4, **LONG)


@program("profiler")
def profiler_overhead(machine, host):
    for _ in steps(host):
        for _ in range(4):
            layers(host, 1, duration=5 * MICROSECOND)
            with host.operator("aten::mm"):
                start = host.now
                host.launch("kernel_of_aten::mm", call_ns=host.between(300, 900), label="profiler")
                machine.record("overhead", "Activity Buffer Request", (-1, 0), start + 1000, host.now - 1000)


@program("profiler", stacks=(True,))
def record_function(_, host):
    for _ in steps(host):
        for _ in range(10):
            with host.range("cpu_op", "profiler::_record_function_enter_new", "profiler"):
                host.spend(host.between(60, 90), "profiler")
            with host.frame("torch/autograd/profiler.py(700): __exit__", "profiler"):
                host.spend(host.between(60, 90), "profiler")
            layers(host, 1, duration=3 * MICROSECOND)


@program("garbage_collection")
def collection(_, host):
    for number in steps(host, 6):
        layers(host, 3, **LONG)
        if number % 2:
            with host.operator("aten::view"):
                with host.range("cpu_op", "Python GC", "garbage_collection"):
                    host.spend(host.between(5000, 9000), "garbage_collection")


@program("compiler", share=0.45)
def guards(_, host):
    for _ in steps(host):
        for _ in range(8):
            with host.range("cpu_op", "TorchDynamo Cache Lookup", "compiler"):
                host.spend(host.between(150, 300), "compiler")
            with host.range("cpu_op", "Torch-Compiled Region: 0/0"):
                host.run("triton_poi_fused_add_0", duration=host.between(5, 20))


@program("compiler")
def recompilation(_, host):
    for number in steps(host, 5):
        if number in (0, 3):
            with host.range("cpu_op", "_compile.compile_inner (dynamo_timed)", "compiler"):
                host.spend(host.between(20_000, 40_000), "compiler")
        layers(host, 3, **LONG)


@program("compiler", stacks=(True,))
def autotuning(_, host):
    for number in steps(host, 4):
        for part in range(5):
            with host.frame("triton/runtime/autotuner.py(200): run"):
                if number in (1, 2):
                    with host.frame("triton/runtime/autotuner.py(150): _bench", "compiler"):
                        host.spend(host.between(1000, 3000), "compiler")
                        host.run("triton_kernel", **LONG)
                host.python(host.between(20, 40), "triton/runtime/jit.py(600): run")
                host.run(f"triton_{part}", **LONG)


@program("code", stacks=(True,))
def autotuned_and_fast(_, host):
    """Triton's autotuner calls each kernel through its function `run`, also when nothing is tried."""
    for _ in steps(host):
        for _ in range(10):
            with host.frame("triton/runtime/autotuner.py(200): run"):
                host.python(host.between(50, 90), "triton/runtime/jit.py(600): run")
                host.launch("triton_kernel", duration=host.between(3, 9))


@program("host_communication")
def gloo(_, host):
    for _ in steps(host):
        layers(host, 3, **LONG)
        with host.range("user_annotation", "gloo:all_reduce", "host_communication"):
            host.spend(host.between(2000, 5000), "host_communication")


@program("host_communication")
def barrier(_, host):
    for _ in steps(host):
        layers(host, 3, **LONG)
        with host.operator("c10d::barrier", "host_communication"):
            host.spend(host.between(500, 1000), "host_communication")
            host.run("aten::fill_")
            host.synchronize()
            host.spend(host.between(500, 1000), "host_communication")


@program("host_communication", stacks=(True,))
def objects(_, host):
    for _ in steps(host):
        layers(host, 3, **LONG)
        with host.frame("torch/distributed/distributed_c10d.py(3000): all_gather_object", "host_communication"):
            host.spend(host.between(2000, 5000), "host_communication")


@program("allocation", WITH_ALLOCATOR)
def allocator(_, host):
    for _ in steps(host, 6):
        for _ in range(4):
            with host.operator("aten::empty"):
                host.call("malloc", host.between(200, 500), "allocation")
            layers(host, 1, **LONG)
            host.call("free", host.between(100, 300), "allocation")


@program("allocation", WITH_ALLOCATOR)
def out_of_memory(_, host):
    """The allocator synchronizes, frees everything and allocates."""
    for _ in steps(host, 6):
        layers(host, 3, **LONG)
        with host.operator("aten::empty"):
            host.doing.append("allocation")
            host.synchronize()
            for _ in range(6):
                host.call("free", host.between(60, 120), "allocation")
            host.call("malloc", host.between(300, 700), "allocation")
            host.doing.pop()
        layers(host, 1, **LONG)


@program("allocation")
def large_allocations(_, host):
    """Of operators that allocate once each: none is a first call, since all take as long."""
    for number in range(4):
        with host.frame("train.py(10): main"), host.step(number):
            layers(host, 2, **LONG)
            with host.operator(f"aten::zeros_{number}"):
                host.call("malloc", host.between(1500, 2500), "allocation")


@program("allocation", ("cuda", "hip"))
def pinned_memory(_, host):
    for number in range(5):
        with host.frame("train.py(10): main"), host.step(number):
            layers(host, 2, **LONG)
            for _ in range(3):
                with host.operator("aten::pin_memory"):
                    host.call("host_alloc", host.between(400, 900), "allocation")


@program("copies", WITH_MEMCPYS, has_costly_waits=True)
def items(_, host):
    for _ in steps(host):
        for _ in range(6):
            layers(host, 2, duration=host.between(30, 60))
            host.item()


@program("copies", ("cuda", "hip", "xpu", "ascend"), has_costly_waits=True)
def pageable_copies(_, host):
    for _ in steps(host):
        for _ in range(6):
            layers(host, 2, duration=host.between(20, 40))
            host.pageable_copy()


@program("synchronization", ALL, has_costly_waits=True)
def timers(_, host):
    for _ in steps(host):
        for _ in range(5):
            layers(host, 2, duration=host.between(30, 60))
            host.synchronize()
            host.python(host.between(10, 40), "timers.py(40): stop")


@program("synchronization", WITH_MEMCPYS, has_costly_waits=True)
def events(_, host):
    for _ in steps(host):
        for _ in range(5):
            layers(host, 2, duration=host.between(30, 60))
            host.call("record", host.between(2, 4), "launches")
            host.wait("event_wait", host.machine.activities[-1:])


@program("launches", ALL, share=0.45)
def small_kernels(_, host):
    for _ in steps(host):
        for _ in range(40):
            host.run("aten::add", duration=host.between(1, 4))
            host.call("record", host.between(1, 3), "launches")


@program("code")
def annotations(_, host):
    for _ in steps(host):
        host.annotated("tokenize", host.between(2000, 5000))
        layers(host, **LONG)


@program("code", stacks=(True,))
def functions(_, host):
    for _ in steps(host):
        host.python(host.between(2000, 5000))
        layers(host, **LONG)


@program("nothing_recorded", stacks=(False,))
def nothing(_, host):
    for _ in steps(host):
        host.python(host.between(2000, 5000))
        layers(host, **LONG)


@program("other_device", ALL)
def turns(_, host):
    """A model that is spread over four devices, which work one after the other."""
    for _ in steps(host, 4, warm_up=False):
        last = []
        for device in (0, 1, 2, 3, 2, 1, 0):
            for _ in range(4):
                last = [host.run("aten::mm", device=device, after=last, duration=host.between(80, 150))]
        host.synchronize()


@program("other_device", share=0.45)
def turns_behind_the_host(_, host):
    """The same with short kernels: the host is not ahead."""
    for _ in steps(host, 4, warm_up=False):
        last = []
        for device in (0, 1, 2, 3):
            for _ in range(10):
                last = [host.run("aten::mm", device=device, after=last, duration=host.between(15, 30))]
        host.item(3)


@program("device", WITH_MEMCPYS)
def peer(machine, host):
    """Work that was launched in time waits for another rank."""
    for _ in steps(host):
        for _ in range(5):
            host.run("aten::mm", blocked_until=host.now + host.between(500, 900))


@program("unrecorded_work", ("cuda", "hip", "xpu", "ascend"))
def while_node(_, host):
    for _ in steps(host):
        first = host.launch("body", what="graph", **LONG)
        rest = host.launch("body", what="record", is_recorded=False, duration=host.between(4000, 9000), after=[first])
        host.launches.pop()
        host.wait("stream_wait", [rest])


@program("unknown", ALL)
def lost_launches(_, host):
    for _ in steps(host):
        for _ in range(20):
            host.run("aten::mm", duration=host.between(5, 9), has_launch=False)
            host.python(host.between(5, 90))


# Traps.

@program("launches")
def slow_launches(_, host):
    """The first launches take long, and later ones as well."""
    for _ in steps(host, 5, warm_up=False):
        for name in ("aten::a", "aten::b", "aten::c"):
            host.run(name, call_ns=host.between(2000, 4000), **LONG)


@program("launches", stacks=(False,))
def pauses(_, host):
    """Launches that take long once, but are not the first ones."""
    for number in steps(host, 5):
        for _ in range(10):
            host.run("aten::add", duration=host.between(2, 4))
        if number in (2, 3):
            host.run("aten::relu", call_ns=host.between(3000, 5000))


@program("launches")
def backward(_, host):
    """The main thread waits while autograd's thread launches small kernels."""
    for _ in steps(host):
        layers(host, 2, duration=host.between(2, 4))
        with host.frame("torch/autograd/graph.py(800): _engine_run_backward"):
            with host.on_thread(1001):
                for _ in range(40):
                    with host.operator("autograd::engine::evaluate_function: MulBackward0"):
                        host.spend(host.between(2, 6), "launches")
                        host.run("aten::mul", duration=host.between(1, 4))


@program("data", stacks=(True,))
def loader_before_backward(_, host):
    """What autograd's thread launches comes late because the main thread waits for data."""
    for _ in steps(host):
        layers(host, 2, **LONG)
        with host.range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data"):
            host.spend(host.between(2000, 4000), "data")
        with host.on_thread(1001):
            for _ in range(5):
                host.run("aten::mul", **LONG)


@program("code", stacks=(True,))
def background_loader(machine, host):
    for _ in steps(host):
        host.python(host.between(2000, 5000))
        layers(host, **LONG)
    machine.record("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", (1000, 1500),
                   host.parts[0][0], host.now)


@program("synchronization")
def one_thread_each(machine, first):
    """Two threads, each with a GPU of its own, which they wait for."""
    hosts = [first, machine.host()]
    hosts[1].thread = 1002
    for device, host in enumerate(hosts):
        for _ in range(20):
            for _ in range(4):
                host.run("aten::mm", device=device, duration=host.between(30, 60))
            host.wait("stream_wait", [each for each in machine.activities if each.device == device])
            host.python(host.between(5, 20))


@program("code", stacks=(True,))
def two_processes(machine, first):
    """What another process's GPU does is no cause."""
    hosts = [first, machine.host(2000)]
    for device, host in enumerate(hosts):
        for _ in range(5):
            host.python(host.between(2000, 4000))
            layers(host, device=device, **LONG)


@program("data", stacks=(True,))
def synchronization_in_the_loader(_, host):
    for _ in steps(host):
        layers(host, **LONG)
        with host.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data"):
            host.item()
            host.python(host.between(2000, 3000), "collate.py(3): pad")


@program("code")
def short_wait_before_long_code(_, host):
    """Copies do not explain what the host does with what it copied."""
    for _ in steps(host):
        host.run("aten::mm", duration=host.between(20, 40))
        host.item()
        host.annotated("decode", host.between(3000, 5000))


# Programs whose cause the rules of the page do not find.

@program("code", stacks=(True,), disputed="another GPU is busy, but nothing depends on it", share=0.45)
def independent_devices(_, host):
    for _ in steps(host, 5, warm_up=False):
        host.run("aten::bmm", device=1, duration=host.between(2000, 3000))
        for _ in range(5):
            host.run("aten::mm", device=0, **LONG)
            host.python(host.between(200, 400))
        host.wait("stream_wait", host.machine.activities[-6:])


@program("launches", share=0.3, has_costly_waits=True,
         disputed="the wait before the step cost what would have kept the GPU busy, in later gaps as well")
def loss_before_small_kernels(_, host):
    for _ in steps(host):
        for _ in range(30):
            host.run("aten::add", duration=host.between(2, 4))
        for _ in range(10):
            host.run("aten::mm", duration=host.between(80, 120))
        host.item()


@program("code", share=0.3, stacks=(True,), has_costly_waits=True,
         disputed="the wait was over before the gap began; without it the host would have been earlier")
def wait_for_an_earlier_kernel(_, host):
    for _ in steps(host):
        for _ in range(5):
            for _ in range(4):
                earlier = host.run("aten::mm", duration=host.between(80, 100))
            host.run("aten::mm", duration=host.between(20, 30))
            host.wait("event_wait", [earlier])
            host.python(host.between(150, 200))


@program("copies", share=0.3)
def pinned_buffer_of_item(_, host):
    for _ in steps(host):
        for _ in range(6):
            layers(host, 2, duration=host.between(60, 90))
            with host.operator("aten::_local_scalar_dense"):
                host.call("host_alloc", host.between(20, 40), "allocation")
                copy = host.launch("Memcpy DtoH (Device -> Pinned)", duration=host.between(1.2, 2), kind="memcpy",
                                   what="copy")
                host.wait("stream_wait", [copy], "copies")


@program("cold_start")
def first_calls_with_the_same_kernel(_, host):
    for number in range(4):
        with host.step(number):
            layers(host, 1, kernel="vectorized_elementwise_kernel", **LONG)
            for name in ("aten::conv2d", "aten::gelu", "aten::sum"):
                with host.operator(name):
                    call_ns = host.between(4000, 20_000) if number == 0 else None
                    host.launch("vectorized_elementwise_kernel", call_ns=call_ns,
                                label="cold_start" if number == 0 else "launches", **LONG)


@program("cold_start")
def first_calls_and_a_pause(_, host):
    for number in range(8):
        with host.step(number):
            for name in ("aten::conv2d", "aten::gelu", "aten::sum"):
                with host.operator(name):
                    call_ns = host.between(6000, 9000) if number == 0 else 1_500_000 if number == 5 else None
                    host.launch("kernel_of_" + name, call_ns=call_ns,
                                label="cold_start" if number == 0 else "launches", **LONG)


@program("cold_start")
def lazy_loading(machine, host):
    for number in range(4):
        with host.step(number):
            layers(host, 2, **LONG)
            for name in ("aten::conv2d", "aten::bmm"):
                with host.operator(name):
                    start = host.now
                    host.launch("kernel_of_" + name, call_ns=host.between(4000, 9000) if number == 0 else None,
                                label="cold_start" if number == 0 else "launches", **LONG)
                    if number == 0:
                        machine.record("overhead", "Lazy Function Loading", (-1, 0), start + 1000, host.now - 1000)


@program("code", stacks=(True,))
def prefetching_thread(machine, main):
    for _ in steps(main):
        layers(main, **LONG)
        main.python(main.between(2000, 5000))
    prefetcher = machine.host(start=main.parts[0][0])
    prefetcher.thread = 1007
    for activity in [each for each in machine.activities if each.host is main][13:: 18]:
        with prefetcher.operator("aten::stack"):
            prefetcher.spend(activity.start - prefetcher.now, "data")
        prefetcher.launch("Memcpy HtoD (Pinned -> Device)", 0, 20, 5 * MICROSECOND, kind="memcpy", what="copy",
                          call_ns=3 * MICROSECOND)
