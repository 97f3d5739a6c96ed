package podserver

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// File is a file of a run.
type File struct {
	Name   string `json:"name"`   // relative to the folder of the files, with slashes
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // hexadecimal digits
}

// files are the files of a run.
type files struct {
	dir string

	mu      sync.Mutex
	digests map[string]digest // by name
}

// digest is the SHA-256 of a file as it was.
type digest struct {
	size   int64
	at     time.Time // of the last change
	sha256 string
}

// list returns all files, sorted by name; none if the folder does not exist.
func (f *files) list() ([]File, error) {
	list := []File{}
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // a file of the run that has just been removed or renamed
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.dir, path)
		if err != nil {
			return err
		}
		sum, err := f.digest(path, info)
		if err != nil {
			return err
		}
		list = append(list, File{filepath.ToSlash(name), info.Size(), sum})
		return nil
	})
	return list, err
}

// digest returns the SHA-256 of a file. It is computed again when the file has changed.
func (f *files) digest(path string, info fs.FileInfo) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.digests[path]; ok && d.size == info.Size() && d.at.Equal(info.ModTime()) {
		return d.sha256, nil
	}
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum, err := Digest(in)
	if err != nil {
		return "", err
	}
	f.digests[path] = digest{info.Size(), info.ModTime(), sum}
	return sum, nil
}

// Digest returns the SHA-256 of a stream in hexadecimal digits.
func Digest(in io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// serve sends a file, or the part of it that the header Range names. It refuses a name that leaves the folder, directly or through a link.
func (f *files) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		http.Error(w, "Invalid filename", http.StatusBadRequest)
		return
	}
	folder, err := os.OpenRoot(f.dir)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer folder.Close()
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would block
		http.NotFound(w, r)
		return
	}
	in, err := folder.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer in.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", info.ModTime(), in)
}
