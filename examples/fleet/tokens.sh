#!/bin/sh
# A token for each agent on both servers, as JSON for load.py: sh tokens.sh agent-1 agent-2 > tokens.json
set -eu

tokens_of() { # service, its address, names of agents
    service=$1 address=$2 comma=
    shift 2
    printf '"%s": {' "$address"
    for name; do
        token=$(docker compose exec -T "$service" memolith token add "$name")
        printf '%s"%s": "%s"' "$comma" "$name" "$token"
        comma=', '
    done
    printf '}'
}

printf '{'
tokens_of one http://127.0.0.1:8788 "$@"
printf ', '
tokens_of two http://127.0.0.1:8789 "$@"
printf '}\n'
