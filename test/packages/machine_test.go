//go:build linux && release

package packages

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user who runs aiperf on the machines of these tests.
const nobody = 65532

// machine is a root directory with nothing in it but what a test puts there.
type machine struct {
	t        *testing.T
	root     string
	readOnly bool // programs see the root read-only, with /work and /tmp in memory, as engines run images
}

// newMachine makes a root with a home directory of nobody. Only root may enter it.
func newMachine(t *testing.T) *machine {
	t.Helper()
	files(t)
	if *older == "" {
		t.Fatal("-older names no files of an earlier release: run make packages-test")
	}
	if os.Geteuid() != 0 {
		t.Fatal("these tests change the root directory of programs: run them as root")
	}
	m := &machine{t: t, root: t.TempDir()}
	for _, dir := range []string{filepath.Dir(m.root), m.root} {
		m.must(os.Chmod(dir, 0o755))
	}
	for _, dir := range []string{"tmp", "home"} {
		m.must(os.Mkdir(filepath.Join(m.root, dir), 0o755))
		m.must(os.Chown(filepath.Join(m.root, dir), nobody, nobody))
	}
	return m
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// command is a program of the machine, started by nobody without any variable but HOME and PATH.
func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), args[0])
	if m.readOnly {
		const enter = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t tmpfs -o mode=1777 none "$1/tmp" && mount -t tmpfs -o mode=1777 none "$1/work" && shift &&
exec env -i PATH=/usr/bin HOME=/work "$CHROOT" --userspec=65532:65532 "$ROOT" "$@"`
		cmd = exec.CommandContext(m.t.Context(), "unshare", append([]string{"-m", "sh", "-c", strings.NewReplacer("$CHROOT", chroot(), "$ROOT", m.root).Replace(enter), "sh", m.root}, args...)...)
		return cmd
	}
	cmd.Path, cmd.Err, cmd.Args, cmd.Dir = args[0], nil, args, "/home"
	cmd.Env = []string{"HOME=/home", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: m.root, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// chroot returns the place of the program chroot, which is not on every path.
func chroot() string {
	for _, place := range []string{"/usr/sbin/chroot", "/usr/bin/chroot"} {
		if _, err := os.Stat(place); err == nil {
			return place
		}
	}
	return "chroot"
}

// run runs a program of the machine and returns its output.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// outside runs a program of this machine and returns its output.
func (m *machine) outside(args ...string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// version checks that a program and its second name state a version.
func (m *machine) version(program, want string) {
	m.t.Helper()
	if got := m.run(program, "--version"); !strings.HasPrefix(got, "aiperf "+want+" ") {
		m.t.Errorf("%s --version: %q, want aiperf %s", program, got, want)
	}
}

// secondName checks that genai-perf, in the directory of a program, leads to it.
func (m *machine) secondName(program string) {
	m.t.Helper()
	link, err := os.Readlink(filepath.Join(m.root, filepath.Dir(program), "genai-perf"))
	if err != nil || filepath.Base(link) != "aiperf" {
		m.t.Errorf("genai-perf leads to %q, %v", link, err)
	}
}

// home is the directory in which nobody may write.
func (m *machine) home() string {
	if m.readOnly {
		return "/work"
	}
	return "/home"
}

// firstRun starts the simulated server of the installed program and measures it.
func (m *machine) firstRun(program string) {
	m.t.Helper()
	server := m.command(program, "mock-server", "--port", "0", "--ttft", "5ms")
	lines, err := server.StdoutPipe()
	m.must(err)
	var errors bytes.Buffer
	server.Stderr = &errors
	m.must(server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	url := ""
	for scan := bufio.NewScanner(lines); url == "" && scan.Scan(); {
		if _, address, ok := strings.Cut(scan.Text(), "http://"); ok {
			url = "http://" + strings.Fields(address)[0]
		}
	}
	if url == "" {
		m.t.Fatalf("the server states no address: %s", &errors)
	}
	out := m.run(program, "profile", "--url", url, "--tokenizer", "builtin", "--streaming", "--concurrency", "2", "--request-count", "10", "--osl", "8", "--ui", "none", "--artifact-dir", filepath.Join(m.home(), "run"))
	if m.readOnly { // what it wrote went with its memory
		if !regexp.MustCompile(`Request Count \(requests\) │ +10\.00 `).MatchString(out) {
			m.t.Errorf("not 10 requests in\n%s", out)
		}
		return
	}
	var summary struct {
		Count struct{ Avg float64 } `json:"request_count"`
	}
	text, err := os.ReadFile(filepath.Join(m.root, "home", "run", "profile_export_aiperf.json"))
	m.must(err)
	m.must(json.Unmarshal(text, &summary))
	if summary.Count.Avg != 10 {
		m.t.Errorf("%v requests, want 10", summary.Count.Avg)
	}
	m.must(os.RemoveAll(filepath.Join(m.root, "home", "run")))
}

// tree lists the files and directories of the machine, except the databases of package managers and the home directory.
func (m *machine) tree() []string {
	m.t.Helper()
	var all []string
	m.must(filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, m.root+"/")
		if name == "var" || name == "home" && d.IsDir() {
			return fs.SkipDir
		}
		all = append(all, name)
		return nil
	}))
	return all
}

// readable checks that every user can enter the directories below a place and read its files.
func (m *machine) readable(place string) {
	m.t.Helper()
	m.must(filepath.WalkDir(filepath.Join(m.root, place), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if need := map[bool]fs.FileMode{true: 0o555, false: 0o444}[d.IsDir()]; info.Mode().Perm()&need != need || info.Mode().Perm()&0o022 != 0 && info.Mode().Type() != fs.ModeSymlink {
			m.t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	}))
}

// unpack puts the layer of an image into the root.
func (m *machine) unpack(i image) {
	m.t.Helper()
	content := untar(m.t, i.layer, nil)
	for _, h := range i.entries {
		place := filepath.Join(m.root, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			m.must(os.MkdirAll(place, 0o755))
		case tar.TypeSymlink:
			m.must(os.Symlink(h.Linkname, place))
			continue
		default:
			m.must(os.WriteFile(place, content[h.Name], 0o600))
		}
		m.must(os.Chmod(place, h.FileInfo().Mode()))
		m.must(os.Chown(place, h.Uid, h.Gid))
	}
}
