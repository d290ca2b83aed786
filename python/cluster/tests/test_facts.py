from pathlib import Path

import pytest

from bench_cluster import facts


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    source = tmp_path / "packages/bench/src"
    source.mkdir(parents=True)
    (source / "a.ts").write_text("a")
    (tmp_path / "pnpm-lock.yaml").write_text("lock")
    return tmp_path


def test_the_digest_depends_on_names_and_contents_of_sources(checkout: Path) -> None:
    seen = {facts.digest_checkout(checkout)}
    (checkout / "packages/bench/src/a.ts").write_text("b")
    seen.add(facts.digest_checkout(checkout))
    (checkout / "packages/bench/src/a.ts").rename(checkout / "packages/bench/src/b.ts")
    seen.add(facts.digest_checkout(checkout))
    (checkout / "pnpm-lock.yaml").write_text("other")
    seen.add(facts.digest_checkout(checkout))
    assert len(seen) == 4


def test_the_digest_depends_on_what_companions_run(checkout: Path) -> None:
    before = facts.digest_checkout(checkout)
    upstream = checkout / "packages/upstream"
    (upstream / "node_modules").mkdir(parents=True)
    (upstream / "node_modules/a.ts").write_text("installed")
    assert facts.digest_checkout(checkout) == before
    (upstream / "nginx.conf").write_text("daemon off;")
    assert facts.digest_checkout(checkout) != before


def test_the_digest_ignores_what_is_compiled(checkout: Path) -> None:
    before = facts.digest_checkout(checkout)
    cache = checkout / "python/cluster/src/bench_cluster/__pycache__"
    cache.mkdir(parents=True)
    (cache / "agent.pyc").write_bytes(b"compiled")
    assert facts.digest_checkout(checkout) == before


def test_a_folder_without_sources_has_no_digest(tmp_path: Path) -> None:
    assert facts.digest_checkout(tmp_path) is None


def test_the_node_of_the_wanted_version_is_preferred(tmp_path: Path) -> None:
    def program(name: str, version: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho {version}\n")
        path.chmod(0o755)
        return str(path)

    old, new = program("old", "v1.0.0"), program("new", "v2.0.0")
    assert facts.find_node([str(tmp_path / "none"), old, new], "v2.0.0") == {"path": new, "version": "v2.0.0"}
    assert facts.find_node([old], "v2.0.0") == {"path": old, "version": "v1.0.0"}
    assert facts.find_node([str(tmp_path / "none")], "v2.0.0") == {}


def test_the_facts_of_this_host_are_those_that_a_plan_needs() -> None:
    told = facts.read_facts()
    assert told["cores"] >= 1
