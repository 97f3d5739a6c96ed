package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestLicencePage: docs/licences.md lists the modules that are linked, each with a licence that is accepted.
func TestLicencePage(t *testing.T) {
	testhome.Slow(t)
	t.Chdir("../..")
	list, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	want, err := licencePage(list)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("docs/licences.md"); err != nil || string(got) != want {
		t.Errorf("docs/licences.md is out of date (%v): run make licences", err)
	}
	texts, err := licenceTexts(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if !strings.Contains(texts, "==== "+m.path+" "+m.version) {
			t.Errorf("no text of the licence of %s", m.path)
		}
	}
}

// TestClassify: texts of licences are recognised, and those of others are refused.
func TestClassify(t *testing.T) {
	const bsd2 = "Redistributions in binary form must\n reproduce the above copyright notice"
	for text, want := range map[string]string{
		"Permission is hereby granted, free of\n charge, to any person": "MIT", bsd2: "BSD-2-Clause", bsd2 + " Neither the name of X": "BSD-3-Clause",
		"Apache License\n   Version 2.0, January 2004": "Apache-2.0", "all rights reserved": "",
	} {
		if got := strings.Join(classify(text), ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"GNU General Public License", "Mozilla Public\nLicense", "nothing known"} {
		m := module{path: "x", files: []licenceFile{{"LICENSE", text}}}
		if names, err := m.licencesOf(); err == nil {
			t.Errorf("%q is accepted as %v", text, names)
		}
	}
}

// TestEncoding: a licence in Latin-1 becomes UTF-8, and one in UTF-8 stays.
func TestEncoding(t *testing.T) {
	for text, want := range map[string]string{"copyright \xa9 1": "copyright © 1", "copyright © 1": "copyright © 1"} {
		if got := inUTF8([]byte(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestSBOM: the list has the program, Go and every module with its sum and licence; a module without a known licence is an error.
func TestSBOM(t *testing.T) {
	t.Setenv("VERSION", "v1.2.3")
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "a/b", Version: "v1.0.0+incompatible", Sum: "h1:x"}}, Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "x", Value: "y"}}}
	known := []module{{path: "a/b", version: "v1.0.0", files: []licenceFile{{"LICENSE", "Permission is hereby granted, free of charge"}}}}
	list, err := contentsOf(info, []byte("program"), known)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"bomFormat":"CycloneDX"`, `"specVersion":"1.6"`, `"version":"1.2.3"`, fmt.Sprintf("%x", sha256.Sum256([]byte("program"))), `pkg:golang/a/b@v1.0.0%2Bincompatible`,
		`pkg:golang/std@1.26.8`, `{"name":"go:sum","value":"h1:x"}`, `{"license":{"id":"MIT"}}`, `"name":"go:build:GOOS","value":"linux"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if _, err := contentsOf(info, nil, nil); err == nil {
		t.Error("a module without a licence is accepted")
	}
}

// TestRoff: no line of a help text is taken as a request, and hyphens stay hyphens, so that flags can be copied. An
// ellipsis moves no column.
func TestRoff(t *testing.T) {
	got := roff(page{"aiperf-x", 1, nil, "a short-text"}, "1.2.3", "Usage: aiperf x\n\n.hidden\n'quote\n  --flag-name\\\n  --url TEXT,…    base\nExamples:\n  aiperf x\n")
	for _, want := range []string{".TH \"AIPERF-X\" 1", "aiperf\\-x \\- a short\\-text", "\n\\&.hidden\n", "\n\\&'quote\n", "\\-\\-flag\\-name\\e", "url TEXT,...  base\n", "\n.SH EXAMPLES\n.nf\n  aiperf x\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// TestPythonVersion: versions as packages of Python write them.
func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "v1.2.3-rc1": "1.2.3rc1", "1.2.3-beta.2": "1.2.3b2", "v1.2.3-4-gabc123": "1.2.3.dev4+gabc123", "v1.2.3-4-gabc123-dirty": "1.2.3.dev4+gabc123",
		"abc123": "0.0.0.dev0", "dev": "0.0.0.dev0",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// TestWheelFile: the archive has every file with its mode, a list with their hashes, and is equal each time.
func TestWheelFile(t *testing.T) {
	files := []wheelFile{{"m/__init__.py", []byte("x = 1\n"), 0o644}, {"d.data/scripts/aiperf", []byte("program"), 0o755}}
	var archives [2]string
	for i := range archives {
		path := filepath.Join(t.TempDir(), "w.whl")
		if err := writeWheelFile(path, "d.dist-info/RECORD", files); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = string(text)
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r, err := z.File[2].Open()
		if err != nil {
			t.Fatal(err)
		}
		record, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("program"))
		if want := "d.data/scripts/aiperf,sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]) + ",7\n"; !strings.Contains(string(record), want) || !strings.HasSuffix(string(record), "d.dist-info/RECORD,,\n") {
			t.Errorf("%s", record)
		}
		if z.File[1].Mode().Perm() != 0o755 {
			t.Error(z.File[1].Mode())
		}
	}
	if archives[0] != archives[1] {
		t.Error("two wheels differ")
	}
}

// checkScoop compares a manifest with the parts of Scoop's schema.json that it uses. A key that the schema does not have is an error.
func checkScoop(t *testing.T, text []byte) {
	t.Helper()
	var m struct {
		Version, Description, Homepage, License string
		Architecture                            map[string]struct{ URL, Hash string }
		Bin                                     []any // the program; the program, its second name, and the arguments that the second name puts first
	}
	read := json.NewDecoder(bytes.NewReader(text))
	if read.DisallowUnknownFields(); read.Decode(&m) != nil || m.Version == "" || m.Homepage == "" || m.License == "" {
		t.Errorf("no manifest of Scoop: %s", text)
	}
	if names := slices.Sorted(maps.Keys(m.Architecture)); !slices.Equal(names, []string{"64bit", "arm64"}) {
		t.Errorf("architectures %v", names)
	}
	for name, a := range m.Architecture {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(a.Hash) || !strings.HasSuffix(a.URL, ".zip") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if want := []any{"aiperf.exe", []any{"aiperf.exe", "genai-perf", "genai-perf"}}; !reflect.DeepEqual(m.Bin, want) {
		t.Errorf("bin is %v, want %v", m.Bin, want)
	}
}

// TestManifests: formula and manifest get version and checksums; an incomplete list is refused.
func TestManifests(t *testing.T) {
	t.Chdir("../..")
	var sums strings.Builder
	for i, name := range []string{"darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "linux_amd64.tar.gz", "linux_arm64.tar.gz", "windows_amd64.zip", "windows_arm64.zip", "linux_amd64.deb"} {
		fmt.Fprintf(&sums, "%064x  aiperf_1.2.3_%s\n", i+1, name)
	}
	list, dir := filepath.Join(t.TempDir(), "checksums.txt"), t.TempDir()
	if err := os.WriteFile(list, []byte(sums.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeManifests(list, "https://host/o/aiperf/releases/", dir); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"aiperf.rb":   {`version "1.2.3"`, `url "https://host/o/aiperf/releases/download/v1.2.3/aiperf_1.2.3_linux_arm64.tar.gz"`, fmt.Sprintf("sha256 %q", fmt.Sprintf("%064x", 4))},
		"aiperf.json": {`"hash": "` + fmt.Sprintf("%064x", 6)},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(string(text), "@SUM") || strings.Contains(string(text), "@VERSION") {
			t.Errorf("%v: %s", err, text)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if name == "aiperf.json" {
			checkScoop(t, text)
		}
	}
	for _, bad := range []string{"", fmt.Sprintf("%064x  aiperf_1.2.3_linux_amd64.tar.gz\n", 1), sums.String() + fmt.Sprintf("%064x  aiperf_1.2.4_linux_amd64.tar.gz\n", 1)} {
		if err := os.WriteFile(list, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writeManifests(list, "https://host/o/aiperf/releases", dir); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// TestImageLayer: the image has the program, certificates and a user without rights; two images of equal input are equal. A program for another system
// is refused.
func TestImageLayer(t *testing.T) {
	dir := t.TempDir()
	program, certificates := filepath.Join(dir, "aiperf"), filepath.Join(dir, "certificates")
	for path, text := range map[string]string{program: "program", certificates: "CERT"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var archives [2][]byte
	for i := range archives {
		layer, err := imageLayer(program, certificates)
		if err != nil {
			t.Fatal(err)
		}
		if archives[i], err = imageArchive(layer, "arm64"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"nonroot:x:65532:", "usr/bin/genai-perf", "CERT", "program"} {
			if !strings.Contains(string(layer), want) {
				t.Errorf("no %s in the layer", want)
			}
		}
	}
	if string(archives[0]) != string(archives[1]) {
		t.Error("two images differ")
	}
	for _, want := range []string{`"architecture":"arm64"`, `"User":"65532:65532"`, `"Entrypoint":["/usr/bin/aiperf"]`, `"imageLayoutVersion":"1.0.0"`, `"org.opencontainers.image.ref.name"`} {
		if !strings.Contains(string(archives[0]), want) {
			t.Errorf("no %s", want)
		}
	}
	if err := writeImage(program, certificates, filepath.Join(dir, "x")); err == nil {
		t.Error("a file that is no program is accepted")
	}
	if _, err := imageLayer(program, filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "ca-certificates") {
		t.Errorf("missing certificates: %v", err)
	}
}

// TestOneSystem: the reduced configuration has one system and the version, and everything else of the real one.
func TestOneSystem(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := oneSystem(text, "1.2.3", "linux", "arm64")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"goos:\n        - linux\n", "goarch:\n        - arm64\n", "version_template: 1.2.3", "checksums.txt", "aiperf-mock-server.service"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, bad := range []string{"builds: []", "x: [", "builds: [x]"} {
		if _, err := oneSystem([]byte(bad), "1", "linux", "amd64"); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestUsage: a command that does not exist is an error.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"x"}, {"sbom"}, {"licences", "x"}} {
		if err := run(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if !slices.Contains(systems(), "linux") {
		t.Error(systems())
	}
}
