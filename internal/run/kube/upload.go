package kube

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"aiperf/internal/run/podserver"
)

// Upload sends the data files of a run to its controller, which waits for them. A file whose connection breaks is sent again.
func (f *Follower) Upload(ctx context.Context, run *Run, files []Upload) error {
	remote, err := NewRemote(ctx, f.Cluster, run)
	if err != nil {
		return err
	}
	defer remote.Close()
	for _, file := range files {
		if err := f.again(ctx, run, func() error { return remote.upload(ctx, file) }); err != nil {
			return fmt.Errorf("%s could not be sent to the run: %w", file.Path, err)
		}
	}
	return nil
}

// upload sends a file.
func (r *Remote) upload(ctx context.Context, file Upload) error {
	in, err := os.Open(file.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	resp, err := r.send(ctx, http.MethodPut, "/api/data/"+file.Name, nil, in)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// NewUpload describes a file of this computer.
func NewUpload(name, path string) (Upload, error) {
	in, err := os.Open(path)
	if err != nil {
		return Upload{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "send", Path: path, Err: errors.New("it is not a file")}
	}
	if err != nil {
		return Upload{}, err
	}
	sum, err := podserver.Digest(in)
	return Upload{name, path, sum}, err
}
