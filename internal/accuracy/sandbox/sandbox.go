// Package sandbox runs programs that a model wrote, in Python, where they can do no harm: in namespaces of their own without a network, on a
// file system that cannot be written but for a small one in memory, with bounds on time, memory, files and output.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Bounds of one program.
const (
	// Time is how long it may run.
	Time       = 6 * time.Second
	startTime  = 2 * time.Second // what the sandbox and the interpreter may need to begin
	memory     = 4 << 30         // bytes of address space
	fileSize   = 64 << 20        // bytes of a file
	openFiles  = 64
	mostOutput = 64 << 20 // bytes
)

// Job is one run of a program.
type Job struct {
	Code  string `json:"code"`
	Input string `json:"input"` // what it reads, or a JSON value a line that its function gets

	// Function is called with the input; "" = the program reads and writes itself.
	Function string `json:"function"`
}

// Result is how a run ended.
type Result struct {
	Output   string // what the program wrote
	Ended    bool   // it came to its end; else Fault says why not
	Returned string // JSON value that the function returned. What it should be stays outside: a program could say that it was.
	Fault    string
}

// way is a program that makes a sandbox.
type way struct {
	name string
	args []string // before the command
}

// open tries whether a way holds on this machine.
func (w way) open(ctx context.Context, python string) (runner, error) {
	path, err := exec.LookPath(w.name)
	if err != nil {
		return runner{}, fmt.Errorf("%s is not installed", w.name)
	}
	r := runner{prefix: append([]string{path}, w.args...), python: python}
	if err := r.probe(ctx); err != nil {
		return runner{}, fmt.Errorf("%s: %w", w.name, err)
	}
	return r, nil
}

// ways are those that are tried, the better one first.
var ways = []way{
	{"bwrap", []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--size", "67108864", "--tmpfs", "/tmp", "--chdir", "/tmp", "--"}},
	{"unshare", []string{"--user", "--map-root-user", "--net", "--pid", "--ipc", "--uts", "--mount", "--mount-proc", "--fork", "--kill-child=KILL", "sh", "-c", mounts, "sh"}},
}

// mounts makes every file system read-only but for one in memory, hides devices, and goes on without the rights that it needed. What cannot be
// made read-only ends it. Its arguments are the command.
const mounts = `set -e
fail() { echo "cannot make $1 safe" >&2; exit 97; }
mount -t tmpfs -o size=64m,nosuid,nodev none /tmp || fail /tmp
for d in null zero random urandom; do : > /tmp/$d; mount --bind /dev/$d /tmp/$d || fail /dev/$d; done
mount -t tmpfs -o size=1m,nosuid none /dev || fail /dev
for d in null zero random urandom; do : > /dev/$d; mount --move /tmp/$d /dev/$d || fail /dev/$d; rm /tmp/$d; done
while read -r _ where kind options _; do
  case "$where" in /tmp|/dev|/dev/*|/proc) continue;; esac
  case ",$options," in *,ro,*) continue;; esac
  flags=remount,bind,ro
  for f in nosuid nodev noexec noatime nodiratime relatime; do case ",$options," in *,$f,*) flags=$flags,$f;; esac; done
  mount -o $flags "$(printf '%b' "$where")" 2>/dev/null || case $kind in proc|sysfs|cgroup*|securityfs|debugfs|tracefs|pstore|bpf|configfs|mqueue|devpts|binfmt_misc|fusectl|autofs) ;; *) fail "$where";; esac
done < /proc/self/mounts
cd /tmp
exec unshare --user --map-user=65534 --map-group=65534 "$@"`

// runner is how programs are run on this machine.
type runner struct {
	prefix []string // command and arguments before the interpreter
	python string
	err    error // why none can be
}

// find looks for a sandbox and an interpreter once.
var find = sync.OnceValue(func() runner {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "python3", "-I", "-c", "import sys; print(sys.executable)").Output()
	python := strings.TrimSpace(string(out))
	if err != nil || python == "" {
		return runner{err: errors.New("programs are run with python3, which is not there or does not start")}
	}
	var why []string
	for _, w := range ways {
		r, err := w.open(ctx, python)
		if err == nil {
			return r
		}
		why = append(why, err.Error())
	}
	return runner{err: fmt.Errorf("programs of a model run only in a sandbox, and none can be made on this machine (%s)", strings.Join(why, "; "))}
})

// probe tries whether the sandbox holds: a program there must run, must not write where this process can, and must not reach a network.
func (r runner) probe(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "aiperf-sandbox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, err := os.Getwd()
	if err != nil {
		home = dir
	}
	result := r.run(ctx, Job{Code: fmt.Sprintf(`
import socket
for place in (%q, %q, '/'):
    try:
        open(place + '/aiperf-sandbox-probe', 'w')
        print('writes to ' + place)
    except OSError:
        pass
try:
    socket.create_connection(('192.0.2.1', 9), 0.2)
    print('has a network')
except OSError as e:
    if isinstance(e, TimeoutError): print('has a network')
print('runs')
`, dir, home)})
	if said := strings.TrimSpace(result.Output); said != "runs" {
		return errors.New(strings.TrimSpace(firstLine(said) + " " + firstLine(result.Fault)))
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Check tells why programs cannot be run on this machine; nil = they can.
func Check() error { return find().err }

// Run runs a program once. An error is one of this machine, not of the program.
func Run(ctx context.Context, job Job) (Result, error) {
	r := find()
	if r.err != nil {
		return Result{}, r.err
	}
	return r.run(ctx, job), nil
}

// limited keeps the beginning of what is written to it.
type limited struct {
	text strings.Builder
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > mostOutput {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.text.Write(p)
}

// run starts the program in its sandbox and waits for its end.
func (r runner) run(ctx context.Context, job Job) Result {
	ctx, cancel := context.WithTimeout(ctx, Time+startTime)
	defer cancel()
	limits := fmt.Sprintf(`ulimit -v %d; ulimit -f %d; ulimit -n %d; ulimit -c 0; ulimit -t %d; exec "$@"`, memory>>10, fileSize>>9, openFiles, int((Time+startTime)/time.Second))
	args := append(append([]string{}, r.prefix[1:]...), "sh", "-c", limits, "sh", r.python, "-I", "-X", "utf8", "-c", driver)
	cmd := exec.CommandContext(ctx, r.prefix[0], args...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", "OMP_NUM_THREADS=1"}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = time.Second
	var out, faults limited
	cmd.Stdout, cmd.Stderr = &out, &faults
	if job.Function == "" {
		cmd.Stdin = strings.NewReader(job.Input)
	}
	verdict, err := exchange(cmd, job)
	result := Result{Output: out.text.String(), Fault: faults.text.String()}
	switch {
	case ctx.Err() != nil:
		result.Fault = fmt.Sprintf("it ran longer than %v", Time)
	case out.over:
		result.Fault = fmt.Sprintf("it wrote more than %d MiB", mostOutput>>20)
	case strings.HasPrefix(verdict, "ended"):
		result.Ended, result.Returned, result.Fault = true, strings.TrimSpace(strings.TrimPrefix(verdict, "ended")), ""
	case verdict != "":
		result.Fault = verdict
	case err != nil && result.Fault == "":
		result.Fault = err.Error()
	case result.Fault == "":
		result.Fault = "it ended without a word"
	}
	return result
}

// exchange starts the command with the job on descriptor 3 and returns what comes back on descriptor 4.
func exchange(cmd *exec.Cmd, job Job) (verdict string, err error) {
	text, err := encode(job)
	if err != nil {
		return "", err
	}
	jobRead, jobWrite, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer jobWrite.Close()
	saidRead, saidWrite, err := os.Pipe()
	if err != nil {
		_ = jobRead.Close() // nothing was read
		return "", err
	}
	defer saidRead.Close()
	cmd.ExtraFiles = []*os.File{jobRead, saidWrite}
	err = cmd.Start()
	_, _ = jobRead.Close(), saidWrite.Close() // the child has its own
	if err != nil {
		return "", err
	}
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(saidRead, mostOutput)) // what was said before the end counts
		said <- string(b)
	}()
	go func() {
		_, _ = jobWrite.Write(text) // a child that reads nothing says nothing
		_ = jobWrite.Close()
	}()
	err = cmd.Wait()
	_ = saidRead.SetReadDeadline(time.Now().Add(time.Second)) // a descendant may hold the descriptor
	return <-said, err
}
