#!/bin/sh
# Locks every Python stack, and the tools that check them: versions and hashes, no addresses. A stack is locked under the
# constraints.txt that all share, unless it has one of its own: such a stack keeps the versions of another time.
#   python/lock.sh             after a change of dependencies: versions that still fit stay
#   python/lock.sh --upgrade   the newest versions that the constraints allow
set -eu
cd "$(dirname "$0")"

lock() { # <folder> <constraints> <lock file> <source>...
  (
    cd "$1" && shift
    constraints=$1 && output=$2 && shift 2
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
      --no-emit-find-links --no-emit-package bench-contract --constraints "$constraints" --output-file "$output" "$@"
  )
}

groups() { # <folder>: what single variants need besides, one list for each
  sed -n '/^\[dependency-groups\]/,/^$/s/^\([a-z0-9-]*\) = .*/\1/p' "$1/pyproject.toml"
}

sharing=contract/pyproject.toml
# The clients are no stack, but locked as one.
for manifest in */stack.json clients/pyproject.toml; do
  stack=${manifest%/*}
  if [ -f "$stack/constraints.txt" ]; then
    constraints=constraints.txt
  else
    constraints=../constraints.txt
    sharing="$sharing $stack/pyproject.toml"
  fi
  lock "$stack" "$constraints" requirements.txt pyproject.toml "$@"
  for group in $(groups "$stack"); do
    lock "$stack" "$constraints" "requirements-$group.txt" --group "$group" "$@"
  done
done
# shellcheck disable=SC2086 # a list of paths
lock . constraints.txt dev-requirements.txt dev-requirements.in $sharing "$@"
