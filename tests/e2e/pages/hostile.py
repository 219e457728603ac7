"""A trace in which every text is made to break a page."""
import json

NAMES = [
    "</script><script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">",
    "\"><svg onload=alert(1)>", "javascript:alert(1)", "{{constructor.constructor('alert(1)')()}}", "${alert(1)}",
    "NUL \u0000 and bell \u0007 \u001b[31m", "\u202egpj.exe\u2069 \u2066\u2067\u200f", "=HYPERLINK(\"file:///etc/passwd\")",
    "__proto__", "constructor", "toString", "x" * 1_000_000, "\u0336" * 2000 + "z", "\U0001f525" * 600, "", " ", "\n\n\n",
    "a" + "\u200b" * 1000 + "b", "%00%0a</style>", "]]>-->",
]


def write_hostile_trace(path):
    """Each name as an operator, a kernel, a module, a Python frame, a line, a step, a thread and a shape."""
    events = []

    def add(name, category, start, duration, thread, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": duration,
                       "args": arguments})

    time = 0
    for number, name in enumerate(NAMES, 1):
        add(f"ProfilerStep#{number}", "user_annotation", time, 90, 1)
        add(f"/etc/passwd({number}): {name}", "python_function", time + 1, 88, 1, **{"Python id": number * 2})
        add(f"nn.Module: {name}", "python_function", time + 2, 86, 1,
            **{"Python id": number * 2 + 1, "Python parent id": number * 2, "Python module id": number})
        add(name, "cpu_op", time + 3, 40, 1, **{
            "External id": number, "Input Dims": [[8, 8], [8, 8]], "Input type": [name, "float"],
            "Call stack": f"{name}(1): {name};/etc/passwd(1): {name}", "Module Hierarchy": name})
        add("cudaLaunchKernel", "cuda_runtime", time + 10, 5, 1, **{"correlation": number, "External id": number})
        add(name, "kernel", time + 20, 30, 7, **{
            "correlation": number, "External id": number, "device": 0, "stream": 7, "grid": [1, 1, 1],
            "block": [1, 1, 1]})
        events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": time + 5, "s": "t", "args": {
            "Device Type": 1, "Device Id": 0, "Addr": number, "Bytes": 1000, "Total Allocated": 1000 * number,
            "Total Reserved": 100_000}})
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 100 + number, "args": {"name": name}})
        add(name, "cpu_op", time, 9, 100 + number)
        time += 100
    document = {"schemaVersion": 1, "host_name": NAMES[0], "USER": "somebody", "PATH": "/home/somebody/bin",
                "deviceProperties": [{"id": 0, "name": NAMES[1], "totalGlobalMem": 10}], "traceEvents": events}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
