"""Routes of one Litestar app with more and with less Python in them, to see where the JIT of CPython helps.

pnpm bench packages/bench-lab/experiments/jit --run 'uvicorn app:app --port {port}' --connections 10
--rounds 12 --get /lines/0 --get /lines/20 --get /lines/500 --get /template --python 3.15,3.15+jit
"""

from jinja2 import Environment
from litestar import Litestar, MediaType, get

TIERS = [(100, 0.1), (50, 0.05), (20, 0.02)]
LINES_PER_ROW = 10
"""How many lines of `price` run for one row of an order, on average."""

TABLE = Environment(autoescape=True).from_string(
    "<table>{% for row in rows %}<tr class='{{ loop.cycle('odd', 'even') }}'><td>{{ row.sku }}</td>"
    "<td>{{ row.quantity }}</td><td>{% if row.discount %}-{{ row.discount }}{% else %}none{% endif %}</td>"
    "<td>{{ '%.2f' | format(row.total) }}</td></tr>{% endfor %}</table>"
)


def price(rows: list[dict[str, int]]) -> list[dict[str, object]]:
    """Prices an order: loops, branches, arithmetic, dicts and strings, as services have them."""
    priced: list[dict[str, object]] = []
    for row in rows:
        amount = row["quantity"] * row["cents"]
        discount = 0.0
        for least, share in TIERS:
            if row["quantity"] >= least:
                discount = amount * share
                break
        total = (amount - discount) / 100
        priced.append({**row, "sku": f"sku-{row['id']:04d}", "discount": discount, "total": total})
    return priced


def order(length: int) -> list[dict[str, int]]:
    """An order with so many rows."""
    return [{"id": n, "quantity": 7 * n % 120, "cents": 995 + n} for n in range(length)]


ORDER = order(500 // LINES_PER_ROW)


@get("/lines/{lines:int}", sync_to_thread=False)
def run_lines(lines: int) -> dict[str, object]:
    """Runs about so many lines of Python. The answer is as short for all of them."""
    priced = price(ORDER[: lines // LINES_PER_ROW])
    return {"rows": len(priced), "total": sum(row["total"] for row in priced)}  # type: ignore[misc]


@get("/template", media_type=MediaType.HTML, sync_to_thread=False)
def render() -> str:
    """Renders the order of 500 lines, which is priced before."""
    return TABLE.render(rows=PRICED)


PRICED = price(ORDER)

app = Litestar([run_lines, render], openapi_config=None)
