#!/bin/sh
# Locks every Python stack, and the tools that check them, under constraints.txt: versions and hashes, no addresses.
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

# The clients are no stack, but locked as one.
for manifest in */stack.json clients/pyproject.toml; do
  stack=${manifest%/*}
  lock "$stack" ../constraints.txt requirements.txt pyproject.toml "$@"
  for group in $(groups "$stack"); do
    lock "$stack" ../constraints.txt "requirements-$group.txt" --group "$group" "$@"
  done
done
lock . constraints.txt dev-requirements.txt dev-requirements.in */pyproject.toml "$@"
