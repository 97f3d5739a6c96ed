//go:build unix

package media

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/workload/conversation"
)

// fakeFFmpeg is a program that writes its output at once as long as there is no file "slow" in its directory, and never ends otherwise.
const fakeFFmpeg = `#!/bin/sh
for out; do :; done
cat >/dev/null
echo begun >"$out"
if [ -e "${0%/*}/slow" ]; then echo $$ >"${0%/*}/pid"; exec sleep 1000; fi
`

// TestCloseEndsTheEncoder closes a maker while the worker of a cache encodes a video: the program and its files are gone, and nothing follows.
func TestCloseEndsTheEncoder(t *testing.T) {
	bin, temp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte(fakeFFmpeg), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temp)
	m, err := New(t.Context(), Options{Root: seeded(), Video: clips(sceneNoise)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "slow"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	items := m.Draw(m.Draw(nil))
	cache := NewContentCache(func(i int) conversation.Part { return m.Part(items[i]) })
	cache.Want(0, 1)
	var pid []byte
	for deadline := time.Now().Add(20 * time.Second); len(pid) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the encoder did not start")
		}
		pid, _ = os.ReadFile(filepath.Join(bin, "pid")) // there once it runs
	}
	m.Close()
	cache.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
			t.Errorf("the encoder still runs")
		}
	}
	cache.Want(1)
	if raw, err := cache.Part(1).Blob.Bytes(); err == nil {
		t.Errorf("a closed maker made %q", raw)
	}
}
