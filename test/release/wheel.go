package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// wheelTags maps GOOS/GOARCH to the platform tags of a wheel (https://packaging.python.org/specifications/platform-compatibility-tags). The program is
// static, so it runs with every C library. Go 1.26 needs macOS 12.
var wheelTags = map[string]string{
	"linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64", "windows/amd64": "win_amd64", "windows/arm64": "win_arm64",
}

// described matches what git describe prints for a commit after a tag.
var described = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(rc|beta|alpha)\.?(\d+))?(?:-(\d+)-(g[0-9a-f]+))?(?:-dirty)?$`)

// pythonVersion returns a version as Python's packages write it (PEP 440).
func pythonVersion(version string) string {
	m := described.FindStringSubmatch(strings.TrimPrefix(version, "v"))
	if m == nil {
		return "0.0.0.dev0"
	}
	out := m[1]
	if m[2] != "" {
		out += map[string]string{"rc": "rc", "beta": "b", "alpha": "a"}[m[2]] + m[3]
	}
	if m[4] != "" {
		out += ".dev" + m[4] + "+" + m[5]
	}
	return out
}

// The name of the package, as it is installed and as it is imported. "aiperf" is the Python tool's.
const (
	distribution = "aiperf-bin"
	pythonModule = "aiperf_bin"
)

const wheelModule = `"""The program aiperf as a Python package. aiperf itself needs no Python."""

import os
import subprocess
import sys
import sysconfig


def program():
    """Returns the path of the program that this package installed."""
    name = "aiperf.exe" if os.name == "nt" else "aiperf"
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(os.path.abspath(sys.argv[0])), sysconfig.get_path("scripts", os.name + "_user")):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit("error: the program aiperf is not where pip installs scripts; install the package again")


def genai_perf():
    """Runs aiperf under the name of GenAI-Perf."""
    command = [program(), "genai-perf", *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
`

// wheelFile is one file of a wheel.
type wheelFile struct {
	name string
	text []byte
	mode os.FileMode
}

// writeWheel writes a wheel that carries a built program. Equal programs give equal wheels.
func writeWheel(program, dir string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	system := map[string]string{}
	for _, s := range info.Settings {
		system[s.Key] = s.Value
	}
	tags, ok := wheelTags[system["GOOS"]+"/"+system["GOARCH"]]
	if !ok {
		return fmt.Errorf("%s: there are no wheels for %s/%s", program, system["GOOS"], system["GOARCH"])
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	version := pythonVersion(releaseVersion())
	stem := strings.ReplaceAll(distribution, "-", "_") + "-" + version
	binary := "aiperf"
	if system["GOOS"] == "windows" {
		binary += ".exe"
	}
	meta := stem + ".dist-info/"
	var tagLines strings.Builder
	for tag := range strings.SplitSeq(tags, ".") {
		fmt.Fprintf(&tagLines, "Tag: py3-none-%s\n", tag)
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	modules, err := linked()
	if err != nil {
		return err
	}
	notices, err := licenceTexts(modules)
	if err != nil {
		return err
	}
	files := []wheelFile{
		{pythonModule + "/__init__.py", []byte(wheelModule), 0o644},
		{stem + ".data/scripts/" + binary, text, 0o755},
		{meta + "METADATA", fmt.Appendf(nil, "Metadata-Version: 2.3\nName: %s\nVersion: %s\nSummary: Benchmarks of LLM inference servers\nLicense-Expression: Apache-2.0\nRequires-Python: >=3.8\n", distribution, version), 0o644},
		{meta + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: aiperf test/release\nRoot-Is-Purelib: false\n" + tagLines.String()), 0o644},
		{meta + "entry_points.txt", []byte("[console_scripts]\ngenai-perf = " + pythonModule + ":genai_perf\n"), 0o644},
		{meta + "licenses/LICENSE", licence, 0o644},
		{meta + "licenses/THIRD-PARTY-LICENCES", []byte(notices), 0o644},
	}
	return writeWheelFile(filepath.Join(dir, fmt.Sprintf("%s-py3-none-%s.whl", stem, tags)), meta+"RECORD", files)
}

// firstDay is the first day that ZIP knows.
var firstDay = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// writeWheelFile writes the archive with its list of hashes (PEP 427).
func writeWheelFile(path, record string, files []wheelFile) error {
	var list strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&list, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&list, "%s,,\n", record)
	files = append(files, wheelFile{record, []byte(list.String()), 0o644})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: firstDay}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.text)
		}
		if err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
