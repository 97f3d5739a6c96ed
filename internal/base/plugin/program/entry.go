package program

import (
	"fmt"
	"runtime/debug"

	"aiperf/internal/base/plugin"
)

// Of returns the settings that start the program of a plug-in. methods are those that it must have.
func Of(e *plugin.Entry, log func(line string), methods ...string) Settings {
	return Settings{Category: e.Category, Plugin: e.Name, Position: e.Position(), Command: e.Command(), Dir: e.Dir(), Options: e.Metadata, Env: e.Env,
		Methods: methods, Version: version(), Log: log, Limits: Limits{Call: e.Timeout}}
}

// version returns the revision that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return fmt.Sprintf("dev-%.12s", s.Value)
			}
		}
	}
	return "dev"
}
