"""Recording by torch's own profiler, without calls of `step()`.

`tbtrace.record()` uses it, and so do programs that `tbtrace record` starts. There these files lie alone in a folder, so
they import nothing of tbtrace, and they run with every Python that torch 2.3 supports (3.8).
"""
