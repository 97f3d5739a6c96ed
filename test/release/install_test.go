//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// archiveOf returns the archive of a release whose program prints a version.
func archiveOf(t *testing.T, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	if err := w.WriteHeader(&tar.Header{Name: "aiperf", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(script)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// releases serves the files of releases as a host of repositories does. wrong gives 1.0.0 a false checksum.
func releases(t *testing.T) *httptest.Server {
	t.Helper()
	files := map[string][]byte{}
	for _, version := range []string{"1.0.0", "1.1.0", "6.6.6", "7.7.7"} {
		script := "#!/bin/sh\necho aiperf " + version + "\n"
		if version == "7.7.7" {
			script = "#!/bin/sh\nexit 126\n"
		}
		archive := archiveOf(t, script)
		name := fmt.Sprintf("aiperf_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
		sum := fmt.Sprintf("%x", sha256.Sum256(archive))
		if version == "6.6.6" {
			sum = strings.Repeat("0", 64)
		}
		list := fmt.Sprintf("%s  %s\n%s  aiperf_%s_plan9_%s.tar.gz\n", sum, name, sum, version, runtime.GOARCH)
		for _, place := range []string{"/releases/download/v" + version, "/releases/latest/download"} {
			if version != "1.1.0" && strings.Contains(place, "latest") {
				continue
			}
			files[place+"/"+name], files[place+"/checksums.txt"] = archive, []byte(list)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestInstall: installs, upgrades and pins a version without root; a wrong checksum or a program that does not run changes nothing.
func TestInstall(t *testing.T) {
	s, home := releases(t), t.TempDir()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../packaging/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	install := func(args ...string) (string, error) {
		cmd := exec.Command(sh, append([]string{script}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "AIPERF_RELEASES=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	from := s.URL + "/releases"
	program := filepath.Join(home, ".local", "bin", "aiperf")
	says := func(want string) {
		t.Helper()
		for _, name := range []string{"aiperf", "genai-perf"} {
			if out, err := exec.Command(filepath.Join(filepath.Dir(program), name)).Output(); err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%s says %q, %v; want %q", name, out, err, want)
			}
		}
	}
	if out, err := install("--from", from, "--version", "v1.0.0"); err != nil || !strings.Contains(out, "export PATH=") {
		t.Fatalf("%v: %s", err, out)
	}
	says("aiperf 1.0.0")
	if out, err := install("--from", from+"/"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says("aiperf 1.1.0")
	for _, bad := range []struct {
		args []string
		says string
	}{
		{[]string{"--from", from, "--version", "6.6.6"}, "nothing was installed"},
		{[]string{"--from", from, "--version", "7.7.7"}, "does not run on this machine"},
		{[]string{"--from", from, "--version", "9.9.9"}, "cannot download"},
		{[]string{"--from", from, "--version", "../1"}, "is not a version"},
		{[]string{"--from"}, "needs a value"},
		{nil, "--from https://"},
		{[]string{"--other"}, "is not an option"},
	} {
		if out, err := install(bad.args...); err == nil || !strings.Contains(out, bad.says) {
			t.Errorf("%v: %v: %s", bad.args, err, out)
		}
	}
	says("aiperf 1.1.0")
	if left, err := os.ReadDir(filepath.Dir(program)); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	elsewhere := filepath.Join(home, "a b", "bin")
	if out, err := install("--from", from, "--dir", elsewhere); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "genai-perf")); err != nil {
		t.Error(err)
	}
	if out, err := install("--remove", "--dir", elsewhere); err != nil || !strings.Contains(out, "removed: ") {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("left after removal: %v, %v", left, err)
	}
	if out, err := install("--remove", "--dir", elsewhere); err == nil || !strings.Contains(out, "name the directory with --dir") {
		t.Errorf("nothing to remove: %v: %s", err, out)
	}
}
