//go:build linux && release

package packages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// program is where packages put aiperf.
const program = "/usr/bin/aiperf"

// packageOf returns the only file of a release with an ending for this system.
func packageOf(t *testing.T, dir, ending string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*linux*"+runtime.GOARCH+ending))
	if err != nil || len(found) != 1 {
		t.Fatalf("one %s is expected in %s: %v, %v", ending, dir, found, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDeb: dpkg installs the package on a machine without anything, upgrades it, and leaves nothing when it removes it.
func TestDeb(t *testing.T) {
	m := newMachine(t)
	for _, dir := range []string{"info", "updates", "triggers"} {
		m.must(os.MkdirAll(filepath.Join(m.root, "var/lib/dpkg", dir), 0o755))
	}
	for _, file := range []string{"status", "available"} {
		m.must(os.WriteFile(filepath.Join(m.root, "var/lib/dpkg", file), nil, 0o600))
	}
	dpkg := func(args ...string) {
		m.outside(append([]string{"dpkg", "--root=" + m.root, "--log=/dev/null"}, args...)...)
	}
	installed(m, func(dir string) { dpkg("-i", packageOf(t, dir, ".deb")) }, func() { dpkg("-P", "aiperf") })
}

// TestRPM: the same with rpm.
func TestRPM(t *testing.T) {
	m := newMachine(t)
	for _, dir := range []string{ // those of every RPM system, which no other package removes
		"bin", "lib/systemd/system", "share/bash-completion/completions", "share/doc", "share/fish/vendor_completions.d", "share/man/man1", "share/man/man7", "share/zsh/site-functions",
	} {
		m.must(os.MkdirAll(filepath.Join(m.root, "usr", dir), 0o755))
	}
	rpm := func(args ...string) {
		m.outside(append([]string{"rpm", "--root", m.root, "--dbpath", "/var/lib/rpm"}, args...)...)
	}
	rpm("--initdb")
	installed(m, func(dir string) { rpm("-U", packageOf(t, dir, ".rpm")) }, func() { rpm("-e", "aiperf") })
}

// installed installs the older release with a package manager, runs it, upgrades it, runs it, removes it, and compares the machine before and after.
func installed(m *machine, install func(dir string), remove func()) {
	m.t.Helper()
	before := m.tree()
	install(*older)
	m.version(program, versionOf(m.t, *older))
	m.secondName(program)
	m.firstRun(program)
	install(*newer)
	m.version(program, versionOf(m.t, *newer))
	m.secondName(program)
	m.firstRun(program)
	for _, want := range []string{
		"usr/share/man/man1/aiperf.1", "usr/share/man/man7", "usr/lib/systemd/system/aiperf-mock-server.service", "usr/share/bash-completion/completions/aiperf",
		"usr/share/doc/aiperf/copyright", "usr/share/doc/aiperf/THIRD-PARTY-LICENCES",
	} {
		if info, err := os.Stat(filepath.Join(m.root, want)); err != nil || info.Size() == 0 {
			m.t.Errorf("no %s: %v", want, err)
		}
	}
	m.readable("usr")
	remove()
	if after := m.tree(); !slices.Equal(before, after) {
		m.t.Errorf("left after removal:\n%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// TestArchive: the program of the archive runs where it is unpacked, on a machine without anything.
func TestArchive(t *testing.T) {
	m := newMachine(t)
	for _, dir := range []string{*older, *newer} {
		m.outside("tar", "-xzf", packageOf(t, dir, ".tar.gz"), "-C", m.root, "aiperf")
		m.version("/aiperf", versionOf(t, dir))
	}
	m.firstRun("/aiperf")
}

// TestImage: the image runs as nobody with a read-only root; only its working directory and /tmp can be written, and they are in memory here.
func TestImage(t *testing.T) {
	m := newMachine(t)
	i := openImage(t, *newer)
	m.unpack(i)
	m.readOnly = true
	m.version(i.config.Entrypoint[0], versionOf(t, *newer))
	m.secondName(i.config.Entrypoint[0])
	m.firstRun(i.config.Entrypoint[0])
	out, err := m.command(program, "profile", "--url", "mock://", "--model", "m", "--tokenizer", "builtin", "--request-count", "1", "--ui", "none", "--artifact-dir", "/home/run").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "read-only file system") {
		t.Errorf("the root can be written: %v, %s", err, out)
	}
}

// TestWheel: pip installs the wheel into an empty environment, upgrades it, and leaves nothing when it removes it.
func TestWheel(t *testing.T) {
	m := newMachine(t)
	env := filepath.Join(m.root, "env")
	m.outside("python3", "-m", "venv", env)
	before := m.tree()
	pip := func(args ...string) {
		m.outside(append([]string{filepath.Join(env, "bin", "python"), "-B", "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"}, args...)...)
	}
	for _, dir := range []string{*older, *newer} {
		wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
		if err != nil || len(wheels) != 1 {
			t.Fatalf("one wheel is expected in %s: %v, %v", dir, wheels, err)
		}
		pip("install", "--no-index", "--no-compile", "--upgrade", wheels[0])
		for _, name := range []string{"aiperf", "genai-perf"} {
			got := m.outside(filepath.Join(env, "bin", name), "--version")
			if want := versionOf(t, dir); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	m.outside(filepath.Join(env, "bin", "aiperf"), "profile", "--url", "mock://", "--model", "m", "--tokenizer", "builtin", "--request-count", "4", "--ui", "none", "--artifact-dir", filepath.Join(m.root, "home", "run"))
	pip("uninstall", "-y", "aiperf-bin")
	if after := m.tree(); !slices.Equal(before, after) {
		t.Errorf("left after removal: %v", slices.DeleteFunc(after, func(f string) bool { return slices.Contains(before, f) }))
	}
}

// TestInstallScript: on a machine that has only BusyBox, the script installs the older release without root, upgrades it, and removes it.
func TestInstallScript(t *testing.T) {
	m := newMachine(t)
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("busybox is not installed (Debian: busybox-static): ", err)
	}
	m.must(os.Mkdir(filepath.Join(m.root, "bin"), 0o755))
	m.outside("cp", busybox, filepath.Join(m.root, "bin", "busybox"))
	for name := range strings.FieldsSeq(m.outside(busybox, "--list")) {
		if name != "busybox" {
			m.must(os.Symlink("busybox", filepath.Join(m.root, "bin", name)))
		}
	}
	m.must(os.Mkdir(filepath.Join(m.root, "dev"), 0o755))
	m.outside("mknod", "-m", "666", filepath.Join(m.root, "dev", "null"), "c", "1", "3")
	m.outside("cp", "../../packaging/install.sh", filepath.Join(m.root, "install.sh"))
	from := releases(t) + "/releases"
	const place = "/home/.local/bin/aiperf"
	m.run("/bin/sh", "/install.sh", "--from", from, "--version", versionOf(t, *older))
	m.version(place, versionOf(t, *older))
	m.secondName(place)
	m.firstRun(place)
	m.run("/bin/sh", "/install.sh", "--from", from)
	m.version(place, versionOf(t, *newer))
	m.secondName(place)
	m.firstRun(place)
	m.run("/bin/sh", "/install.sh", "--remove")
	if left, err := os.ReadDir(filepath.Join(m.root, "home", ".local", "bin")); err != nil || len(left) > 0 {
		t.Errorf("left after removal: %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(m.root, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in /tmp: %v, %v", left, err)
	}
}

// releases serves both releases as a host of repositories does, and returns its URL.
func releases(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(place, dir string) { mux.Handle(place, http.StripPrefix(place, http.FileServer(http.Dir(dir)))) }
	serve("/releases/download/v"+versionOf(t, *older)+"/", *older)
	serve("/releases/latest/download/", *newer)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}
