package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aiperf/internal/config"
)

// inputFile is a file that a run reads. A machine without an equal file gets it from the controller.
type inputFile struct {
	Path   string
	Size   int64
	SHA256 string
}

// filePart is the question for a part of a file.
type filePart struct {
	Epoch  int64
	Number int // of the file in the plan
	Offset int64
}

// partSize is the size of a part of a file, bytes.
const partSize = 512 << 10

// inputFiles describes the files that a run reads. Directories are not among them: they must be the same on every machine.
func inputFiles(b *config.Benchmark) (list []inputFile, err error) {
	for _, path := range b.InputPaths() {
		info, err := os.Stat(*path)
		if *path == "" || err != nil || !info.Mode().IsRegular() { // whoever reads it says what is wrong
			continue
		}
		f := inputFile{Path: *path, Size: info.Size()}
		if f.SHA256, err = digestOf(*path); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readPart reads a part of a file.
func readPart(path string, offset int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, partSize)
	n, err := f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// fetchFiles makes the files of a plan available on this machine: those that are there with the same content are used, the others are fetched to dir,
// where the next run of a series finds them.
func fetchFiles(p *plan, dir string, ask func(filePart) ([]byte, error)) error {
	place := map[string]string{}
	for i := range p.Files {
		f := &p.Files[i]
		if sum, err := digestOf(f.Path); err == nil && sum == f.SHA256 {
			continue
		}
		to, err := f.kept(dir)
		if sum, failed := digestOf(to); err == nil && (failed != nil || sum != f.SHA256) {
			err = fetch(f, to, func(offset int64) ([]byte, error) {
				return ask(filePart{Epoch: p.Epoch, Number: i, Offset: offset})
			})
		}
		if err != nil {
			return fmt.Errorf("the file %s of the controller: %w", f.Path, err)
		}
		place[f.Path] = to
	}
	for _, path := range p.Config.InputPaths() {
		if to := place[*path]; to != "" {
			*path = to
		}
	}
	return nil
}

// kept returns where a copy of the file is kept in dir. Files with the same content and extension share one.
func (f *inputFile) kept(dir string) (string, error) {
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("its digest %q is not valid", f.SHA256)
	}
	return filepath.Join(dir, hex.EncodeToString(sum)+filepath.Ext(f.Path)), nil
}

// fetch writes a file from its parts and checks its content.
func fetch(f *inputFile, to string, part func(offset int64) ([]byte, error)) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for offset := int64(0); offset < f.Size; {
		b, err := part(offset)
		if err == nil && len(b) == 0 {
			err = errors.New("it became shorter meanwhile")
		}
		if err == nil {
			_, err = out.Write(b)
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
		offset += int64(len(b))
	}
	if err := out.Close(); err != nil {
		return err
	}
	sum, err := digestOf(to)
	if err == nil && sum != f.SHA256 {
		err = errors.New("it changed meanwhile")
	}
	return err
}
