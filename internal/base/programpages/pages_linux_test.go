package programpages

import (
	"bytes"
	_ "embed"
	"os"
	"strconv"
	"testing"
)

//go:embed pages_linux.go
var source string

// TestRelease: released pages leave the memory and have their content again when they are used.
func TestRelease(t *testing.T) {
	before := bytes.Clone(Bytes(source))
	was := resident(t)
	Release()
	now := resident(t)
	if now >= was {
		t.Errorf("%d KB of the program file were in memory, and %d KB after the release", was, now)
	}
	if !bytes.Equal(before, Bytes(source)) {
		t.Error("the content of a released page has changed")
	}
}

// resident returns how many KB of read-only mappings of the program file are in memory.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	sum, inside := 0, false
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		switch {
		case !bytes.HasSuffix(f[0], []byte(":")):
			_, size := readOnly(bytes.TrimSpace(line), path)
			inside = size > 0
		case inside && string(f[0]) == "Rss:":
			kb, err := strconv.Atoi(string(f[1]))
			if err != nil {
				t.Fatal(err)
			}
			sum += kb
		}
	}
	return sum
}

func TestReadOnly(t *testing.T) {
	for line, want := range map[string][2]uintptr{
		"00400000-0141c000 r-xp 00000000 fe:00 1 /opt/ai perf":  {0x400000, 0x101c000},
		"0141c000-02450000 r--p 0101c000 fe:00 1 /opt/ai perf":  {0x141c000, 0x1034000},
		"02450000-028f9000 rw-p 02050000 fe:00 1 /opt/ai perf":  {},
		"7f0000000000-7f0000001000 r--p 00000000 00:00 0":       {},
		"7f0000000000-7f0000001000 r-xp 0 fe:00 1 /lib/libc.so": {},
		"x-y r--p 0 fe:00 1 /opt/ai perf":                       {},
		"02-01 r--p 0 fe:00 1 /opt/ai perf":                     {},
		"":                                                      {},
	} {
		from, size := readOnly([]byte(line), "/opt/ai perf")
		if [2]uintptr{from, size} != want {
			t.Errorf("%q: %x, %x, want %x", line, from, size, want)
		}
	}
}

func BenchmarkRelease(b *testing.B) {
	for b.Loop() {
		Release()
	}
}
