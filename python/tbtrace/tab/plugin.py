"""The plugin `tbtrace`, which TensorBoard finds by the entry point in pyproject.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.plugins import base_plugin

from tbtrace.tab.log_directory import LogDirectory
from tbtrace.tab.routes import Routes
from tbtrace.tab.views import Views

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


class TbtracePlugin(base_plugin.TBPlugin):
    plugin_name = "tbtrace"  # not that of torch_tb_profiler: both can be installed

    def __init__(self, context: base_plugin.TBContext) -> None:
        super().__init__(context)
        logdir_spec: Any = getattr(context.flags, "logdir_spec", "")
        self._directory = LogDirectory(context.logdir or "", logdir_spec or "")
        self._routes = Routes(self._directory, Views())

    def get_plugin_apps(self) -> dict[str, WSGIApplication]:
        self._directory.refresh()  # before the browser asks which tabs have something to show
        return self._routes.apps()

    def is_active(self) -> bool:
        return self._directory.has_traces()

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Profile (tbtrace)")
