package supportbundle

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// File is one file of the run and what the bundle does with it.
type File struct {
	Name     string `json:"name"`               // below the directory of the run, with slashes
	Bytes    int64  `json:"bytes"`              // on disk
	Packed   int64  `json:"packed_bytes"`       // in the bundle, before compression
	Left     int64  `json:"left_out,omitempty"` // lines from the middle that were excluded
	Redacted int    `json:"redacted_lines,omitempty"`
	Omitted  string `json:"omitted,omitempty"` // why the bundle lacks it; empty = it has it
}

// Limits of a bundle.
const (
	maxFiles = 2000
	maxDepth = 8
	maxLine  = 1 << 20 // bytes; longer lines are excluded
)

// kinds are the extensions of files that can be searched for credentials line by line.
var kinds = []string{".json", ".jsonl", ".csv", ".txt", ".log", ".yaml", ".yml", ".xml", ".md"}

// contentFiles hold prompts and answers.
var contentFiles = []string{"inputs.json", "outputs.json", "_raw.jsonl", "raw_records.jsonl", "dataset.jsonl"}

// holdsContent reports whether a file has prompts or answers.
func holdsContent(name string) bool {
	base := path.Base(name)
	return slices.ContainsFunc(contentFiles, func(end string) bool { return strings.HasSuffix(base, end) })
}

// list returns the files of a run in the order of their names. It follows no link.
func list(dir string, content bool) (files []*File, err error) {
	root, err := filepath.EvalSymlinks(dir) // the user named it
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, full)
		if relErr != nil {
			return relErr
		}
		name := filepath.ToSlash(rel)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			files = append(files, &File{Name: name, Omitted: "cannot be read"})
			return nil //nolint:nilerr // the list says so
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			files = append(files, &File{Name: name, Omitted: "too deep"})
			return fs.SkipDir
		case d.IsDir():
			return nil
		case len(files) >= maxFiles:
			files = append(files, &File{Name: name, Omitted: "this and later files: too many files"})
			return fs.SkipAll
		}
		files = append(files, judge(name, d, content))
		return nil
	})
	return files, err
}

// judge decides whether a file belongs into the bundle.
func judge(name string, d fs.DirEntry, content bool) *File {
	f := &File{Name: name}
	info, err := d.Info()
	switch {
	case err != nil:
		f.Omitted = "cannot be read"
		return f
	case info.Mode()&os.ModeSymlink != 0:
		f.Omitted = "a link"
		return f
	case !info.Mode().IsRegular():
		f.Omitted = "not a regular file"
		return f
	}
	f.Bytes = info.Size()
	switch {
	case strings.HasPrefix(path.Base(name), "."):
		f.Omitted = "a hidden file"
	case !slices.Contains(kinds, strings.ToLower(path.Ext(name))):
		f.Omitted = "not text that can be searched for credentials"
	case !content && holdsContent(name):
		f.Omitted = "prompts and answers; --with-content includes them"
	}
	return f
}
