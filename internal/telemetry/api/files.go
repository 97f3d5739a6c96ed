package api

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// listedFile is one file of a run.
type listedFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
}

// list lists the files directly in the directory, sorted by name (os.ReadDir); none if the directory does not exist.
func (s *Source) list(w http.ResponseWriter, r *http.Request) {
	files := []listedFile{}
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		refuse(w, r, http.StatusInternalServerError, "the artifact directory of the run cannot be read")
		return
	}
	for _, one := range entries {
		if info, err := one.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, listedFile{one.Name(), info.Size()})
		}
	}
	document(w, r, map[string]any{"files": files})
}

// kinds maps file extensions to content types.
var kinds = map[string]string{
	".json": "application/json", ".jsonl": "application/x-ndjson", ".csv": "text/csv", ".parquet": "application/vnd.apache.parquet", ".txt": "text/plain",
}

// file sends a file from the directory of the run. It refuses a name that leaves the directory, directly or through a link.
func (s *Source) file(w http.ResponseWriter, r *http.Request, name string) {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
		refuse(w, r, http.StatusBadRequest, "Invalid filename")
		return
	}
	folder, err := os.OpenRoot(s.Dir)
	if err != nil {
		refuse(w, r, http.StatusNotFound, "Result file not found: "+name)
		return
	}
	defer folder.Close()
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would block
		refuse(w, r, http.StatusNotFound, "Result file not found: "+name)
		return
	}
	f, err := folder.Open(name)
	if err != nil {
		refuse(w, r, http.StatusNotFound, "Result file not found: "+name)
		return
	}
	defer f.Close()
	kind, known := kinds[path.Ext(name)]
	if !known {
		kind = "application/octet-stream"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	h.Set("X-Filename", path.Base(name))
	stream(w, r, http.StatusOK, accepted(r.Header.Get("Accept-Encoding")), f)
}
