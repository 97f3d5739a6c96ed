package plugin

import (
	"fmt"
	"os"
	"slices"
	"sync"
)

// installed holds the plug-ins of the latest places, so that every manifest is read once.
var installed struct {
	sync.Mutex
	places string
	set    *Set
}

// Installed returns the plug-ins of the user, from the standard places. The manifests are read at the first call.
func Installed() *Set {
	installed.Lock()
	defer installed.Unlock()
	places := Standard(os.Getenv)
	if key := fmt.Sprintf("%q", places); installed.set == nil || installed.places != key {
		installed.places, installed.set = key, Load(places)
	}
	return installed.set
}

// Choose returns the plug-in that a name stands for. ok = false: there is none, or it does not replace the built-in type of that name.
func (s *Set) Choose(category, name string, builtIn bool) (e Entry, ok bool, err error) {
	e, ok = s.Find(category, name)
	switch {
	case !ok, builtIn && !e.BeatsBuiltIn():
		return Entry{}, false, nil
	case !e.Runs():
		return Entry{}, false, fmt.Errorf("%s (%s) is a Python class, %s; it needs the Python tool: write it as a program (exec)", e.ID(), e.Position(), e.Class)
	}
	return e, true, nil
}

// Names returns the names that stand for plug-ins of a category, for flags: the plain ones that are not built in, then PACKAGE:NAME.
func (s *Set) Names(category string, builtIn []string) (names []string) {
	var qualified []string
	for _, e := range s.Of(category) {
		if !slices.Contains(builtIn, e.Name) {
			names = append(names, e.Name)
		}
	}
	for i := range s.Entries() {
		if e := &s.entries[i]; e.Category == Normalize(category) {
			qualified = append(qualified, Normalize(e.Package)+":"+e.Name)
		}
	}
	return slices.Concat(names, qualified)
}
