//go:build linux && release

package packages

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var (
	newer   = flag.String("newer", "", "directory with the files of a release")
	older   = flag.String("older", "", "directory with the files of an earlier release, to upgrade from")
	systems = flag.String("systems", runtime.GOOS+"/"+runtime.GOARCH, "systems for which the newer release has files")
)

// files returns the directory of the newer release.
func files(t *testing.T) string {
	t.Helper()
	if *newer == "" {
		t.Fatal("-newer names no files of a release: run make packages-test")
	}
	return *newer
}

// versionOf returns the version of the release in a directory, from the name of its list of contents.
func versionOf(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "aiperf_*.cdx.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s has no aiperf_*.cdx.json, %v", dir, err)
	}
	parts := strings.Split(filepath.Base(found[0]), "_")
	return parts[1]
}

// read returns the content of a file of the release.
func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNamesAndChecksums: a release has exactly the files that docs/releasing.md lists, and each has its checksum.
func TestNamesAndChecksums(t *testing.T) {
	dir := files(t)
	version := versionOf(t, dir)
	var want []string
	for system := range strings.SplitSeq(*systems, ",") {
		name := fmt.Sprintf("aiperf_%s_%s", version, strings.ReplaceAll(system, "/", "_"))
		want = append(want, name+".cdx.json")
		switch {
		case strings.HasPrefix(system, "windows/"):
			want = append(want, name+".zip")
		case strings.HasPrefix(system, "linux/"):
			want = append(want, name+".tar.gz", name+".deb", name+".rpm")
		default:
			want = append(want, name+".tar.gz")
		}
	}
	slices.Sort(want)
	var listed []string
	for line := range strings.Lines(string(read(t, dir, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed = append(listed, name)
		if found := sha256.Sum256(read(t, dir, name)); hex.EncodeToString(found[:]) != sum {
			t.Errorf("%s has the checksum %x, not %s", name, found, sum)
		}
	}
	if slices.Sort(listed); !slices.Equal(listed, want) {
		t.Errorf("checksums.txt lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
	there, err := filepath.Glob(filepath.Join(dir, "aiperf_"+version+"_*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if name := filepath.Base(path); !slices.Contains(want, name) && !strings.HasSuffix(name, ".oci.tar") { // images go to registries, which have their own digests
			t.Errorf("%s is not in checksums.txt", name)
		}
	}
}

// packed returns the files of an archive: tar.gz, or zip.
func packed(t *testing.T, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if all[f.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Uname != "root" {
			t.Errorf("%s: %s belongs to %d, %s", filepath.Base(path), h.Name, h.Uid, h.Uname)
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestArchives: each archive has the static program for its system with the texts of a release, and its list of contents names the same program and modules.
func TestArchives(t *testing.T) {
	dir := files(t)
	version := versionOf(t, dir)
	for system := range strings.SplitSeq(*systems, ",") {
		t.Run(system, func(t *testing.T) {
			name, program, ending := fmt.Sprintf("aiperf_%s_%s", version, strings.ReplaceAll(system, "/", "_")), "aiperf", ".tar.gz"
			if strings.HasPrefix(system, "windows/") {
				program, ending = "aiperf.exe", ".zip"
			}
			all := packed(t, filepath.Join(dir, name+ending))
			for _, want := range []string{
				"LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENCES", "man/man1/aiperf.1", "man/man1/aiperf-profile.1", "man/man1/aiperf-kube-profile.1", "man/man7/aiperf-verdict.7", "completions/bash/aiperf", "completions/zsh/_aiperf",
				"completions/fish/aiperf.fish",
			} {
				if len(all[want]) == 0 {
					t.Errorf("no %s in %v", want, slices.Sorted(maps.Keys(all)))
				}
			}
			checkProgram(t, all[program], system, read(t, dir, name+".cdx.json"))
		})
	}
}

// contents is what this test reads of a list of contents.
type contents struct {
	Format   string `json:"bomFormat"`
	Metadata struct {
		Component struct {
			Version string
			Hashes  []struct{ Content string }
		}
	}
	Components []struct{ Name, Version string }
}

// checkProgram compares a program with its system and with its list of contents.
func checkProgram(t *testing.T, program []byte, system string, list []byte) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	if got := built["GOOS"] + "/" + built["GOARCH"]; got != system || built["CGO_ENABLED"] != "0" {
		t.Errorf("built for %s with CGO_ENABLED=%s", got, built["CGO_ENABLED"])
	}
	var c contents
	if err := json.Unmarshal(list, &c); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(program); c.Format != "CycloneDX" || len(c.Metadata.Component.Hashes) != 1 || c.Metadata.Component.Hashes[0].Content != hex.EncodeToString(sum[:]) {
		t.Errorf("the list of contents is of another program: %+v", c.Metadata)
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	var got []string
	for _, m := range c.Components {
		got = append(got, m.Name+" "+m.Version)
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("list of contents:\n%v\nprogram:\n%v", got, want)
	}
}

// imageSize is the limit of the image, in bytes: what an engine downloads.
const imageSize = 50 << 20

// TestImageFiles: the image is small, has nothing but what it needs, and the Dockerfile copies the same places and starts the program in the same way.
func TestImageFiles(t *testing.T) {
	dir := files(t)
	image := openImage(t, dir)
	if size := len(image.packed); size > imageSize {
		t.Errorf("%d bytes, want at most %d", size, imageSize)
	}
	docker, err := os.ReadFile("../../packaging/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	first, last, _ := strings.Cut(string(docker), "\nFROM scratch\n")
	if !strings.Contains(last, "\nCOPY --from=build /image /\n") && !strings.HasPrefix(last, "COPY --from=build /image /\n") {
		t.Errorf("the Dockerfile does not copy /image: %s", last)
	}
	copied := map[string]bool{"work": strings.Contains(last, " /work /work\n")} // by its own COPY, with its owner
	for _, m := range regexp.MustCompile(` >?/image/(\S+)`).FindAllStringSubmatch(first, -1) {
		place := strings.Trim(m[1], "/")
		if copied[place] = true; place == "etc/ssl/certs" { // the file keeps its name
			copied[place+"/ca-certificates.crt"] = true
		}
	}
	for _, h := range image.entries {
		place := strings.Trim(h.Name, "/")
		under := slices.ContainsFunc(slices.Collect(maps.Keys(copied)), func(c string) bool {
			return copied[c] && (place == c || strings.HasPrefix(c, place+"/"))
		})
		if !under {
			t.Errorf("the Dockerfile does not copy %s", h.Name)
		}
	}
	for _, want := range []string{"USER " + image.config.User, "WORKDIR " + image.config.WorkingDir, "ENV PATH=/usr/bin HOME=/work", `ENTRYPOINT ["` + strings.Join(image.config.Entrypoint, `", "`) + `"]`} {
		if !strings.Contains(last, "\n"+want+"\n") {
			t.Errorf("the Dockerfile has no line %s", want)
		}
	}
}

// startConfig is how the program of an image is started.
type startConfig struct {
	User, WorkingDir string
	Env, Entrypoint  []string
}

// image is an image as an engine would read it.
type image struct {
	config  startConfig
	packed  []byte // the layer as it is downloaded
	entries []*tar.Header
	layer   []byte
}

// descriptor names a part of an image.
type descriptor struct {
	Digest string
	Size   int
}

// openImage reads the image of a release along its references and compares every digest and size.
func openImage(t *testing.T, dir string) image {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.oci.tar"))
	if err != nil || len(found) != 1 {
		t.Fatalf("one *.oci.tar is expected in %s: %v, %v", dir, found, err)
	}
	parts := untar(t, read(t, dir, filepath.Base(found[0])), nil)
	blob := func(d descriptor) []byte {
		text := parts["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if sum := sha256.Sum256(text); d.Digest != "sha256:"+hex.EncodeToString(sum[:]) || d.Size != len(text) {
			t.Fatalf("%+v is not the digest and size of its content", d)
		}
		return text
	}
	var index struct{ Manifests []descriptor }
	decode(t, parts["index.json"], &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(t, blob(index.Manifests[0]), &manifest)
	var config struct {
		Config startConfig
		Rootfs struct {
			Diffs []string `json:"diff_ids"`
		}
	}
	decode(t, blob(manifest.Config), &config)
	i := image{config: config.Config, packed: blob(manifest.Layers[0])}
	z, err := gzip.NewReader(bytes.NewReader(i.packed))
	if err != nil {
		t.Fatal(err)
	}
	if i.layer, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(i.layer); config.Rootfs.Diffs[0] != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("diff_ids are %v, the layer is %x", config.Rootfs.Diffs, sum)
	}
	untar(t, i.layer, func(h *tar.Header) { i.entries = append(i.entries, h) })
	return i
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// untar returns the files of a tar archive and shows each entry to see.
func untar(t *testing.T, text []byte, see func(*tar.Header)) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if see != nil {
			see(h)
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}
