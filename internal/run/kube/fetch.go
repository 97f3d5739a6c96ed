package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"aiperf/internal/run/podserver"
)

// partSuffix ends the name of a file that is not complete yet.
const partSuffix = ".fetching"

// Fetched is what Fetch has brought.
type Fetched struct {
	Files int
	Bytes int64 // without those that were there before
}

// Fetch copies files of a run into a folder. It skips equal files, continues where an earlier try ended, and checks the digest of each. wanted selects
// files by name.
func (f *Follower) Fetch(ctx context.Context, run *Run, dir string, wanted func(name string) bool) (done Fetched, err error) {
	remote, err := NewRemote(ctx, f.Cluster, run)
	if err != nil {
		return done, err
	}
	defer remote.Close()
	var files []podserver.File
	if err := f.again(ctx, run, func() (err error) { files, err = remote.Files(ctx); return err }); err != nil {
		return done, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return done, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return done, err
	}
	defer root.Close()
	for _, file := range files {
		if !wanted(file.Name) {
			continue
		}
		var n int64
		err := f.again(ctx, run, func() (err error) { n, err = fetchFile(ctx, remote, root, file); done.Bytes += n; return err })
		if err != nil {
			return done, fmt.Errorf("%s: %w", file.Name, err)
		}
		done.Files++
	}
	return done, nil
}

// damagedError reports a file whose digest is another one than the controller's.
var errDamaged = errors.New("it has arrived damaged")

// again does something until it succeeds, or trying again cannot help.
func (f *Follower) again(ctx context.Context, run *Run, do func() error) error {
	down := f.trouble()
	for damaged := 0; ; {
		err := do()
		var local *fs.PathError
		if errors.Is(err, errDamaged) {
			damaged++
		}
		if down.lasts(err) || errors.As(err, &local) || damaged > 2 || err == nil {
			return err
		}
		if gone := f.gone(ctx, run); gone != nil {
			return gone
		}
		if err := f.pause(ctx); err != nil {
			return err
		}
	}
}

// fetchFile copies one file and returns how many bytes it took.
func fetchFile(ctx context.Context, remote *Remote, root *os.Root, file podserver.File) (n int64, err error) {
	if !fs.ValidPath(file.Name) || !filepath.IsLocal(filepath.FromSlash(file.Name)) {
		return 0, &fs.PathError{Op: "fetch", Path: file.Name, Err: errors.New("its name leaves the folder")}
	}
	if sum, err := digestIn(root, file.Name); err == nil && sum == file.SHA256 {
		return 0, nil
	}
	if err := root.MkdirAll(filepath.Dir(file.Name), 0o777); err != nil {
		return 0, err
	}
	part := file.Name + partSuffix
	out, err := root.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	from, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if from > file.Size {
		if from, err = 0, out.Truncate(0); err != nil {
			return 0, err
		}
	}
	if from < file.Size {
		in, err := remote.File(ctx, file.Name, from)
		if err != nil {
			return 0, err
		}
		n, err = copyAt(out, from, in)
		in.Close()
		if err != nil {
			return n, err
		}
	}
	if err := out.Close(); err != nil {
		return n, err
	}
	sum, err := digestIn(root, part)
	if err == nil && sum != file.SHA256 {
		err = errors.Join(errDamaged, root.Remove(part))
	}
	if err != nil {
		return n, err
	}
	return n, root.Rename(part, file.Name)
}

// copyAt appends a stream to a file at an offset.
func copyAt(out *os.File, from int64, in io.Reader) (int64, error) {
	if _, err := out.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	return io.Copy(out, in)
}

// digestIn returns the SHA-256 of a file in a folder.
func digestIn(root *os.Root, name string) (string, error) {
	in, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return podserver.Digest(in)
}
