package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PathVariable is the environment variable with a list of manifests and directories to read besides the standard folders.
const PathVariable = "AIPERF_PLUGIN_PATH"

// manifestName is the file name of manifests in directories.
const manifestName = "plugins.yaml"

// Places says where manifests are.
type Places struct {
	// Path is a list of files and directories, separated as in PATH. A directory holds plugins.yaml, or directories that do.
	Path string
	// Folders are directories of packages: manifests are FOLDER/*/plugins.yaml. Missing ones are skipped.
	Folders []string
}

// Standard returns the places of a user: AIPERF_PLUGIN_PATH, ~/.aiperf/plugins and /etc/aiperf/plugins. The working directory is not one of them.
func Standard(getenv func(string) string) Places {
	p := Places{Path: getenv(PathVariable)}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		p.Folders = append(p.Folders, filepath.Join(home, ".aiperf", "plugins"))
	}
	p.Folders = append(p.Folders, "/etc/aiperf/plugins")
	return p
}

// maxManifests is the maximum number of manifests of a process.
const maxManifests = 1000

// manifests returns the manifests in reading order, each once, and the problems of places that the user named.
func (p Places) manifests() (files []string, problems []Problem) {
	seen := map[string]bool{}
	add := func(file string) {
		if !seen[file] && len(files) < maxManifests {
			seen[file] = true
			files = append(files, file)
		}
	}
	for _, name := range filepath.SplitList(p.Path) {
		if name == "" {
			continue // an empty element does not mean the working directory
		}
		list, err := named(name)
		if err != nil {
			problems = append(problems, Problem{File: name, Text: PathVariable + ": " + err.Error(), Refused: true})
		}
		for _, file := range list {
			add(file)
		}
	}
	for _, folder := range p.Folders {
		list, err := packages(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, Problem{File: folder, Text: err.Error(), Refused: true})
		}
		for _, file := range list {
			add(file)
		}
	}
	return files, problems
}

// named returns the manifests of one element of the path.
func named(name string) ([]string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: not found; name a manifest or a directory with %s", name, manifestName)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	if own := filepath.Join(name, manifestName); isFile(own) {
		return []string{own}, nil
	}
	list, err := packages(name)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s holds no %s, nor does a directory in it", name, manifestName)
	}
	return list, err
}

// packages returns the manifests of a directory of packages, sorted by package.
func packages(folder string) (list []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if file := filepath.Join(folder, e.Name(), manifestName); isFile(file) {
			list = append(list, file)
		}
	}
	return list, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
