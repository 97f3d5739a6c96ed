package testhome

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnter: the user's home and settings are gone, the go command still finds its cache, and nothing is left behind.
func TestEnter(t *testing.T) {
	before, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE", "TMPDIR", "TMP", "TEMP", "GOCACHE", "GOMODCACHE", "GOPATH", "GOENV", "PATH"} {
		t.Setenv(name, os.Getenv(name)) // restored after the test
	}
	for _, name := range []string{"AIPERF_HTTP_TIMEOUT", "HF_TOKEN", "HTTPS_PROXY", "WANDB_API_KEY", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "of the user")
	}
	if os.Getenv("GOENV") == "" {
		os.Unsetenv("GOENV")
	}
	user, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	remove, err := Enter()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil || home == user {
		t.Errorf("home is %q, %v", home, err)
	}
	if dir := os.TempDir(); !strings.HasPrefix(dir, home) {
		t.Errorf("temporary files lie in %s, outside of %s", dir, home)
	}
	for _, pair := range os.Environ() {
		if strings.HasSuffix(pair, "=of the user") {
			t.Errorf("%s is still set", pair)
		}
	}
	after, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil || string(after) != string(before) {
		t.Errorf("the cache of go is %s, %v; it was %s", after, err, before)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Clean(home)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", home, err)
	}
}
