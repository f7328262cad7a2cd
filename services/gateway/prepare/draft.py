"""A layout as it would be sent: cuts resolved to ranges, excerpts cut out, the template's rules applied."""

from dataclasses import dataclass, replace

from services.gateway.prepare.measure import Measured
from services.gateway.prepare.prepared import Policy
from services.gateway.prepare.templates import Conformed, conformed
from services.gateway.reading.request import Request
from shared.prompt.cut import cut_to
from shared.prompt.place import anchor_of
from shared.prompt.plan import Allowance, Cut, Layout
from shared.prompt.render import Rendered, render
from shared.tokens.estimate import upper_bound


@dataclass(frozen=True)
class Draft:
    """A layout, rendered and counted."""

    layout: Layout
    rendered: Rendered
    messages: list[bytes]
    measured: Measured
    missed: str | None


def resolve(
    request: Request,
    layout: Layout,
    allowances: tuple[Allowance, ...],
    ratio: float,
    policy: Policy,
) -> Layout:
    """Turns what a message may cost into ranges of its texts, which then stay."""
    cuts: list[Cut] = list(layout.cuts)
    for position, tokens in allowances:
        bound = int(request.shape.tokens[position])
        allowed = int(tokens / ratio)
        units = request.units(position)
        cuts += cut_to(position, units, bound, allowed, policy.coefficients, policy.tools)
    return layout.model_copy(update={"cuts": tuple(sorted(cuts))})


def places(request: Request, draft: Draft) -> list[int | None]:
    """The position of each message of a prompt; None for head, for what we added, for what has no address.

    Empty where a template joined messages or put some between them.
    """
    shape = request.shape
    found: list[int | None] = [None] * (shape.head + bool(draft.rendered.lead))
    for position in draft.rendered.positions:
        raw = range(shape.firsts[position], shape.firsts[position + 1])
        found += [position if index == shape.bodies[position] else None for index in raw]
    return found if len(found) == len(draft.messages) else []


def rendered(request: Request, layout: Layout, policy: Policy) -> tuple[Rendered, Conformed]:
    view = render(layout, len(request.shape), anchor_of(request.shape.roles, layout), request)
    sent = conformed(request, request.render(view), policy.template)
    overhead = request.reader.weights.overhead
    inserted = sum(upper_bound(text, policy.coefficients) + overhead for text in view.texts)
    return view, replace(sent, added=sent.added + inserted)
