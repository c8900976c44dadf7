#!/usr/bin/env bash
# One display and a worker on every other task: sbatch --ntasks 33 slurm.sh
#SBATCH --job-name=pixelferry
#SBATCH --ntasks=9
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -euo pipefail

# The port follows from the job, so that two on one node do not meet.
port=$((20000 + SLURM_JOB_ID % 20000))
# Only the address of the first node: not every network of it.
address=$(getent ahostsv4 "$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)" | awk 'NR == 1 { print $1 }')
export HUB="tcp/$address:$port"
echo "watch it: pixelferry-net view --connect $HUB"

# Task 0 runs on the first node. `srun` kills nobody when a worker dies; the others take its tiles.
srun --kill-on-bad-exit=0 --distribution=block bash -c '
    if [ "$SLURM_PROCID" = 0 ]; then
        pixelferry-net display --listen "$HUB" ${FRAMES:+--frames "$FRAMES"}
    else
        pixelferry-net worker --connect "$HUB" --patience 60 --idle "${IDLE:-30}"
    fi'
