# Shared by scripts/run, scripts/test and .ci/run; to be sourced, from any folder.
# shellcheck shell=bash

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '==> %s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Runs a command as root without ever asking for a password; fails where that cannot be.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        command -v sudo >/dev/null && sudo -n -- "$@"
    fi
}

# Prints those of the named Debian packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
            installed) ;;
            *) printf '%s\n' "$package" ;;
        esac
    done
}

apt_get() {
    # Its progress would bury ours; what goes wrong it says on stderr. Images of containers leave documentation out, where
    # GLFW's examples are.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 \
        -o DPkg::Options::='--path-include=/usr/share/doc/libglfw3-dev/*' "$@" >/dev/null
}

apt_lists_are_fresh=no

# Installs what is missing of the named packages; fails when one of them is still missing afterwards.
install_packages() {
    local missing package
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 1
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! as_root true 2>/dev/null; then
        warn "not root, and sudo would ask for a password; not installed: ${missing[*]}"
        return 1
    fi
    say "installing ${missing[*]}"
    if [ "$apt_lists_are_fresh" = no ]; then
        apt_get update || warn "apt-get update failed; going on with the package lists that are there"
        apt_lists_are_fresh=yes
    fi
    if ! apt_get install --no-install-recommends "${missing[@]}"; then
        # One unknown name must not keep the others out.
        for package in "${missing[@]}"; do
            apt_get install --no-install-recommends "$package" || true
        done
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] || {
        warn "could not be installed: ${missing[*]}"
        return 1
    }
}

# What Rust needs to link a program.
ensure_linker() {
    command -v cc >/dev/null && return
    install_packages gcc libc6-dev || true
    command -v cc >/dev/null ||
        die "no C compiler (cc), which Rust links with. As root: apt-get install gcc libc6-dev"
}

readonly TOOLS=$REPOSITORY/target/tools
# shellcheck disable=SC2034 # used by the scripts that source this one
readonly CARGO_C_VERSION=0.10.24+cargo-0.98.0

# Leaves the programs of a crate in PATH, built once for each version into an ignored folder.
ensure_tool() {
    local crate=$1 version=$2 began=$SECONDS
    if ! cargo install --list --root "$TOOLS" 2>/dev/null | grep -qxF "$crate v$version:"; then
        say "building $crate $version into $TOOLS"
        CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --debug --locked --force --root "$TOOLS" \
            --target-dir "$TOOLS/build-$crate" "$crate" --version "$version" || return 1
        rm -rf "$TOOLS/build-$crate"
        say "$crate $version: $((SECONDS - began)) s"
    fi
    PATH=$TOOLS/bin:$PATH
}

# The oldest Rust that the workspace builds with, from its manifest.
needed_rust() {
    sed -n 's/^rust-version = "\(.*\)"/\1/p' "$REPOSITORY/Cargo.toml"
}

# Succeeds when the `cargo` and `rustc` found in PATH work and are new enough.
rust_suffices() {
    local needed=$1 found
    cargo --version >/dev/null 2>&1 || return 1
    found=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || return 1
    [ -n "$found" ] && [ "$(printf '%s\n' "$needed" "${found%%-*}" | sort -V | head -n 1)" = "$needed" ]
}

# Leaves a `cargo` in PATH that is new enough; takes what is there, and asks rustup for one otherwise.
ensure_rust() {
    local needed
    needed=$(needed_rust)
    [ -n "$needed" ] || die "no rust-version in $REPOSITORY/Cargo.toml"
    rust_suffices "$needed" && return
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
    hash -r
    rust_suffices "$needed" && return

    if command -v rustup >/dev/null; then
        say "asking rustup for a Rust of $needed or later"
        rustup toolchain install stable --profile minimal ||
            die "rustup could not fetch Rust; is the network reachable? By hand: rustup update stable"
        export RUSTUP_TOOLCHAIN=stable
    else
        install_rustup "$needed"
    fi
    hash -r
    rust_suffices "$needed" || die "Rust $needed or later is needed; found: $(rustc --version 2>&1 | head -n 1)"
}

readonly RUSTUP_SCRIPT=https://static.rust-lang.org/rustup/rustup-init.sh

install_rustup() {
    local script
    command -v curl >/dev/null || install_packages curl ca-certificates || true
    command -v curl >/dev/null ||
        die "no Rust $1 or later, and no curl to fetch it with. As root: apt-get install curl ca-certificates"
    say "installing Rust with rustup into ${CARGO_HOME:-$HOME/.cargo}"
    # Where sh.rustup.rs leads; rustup takes all else from the same host. Fetched whole before any of it runs.
    script=$(curl --proto '=https' --tlsv1.2 --silent --show-error --fail --location \
        --connect-timeout 20 --retry 2 "$RUSTUP_SCRIPT") ||
        die "$RUSTUP_SCRIPT cannot be reached. Install Rust $1 or later in another way, then run this again"
    printf '%s\n' "$script" | sh -s -- -y --quiet --profile minimal --no-modify-path --default-toolchain stable ||
        die "rustup could not install Rust; its own message is above. Install Rust $1 or later in another way"
    export RUSTUP_TOOLCHAIN=stable
}

# Prints the Debian packages of what the tests need, as the table of pixelferry-testing has them: of all its rows, or of one.
packages_for() {
    grep -oE '(name|packages): "[^"]*"' "$REPOSITORY/crates/pixelferry-testing/src/machine.rs" |
        awk -F '"' -v only="$1" '/^name/ { name = $2 } /^packages/ && (only == "all" || only == name) { print $2 }' |
        tr ' ' '\n' | sort -u | sed '/^$/d'
}

# OpenGL without a screen, by Mesa; a vendor's own driver is used beside it where there is one.
mapfile -t GL_PACKAGES < <(packages_for egl)
# shellcheck disable=SC2034 # used by the scripts that source this one
mapfile -t TEST_PACKAGES < <(packages_for all)
readonly GL_PACKAGES TEST_PACKAGES
[ "${#GL_PACKAGES[@]}" -gt 0 ] || die "no packages in the table of pixelferry-testing"
