package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Set holds the plug-ins of all manifests of a process.
type Set struct {
	entries  []Entry // in reading order
	packages []Package
	problems []Problem
}

// Package is the directory of a manifest.
type Package struct {
	Name        string // name of the directory
	Version     string // from package.yaml, "" = none
	Description string // from package.yaml, "" = none
	File        string // manifest
	Plugins     int    // number of entries
}

// Problem is something to tell the user about a manifest.
type Problem struct {
	File    string // manifest or directory
	Text    string // begins with file:line where a line is at fault
	Refused bool   // the file was not loaded
}

// Load reads the manifests of all places. A file that cannot be loaded becomes a problem of the set, and the others are loaded.
func Load(p Places) *Set {
	s := new(Set)
	files, problems := p.manifests()
	s.problems = problems
	for _, file := range files {
		s.add(readManifest(file))
	}
	s.conflicts()
	return s
}

func (s *Set) add(m manifest) {
	s.problems = append(s.problems, m.problems...)
	if m.refused() {
		return
	}
	s.entries = append(s.entries, m.entries...)
	s.packages = append(s.packages, m.pack)
}

// conflicts warns of entries with the same name and priority in a category: the first one wins.
func (s *Set) conflicts() {
	type key struct {
		id       string
		priority int
		runs     bool
	}
	first := map[key]*Entry{}
	for i := range s.entries {
		e := &s.entries[i]
		k := key{e.ID(), e.Priority, e.Runs()}
		winner, taken := first[k]
		if !taken {
			first[k] = e
			continue
		}
		s.problems = append(s.problems, Problem{File: e.File, Text: fmt.Sprintf(
			"%s: %s is not used: %s defines it first, with the same priority %d. Raise one priority, or use the name %s:%s",
			e.Position(), e.ID(), winner.Position(), e.Priority, e.Package, e.Name)})
	}
}

// Entries returns every plug-in in reading order, also those that another one of the same name replaces.
func (s *Set) Entries() []Entry {
	if s == nil {
		return nil
	}
	return s.entries
}

// Packages returns the directories of the manifests that were loaded, in reading order.
func (s *Set) Packages() []Package { return s.packages }

// Problems returns what was wrong with the manifests.
func (s *Set) Problems() []Problem { return s.problems }

// Find returns the plug-in that a name stands for: the one with the highest priority, among equals the first. One that can run beats one that needs the
// Python tool. PACKAGE:NAME finds the plug-in of one package, even if another one replaces it. A nil set has none.
func (s *Set) Find(category, name string) (Entry, bool) {
	if s == nil {
		return Entry{}, false
	}
	category, name = Normalize(category), Normalize(name)
	pack, own, qualified := strings.Cut(name, ":")
	var best *Entry
	for i := range s.entries {
		e := &s.entries[i]
		if e.Category != category || e.Name != name && (!qualified || e.Name != own || Normalize(e.Package) != pack) {
			continue
		}
		if best == nil || rank(e, best) > 0 {
			best = e
		}
	}
	if best == nil {
		return Entry{}, false
	}
	return *best, true
}

// rank compares two entries of one name; > 0 = a wins.
func rank(a, b *Entry) int {
	if a.Runs() != b.Runs() {
		if a.Runs() {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Priority, b.Priority)
}

// Of returns the plug-ins of a category that win their name, in reading order.
func (s *Set) Of(category string) (list []Entry) {
	if s == nil {
		return nil
	}
	for i := range s.entries {
		e := &s.entries[i]
		if e.Category != Normalize(category) || slices.ContainsFunc(list, func(o Entry) bool { return o.Name == e.Name }) {
			continue
		}
		winner, _ := s.Find(e.Category, e.Name)
		list = append(list, winner)
	}
	return list
}

// Warnings returns what to tell the user before a run: one summary of the files that could not be loaded, and one line for every other problem.
func (s *Set) Warnings() (list []string) {
	if s == nil {
		return nil
	}
	var refused []string
	for _, p := range s.problems {
		if p.Refused {
			refused = append(refused, p.Text)
		} else {
			list = append(list, p.Text)
		}
	}
	switch len(refused) {
	case 0:
	case 1:
		list = append(list, "1 plug-in manifest could not be loaded: "+refused[0])
	default:
		list = append(list, fmt.Sprintf("%d plug-in manifests could not be loaded: %s", len(refused), strings.Join(refused, "; ")))
	}
	return list
}
