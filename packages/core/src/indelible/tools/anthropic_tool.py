"""The files as the memory tool of Anthropic's client, for its tool runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indelible.errors import MissingExtra
from indelible.faces.store import ScopedView
from indelible.tools.catalogue import FILES
from indelible.tools.description import Call
from indelible.tools.files import Files
from indelible.tools.policy import Policy
from indelible.tools.toolbox import Toolbox

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
except ImportError as error:
    raise MissingExtra(
        f'this needs the package anthropic, which cannot be imported ({error}): pip install "indelible[anthropic]"'
    ) from error

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )


class AnthropicMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool on a store: every change a version, scoped, screened, and never the file system.

    Args:
        view: a bound view of a store.
        policy, model, session: as for ``Toolbox``.
        cache_control: as Anthropic's client has it.

    Example:
        tool = AnthropicMemoryTool(store.scope("assistant", "ada"), session="monday")
        client.beta.messages.run_tools(model=..., messages=[...], tools=[tool]).until_done()
    """

    def __init__(
        self,
        view: ScopedView,
        *,
        policy: Policy | None = None,
        model: str | None = None,
        session: str | None = None,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.toolbox = Toolbox(view, tools=[FILES], policy=policy, model=model, session=session)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with line numbers, or what is in a directory."""
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a piece of a file."""
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text into a file."""
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Forget a file or directory."""
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or directory."""
        return self._run(command)

    def execute(self, command: Any) -> Any:
        """Carry out a command; also one that the client could not make sense of is answered."""
        try:
            return super().execute(command)
        except (NotImplementedError, AttributeError):
            raise ToolError(f"there is no such command: {str(getattr(command, 'command', command))[:80]!r}") from None

    def clear_all_memory(self) -> str:
        """Forget every file; their histories stay."""
        return Files(Call(self.toolbox.view, FILES.name, self.toolbox.session, self.toolbox.model)).clear()

    def _run(self, command: Any) -> str:
        given = {name: value for name, value in dict(command).items() if value is not None}
        result = self.toolbox.call(FILES.name, given)
        if result.is_error:
            raise ToolError(result.text)
        return result.text
