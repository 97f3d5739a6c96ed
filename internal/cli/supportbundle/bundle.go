// Package supportbundle packs the files of a finished run for somebody who helps: without credentials, without prompts and answers unless they are
// wanted, bounded in size, and with a list of its contents. Two bundles of the same files are equal.
package supportbundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"aiperf/internal/base/redact"
)

// Options are the settings of a bundle.
type Options struct {
	Dir     string          // of the run or of the series
	Content bool            // include prompts and answers
	MaxSize int64           // of all files before compression, bytes
	Secrets *redact.Secrets // known credentials; those of the files are added
	Flag    redact.Kinds    // kinds of the flags of command lines
	Extra   []Extra         // further files, placed before those of the run
}

// Extra is a file that is not part of the run.
type Extra struct {
	Name string
	Text []byte
}

// contentsFile is the name of the list of contents.
const contentsFile = "contents.json"

// Plan is a bundle that is not written yet.
type Plan struct {
	Files []*File // of the run, by name
	parts []Extra // cleaned, in the order of the bundle
}

// Make reads and cleans the files of a run.
func Make(o Options) (*Plan, error) {
	files, err := list(o.Dir, o.Content)
	if err != nil {
		return nil, err
	}
	texts := map[*File][]string{}
	share := o.MaxSize
	for i, f := range files {
		if f.Omitted != "" {
			continue
		}
		// A file gets an equal part of the rest, so that one large file does not displace the others; small files leave more for the rest.
		lines, left, err := shortened(filepath.Join(o.Dir, filepath.FromSlash(f.Name)), share/int64(remaining(files[i:])))
		if err != nil {
			f.Omitted = "cannot be read"
			continue
		}
		f.Left, texts[f] = left, lines
		for _, line := range lines {
			share -= int64(len(line)) + 1
			o.Secrets.Add(findSecrets(line, o.Flag)...)
		}
		if whole := strings.Join(lines, "\n"); strings.HasSuffix(f.Name, ".json") {
			o.Secrets.Add(findSecrets(whole, o.Flag)...)
		}
		share = max(0, share)
	}
	p := &Plan{Files: files}
	for _, e := range o.Extra {
		s := scrubber{secrets: o.Secrets, flag: o.Flag}
		p.parts = append(p.parts, Extra{e.Name, []byte(s.file(e.Name, strings.Split(strings.TrimSuffix(string(e.Text), "\n"), "\n")))})
	}
	for _, f := range files {
		if f.Omitted != "" {
			continue
		}
		s := scrubber{secrets: o.Secrets, flag: o.Flag}
		text := s.file(f.Name, texts[f])
		f.Packed, f.Redacted = int64(len(text)), s.changed
		p.parts = append(p.parts, Extra{"run/" + f.Name, []byte(text)})
	}
	return p, nil
}

// remaining counts the files that are not omitted.
func remaining(files []*File) (n int) {
	for _, f := range files {
		if f.Omitted == "" {
			n++
		}
	}
	return n
}

// file cleans a file: a JSON document as a whole, other files line by line.
func (s *scrubber) file(name string, lines []string) string {
	if whole := strings.Join(lines, "\n"); strings.HasSuffix(name, ".json") && json.Valid([]byte(whole)) {
		clean := s.json([]byte(whole))
		if clean != whole {
			s.changed = changedLines(whole, clean)
		}
		return clean + "\n"
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(s.line(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// changedLines counts the lines in which two texts differ; at least one.
func changedLines(a, b string) (n int) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	if len(x) != len(y) {
		return 1 // the document was written again
	}
	for i := range x {
		if x[i] != y[i] {
			n++
		}
	}
	return max(1, n)
}

// Write writes the bundle as a ZIP archive. Its times are constant.
func (p *Plan) Write(w io.Writer) error {
	var contents bytes.Buffer
	enc := json.NewEncoder(&contents)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(struct {
		Note  string  `json:"note"`
		Files []*File `json:"files"`
	}{"Credentials are replaced by " + redact.Placeholder + " as far as they were recognised. Look through the files before you send them.", p.Files}); err != nil {
		return err
	}
	z := zip.NewWriter(w)
	for _, part := range append([]Extra{{contentsFile, contents.Bytes()}}, p.parts...) {
		to, err := z.CreateHeader(&zip.FileHeader{Name: part.Name, Method: zip.Deflate})
		if err == nil {
			_, err = to.Write(part.Text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
	}
	return z.Close()
}
