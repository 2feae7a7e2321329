"""A server of FastMCP: its texts, progress, questions, resources and prompts are as the library makes them."""

from dataclasses import dataclass
from pathlib import Path

import anyio
from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image

server = FastMCP("shop")


@dataclass
class Why:
    reason: str


@server.tool
def report(lines: int) -> str:
    """A text of so many lines."""
    return "\n".join(f"line {n}" for n in range(lines))


@server.tool
async def audit(seen: str, ctx: Context) -> str:
    """Says how far it is, and ends when a file says that somebody has seen that."""
    await ctx.report_progress(1, 2, "half of the books")
    while not Path(seen).exists():
        await anyio.sleep(0.01)
    return "in order"


@server.tool
async def refund(order: str, ctx: Context) -> str:
    """Asks for the reason of a refund."""
    answer = await ctx.elicit(f"Why is order {order} refunded?", Why)
    if answer.action != "accept":
        return f"not refunded: {answer.action}"
    return f"order {order} is refunded as it was {answer.data.reason}"


@server.tool
def look() -> Image:
    """An image."""
    return Image(data=b"12345", format="png")


@server.resource("shop://terms")
def terms() -> str:
    """What the shop promises."""
    return "We refund an order within 30 days."


@server.resource("shop://logo", mime_type="image/png")
def logo() -> bytes:
    return b"12345"


@server.resource("shop://orders/{order}/receipt")
def receipt(order: str) -> str:
    """The receipt of an order."""
    return f"order {order}: an umbrella"


@server.prompt
def apology(order: str) -> str:
    """Asks for an apology."""
    return f"Apologise for order {order}."


server.run(show_banner=False)
