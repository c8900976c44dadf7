#!/usr/bin/env bash
# A display, a page for browsers, and a worker on every other task: sbatch --ntasks 34 slurm.sh
#SBATCH --job-name=pixelferry
#SBATCH --ntasks=10
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -euo pipefail

# The ports follow from the job, so that two on one node do not meet.
port=$((20000 + SLURM_JOB_ID % 20000))
export PAGE=127.0.0.1:$((port + 20000))
# Only the address of the first node: not every network of it.
node=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(getent ahostsv4 "$node" | awk 'NR == 1 { print $1 }')
export HUB="tcp/$address:$port"

# Every user of the cluster reaches the ports: a password and a token keep others out.
umask 077
SECRETS=$(mktemp -d "${SLURM_SUBMIT_DIR:-$PWD}/pixelferry-$SLURM_JOB_ID-XXXXXX")
export SECRETS
trap 'rm -rf "$SECRETS"' EXIT
random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
random >"$SECRETS/password"
random >"$SECRETS/token"
echo "job:$(cat "$SECRETS/password")" >"$SECRETS/users"
echo "watch it: pixelferry-net view --connect $HUB --user job --password-file $SECRETS/password"
echo "or: ssh -L 8080:$PAGE $node, then http://127.0.0.1:8080/?token= with the token in $SECRETS/token"

# Tasks 0 and 1 run on the first node. `srun` neither ends the others when a worker dies nor starts it again: the loop does,
# until the worker ends on its own, without work for so long.
srun --kill-on-bad-exit=0 --distribution=block bash -c '
    joins="--connect $HUB --user job --password-file $SECRETS/password"
    is_shown() { pixelferry-net probe $joins --patience "$1" >/dev/null 2>&1; }
    case $SLURM_PROCID in
        0) exec pixelferry-net display --listen "$HUB" --users "$SECRETS/users" ${FRAMES:+--frames "$FRAMES" --patience 60} ;;
        1)
            pixelferry-net web $joins --patience 60 --listen "$PAGE" --watch-token "$SECRETS/token" &
            is_shown 60
            while is_shown 2; do sleep 2; done
            kill $!
            exit 0
            ;;
    esac
    until pixelferry-net worker $joins --patience 60 --idle "${IDLE:-30}"; do
        is_shown 2 || exit 0 # the display has ended
    done'
