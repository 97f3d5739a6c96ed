package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHostilePrograms: every way that holds on this machine keeps programs from the network, from files, from memory and time beyond their bounds,
// and from what else runs here.
func TestHostilePrograms(t *testing.T) {
	if !possible(t) {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	local, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	hidden, err := net.Listen("unix", "@aiperf-sandbox-test-"+filepath.Base(filepath.Dir(dir)))
	if err != nil {
		t.Fatal(err)
	}
	defer hidden.Close()
	t.Setenv("AIPERF_SANDBOX_SECRET", "hunter2")
	programs := map[string]string{
		"connects to this machine": fmt.Sprintf("import socket\nsocket.create_connection(('127.0.0.1', %d), 1)", listener.Addr().(*net.TCPAddr).Port),
		"connects by an abstract socket": fmt.Sprintf("import socket\nsocket.socket(socket.AF_UNIX).connect('\\0%s')",
			strings.TrimPrefix(hidden.Addr().String(), "@")),
		"sends a datagram":       "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
		"writes beside the test": fmt.Sprintf("open(%q, 'w')", filepath.Join(dir, "x")),
		"removes a file":         fmt.Sprintf("import os\nos.remove(%q)", socket),
		"writes to /":            "open('/x', 'w')",
		"writes to the home":     fmt.Sprintf("open(%q, 'w')", filepath.Join(os.Getenv("HOME"), ".aiperf-sandbox-x")),
		"mounts":                 "import ctypes\nif ctypes.CDLL(None).mount(b'none', b'/mnt', b'tmpfs', 0, None) != 0: raise OSError('no')",
		"ends its parent":        "import ctypes\nif ctypes.CDLL(None).kill(" + fmt.Sprint(os.Getpid()) + ", 9) != 0: raise OSError('no')",
		"reads the environment":  fmt.Sprintf("assert b'hunter2' in open('/proc/%d/environ', 'rb').read()", os.Getpid()),
		"has the environment":    "import os\nassert 'AIPERF_SANDBOX_SECRET' in os.environ",
		"takes memory":           "x = bytearray(5 << 30)",
		"takes the disk":         "n = 0\nwhile n < 9:\n  n += 1\n  open('/tmp/%d' % n, 'wb').write(bytes(40 << 20))",
		"opens many files":       "x = [open('/dev/null') for _ in range(500)]",
		"becomes root":           "import os\nos.setuid(0) if os.getuid() else os.chroot('/tmp')\nopen('/proc/sys/kernel/hostname', 'w').write('x')",
	}
	for _, w := range ways {
		r, err := w.open(t.Context(), find().python)
		if err != nil {
			t.Logf("%s does not hold on this machine: %v", w.name, err)
			continue
		}
		all, err := json.Marshal(programs)
		if err != nil {
			t.Fatal(err)
		}
		got := r.run(t.Context(), Job{Input: string(all), Code: "import json\nfor name, code in json.loads(input()).items():\n" +
			"  try: exec(code, {}); print('a program', name)\n  except (Exception, MemoryError): pass\nprint('end')"})
		if got.Output != "end\n" || !got.Ended {
			t.Errorf("%s: %+v", w.name, got)
		}
		soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if got := r.run(soon, Job{Code: "import os\nos.posix_spawn('/bin/sleep', ['sleep', '60'], {})\nwhile True: pass"}); got.Ended || soon.Err() == nil {
			t.Errorf("%s: a program without an end: %+v", w.name, got)
		}
		cancel()
		if got := r.run(t.Context(), Job{Code: "print(1)"}); !got.Ended || got.Output != "1\n" {
			t.Errorf("%s: an honest program after them: %+v", w.name, got)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the directory of the test holds %v, %v", left, err)
	}
}
