"""The main job as a Prefect flow: seed, generate and validate, gate, assemble.

A task of Prefect is a shard and a stage; the work is done by the plain functions of `agentbound.flows.stages`. Import this
module after `agentbound.flows.settings.prefect_settings`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.server.api.server import SubprocessASGIServer
from prefect.task_runners import ThreadPoolTaskRunner

from agentbound.data.seeds import Seed
from agentbound.flows.produce import Produced, produce_shard, writer_of
from agentbound.flows.release import assemble_run
from agentbound.flows.stages import STAGE, Gated, Job, gate_run, open_shards, settle
from agentbound.flows.stopping import ends_at_once, follow


def run_build(job: Job) -> Path:
    """Run the flow; gives where the release lies. Raises what the stages raise."""
    # The pool first: its processes load the content while Prefect's server starts.
    spawn = get_context("spawn")
    server = spawn.Value("l", 0)
    with (
        ends_at_once(job.progress.clear, server),
        ProcessPoolExecutor(job.workers, mp_context=spawn, initializer=follow, initargs=(server,)) as pool,
    ):
        for _ in range(job.workers):
            pool.submit(writer_of, job.bench)
        return _flow(job, pool, server)()


def _server_pid() -> int:
    """The process of the server that Prefect has started for this flow; 0 where it uses another."""
    started = (s.server_process for s in SubprocessASGIServer._instances.values())
    return next((process.pid for process in started if process is not None), 0)


def _flow(job: Job, pool: Executor, server: Synchronized[int]) -> Callable[[], Path]:
    options: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False, "log_prints": False}

    @task(name="seed", **options)
    def seed_stage() -> list[list[Seed]]:
        return open_shards(job)

    @task(name="generate-and-validate", task_run_name="generate-and-validate-{number}", **options)
    def produce_stage(number: int, shard: list[Seed]) -> list[Produced]:
        return pool.submit(produce_shard, job.bench, shard).result()

    @task(name="gate", **options)
    def gate_stage() -> Gated:
        return gate_run(job)

    @task(name="assemble", **options)
    def assemble_stage(gated: Gated) -> Path:
        return assemble_run(job.store, job.version, gated.reports, gated.released)

    @flow(
        name="build",
        task_runner=ThreadPoolTaskRunner(max_workers=job.workers + 1),  # type: ignore[arg-type]
        persist_result=False,
        log_prints=False,
    )
    def build_flow() -> Path:
        server.value = _server_pid()
        job.progress.stage("seed")
        shards = seed_stage()
        job.progress.stage(STAGE, f"{len(job.seeds)} families, {len(shards)} shards to do, {job.workers} processes")
        futures = [produce_stage.submit(number, shard) for number, shard in enumerate(shards)]
        for number, (shard, future) in enumerate(zip(shards, futures, strict=True)):
            settle(job, shard, future.result())
            job.progress.shard(f"shard {number + 1} of {len(shards)}")
        job.progress.stage("gate")
        gated = gate_stage()
        job.progress.stage("assemble")
        return assemble_stage(gated)

    return build_flow
