# Passes on what `cargo test` prints, without the output of binaries and of tests that passed (drivers and panics on purpose say much),
# and ends with one table: the ten slowest tests, each binary with its seconds, what was skipped with the reason, and the words of each
# failure. Fails where nothing ran.

# A test that runs itself again shows that process's own results among its output: the last result of a binary is the binary's.
function close_binary(    part) {
    # Documentation has no `@ended`.
    if (failing != "" && binary ~ / documentation$/) ended[++ended_count] = sprintf("| | %s | FAILED: %s |", binary, failing)
    if (result != "") {
        split(result, part, /; */)
        sub(/.*\. /, "", part[1])
        passed += part[1]
        failed += part[2]
        sub(/.*finished in /, "", result)
        seconds += result
        if (part[1] + part[2] > 0) {
            rows[++row_count] = sprintf("| %.1f | %s | %d passed%s |", result, binary, part[1], part[2] + 0 ? ", " part[2] : "")
            print rows[row_count]
            fflush()
        }
    }
    result = within = failing = ""
    hidden = outputs = 0
}

# Under one reason as many tests as there are; what differs after its first words is in the log of the test alone.
function skip(reason, name) {
    sub(/: .*/, "", reason)
    sub(/^[a-z0-9 -]+ on .*/, "a path or a piece of memory that a driver lacks", reason)
    # Run by other tests, in a process of their own.
    if (reason ~ /^run by / || (reason, name) in skipped) return
    skipped[reason, name] = 1
    skips[reason]++
    if (skips[reason] <= 3) names[reason] = names[reason] (skips[reason] > 1 ? ", " : "") name
}

function fail(name) { failing = failing (failing == "" ? "" : ", ") name }

# Printed by the runner of scripts/test before each binary.
$1 == "@binary" { close_binary(); binary = $2 " " $3; kept = ""; keeps = 1; whys = why_count; next }
$1 == "@ended" {
    if ($2) {
        printf "%s", kept
        ended[++ended_count] = sprintf("| | %s | FAILED with status %d%s%s |", binary, $2,
            result == "" ? ", without a result" : "", failing == "" ? "" : ": " failing)
    } else {
        why_count = whys
    }
    close_binary()
    kept = ""
    keeps = 0
    next
}
$1 == "Doc-tests" { close_binary(); binary = $2 " documentation" }

# The list of names is the last of these, whatever the output of a test looks like.
/^(successes|failures):$/ { outputs = 1; hidden = /^s/; if (!hidden) failing = "" }
outputs && !hidden && /^    [^ ]+( - .*)?$/ { fail(substr($0, 5)) }
/^not ended: / { fail(substr($0, 12) " (did not end)") }
/^---- .* stdout ----$/ { within = binary ": " substr($0, 6, length($0) - 17) }
/^SKIPPED: / { skip(substr($0, 10), within == "" ? binary : within) }
/^test result: / { result = $0; next }

/^test .* \.\.\. / && !outputs {
    name = $2
    sub(/.* \.\.\. /, "", $0)
    if (match($0, / <[0-9.]+s>$/)) {
        slow[++tests] = substr($0, RSTART + 2, RLENGTH - 4) + 0
        slow_name[tests] = binary ": " name
        $0 = substr($0, 1, RSTART - 1)
    }
    if (/^ignored/) skip(substr($0, 10), binary ": " name)
    if (/FAILED/) {
        print "test " name " ... FAILED"
        fail(name)
    }
    next
}

# A panic's words follow its place; pytest has both in one line.
!hidden && reasons { why[++why_count] = sprintf("| | %s | %s |", within == "" ? binary : within, substr($0, 1, 300)); reasons = 0 }
!hidden && /^thread .* panicked at / { reasons = 1 }
!hidden && /^(FAILED|ERROR) .*\.py/ { why[++why_count] = sprintf("| | %s | %s |", binary, substr($0, 1, 300)) }

!hidden && keeps { kept = kept $0 "\n"; next }
!hidden { print; fflush() }

END {
    # The last binary did not end.
    printf "%s", kept
    close_binary()
    if (!row_count && !ended_count) exit (ENVIRON["MAY_RUN_NOTHING"] ? 0 : 1)
    printf "\n| seconds | the ten slowest tests, then all binaries | |\n|---|---|---|\n"
    for (shown = 0; shown < 10; shown++) {
        most = 0
        for (i = 1; i <= tests; i++) if (slow[i] >= 0.05 && (!most || slow[i] > slow[most])) most = i
        if (!most) break
        printf "| %.1f | %s | |\n", slow[most], slow_name[most]
        slow[most] = 0
    }
    for (i = 1; i <= row_count; i++) print rows[i]
    for (reason in names)
        printf "| | %s%s | SKIPPED: %s |\n", names[reason], (skips[reason] > 3 ? " and " skips[reason] - 3 " more" : ""), reason
    printf "| %.1f | binaries: %d | %d passed, %d failed |\n", seconds, row_count, passed, failed
    for (i = 1; ended_count && i <= why_count && i <= 40; i++) print why[i]
    for (i = 1; i <= ended_count; i++) print ended[i]
    exit (ended_count > 0)
}
