package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"go.yaml.in/yaml/v3"
)

// oneSystem returns a configuration of GoReleaser that makes a release of a version for one system only.
func oneSystem(config []byte, version, system, architecture string) ([]byte, error) {
	var c map[string]any
	if err := yaml.Unmarshal(config, &c); err != nil {
		return nil, err
	}
	builds, _ := c["builds"].([]any)
	if len(builds) != 1 {
		return nil, errors.New(".goreleaser.yaml: one build is expected under builds")
	}
	build, _ := builds[0].(map[string]any)
	if build == nil {
		return nil, errors.New(".goreleaser.yaml: the build has no settings")
	}
	build["goos"], build["goarch"] = []string{system}, []string{architecture}
	c["snapshot"] = map[string]string{"version_template": version}
	return yaml.Marshal(c)
}

// snapshot makes the files of a release of this system in dist/, as if this tree had a version, and moves them to place. The image and the wheel carry
// the same program.
func snapshot(version, place string) error {
	config, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return err
	}
	if config, err = oneSystem(config, version, runtime.GOOS, runtime.GOARCH); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "snapshot")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	reduced := filepath.Join(dir, "goreleaser.yaml")
	if err := os.WriteFile(reduced, config, 0o600); err != nil {
		return err
	}
	cmd := exec.Command("goreleaser", "release", "--snapshot", "--clean", "--skip=sign,publish", "--config", reduced)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("goreleaser: %w (make release-tools installs it)", err)
	}
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.Rename("dist", place); err != nil {
		return err
	}
	return carriers(version, place)
}

// authorities is where Linux distributions keep the certificates of public authorities.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// carriers makes the wheel and the image of the program that GoReleaser put into place.
func carriers(version, place string) error {
	if err := os.Setenv("VERSION", version); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(place, "*", "aiperf"))
	if err != nil || len(programs) != 1 {
		return fmt.Errorf("%s: one program is expected, found %v", place, programs)
	}
	if err := writeWheel(programs[0], place); err != nil {
		return err
	}
	return writeImage(programs[0], authorities, filepath.Join(place, fmt.Sprintf("aiperf_%s_linux_%s.oci.tar", version, runtime.GOARCH)))
}
