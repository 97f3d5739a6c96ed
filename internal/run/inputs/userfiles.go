package inputs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"aiperf/internal/config"
)

// WriteUserFiles writes the user's own files below the directory of a run. Symbolic links cannot lead out of it.
func WriteUserFiles(cfg *config.Benchmark, dir string) (err error) {
	if len(cfg.Artifacts.UserFiles) == 0 {
		return nil
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	facts := cfg.Facts(strconv.FormatInt(time.Now().Unix(), 10), full)
	root, err := os.OpenRoot(full)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.As("artifacts.user_files"), err)
	}
	defer root.Close()
	for i := range cfg.Artifacts.UserFiles {
		f := &cfg.Artifacts.UserFiles[i]
		text, err := cfg.UserFile(f, facts)
		if err != nil {
			return err
		}
		if below := path.Dir(f.Path); below != "." {
			if err := root.MkdirAll(below, 0o755); err != nil {
				return fmt.Errorf("%s: %w", cfg.As("artifacts.user_files"), err)
			}
		}
		if err := root.WriteFile(f.Path, text, 0o644); err != nil {
			return fmt.Errorf("%s: %w", cfg.As("artifacts.user_files"), err)
		}
	}
	return nil
}
