"""DP-GAN: a generator that learns from a discriminator, which learns by DP-SGD (Fan and others 2020; Abadi and others 2016).

A comparator for this page, and no method of `sd.materialize`: its noise is PyTorch's, of floats, from a generator that is not
cryptographic, and it takes the number of records as known. Nothing that it makes has a certificate.

Only the discriminator sees records, each with probability RATE in every step (Poisson sampling). The gradient of each record is
clipped to CLIP by itself, noise is added to their sum, and what was spent is what `accountant` says. Made-up rows need no noise; and
the generator sees nothing but the discriminator. An ordered attribute is one number from -1 to 1, any other one indicator
per value. Sizes and rates are the same for all tables: the paper tries ten for each and keeps the best, at no cost.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from papers.dp_mondrian.accountant import sigma_for
from sudare.pview.domain import Domain

DELTA = 1e-5
RATE, STEPS, CLIP = 0.01, 500, 1.0
NOISE, WIDTH = 32, 64  # of the generator's input, and of the layers
LEARNING = 2e-3
LEAST = 0.3  # the temperature of made-up indicators


def rows_of_gan(
    table: sd.Table, n: int, seed: int, epsilon: float, *, steps: int = STEPS, device: str = "cpu"
) -> pl.DataFrame:
    """Learn from a table, and draw so many rows."""
    torch = importlib.import_module("torch")
    domain = Domain.of(table.schema)
    counts = domain.counts(table)
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    layout = Layout.of(domain)
    torch.set_num_threads(1)  # more would wait for each other on products so small
    torch.manual_seed(seed)
    generator = _train(torch, layout, layout.encoded(codes), epsilon, steps, device)
    with torch.no_grad():
        made = generator(torch.randn(n, NOISE, device=device)).cpu().numpy()
    rng = np.random.default_rng(seed)
    return domain.decode(layout.decoded(made, rng), rng)


class Layout(NamedTuple):
    """How rows of cells are numbers: a column for each ordered attribute, and one per value of each other."""

    sizes: tuple[int, ...]
    ordered: tuple[bool, ...]

    @classmethod
    def of(cls, domain: Domain) -> Layout:
        return cls(domain.sizes, tuple(axis.ordered for axis in domain.axes))

    @property
    def widths(self) -> list[int]:
        return [1 if o else s for s, o in zip(self.sizes, self.ordered, strict=True)]

    def encoded(self, codes: np.ndarray) -> np.ndarray:
        parts = [
            2 * codes[:, [a]] / max(size - 1, 1) - 1 if ordered else np.eye(size)[codes[:, a]]
            for a, (size, ordered) in enumerate(zip(self.sizes, self.ordered, strict=True))
        ]
        return np.hstack(parts).astype(np.float32)

    def decoded(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return cells: the nearest of an ordered attribute, and of others one drawn by its share."""
        columns, ends = [], np.cumsum(self.widths)
        for size, ordered, part in zip(
            self.sizes, self.ordered, np.split(rows, ends[:-1], axis=1), strict=True
        ):
            if ordered:
                columns.append(np.rint((part[:, 0] + 1) / 2 * (size - 1)))
            else:
                upto = np.cumsum(part, axis=1)
                columns.append((upto < rng.random(len(rows))[:, None] * upto[:, -1:]).sum(axis=1))
        return np.clip(np.stack(columns, axis=1).astype(np.int64), 0, np.array(self.sizes) - 1)


def _train(torch: Any, layout: Layout, rows: np.ndarray, epsilon: float, steps: int, device: str) -> Any:
    """Let both learn in turn, and return the generator."""
    data = torch.as_tensor(rows, device=device)
    generator = _generator(torch, layout).to(device)
    discriminator = _layers(torch, rows.shape[1], 1).to(device)
    sigma = sigma_for(RATE, steps, epsilon, DELTA)
    optimizers = [torch.optim.Adam(one.parameters(), LEARNING, betas=(0.5, 0.9)) for one in (generator, discriminator)]  # fmt: skip
    usual = max(RATE * len(data), 1.0)
    softplus = torch.nn.functional.softplus
    for _ in range(steps):
        batch = data[torch.rand(len(data), device=device) < RATE]
        made = generator(torch.randn(max(round(usual), 2), NOISE, device=device))
        optimizers[1].zero_grad()
        softplus(discriminator(made.detach())).mean().backward()
        noisy = noisy_gradients(torch, discriminator, batch, sigma)
        for name, parameter in discriminator.named_parameters():
            parameter.grad += noisy[name] / usual
        optimizers[1].step()
        optimizers[0].zero_grad()
        softplus(-discriminator(made)).mean().backward()
        optimizers[0].step()
    return generator


def noisy_gradients(torch: Any, discriminator: Any, batch: Any, sigma: float) -> dict[str, Any]:
    """Return the sum of the records' clipped gradients, with noise of sigma times the clip."""
    values = {name: one.detach() for name, one in discriminator.named_parameters()}
    sums = clipped_sum(torch, discriminator, values, batch)
    return {name: one + sigma * CLIP * torch.randn_like(one) for name, one in sums.items()}


def clipped_sum(torch: Any, discriminator: Any, values: dict[str, Any], batch: Any) -> dict[str, Any]:
    """Return the sum over records of their gradients, each no longer than the clip: all that one record can change."""
    if len(batch) == 0:
        return {name: torch.zeros_like(one) for name, one in values.items()}

    def loss(own: dict[str, Any], record: Any) -> Any:
        told = torch.func.functional_call(discriminator, own, (record[None],))
        return torch.nn.functional.softplus(-told).squeeze()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(values, batch)
    squares = sum((one.flatten(1) ** 2).sum(dim=1) for one in each.values())
    factor = (CLIP / (squares.sqrt() + 1e-9)).clamp(max=1.0)
    return {name: torch.einsum("r,r...->...", factor, one) for name, one in each.items()}


def _layers(torch: Any, inside: int, out: int) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(inside, WIDTH), nn.LeakyReLU(0.2), nn.Linear(WIDTH, WIDTH), nn.LeakyReLU(0.2), nn.Linear(WIDTH, out))  # fmt: skip


def _generator(torch: Any, layout: Layout) -> Any:
    """Return layers whose last makes numbers from -1 to 1, and shares."""
    return _heads(torch)(_layers(torch, NOISE, sum(layout.widths)), layout)


@cache
def _heads(torch: Any) -> Any:
    class Heads(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, layers: Any, layout: Layout) -> None:
            super().__init__()
            self.layers, self.layout = layers, layout

        def forward(self, noise: Any) -> Any:
            parts = torch.split(self.layers(noise), self.layout.widths, dim=1)
            shaped = [
                torch.tanh(part) if ordered else torch.softmax(part / LEAST, dim=1)
                for part, ordered in zip(parts, self.layout.ordered, strict=True)
            ]
            return torch.cat(shaped, dim=1)

    return Heads
