package hfhub

import (
	"crypto/sha1" //nolint:gosec // git's object names
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errContent reports content that differs from the hub's announcement.
var errContent = errors.New("the content is damaged")

// isSum reports whether a content's name is its SHA-256, as for large files.
func isSum(name string) bool { return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == "" }

// digest returns the hash function of a content's name: SHA-256 for large files, git's blob hash for others. nil = the name is not a hash.
func digest(name string, size int64) hash.Hash {
	switch {
	case isSum(name):
		return sha256.New()
	case isHash(name):
		h := sha1.New() //nolint:gosec // git's object names
		fmt.Fprintf(h, "blob %d\x00", size)
		return h
	}
	return nil
}

// verify compares the content with the hub's name of it, and returns the name of the blob.
func (f *fetcher) verify(tmp *os.File, tag string, size int64, address string) (string, error) {
	h := digest(tag, size)
	named := h != nil
	if !named {
		h = sha256.New()
	}
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		return "", f.disk(err)
	}
	if _, err := io.Copy(h, tmp); err != nil {
		return "", f.disk(err)
	}
	got := hex.EncodeToString(h.Sum(nil))
	if named && got != tag {
		return "", f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: its hash is %s, expected %s", errContent, got, tag), address)
	}
	return got, nil
}

// intact returns what is wrong with a cached file. The name of its blob is its hash. tag is that name if the file is a copy, "" = unknown. A verified
// file is not read again while its size and modification time stay the same.
func (c Config) intact(path, tag string) error {
	blob, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(blob)
	if err != nil {
		return err
	}
	if name := filepath.Base(blob); isSum(name) || isHash(name) {
		tag = name
	}
	h := digest(tag, info.Size())
	if h == nil {
		return nil
	}
	seal, state := "", ""
	if dir := filepath.Dir(blob); filepath.Base(dir) == "blobs" {
		seal = filepath.Join(filepath.Dir(dir), ".checked", tag)
		state = fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
		if b, err := os.ReadFile(seal); err == nil && string(b) == state {
			return nil
		}
	}
	in, err := os.Open(blob)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != tag {
		return fmt.Errorf("%w: its hash is %s, not %s", errContent, got, tag)
	}
	if seal != "" && os.MkdirAll(filepath.Dir(seal), 0o755) == nil {
		_ = os.WriteFile(seal, []byte(state), 0o644) // without the seal it is read again
	}
	return nil
}
