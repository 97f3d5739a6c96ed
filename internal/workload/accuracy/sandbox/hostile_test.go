//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/testhome"
)

// permitted are the sandboxes that this machine permits, and why it permits no others.
var permitted = sync.OnceValues(func() (runners []runner, refused []error) {
	python, err := findInterpreter(context.Background())
	if err != nil {
		return nil, []error{err}
	}
	for _, launch := range launchers() {
		r, err := open(context.Background(), launch, python)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		runners = append(runners, r)
	}
	return runners, refused
})

// eachRunner runs a test in every kind of sandbox that this machine permits.
func eachRunner(t *testing.T, test func(t *testing.T, r runner)) {
	if !possible(t) {
		return
	}
	runners, refused := permitted()
	for _, err := range refused {
		t.Logf("this machine does not permit %v", err)
	}
	for _, r := range runners {
		t.Run(r.launch.name, func(t *testing.T) { test(t, r) })
	}
}

// TestUnprivileged runs the tests of this package again as the user nobody. An unprivileged user has them run as this user already.
func TestUnprivileged(t *testing.T) {
	testhome.Slow(t)
	if os.Geteuid() != 0 {
		t.Log("the tests run unprivileged as they are")
		return
	}
	dir, err := os.MkdirTemp("", "aiperf-unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.skip=^(TestUnprivileged|TestContainer|TestPrograms)$", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestHostilePrograms/") {
		t.Logf("as user nobody this machine permits no sandbox:\n%s", out)
	}
}

// TestContainer: where system calls are filtered as in a container, no sandbox can be made, and no program runs.
func TestContainer(t *testing.T) {
	const inside = "AIPERF_SANDBOX_TEST_CONTAINER"
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestContainer$")
		cmd.Env = append(os.Environ(), inside+"=filter")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if os.Getenv(inside) == "filter" { // the filter of our programs forbids what the usual one of containers does
		runtime.LockOSThread()
		t.Setenv(inside, "filtered")
		if err := filterCalls(); err != nil {
			t.Fatal(err)
		}
		t.Fatal(unix.Exec("/proc/self/exe", os.Args, os.Environ()))
	}
	r, err := Run(t.Context(), Job{Code: "print(1)"})
	if err == nil || r.Output != "" || !strings.Contains(err.Error(), "this machine permits no sandbox") || !strings.Contains(err.Error(), "operation not permitted") {
		t.Errorf("%+v, %v", r, err)
	}
}

// hostilePrograms are programs that must fail. A program that does what its name says ends without an error.
func hostilePrograms(t *testing.T) map[string]string {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tcp.Close() })
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	local, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })
	hidden, err := net.Listen("unix", "@aiperf-sandbox-test-"+filepath.Base(filepath.Dir(dir)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hidden.Close() })
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
			t.Errorf("the directory of the test holds %v, %v", left, err)
		}
	})
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{
		"connects to this machine":          fmt.Sprintf("import socket\nsocket.create_connection(('127.0.0.1', %d), 1)", tcp.Addr().(*net.TCPAddr).Port),
		"connects to a socket file":         fmt.Sprintf("import socket\nsocket.socket(socket.AF_UNIX).connect(%q)", socket),
		"connects by an abstract socket":    fmt.Sprintf("import socket\nsocket.socket(socket.AF_UNIX).connect('\\0%s')", strings.TrimPrefix(hidden.Addr().String(), "@")),
		"sends from a pair to a path":       fmt.Sprintf("import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', %q)", socket),
		"sends a datagram":                  "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
		"opens a socket of the kernel":      "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
		"opens a socket of another machine": "import socket\nsocket.socket(40, socket.SOCK_STREAM)", // AF_VSOCK
		"reads a file of the test":          fmt.Sprintf("open(%q)", secret),
		"writes beside the test":            fmt.Sprintf("open(%q, 'w')", filepath.Join(dir, "x")),
		"removes a file":                    fmt.Sprintf("import os\nos.remove(%q)", socket),
		"follows a link out":                fmt.Sprintf("import os\nos.symlink(%q, '/tmp/link')\nopen('/tmp/link')", secret),
		"leaves by the working directory":   fmt.Sprintf("open('../../../../../..' + %q)", secret),
		"leaves by its root":                fmt.Sprintf("open('/proc/self/root/' + %q)", secret),
		"leaves by the first process":       fmt.Sprintf("open('/proc/1/root/' + %q)", secret),
		"lists the home":                    fmt.Sprintf("import os\nassert %q != '/'\nassert os.listdir(%q) != ['.pyenv']", home, home),
		"writes to /":                       "open('/x', 'w')",
		"writes to /dev":                    "open('/dev/x', 'w')",
		"writes to /etc":                    "open('/etc/x', 'w')",
		"writes to the interpreter":         "import json\nopen(json.__file__, 'a')",
		"adds to the interpreter":           "import json, os\nopen(os.path.dirname(json.__file__) + '/x.py', 'w')",
		"replaces the interpreter":          "import sys\nopen(sys.executable, 'r+')",
		"writes to the home":                fmt.Sprintf("open(%q, 'w')", filepath.Join(home, ".aiperf-sandbox-x")),
		"ends its parent":                   "import ctypes\nif ctypes.CDLL(None).kill(" + fmt.Sprint(os.Getpid()) + ", 9) != 0: raise OSError('no')",
		"reads the environment":             fmt.Sprintf("assert b'hunter2' in open('/proc/%d/environ', 'rb').read()", os.Getpid()),
		"sees other processes":              "import os\nassert [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 3]",
		"has the environment":               "import os\nassert 'AIPERF_SANDBOX_SECRET' in os.environ",
		"reads the memory of the first":     "import os\nassert os.getpid() != 1\nopen('/proc/1/mem', 'rb')",
		"takes memory":                      "x = bytearray(5 << 30)",
		"takes the disk":                    "n = 0\nwhile n < 9:\n  n += 1\n  open('/tmp/%d' % n, 'wb').write(bytes(40 << 20))",
		"takes /dev/shm":                    "n = 0\nwhile n < 30:\n  n += 1\n  open('/dev/shm/%d' % n, 'wb').write(bytes(40 << 20))",
		"opens many files":                  "x = [open('/dev/null') for _ in range(500)]",
		"becomes root":                      "import os\nos.setuid(0) if os.getuid() else os.chroot('/tmp')\nopen('/proc/sys/kernel/hostname', 'w').write('x')",
		"is root":                           "import os\nos.setresuid(0, 0, 0)",
		"uses an inherited descriptor":      "import os\nfor fd in range(5, 64):\n  try: os.fstat(fd)\n  except OSError: continue\n  break\nelse: raise OSError('none')",
		"shares memory of no process":       "import mmap\nmmap.mmap(-1, 1 << 30)",
		"makes a file of memory":            "import os\nos.memfd_create('x')",
		"raises its limits":                 "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
	}
	for _, path := range []string{"/home", "/root/.ssh", "/run", "/var", "/sys", "/etc/shadow", "/etc/passwd", "/dev/mem", "/dev/tty", "/boot", "/mnt", "/oldroot"} {
		programs["sees "+path] = fmt.Sprintf("import os\nos.stat(%q)", path)
	}
	for name, call := range map[string]string{
		"ptrace": fmt.Sprintf("%d, 16, os.getppid(), 0, 0", unix.SYS_PTRACE), "ptrace of itself": fmt.Sprintf("%d, 0, 0, 0, 0", unix.SYS_PTRACE),
		"process_vm_readv": fmt.Sprintf("%d, 1, 0, 0, 0, 0, 0", unix.SYS_PROCESS_VM_READV),
		"keyctl":           fmt.Sprintf("%d, 0, -3, 0", unix.SYS_KEYCTL), "add_key": fmt.Sprintf("%d, b'user', b'x', b'y', 1, -3", unix.SYS_ADD_KEY),
		"mount":       fmt.Sprintf("%d, b'none', b'/tmp', b'tmpfs', 0, 0", unix.SYS_MOUNT),
		"umount":      fmt.Sprintf("%d, b'/proc', 2", unix.SYS_UMOUNT2),
		"pivot_root":  fmt.Sprintf("%d, b'/tmp', b'/tmp'", unix.SYS_PIVOT_ROOT),
		"chroot":      fmt.Sprintf("%d, b'/tmp'", unix.SYS_CHROOT),
		"unshare":     fmt.Sprintf("%d, %d", unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"setns":       fmt.Sprintf("%d, os.open('/proc/self/ns/user', 0), 0", unix.SYS_SETNS),
		"clone":       fmt.Sprintf("%d, %d, 0, 0, 0, 0", unix.SYS_CLONE, unix.CLONE_NEWUSER|int(syscall.SIGCHLD)),
		"clone3":      fmt.Sprintf("%d, bytes(88), 88", unix.SYS_CLONE3),
		"bpf":         fmt.Sprintf("%d, 0, bytes(128), 128", unix.SYS_BPF),
		"userfaultfd": fmt.Sprintf("%d, 1", unix.SYS_USERFAULTFD),
		"io_uring":    fmt.Sprintf("%d, 8, bytes(256)", unix.SYS_IO_URING_SETUP),
		"open_tree":   fmt.Sprintf("%d, -100, b'/', 1", unix.SYS_OPEN_TREE), "fsopen": fmt.Sprintf("%d, b'tmpfs', 0", unix.SYS_FSOPEN),
		"perf_event_open": fmt.Sprintf("%d, bytes(128), 0, -1, -1, 0", unix.SYS_PERF_EVENT_OPEN),
		"shmget":          fmt.Sprintf("%d, 0, 1 << 20, 0o1600", unix.SYS_SHMGET), "msgget": fmt.Sprintf("%d, 0, 0o1600", unix.SYS_MSGGET),
		"semget": fmt.Sprintf("%d, 0, 1, 0o1600", unix.SYS_SEMGET), "mq_open": fmt.Sprintf("%d, b'x', 0o102, 0o600, 0", unix.SYS_MQ_OPEN),
		"syslog": fmt.Sprintf("%d, 3, bytes(4096), 4096", unix.SYS_SYSLOG), "a call of a newer kernel": "9999",
	} {
		programs["calls "+name] = "import ctypes, os\nif ctypes.CDLL(None, use_errno=True).syscall(" + call + ") < 0: raise OSError(ctypes.get_errno())"
	}
	return programs
}

// TestHostilePrograms: every sandbox keeps programs from the network, from files, descriptors and processes of this machine, and from rights.
func TestHostilePrograms(t *testing.T) {
	testhome.Slow(t)
	leak, err := os.OpenFile(filepath.Join(t.TempDir(), "leak"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	for _, fd := range []int{7, 9, 47} { // as a shell that starts aiperf may have left them open
		free, err := unix.FcntlInt(leak.Fd(), unix.F_DUPFD, fd)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(free)
	}
	t.Setenv("AIPERF_SANDBOX_SECRET", "hunter2")
	all, err := json.Marshal(hostilePrograms(t))
	if err != nil {
		t.Fatal(err)
	}
	eachRunner(t, func(t *testing.T, r runner) {
		got := r.run(t.Context(), Job{Input: string(all), Code: "import json\nfor name, code in json.loads(input()).items():\n" +
			"  try: exec(code, {}); print('a program', name)\n  except (Exception, MemoryError): pass\nprint('end')"})
		if got.Output != "end\n" || !got.Ended {
			t.Errorf("%+v", got)
		}
	})
}

// TestOtherArchitectures: a system call by the entry of 32-bit programs kills the program.
func TestOtherArchitectures(t *testing.T) {
	testhome.Slow(t)
	if nativeArch != unix.AUDIT_ARCH_X86_64 {
		return // there is no such entry
	}
	eachRunner(t, func(t *testing.T, r runner) {
		got := r.run(t.Context(), Job{Code: `import ctypes, mmap
def run(code):
    # mmap refuses shared memory: a private one comes from the C library
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
    ctypes.memmove(at, code, len(code))
    return ctypes.CFUNCTYPE(ctypes.c_long)(at)()
print(run(b'\xb8\x14\x00\x00\x40\x0f\x05\xc3'), flush=True)   # mov eax, 0x40000014 (writev of x32); syscall; ret
print(run(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3'), flush=True)   # mov eax, 20 (getpid of i386); int 0x80; ret
`})
		if got.Output != "" || got.Ended {
			t.Errorf("%+v", got)
		}
	})
}

// TestGroups: what all processes of a program take together has bounds, and they end with it.
func TestGroups(t *testing.T) {
	testhome.Slow(t)
	const spawn = `import os, sys, time
def spawn(code, *more):
    return os.posix_spawn(sys.executable, [sys.executable, '-I', '-S', '-c', code, *more], {})
`
	for _, c := range []struct {
		name, code, output, fault string
		ended, most               bool
	}{
		{name: "many processes", most: true, code: "import ctypes\nfork = ctypes.CDLL(None).fork\nn = 0\nwhile n < 400:\n  pid = fork()\n  if pid == 0:\n    import time; time.sleep(60)\n" +
			"  if pid < 0: break\n  n += 1\nimport time; time.sleep(0.2)\nprint(n < 60)", output: "True\n", ended: true},
		{name: "many threads", most: true, code: "import threading, time\nn = 0\ntry:\n  while n < 400: threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); n += 1\n" +
			"except RuntimeError: pass\ntime.sleep(0.2)\nprint(n < 60)", output: "True\n", ended: true},
		{name: "memory of three", code: spawn + "code = 'x = bytearray(100 << 20); import time; time.sleep(60)'\nfor _ in range(3): spawn(code)\ntime.sleep(60)", fault: "more than 256 MiB"},
		{name: "memory of one", code: "x = bytearray(400 << 20)\nimport time; time.sleep(60)", fault: "more than 256 MiB"},
		{name: "memory of orphans", code: spawn + "code = '''import os, sys, time\nos.setsid()\nif os.fork(): os._exit(0)\nx = bytearray(150 << 20); time.sleep(60)'''\n" +
			"for _ in range(2): spawn(code)\ntime.sleep(60)", fault: "more than 256 MiB"},
		{name: "shared pages count once", code: "x = bytearray(100 << 20)\nimport ctypes, time\nfork = ctypes.CDLL(None).fork\npids = []\n" +
			"for _ in range(5):\n  if fork() == 0: time.sleep(0.3); ctypes.CDLL(None)._exit(0)\ntime.sleep(0.2)\nprint('done')", output: "done\n", ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachRunner(t, func(t *testing.T, r runner) {
				r.bounds.memory, r.bounds.processes = 256<<20, 48
				got := r.run(t.Context(), Job{Code: c.code})
				if c.most && got.Fault == "the program started more than 48 processes and threads" { // the kernel counts none of root
					return
				}
				if got.Output != c.output || got.Ended != c.ended || !strings.Contains(got.Fault, c.fault) {
					t.Errorf("%+v, want %+v", got, c)
				}
			})
		})
	}
}

// TestStubbornPrograms: a deadline ends all processes, whatever they do against it, and the next program runs.
func TestStubbornPrograms(t *testing.T) {
	testhome.Slow(t)
	for name, code := range map[string]string{
		"runs on":         "while True: pass",
		"ignores signals": "import signal\nfor s in range(1, 64):\n  try: signal.signal(s, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass",
		"has a child":     "import os, sys\nos.posix_spawn(sys.executable, [sys.executable, '-c', 'import time; time.sleep(60)'], {})\nwhile True: pass",
		"leaves a child":  "import ctypes, time\nlibc = ctypes.CDLL(None)\nif libc.fork() == 0:\n  libc.setsid()\n  if libc.fork() == 0:\n    time.sleep(60)\nwhile True: pass",
	} {
		t.Run(name, func(t *testing.T) {
			eachRunner(t, func(t *testing.T, r runner) {
				ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
				defer cancel()
				if got := r.run(ctx, Job{Code: code}); got.Ended || ctx.Err() == nil {
					t.Errorf("%+v", got)
				}
				if left := sandboxed(t); len(left) > 0 {
					t.Errorf("processes %v are left", left)
				}
				if got := r.run(t.Context(), Job{Code: "print(1)"}); !got.Ended || got.Output != "1\n" {
					t.Errorf("an honest program after it: %+v", got)
				}
			})
		})
	}
}

// sandboxed lists the children of this process, and theirs.
func sandboxed(t *testing.T) []int {
	t.Helper()
	var left []int
	for range 100 { // bubblewrap's first process dies before its last
		g := group{first: os.Getpid(), bounds: usualBounds}
		if left, _ = g.members(); len(left) == 1 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left[1:]
}

// TestManyFiles: the number of files has a bound too.
func TestManyFiles(t *testing.T) {
	testhome.Slow(t)
	eachRunner(t, func(t *testing.T, r runner) {
		got := r.run(t.Context(), Job{Code: "for n in range(10**7): open('/tmp/%d' % n, 'w').close()"})
		if got.Ended || !strings.Contains(got.Fault, "No space left") && !strings.Contains(got.Fault, "made more than") {
			t.Errorf("%+v", got)
		}
	})
}

// TestOutputFlood: a program that writes without end is stopped, and its output is bounded. On a crowded machine its time may end first.
func TestOutputFlood(t *testing.T) {
	testhome.Slow(t)
	eachRunner(t, func(t *testing.T, r runner) {
		got := r.run(t.Context(), Job{Code: "import sys\nwhile True: sys.stdout.write('x' * (1 << 20))"})
		late := len(got.Output) < maxOutput && strings.Contains(got.Fault, "ran longer than")
		if got.Ended || len(got.Output) > maxOutput || !late && !strings.Contains(got.Fault, "wrote more than") {
			t.Errorf("%d bytes of output, %q", len(got.Output), got.Fault)
		}
	})
}

// TestHonestPrograms: what honest programs use works in every sandbox.
func TestHonestPrograms(t *testing.T) {
	testhome.Slow(t)
	eachRunner(t, func(t *testing.T, r runner) {
		for code, want := range map[string]string{
			"import threading\nl = []\nts = [threading.Thread(target=l.append, args=(i,)) for i in range(20)]\n[x.start() for x in ts]; [x.join() for x in ts]\nprint(len(l))": "20\n",
			"from concurrent.futures import ThreadPoolExecutor\nprint(sum(ThreadPoolExecutor().map(int, '123')))":                                                              "6\n",
			"import asyncio\nasync def f(): await asyncio.sleep(0.01); return 7\nprint(asyncio.run(f()))":                                                                      "7\n",
			"import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f: f.write('x'); f.seek(0); print(f.read())":                                                           "x\n",
			"import os, sys\np = os.posix_spawn(sys.executable, [sys.executable, '-c', 'print(5)'], {})\nos.waitpid(p, 0)":                                                     "5\n",
			"import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 3').fetchone()[0])":                                                                             "3\n",
			"import datetime, zoneinfo, decimal, hashlib, ssl, zlib, bz2\nprint(hashlib.sha256(b'').hexdigest()[:4])":                                                          "e3b0\n",
			"import ctypes\nx = ctypes.CDLL(None).getpid()\nprint(x > 0)":                                                                                                      "True\n",
			"import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return n and f(n-1) + 1\nprint(f(9000))":                                                                      "9000\n",
			"import numpy; print(int(numpy.arange(4).sum()))":                                                                                                                  "6\n",
			"import os; print(open('/dev/stdin').read().strip(), os.path.exists('/dev/fd/0'))":                                                                                 "4 True\n",
		} {
			got := r.run(t.Context(), Job{Code: code, Input: "4\n"})
			if strings.Contains(got.Fault, "No module named") {
				t.Logf("%q: %s", code, lastOf(got.Fault)) // an interpreter may lack it
				continue
			}
			if got.Output != want || !got.Ended {
				t.Errorf("%q: %+v", code, got)
			}
		}
	})
}

func lastOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
