package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// The user of the image, who has no rights and no name elsewhere.
const (
	imageUser = 65532
	accounts  = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/work:/sbin/nologin\n"
	groups    = "root:x:0:\nnonroot:x:65532:\n"
)

// descriptor names a part of an image (https://github.com/opencontainers/image-spec/blob/main/descriptor.md).
type descriptor struct {
	Type        string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// imageConfig says how the program of an image is started.
type imageConfig struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User       string
		Env        []string
		Entrypoint []string
		WorkingDir string
		Labels     map[string]string
	} `json:"config"`
	Root struct {
		Type  string   `json:"type"`
		Diffs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

type imageManifest struct {
	Schema int          `json:"schemaVersion"`
	Type   string       `json:"mediaType"`
	Config descriptor   `json:"config"`
	Layers []descriptor `json:"layers"`
}

type imageIndex struct {
	Schema    int          `json:"schemaVersion"`
	Manifests []descriptor `json:"manifests"`
}

// writeImage writes an OCI image with the program and the certificates of public authorities as an archive that container engines load. It starts from
// an empty root, has one layer, and is equal for equal input.
func writeImage(program, certificates, path string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	system := map[string]string{}
	for _, s := range info.Settings {
		system[s.Key] = s.Value
	}
	if system["CGO_ENABLED"] != "0" || system["GOOS"] != "linux" {
		return fmt.Errorf("%s: built for %s with CGO_ENABLED=%s; an image needs a static program for linux", program, system["GOOS"], system["CGO_ENABLED"])
	}
	layer, err := imageLayer(program, certificates)
	if err != nil {
		return err
	}
	out, err := imageArchive(layer, system["GOARCH"])
	if err != nil {
		return err
	}
	return os.WriteFile(path, out, 0o644)
}

// imageLayer returns the root file system of the image as tar.
func imageLayer(program, certificates string) ([]byte, error) {
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(certificates)
	if err != nil {
		return nil, fmt.Errorf("certificates of public authorities: %w (Debian: apt-get install ca-certificates)", err)
	}
	return tarOf([]tar.Header{
		{Name: "etc/", Mode: 0o755}, {Name: "etc/passwd", Mode: 0o644}, {Name: "etc/group", Mode: 0o644},
		{Name: "etc/ssl/", Mode: 0o755}, {Name: "etc/ssl/certs/", Mode: 0o755}, {Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644},
		{Name: "tmp/", Mode: 0o1777}, {Name: "work/", Mode: 0o755, Uid: imageUser, Gid: imageUser},
		{Name: "usr/", Mode: 0o755}, {Name: "usr/bin/", Mode: 0o755}, {Name: "usr/bin/aiperf", Mode: 0o755},
		{Name: "usr/bin/genai-perf", Linkname: "aiperf", Typeflag: tar.TypeSymlink, Mode: 0o777},
	}, map[string][]byte{
		"etc/passwd": []byte(accounts), "etc/group": []byte(groups), "etc/ssl/certs/ca-certificates.crt": authorities, "usr/bin/aiperf": binary,
	})
}

// tarOf packs files whose time is the beginning of 1970.
func tarOf(headers []tar.Header, content map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.Size, h.ModTime = int64(len(content[h.Name])), time.Unix(0, 0)
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(content[h.Name]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

// imageArchive puts a layer into an image in the form "OCI image layout" as tar.
func imageArchive(layer []byte, architecture string) ([]byte, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(layer); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	blobs := blobs{content: map[string][]byte{}}
	manifest := imageManifest{Schema: 2, Type: "application/vnd.oci.image.manifest.v1+json"}
	manifest.Layers = []descriptor{blobs.add("application/vnd.oci.image.layer.v1.tar+gzip", packed.Bytes())}
	manifest.Config = blobs.addJSON("application/vnd.oci.image.config.v1+json", imageStart(layer, architecture))
	top := blobs.addJSON(manifest.Type, manifest)
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": "aiperf:" + releaseVersion()} // podman load names the image so
	index, err := json.Marshal(imageIndex{Schema: 2, Manifests: []descriptor{top}})
	if err != nil {
		return nil, err
	}
	blobs.put("index.json", index)
	blobs.put("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return tarOf(blobs.headers, blobs.content)
}

// imageStart returns the configuration of an image with one layer.
func imageStart(layer []byte, architecture string) imageConfig {
	c := imageConfig{Architecture: architecture, OS: "linux"}
	c.Config.User = fmt.Sprintf("%d:%d", imageUser, imageUser)
	c.Config.Env = []string{"PATH=/usr/bin", "HOME=/work"}
	c.Config.Entrypoint = []string{"/usr/bin/aiperf"}
	c.Config.WorkingDir = "/work"
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.title": "aiperf", "org.opencontainers.image.version": releaseVersion(), "org.opencontainers.image.licenses": "Apache-2.0",
	}
	c.Root.Type, c.Root.Diffs = "layers", []string{digest(layer)}
	return c
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// blobs are the files of an image in the order in which they were added.
type blobs struct {
	headers []tar.Header
	content map[string][]byte
}

func (b *blobs) put(name string, text []byte) {
	b.headers, b.content[name] = append(b.headers, tar.Header{Name: name, Mode: 0o644}), text
}

func (b *blobs) add(kind string, text []byte) descriptor {
	sum := digest(text)
	b.put("blobs/sha256/"+sum[len("sha256:"):], text)
	return descriptor{Type: kind, Digest: sum, Size: len(text)}
}

func (b *blobs) addJSON(kind string, value any) descriptor {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the types above hold only texts and numbers
	}
	return b.add(kind, text)
}
