package plugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Entry is one plug-in of a manifest.
type Entry struct {
	Category, Name string         // normalized
	Description    string         // "" = none
	Priority       int            // higher wins a conflict; built-in types have 0
	Class          string         // Python class, module:Class; it needs the Python tool and never runs here
	Exec           []string       // external program and its arguments, as in the manifest; Command returns what to run
	Env            []string       // variables that the program gets although their names look like credentials
	Timeout        time.Duration  // time for one call of the program; 0 = the default
	Metadata       map[string]any // as in the manifest
	Definition     *yaml.Node     // the whole entry, with the lines of its keys
	Package        string         // name of the directory of the manifest
	File           string         // absolute path of the manifest
	Line           int            // line of the entry's name in the manifest
	Source         []byte         // text of the manifest
}

// Dir returns the directory of the manifest, in which programs run and to which paths are relative.
func (e *Entry) Dir() string { return filepath.Dir(e.File) }

// Position returns file:line of the entry, for messages.
func (e *Entry) Position() string { return e.At(e.Line) }

// At returns file:line of a line of the entry's manifest.
func (e *Entry) At(line int) string { return fmt.Sprintf("%s:%d", e.File, line) }

// ID returns "category:name".
func (e *Entry) ID() string { return e.Category + ":" + e.Name }

// Runs reports whether the entry can run here: it is a program or declarative, not a Python class.
func (e *Entry) Runs() bool { return e.Class == "" }

// BeatsBuiltIn reports whether the entry replaces a built-in type with the same name: at equal priority an external package wins.
func (e *Entry) BeatsBuiltIn() bool { return e.Runs() && e.Priority >= 0 }

// Command returns the program and its arguments. A program with a slash in its name is relative to the manifest's directory. A bare name is a file of
// that directory if there is one, otherwise a program of PATH.
func (e *Entry) Command() []string {
	if len(e.Exec) == 0 {
		return nil
	}
	command := append([]string(nil), e.Exec...)
	if own := e.path(command[0]); strings.ContainsRune(command[0], '/') || isFile(own) {
		command[0] = own
	}
	return command
}

// path returns a path of the manifest as an absolute path.
func (e *Entry) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir(), name)
}

// FirstLine returns the first line of the description.
func (e *Entry) FirstLine() string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.Description), "\n")
	return strings.TrimSpace(first)
}
