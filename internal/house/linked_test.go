package house

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinkerDropsMethods: nothing in the built program looks methods up by name, as text/template does; the linker would have to keep every exported
// method of every package (8 MB). cobra imports it for templates of help, which we set none of, so that the linker drops it.
func TestLinkerDropsMethods(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS *:= *(\S+)$`).FindSubmatch(text)
	if tags == nil {
		t.Fatal("the Makefile has no TAGS")
	}
	out, err := exec.Command("go", "list", "-deps", "-tags", string(tags[1]), "-f", `{{.ImportPath}}: {{join .Imports " "}} `, "aiperf/cmd/aiperf").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(line, ":")
		if (strings.Contains(imports, " text/template ") || strings.Contains(imports, " html/template ")) && name != "github.com/spf13/cobra" {
			t.Errorf("%s imports templates: write pages with internal/markup", name)
		}
	}
	use := regexp.MustCompile(`\.Set(Help|Usage|Version)Template\(`)
	for name, source := range sources(t, "../cli") {
		if use.MatchString(source) {
			t.Errorf("%s gives cobra a template", name)
		}
	}
}

// sources are the Go files below a directory, by path.
func sources(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		list[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
