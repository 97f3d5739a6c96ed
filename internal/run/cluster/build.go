package cluster

import (
	"os"
	"runtime/debug"
	"sync"
)

// build identifies what this program was made of: the commit, or the program file if the commit is unknown or was changed.
var build = sync.OnceValue(func() string {
	revision, modified := "", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
	}
	if revision != "" && !modified {
		return revision
	}
	path, err := os.Executable()
	if err != nil {
		return revision
	}
	sum, err := digestOf(path)
	if err != nil {
		return revision
	}
	return sum
})
