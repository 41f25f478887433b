from io import StringIO
from rich.columns import Columns
from rich.console import Console
console = Console(file=StringIO(), width=16, height=24, force_terminal=True, color_system=None, highlight=False)
console.print(Columns([f"file_{i:02d}.txt" for i in range(8)], width=16))
