package custom

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/workload/dataset/rows"
)

// members lists the regular files of a folder by name. ext "" = all files. deep includes subfolders.
func members(dir, ext string, deep bool) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !deep:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ext):
			return nil
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // follows symbolic links
			list = append(list, path)
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		what := "file"
		if ext != "" {
			what = ext + " file"
		}
		err = fmt.Errorf("%s: the folder holds no %s", dir, what)
	}
	return list, err
}

// detectFolder returns the format of a folder. If all .jsonl files have one format that allows folders, it is that one. Otherwise it is a pool, if the
// rows of every file have texts or media.
func detectFolder(dir string) (string, error) {
	lines, _ := members(dir, ".jsonl", true)
	if common, _, err := commonFormat(lines); err == nil && common != "single_turn" {
		if common == inputsType {
			return "raw_payload", nil
		}
		if f, _ := Find(common); f.Folder {
			return common, nil
		}
	}
	documents, _ := members(dir, ".json", false)
	if common, _, err := commonFormat(documents); err == nil {
		if f, _ := Find(common); f.Agents && f.Folder {
			return common, nil
		}
	}
	all, err := members(dir, "", true)
	if err != nil {
		return "", err
	}
	common, path, err := commonFormat(all)
	switch {
	case err != nil:
		return "", err
	case common == "single_turn" || common == poolType:
		return poolType, nil
	}
	return "", &FormatError{What: fmt.Sprintf("%s is a %s file, which can be read alone but not as part of a folder", path, common)}
}

// commonFormat returns the common format of all files and the first file. It is an error if the formats differ or one is unknown.
func commonFormat(files []string) (format, first string, err error) {
	for i, path := range files {
		name, err := detectMember(path)
		if err != nil {
			return "", "", err
		}
		if i > 0 && name != format {
			return "", "", &FormatError{What: fmt.Sprintf("cannot detect the format of the folder: %s is a %s file, but %s is a %s file", files[0], format, path, name)}
		}
		format = name
	}
	if format == "" {
		return "", "", errors.New("no files")
	}
	return format, files[0], nil
}

// detectMember returns the format of a file in a folder by its first row.
func detectMember(path string) (string, error) {
	var first rows.Line
	if err := rows.Read(path, func(l rows.Line) bool { first = l; return false }); err != nil {
		return "", err
	}
	var r row
	if json.Unmarshal(first.Text, &r) == nil {
		if name, ok := r.format(); ok {
			return name, nil
		}
	}
	if name, err := detect(path, ""); err == nil {
		return name, nil
	}
	return "", &FormatError{What: path + ": cannot detect the format of the folder from this file", Formats: names()}
}

// isFolder reports whether a path is a folder. It returns false on an error, which opening the path as a file then reports.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
