# Shared by the other scripts and .ci/run, which source it from any folder.
# shellcheck shell=bash

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '==> %s\n' "$*"; }
warn() { printf 'note: %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Runs a command as root without ever asking for a password; fails if that is impossible.
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
    # Its progress would hide ours; errors go to stderr. Container images leave out documentation, which includes GLFW's
    # examples.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 \
        -o DPkg::Options::='--path-include=/usr/share/doc/libglfw3-dev/*' "$@" >/dev/null
}

apt_lists_are_fresh=no

# Installs those of the named packages that are missing; fails if one of them is still missing afterwards.
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
        apt_get update || warn "apt-get update failed; using the existing package lists"
        apt_lists_are_fresh=yes
    fi
    if ! apt_get install --no-install-recommends "${missing[@]}"; then
        # One unknown name must not prevent the installation of the others.
        for package in "${missing[@]}"; do
            apt_get install --no-install-recommends "$package" || true
        done
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] || {
        warn "cannot install ${missing[*]}"
        return 1
    }
}

# Makes sure that Rust can link programs.
ensure_linker() {
    command -v cc >/dev/null && return
    install_packages gcc libc6-dev || true
    command -v cc >/dev/null ||
        die "the C compiler cc is missing, with which Rust links. As root: apt-get install gcc libc6-dev"
}

readonly TOOLS=$REPOSITORY/target/tools

# Puts the programs of a crate into PATH. They are built once for each version, into an ignored folder.
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

# Puts a `cargo` into PATH that is new enough: the installed one, or one from rustup.
ensure_rust() {
    local needed
    needed=$(needed_rust)
    [ -n "$needed" ] || die "$REPOSITORY/Cargo.toml has no rust-version"
    rust_suffices "$needed" && return
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
    hash -r
    rust_suffices "$needed" && return

    if command -v rustup >/dev/null; then
        say "installing Rust $needed or later with rustup"
        rustup toolchain install stable --profile minimal ||
            die "rustup cannot download Rust. Check the network, then run: rustup update stable"
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
        die "Rust $1 or later is missing, and so is curl to download it. As root: apt-get install curl ca-certificates"
    say "installing Rust with rustup into ${CARGO_HOME:-$HOME/.cargo}"
    # The address behind sh.rustup.rs; rustup downloads everything else from the same host. It runs only when complete.
    script=$(curl --proto '=https' --tlsv1.2 --silent --show-error --fail --location \
        --connect-timeout 20 --retry 2 "$RUSTUP_SCRIPT") ||
        die "cannot download $RUSTUP_SCRIPT. Install Rust $1 or later in another way, then run this script again"
    printf '%s\n' "$script" | sh -s -- -y --quiet --profile minimal --no-modify-path --default-toolchain stable ||
        die "rustup cannot install Rust: see its message above. Install Rust $1 or later in another way"
    export RUSTUP_TOOLCHAIN=stable
}

# Prints the Debian packages that the tests need, from the table in pixelferry-testing: for all rows, or for one.
packages_for() {
    grep -oE '(name|packages): "[^"]*"' "$REPOSITORY/crates/support/testing/src/machine.rs" |
        awk -F '"' -v only="$1" '/^name/ { name = $2 } /^packages/ && (only == "all" || only == name) { print $2 }' |
        tr ' ' '\n' | sort -u | sed '/^$/d'
}

# OpenGL without a screen by Mesa; a vendor's driver is used as well if there is one.
mapfile -t GL_PACKAGES < <(packages_for egl)
# shellcheck disable=SC2034 # used by the scripts that source this one
mapfile -t TEST_PACKAGES < <(packages_for all)
readonly GL_PACKAGES TEST_PACKAGES
[ "${#GL_PACKAGES[@]}" -gt 0 ] || die "the table of pixelferry-testing contains no packages"
