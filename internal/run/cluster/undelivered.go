package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/pieces"
)

// errGivenUp ends a run that the controller has cancelled. Nobody wants its results.
var errGivenUp = errors.New("the controller has cancelled the run")

// keepUndelivered writes the results that the controller has not confirmed to files like those of the run, and tells the user where they are. The
// controller has some of them too if only its confirmation was lost.
func (s *share) keepUndelivered(ctx context.Context) {
	if s.outbox == nil || s.files == nil || errors.Is(context.Cause(ctx), errGivenUp) {
		return
	}
	list, damaged := s.undelivered()
	if len(list) == 0 && damaged == nil {
		return
	}
	s.kept.Store(true)
	dir, err := s.undeliveredDir()
	if err == nil {
		err = writeEntries(dir, s.files, list)
	}
	if err = errors.Join(err, damaged); err != nil {
		fmt.Fprintf(s.o.Err, "error: results that the controller did not confirm are lost on this machine: %v\n", err)
	}
	if len(list) > 0 {
		fmt.Fprintf(s.o.Err, "aiperf: the controller did not confirm %s. They are in %s; append the lines whose x_request_id is not in the files of the run.\n", terminal.Plural(int64(len(list)), "result"), dir)
	}
}

// undelivered returns the results of the pieces that the controller has not confirmed.
func (s *share) undelivered() (list []pieces.Result, err error) {
	var sealed []byte
	for _, part := range s.outbox.Unacknowledged() {
		if sealed = append(sealed, part.Data...); part.More {
			continue
		}
		opened, failed := s.results.Open(sealed)
		if sealed = nil; failed != nil {
			err = failed
			continue
		}
		list = append(list, opened.Results...)
	}
	return list, err
}

// undeliveredDir creates the directory for the results of this machine in this run.
func (s *share) undeliveredDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "aiperf", "undelivered", s.plan.BenchmarkID, s.o.Name)
	return dir, os.MkdirAll(dir, 0o700)
}

// writeEntries appends the entries of results to files with the names of the given ones.
func writeEntries(dir string, files []string, list []pieces.Result) error {
	for k, path := range files {
		var text strings.Builder
		for i := range list {
			from := 0
			if k > 0 {
				from = list[i].Ends[k-1]
			}
			text.Write(list[i].Lines[from:list[i].Ends[k]])
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
