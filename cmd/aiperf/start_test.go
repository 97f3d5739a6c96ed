//go:build unix

package main

import (
	"regexp"
	"strconv"
	"testing"
)

// TestStartsLight: what packages make before main begins keeps every command waiting, the shell's completion too. Bytes are counted, not time.
func TestStartsLight(t *testing.T) {
	t.Parallel()
	cmd := command(t, "help")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`(?m)^init (\S+) .* clock, (\d+) bytes`).FindAllSubmatch(out, -1)
	if len(found) < 20 {
		t.Fatalf("%d packages:\n%s", len(found), out)
	}
	for _, f := range found {
		if bytes, err := strconv.Atoi(string(f[2])); err != nil || bytes > 2<<20 {
			t.Errorf("%s: %s bytes before main, allowed: 2 MiB", f[1], f[2])
		}
	}
}
