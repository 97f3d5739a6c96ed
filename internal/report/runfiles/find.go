package runfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
)

// SettlingSuffix ends the directories of the runs with which find-capacity waits, between two cells, until the server has finished its queue.
const SettlingSuffix = "_settling"

// Find lists the runs in and below some directories, sorted by path. Each run appears once, whatever links lead to it. It calls warn for broken links.
func Find(paths []string, warn func(format string, args ...any)) ([]*Run, error) {
	s := search{seen: map[string]bool{}, warn: warn}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, boundedfile.Missing(path)
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, fmt.Errorf("%s is not a directory", path)
		}
		place, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		if s.seen[place] {
			continue // below another path
		}
		before := len(s.found)
		if err := s.walk(path); err != nil {
			return nil, err
		}
		if len(s.found) == before {
			return nil, fmt.Errorf("%s has no run: a run has the files %s and %s (with another prefix they are not found)", path, recordsFile, summaryFile)
		}
	}
	slices.SortFunc(s.found, func(a, b *Run) int { return strings.Compare(a.Dir, b.Dir) })
	return s.found, nil
}

type search struct {
	seen  map[string]bool // directories, with links resolved
	found []*Run
	warn  func(format string, args ...any)
}

func (s *search) walk(dir string) error {
	place, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if s.seen[place] {
		return nil
	}
	s.seen[place] = true
	if IsRun(dir) {
		s.found = append(s.found, Open(dir))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			if err != nil {
				s.warn("%s: a broken link, skipped", path)
				continue
			}
			if !info.IsDir() {
				continue
			}
		} else if !e.IsDir() {
			continue
		}
		if err := s.walk(path); err != nil {
			return err
		}
	}
	return nil
}

// HasRun reports whether there is a run in or below a directory.
func HasRun(dir string) bool {
	runs, err := Find([]string{dir}, func(string, ...any) {})
	return err == nil && len(runs) > 0
}
