// Package runfiles reads the directories of finished runs of aiperf and of the Python tool: summary, records, time slices, GPU samples, server
// metrics. Each part is read at its first use.
package runfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/boundedfile"
)

// File names of a run. Each file may be compressed; then its name ends with packed.
const (
	summaryFile = "profile_export_aiperf.json"
	recordsFile = "profile_export.jsonl"
	slicesFile  = "profile_export_aiperf_timeslices.csv"
	gpuFile     = "gpu_telemetry_export.jsonl"
	serverLines = "server_metrics_export.jsonl"
	serverFile  = "server_metrics_export.json"
	secondsFile = "profile_export_timeline.jsonl"
	rawFile     = "profile_export_raw.jsonl"
	packed      = ".zst"
)

// longest is the length of the longest line in a file that is read line by line, in bytes.
const longest = 64 << 20

// Run is one finished run.
type Run struct {
	Dir  string
	Name string // of the directory

	summary  func() (*Summary, error)
	requests func() (*Requests, error)
	slices   func() (*Slices, error)
	gpus     func() (*GPUs, error)
	servers  func() ([]Series, error)
	seconds  func() (*Seconds, error)
}

// Open returns the run of a directory without reading anything.
func Open(dir string) *Run {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(abs)
	}
	r := &Run{Dir: dir, Name: name}
	r.summary = sync.OnceValues(r.readSummary)
	r.requests = sync.OnceValues(r.readRequests)
	r.slices = sync.OnceValues(r.readSlices)
	r.gpus = sync.OnceValues(r.readGPUs)
	r.servers = sync.OnceValues(r.readServers)
	r.seconds = sync.OnceValues(r.readSeconds)
	return r
}

// Summary returns the figures of the whole run.
func (r *Run) Summary() (*Summary, error) { return r.summary() }

// Requests returns the records in the order of their file.
func (r *Run) Requests() (*Requests, error) { return r.requests() }

// Slices returns the figures of the time slices. A run without them gives ErrNone.
func (r *Run) Slices() (*Slices, error) { return r.slices() }

// GPUs returns the samples of GPUs. A run without them gives ErrNone.
func (r *Run) GPUs() (*GPUs, error) { return r.gpus() }

// Servers returns the series of server metrics. A run without them gives ErrNone.
func (r *Run) Servers() ([]Series, error) { return r.servers() }

// Seconds returns the lines of the timeline. A run without it gives ErrNone.
func (r *Run) Seconds() (*Seconds, error) { return r.seconds() }

// ErrNone means that a run has no data of a kind.
var ErrNone = errors.New("none")

// exists reports whether a file of the run exists, compressed or not.
func exists(dir, name string) bool {
	for _, ending := range []string{"", packed} {
		if info, err := os.Stat(filepath.Join(dir, name+ending)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// HasRecords reports whether a directory contains records under their usual name. The summary of a run that was killed is missing.
func HasRecords(dir string) bool { return exists(dir, recordsFile) }

// IsRun reports whether a directory contains a run: records and a summary under their usual names.
func IsRun(dir string) bool { return exists(dir, recordsFile) && exists(dir, summaryFile) }

// open opens a file of the run; the error is fs.ErrNotExist if there is none.
func (r *Run) open(name string) (io.ReadCloser, error) {
	file, err := os.Open(filepath.Join(r.Dir, name))
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	small, smallErr := os.Open(filepath.Join(r.Dir, name+packed))
	if errors.Is(smallErr, fs.ErrNotExist) {
		return nil, boundedfile.Missing(filepath.Join(r.Dir, name)) // with the usual name
	}
	if smallErr != nil {
		return nil, smallErr
	}
	plain, err := zstd.NewReader(small)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", small.Name(), err), small.Close())
	}
	return unpackedFile{plain.IOReadCloser(), small}, nil
}

// unpackedFile closes a compressed file and its decompressor.
type unpackedFile struct {
	io.ReadCloser
	file *os.File
}

// Close implements io.Closer.
func (u unpackedFile) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }

// document decodes a file that consists of one JSON value.
func (r *Run) document(name string, v any) error {
	file, err := r.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := json.NewDecoder(file).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Dir, name), err)
	}
	return nil
}
