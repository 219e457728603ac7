"""The TensorBoard tab: `pip install '.[tensorboard]'` in a clone, then `tbtrace tensorboard LOGDIR`.

docs/formats/tab.md describes its routes. TensorBoard loads tbtrace.tab.plugin; nothing else of the package imports
TensorBoard.
"""
