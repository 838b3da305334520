"""The processes of one training, as `torchrun` starts them; a training of one process asks nobody.

Numbers travel between CPUs (gloo) even where gradients travel between GPUs (NCCL): no device is made to wait.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous


@dataclass(frozen=True)
class Processes:
    """How many there are, and which one this is."""

    rank: int = 0
    world: int = 1
    local_world: int = 1  # of this machine
    restarts: int = 0  # how often torchrun had to start anew
    local_rank: int = 0  # which one of this machine: the number of its GPU

    @classmethod
    def join(cls) -> Processes:
        """What torchrun says in the environment; meets the others."""
        names = (
            ("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_WORLD_SIZE", "1"), ("TORCHELASTIC_RESTART_COUNT", "0"),
            ("LOCAL_RANK", "0"),
        )  # fmt: skip
        found = cls(*(int(os.environ.get(name, default)) for name, default in names))
        if found.alone:
            return found
        if not dist.is_initialized():
            found._meet()
        # Only the machine of a process that failed has counted.
        return replace(found, restarts=max(found.gather(found.restarts)))

    def _meet(self) -> None:
        """As `init_process_group` would: gloo for CPUs, NCCL for GPUs if there are any.

        With a fixed master port torchrun keeps its store when it starts workers anew, where they would find the
        addresses of the dead. (Several machines with restarts get a new store each time, and count differently.)
        """
        store, rank, world = next(rendezvous("env://"))
        if self.world == self.local_world:
            store = PrefixStore(f"start-{self.restarts}", store)
        dist.init_process_group(store=store, rank=rank, world_size=world)

    @property
    def alone(self) -> bool:
        return self.world == 1

    @property
    def device(self) -> torch.device:
        """Where this process computes."""
        return torch.device("cuda", self.local_rank) if torch.cuda.is_available() else torch.device("cpu")

    @property
    def first(self) -> bool:
        """The one that writes files and talks."""
        return self.rank == 0

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """Each number, summed over all processes."""
        if self.alone:
            return list(numbers)
        summed = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(summed)
        return [float(number) for number in summed]

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        return self.sum([float(flag)])[0] > 0

    def gather(self, thing: Any) -> list[Any]:
        """What every process has, in the order of ranks; plain data only."""
        things: list[Any] = [thing] * self.world
        if not self.alone:
            dist.all_gather_object(things, thing)
        return things

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Fill the tensor with what the first process has."""
        if not self.alone:
            dist.broadcast(tensor, src=0)

    def wait(self) -> None:
        """Until all are here."""
        self.any(False)

    def leave(self) -> None:
        """Part from the others, when all are done: threads that still wait for them can abort a process at its end."""
        if not self.alone:
            self.wait()
            dist.destroy_process_group()
