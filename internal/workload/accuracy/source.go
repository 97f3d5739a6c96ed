package accuracy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/dataset/table"
)

// split reads the rows of a split: the file stem.parquet or stem.jsonl, or its shards stem-0000k-of-0000n in the order of their names.
func (s *source) split(stem string, each func(r row) error) error {
	names, err := s.names(stem)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.file(name, each); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a split exists.
func (s *source) has(stem string) (bool, error) {
	var none *missingError
	_, err := s.names(stem)
	if errors.As(err, &none) {
		return false, nil
	}
	return err == nil, err
}

// missingError reports which file a data set lacks.
type missingError struct{ where, stem string }

func (e *missingError) Error() string {
	return fmt.Sprintf("no file %s-*.parquet or %[1]s.parquet (or the same with .jsonl) in %s", e.stem, e.where)
}

// names returns the files of a split.
func (s *source) names(stem string) ([]string, error) {
	all, where := []string(nil), s.Dir
	if s.Dir != "" {
		found, err := os.ReadDir(filepath.Join(s.Dir, filepath.FromSlash(dir(stem))))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, f := range found {
			all = append(all, dir(stem)+f.Name())
		}
	} else {
		snap, err := s.snapshot()
		if err != nil {
			return nil, err
		}
		all, where = snap.Names, "data set "+s.bench.Repo
	}
	for _, ending := range []string{".parquet", ".jsonl"} {
		var names []string
		for _, name := range all {
			if bare, ok := strings.CutSuffix(name, ending); ok && (bare == stem || strings.HasPrefix(bare, stem+"-")) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			return names, nil
		}
	}
	return nil, &missingError{where, stem}
}

// dir returns the folder of a path with its slash, "" = the top.
func dir(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// snapshot returns the repository on the hub.
func (s *source) snapshot() (*hfhub.Snapshot, error) {
	if s.snap != nil {
		return s.snap, nil
	}
	s.Hub.Content = hfhub.Datasets
	snap, err := s.Hub.Snapshot(s.ctx, s.bench.Repo, "main")
	if err != nil {
		var from *hfhub.Error
		if errors.As(err, &from) {
			from.Spell = s.Spell
		}
		return nil, err
	}
	s.snap = snap
	return snap, nil
}

// path returns the path of a data set's file on this machine.
func (s *source) path(name string) (string, error) {
	if s.Dir == "" {
		snap, err := s.snapshot()
		if err != nil {
			return "", err
		}
		return snap.File(s.ctx, name)
	}
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: the data set has no file %s", s.Spell.As("accuracy.dataset_path"), path)
	}
	return path, nil
}

// file reads the rows of one file.
func (s *source) file(name string, each func(r row) error) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	in, err := table.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	for n := 0; ; n++ {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = s.ctx.Err()
		}
		if err == nil {
			err = each(row{r, fmt.Sprintf("%s row %d", path, n)})
		}
		if err != nil {
			return err
		}
	}
}
