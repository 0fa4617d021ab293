# Shared by ./check and ./quickstart: finds out what is missing, asks, installs, builds.
# Sourced by bash from the root of the checkout.

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; exit 1; }

# The packages of scripts/packages that this system has, "all" or up to the line "# tests".
packages() {
	local id
	id=$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)
	awk -v part="$1" -v id="$id" '
		/^# tests/ && part != "all" { exit }
		!/^#/ && (NF == 1 || $2 == id) { print $1 }' scripts/packages
}

# Leaves the names that are not installed in $missing.
find_missing() {
	missing=
	command -v dpkg-query >/dev/null || return 0
	for p in $(packages "$1"); do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
}

# What apt cannot install must be there already: named one by one.  require all|build
require() {
	local lack= libraries="jansson libsodium sqlite3 libuv zlib"
	[ "$1" = all ] && libraries="$libraries check"
	for t in cc meson ninja pkg-config python3 llvm-config-19; do
		command -v "$t" >/dev/null || lack="$lack $t"
	done
	for l in $libraries; do
		! command -v pkg-config >/dev/null || pkg-config --exists "$l" || lack="$lack $l (library)"
	done
	[ -z "$lack" ] || die "not found:$lack;" \
		"on Debian 12 or later and Ubuntu 24.04 or later the packages of scripts/packages provide them"
}

# install_packages all|build yes|no
install_packages() {
	if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
		say "This system has no apt; taking the tools that are here (dlc is tested on Debian 12)."
		require "$1"
		return
	fi
	find_missing "$1"
	if [ -n "$missing" ]; then
		local root=
		if [ "$(id -u)" != 0 ]; then
			command -v sudo >/dev/null || die "these packages are missing and there is no sudo to install them:$missing"
			root=sudo
		fi
		say "apt-get will install:$missing"
		if [ "$2" != yes ]; then
			[ -t 0 ] || die "no terminal to ask on; run it with --yes"
			printf 'Go on? [y/N] ' >&2
			read -r answer
			case "$answer" in y|Y|yes) ;; *) die "nothing was installed" ;; esac
		fi
		$root apt-get update -q >&2 || say "apt-get update failed; trying with the lists that are here"
		$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 ||
			die "apt-get could not install:$missing"
	fi
	require "$1"
}

# KiB of memory: what is free, or what a container is limited to.
memory() {
	awk '/MemAvailable/ { print int($2) }' /proc/meminfo 2>/dev/null
	for f in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
		awk '/^[0-9]+$/ { printf "%.0f\n", $1 / 1024 }' "$f" 2>/dev/null
	done
}

# As many jobs as cores, one for each 700 MB of memory at most.
jobs() {
	local cores most
	cores=$(nproc 2>/dev/null || echo 1)
	most=$(($(memory | sort -n | head -n 1) / 700000))
	[ "$most" -ge 1 ] || most=1
	[ "$cores" -le "$most" ] && echo "$cores" || echo "$most"
}

# build DIR MESON-OPTION...
build() {
	local dir=$1
	shift
	if [ -f "$dir/build.ninja" ]; then
		# Meson looks for programs and libraries when it sets up: for new ones, once more.
		[ -z "${missing:-}" ] || meson setup --reconfigure "$dir" >/dev/null ||
			die "meson could not set up $dir again; delete it and try again"
		# An option that is newer than the folder is known only after that.
		meson configure "$dir" "$@" >/dev/null 2>&1 || meson setup --reconfigure "$dir" "$@" >/dev/null ||
			die "meson could not configure $dir; delete it and try again"
	else
		meson setup "$dir" "$@" >"${TMPDIR:-/tmp}/dlc-setup.$$" 2>&1 ||
			{ cat "${TMPDIR:-/tmp}/dlc-setup.$$" >&2; rm -f "${TMPDIR:-/tmp}/dlc-setup.$$"
			die "meson could not set up $dir"; }
		rm -f "${TMPDIR:-/tmp}/dlc-setup.$$"
	fi
	ninja -C "$dir" -j "$(jobs)" >&2 || die "the build in $dir failed"
}
