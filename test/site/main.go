// Site prepares the documentation site: it copies the pages of docs/, the pages of the root and the examples into a folder, turns links between them
// into links of the site, and writes the settings of MkDocs with a navigation of four parts. `make site` then builds pages that need no network, and
// checks them.
//
//	go run ./test/site DIR          writes DIR/pages and DIR/mkdocs.yml
//	go run ./test/site check HTML   fails if a built page loads anything from another place
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1:
		err = prepare(".", args[0])
	case len(args) == 2 && args[0] == "check":
		err = check(args[1])
	default:
		err = errors.New("usage: site DIR | site check HTML")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// prepare writes the sources and the settings of the site of a repository into dir.
func prepare(root, dir string) error {
	s, err := readSite(root)
	if err != nil {
		return err
	}
	sources := filepath.Join(dir, "pages")
	if err := os.RemoveAll(sources); err != nil {
		return err
	}
	for from, to := range s.files {
		text, err := s.content(from)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(sources, filepath.FromSlash(to)), text); err != nil {
			return err
		}
	}
	settings, err := s.settings()
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, "mkdocs.yml"), settings)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// site knows which file of the repository becomes which file of the site; both are slash-separated paths.
type site struct {
	root  string
	files map[string]string
}

// startPage is the page with the four parts.
const startPage = "docs/README.md"

// rootPages are pages outside docs and their places in the site.
var rootPages = map[string]string{
	startPage: "index.md", "README.md": "overview.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md",
	"examples/README.md": "examples/index.md", "contrib/python/README.md": "aiperf_plugin.md",
}

// readSite finds the files of the site.
func readSite(root string) (*site, error) {
	s := &site{root: root, files: map[string]string{}}
	for from, to := range rootPages {
		s.files[from] = to
	}
	docs := filepath.Join(root, "docs")
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		from, err := filepath.Rel(root, path)
		from = filepath.ToSlash(from)
		if _, known := s.files[from]; !known && (strings.HasSuffix(from, ".md") || strings.HasSuffix(from, ".png")) {
			s.files[from] = strings.TrimPrefix(from, "docs/")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	examples, err := filepath.Glob(filepath.Join(root, "examples", "*", "run"))
	for _, run := range examples {
		name := filepath.Base(filepath.Dir(run))
		s.files["examples/"+name] = "examples/" + name + ".md"
	}
	if len(examples) == 0 {
		err = errors.Join(err, errors.New("no examples"))
	}
	return s, err
}

// content returns a file as the site has it.
func (s *site) content(from string) ([]byte, error) {
	path := filepath.Join(s.root, filepath.FromSlash(from))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return examplePage(path)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(from, ".md") {
		return text, err
	}
	return []byte(s.relink(from, string(text))), nil
}

// exampleFile is the longest file that the page of an example shows in full, in bytes.
const exampleFile = 8000

// examplePage shows the files of an example on one page.
func examplePage(dir string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Example: %s\n", filepath.Base(dir))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		shown := string(text)
		if len(shown) > exampleFile {
			shown = shown[:exampleFile] + "\n…\n"
		}
		fmt.Fprintf(&b, "\n## %s\n\n````text\n%s````\n", filepath.ToSlash(name), shown)
		return err
	})
	return []byte(b.String()), err
}
