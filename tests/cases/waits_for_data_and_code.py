"""The GPU is idle: the host waits for its data loader, or runs code that the program names."""
from expect import asks, busy, check, expects, found, gpu, idle, never, nothing_found, remedy, rows, says, value, words
from machine import ADD, GEMM, Machine

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
LAUNCH_ADVICE = ("cuda graph", "larger batch", "fuse ")
GAPS = "tbtrace gpu --gaps trace.json --format json"


def _layers(m, count, gpu_time, host=12.0):
    for _ in range(count):
        m.mm(gpu_time, host)


def _one_gap(cause, share=0.9):
    """The longest gap is nearly all idle time, and has this cause."""
    def holds(gaps):
        first = gaps[0]
        return first["idle_share"] >= share and cause in (first.get("why"), first.get("cause"))
    return rows(holds, f"one gap of the cause {cause}")


def loader_in_the_main_process(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            m.spend("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 9000)
            _layers(m, 10, 100)
    m.write(folder / "trace.json")
    return [asks(found(data_loader_bound=(0.84, 0.91)), remedy("data_loader_bound", "worker"), never(*LAUNCH_ADVICE)),
            gpu(busy(0.1, 0.16), idle(data=(0.98, 1)))]


def loader_late_in_every_fourth_step(folder):
    m = Machine()
    for number in range(12):
        with m.step(number):
            m.spend(LOADER, 27_300 if number % 4 == 3 else 9_200)
            _layers(m, 10, 940)
    m.write(folder / "trace.json")

    def late_steps(table):
        steps = {row["number"]: row for row in table if row["number"] is not None}
        late = [steps[number]["data_loader_ns"] for number in (3, 7, 11)]
        return min(late) > 15e6 and max(steps[number]["data_loader_ns"] for number in (1, 2, 5, 6, 9, 10)) < 1e6
    return [asks(found(data_loader_bound=(0.28, 0.35)), value("slowest_step.0.part", equals="data_loader")),
            gpu(busy(0.64, 0.72), idle(data=(0.97, 1))),
            expects("tbtrace steps trace.json --format json", rows(late_steps, "data loading in every fourth step"))]


def loader_before_each_step(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            m.spend(LOADER, 13_000)
            _layers(m, 14, 3000)
            m.read()
    m.write(folder / "trace.json")
    return [asks(found(data_loader_bound=(0.17, 0.26)), never("item\\(\\)")), gpu(idle(data=(0.97, 1)))]


def loader_hidden_by_the_gpu(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            m.spend(LOADER, 4000)
            _layers(m, 8, 1000)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.98, 1))]


def workers_start_at_the_epoch(folder):
    m = Machine()
    for number in range(8):
        with m.step(number):
            m.spend(LOADER, 100_000 if number == 4 else 60)
            _layers(m, 5, 1000)
    m.write(folder / "trace.json")
    return [asks(found(data_loader_bound=(0.6, 0.75)), never(*LAUNCH_ADVICE)), gpu(idle(data=(0.98, 1))),
            expects(GAPS, _one_gap("data"))]


def simulator_between_updates(folder):
    m = Machine(header={"with_stack": 1})
    with m.frame("train.py(88): main"):
        for number in range(6):
            with m.step(number):
                with m.frame("highway_env/envs/common/abstract.py(234): step"):
                    m.run(100)
                    m.spend("highway_env/envs/common/abstract.py(260): _simulate", 5800, "python_function")
                    m.run(100)
                with m.frame("agent.py(41): update"):
                    _layers(m, 12, 80)
    m.write(folder / "trace.json")
    return [asks(found(host_code=(0.75, 0.9)), says("host_code", "_simulate"), never(*LAUNCH_ADVICE)),
            gpu(idle(code=(0.95, 1)))]


def nothing_recorded_between_batches(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            m.run(6000)
            _layers(m, 12, 80)
    m.write(folder / "trace.json")
    return [asks(found({"low_gpu_utilization": (0.75, 0.9)}), remedy("low_gpu_utilization", "with_stack"),
                 never("cuda graph", "larger batch", "more workers")), gpu(idle(nothing_recorded=(0.95, 1)))]


def model_outputs_processed_in_python(folder):
    m = Machine("H100", header={"with_stack": 1})
    with m.frame("vllm/engine/llm_engine.py(900): step"):
        for _ in range(8):
            with m.frame("vllm/worker/model_runner.py(1300): execute_model"):
                m.launch([(GEMM, 300)] * 10, call="cudaGraphLaunch", took=25)
                m.spend("vllm/worker/model_runner.py(800): _prepare_sampling", 2500, "python_function")
                m.read()
            with m.frame("vllm/engine/llm_engine.py(700): _process_model_outputs"):
                m.run(3000)
    m.write(folder / "trace.json")

    def named(answer):
        text = "\n".join(words(finding) for finding in answer.json["findings"])
        check("_process_model_outputs" in text, "_process_model_outputs in a finding", text)
    return [asks(found({"host_code": (0.33, 0.5)}, also=("blocking_copies",)), named, never(*LAUNCH_ADVICE)),
            gpu(busy(0.45, 0.55), idle(code=(0.75, 0.95), copies=(0, 0.25)))]


def schedule_sent_rank_by_rank(folder):
    m = Machine(header={"with_stack": 1})
    with m.frame("gllm/worker.py(210): run_driver"):
        for _ in range(7):
            m.launch([(GEMM, 600)] * 20, call="cudaGraphLaunch", took=30)
            with m.frame("gllm/worker.py(170): send_schedule_seqs"):
                m.run(37_000)
    m.write(folder / "trace.json")
    return [asks(found(host_code=(0.6, 0.72)), says("host_code", "send_schedule_seqs"), never(*LAUNCH_ADVICE)),
            gpu(idle(code=(0.97, 1)))]


def checkpoint_stops_the_training(folder):
    m = Machine(header={"with_stack": 1})
    with m.frame("run_clm.py(600): main"):
        for number in range(6):
            with m.step(number):
                _layers(m, 10, 1000)
                if number == 2:
                    with m.frame("transformers/trainer.py(2700): _save_checkpoint"), \
                            m.frame("torch/serialization.py(830): save"):
                        for _ in range(8):
                            with m.range("aten::copy_", "cpu_op"):
                                m.copy("DtoH", 25_000_000, 1000, True)
                        m.run(60_000)
    m.write(folder / "trace.json")
    return [asks(found({"host_code": (0.4, 0.55)}, also=("blocking_copies", "exposed_copies")),
                 says("host_code", "save"), never(*LAUNCH_ADVICE)),
            gpu(idle(code=(0.93, 1), rest=0.07)), expects(GAPS, _one_gap("code"))]


def optimizer_on_the_cpu(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            _layers(m, 5, 2000)
            with m.range("aten::copy_", "cpu_op"):
                m.copy("DtoH", 12_000_000, 500, False)
            m.wait("cudaStreamSynchronize")
            m.spend("Optimizer.step#DeepSpeedCPUAdam.step", 16_000)
            with m.range("aten::copy_", "cpu_op"):
                m.copy("HtoD", 12_000_000, 500, False)
    m.write(folder / "trace.json")
    return [asks(found({"host_code": (0.5, 0.65)}), says("host_code", "Optimizer.step#DeepSpeedCPUAdam"),
                 never(*LAUNCH_ADVICE)), gpu(busy(0.38, 0.5), idle(code=(0.9, 1), rest=0.1))]


def loader_in_a_recording_of_the_cpu(folder):
    m = Machine(gpus=0)
    del m.header["deviceProperties"]
    for number in range(5):
        with m.step(number):
            m.spend("enumerate(DataPipe)#ShufflerIterDataPipe", 9000)
            for _ in range(10):
                m.op("aten::mm", 100)
    m.write(folder / "trace.json")
    return [asks(found(data_loader_bound=(0.87, 0.93)))]


def masks_filled_on_the_event_loop(folder):
    m = Machine("H100", header={"with_stack": 1})
    with m.frame("asyncio/base_events.py(580): run_forever"):
        for _ in range(8):
            m.launch([(GEMM, 200)] * 10, call="cudaGraphLaunch", took=25)
            with m.frame("lmdeploy/pytorch/engine/logits_process.py(351): _fill_guided_bitmask"):
                for _ in range(4):
                    m.spend("xgrammar/matcher.py(120): fill_bitmap", 1250, "python_function")
            m.op("aten::masked_fill_", 12, ADD, 20)
    m.write(folder / "trace.json")
    return [asks(found(host_code=(0.5, 0.65)), says("host_code", "fill_bitmap"), never("cuda graph", "larger batch")),
            gpu(busy(0.35, 0.48), idle(code=(0.95, 1)))]
