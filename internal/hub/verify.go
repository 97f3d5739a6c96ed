package hub

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

// errContent is the failure of content that is not what the hub announced.
var errContent = errors.New("the content is damaged")

// isSum tells whether a content's name is its SHA-256, as that of large files.
func isSum(name string) bool { return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == "" }

// digest begins the hash that a content's name states: SHA-256 of large files, git's hash of a blob of others. nil = the name is no hash.
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

// verify compares the content with the name that the hub gave it, and returns the name of the blob.
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
		return "", f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: its hash is %s, the hub says %s", errContent, got, tag), address)
	}
	return got, nil
}

// intact tells what is wrong with a file of the cache: its blob bears its hash as its name. tag is that name where the file is a copy, "" = nobody
// knows it. A file that was found whole is not read again while its size and its time stay as they are.
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
		_ = os.WriteFile(seal, []byte(state), 0o644) // else it is read again
	}
	return nil
}
