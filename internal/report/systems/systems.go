// Package systems collects finished runs as measured points of systems: which runs belong to which system, how many GPUs it has, and which figures of
// a point can be compared. It computes no figure that a run has reported itself.
package systems

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/runfiles"
)

// Options says which runs are compared, and what their files do not contain.
type Options struct {
	Paths   []string
	Labels  []string  // names of the systems, in order; nil = the names of their directories
	GPUs    []int     // number of GPUs: one for all systems, or one for each; nil = from telemetry
	Prices  []float64 // price of a GPU hour: one for all systems, or one for each; nil = unknown
	ColorBy string    // configuration key that gives the colour; "" = the system
	Spelled Spelled
	Warn    func(format string, args ...any)
}

// Spelled is how the user spells the options, for messages.
type Spelled struct{ Label, ColorBy, GPUs, Price string }

// Comparison is the result: systems, their points, and what a reader must know first.
type Comparison struct {
	Systems []System
	Points  []Point
	Keys    []string // configuration keys in which points differ, sorted
	ColorBy string   // one of Keys; "" = the system
	Notes   []string // full sentences
	Spelled Spelled

	places int // number of systems that were asked for, with those that were skipped
}

// System is a set of runs of one system under test.
type System struct {
	Name  string
	Price float64 // of a GPU hour; 0 = unknown
	GPUs  string  // number of GPUs with its source, for readers

	dir   string
	flag  int // number of GPUs by the flag; 0 = none
	runs  []*runfiles.Run
	place int // of its values in the lists of the options
}

// Collect finds the runs below the paths and returns their points. A path without a run becomes a note; an error means that there is nothing to show.
func Collect(o Options) (*Comparison, error) {
	c := &Comparison{Spelled: o.Spelled}
	if err := c.find(&o); err != nil {
		return nil, err
	}
	if err := c.options(&o); err != nil {
		return nil, err
	}
	for k := range c.Systems {
		if err := c.points(k); err != nil {
			return nil, err
		}
	}
	if len(c.Points) == 0 {
		return nil, errors.New("no run can be shown: " + strings.Join(c.Notes, " "))
	}
	c.Keys = differing(c.Points)
	if c.ColorBy = o.ColorBy; c.ColorBy != "" && !slices.Contains(c.Keys, c.ColorBy) {
		return nil, fmt.Errorf("%s %s: the runs do not differ in this key; they differ in %s", o.Spelled.ColorBy, o.ColorBy, cmp.Or(strings.Join(c.Keys, ", "), "no key"))
	}
	c.remarks()
	return c, nil
}

// find makes the systems: one for each path. With a single path, each of its subdirectories is a system if one of them has several runs.
func (c *Comparison) find(o *Options) error {
	seen := map[string]bool{}
	var errs []error
	c.places = len(o.Paths)
	for at, path := range o.Paths {
		runs, err := runfiles.Find([]string{path}, o.Warn)
		if err != nil {
			errs = append(errs, err)
			c.Notes = append(c.Notes, strings.ReplaceAll(err.Error(), path, filepath.Base(path))+"; it is skipped.") // directories are not published
			continue
		}
		list := []System{{dir: path, runs: runs}}
		if len(o.Paths) == 1 {
			list = children(path, runs)
			c.places = len(list)
		}
		for i, s := range list {
			s.place = at + i
			s.runs = slices.DeleteFunc(s.runs, func(r *runfiles.Run) bool {
				place := realPath(r.Dir)
				twice := seen[place]
				seen[place] = true
				return twice
			})
			if len(s.runs) == 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s: all its runs belong to a system before it.", filepath.Base(s.dir)))
				continue
			}
			c.Systems = append(c.Systems, s)
		}
	}
	if len(c.Systems) == 0 {
		return errors.Join(errs...)
	}
	return nil
}

// realPath resolves links, so that no run counts twice.
func realPath(dir string) string {
	if place, err := filepath.EvalSymlinks(dir); err == nil {
		dir = place
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// children splits a directory into its subdirectories, if it is not one series and one of them has several runs.
func children(path string, runs []*runfiles.Run) []System {
	whole := []System{{dir: path, runs: runs}}
	if runfiles.PlannedCells(path) > 0 {
		return whole
	}
	var list []System
	several := false
	for _, r := range runs {
		rel, err := filepath.Rel(path, r.Dir)
		if err != nil || rel == "." {
			return whole // the directory itself is a run
		}
		name, _, below := strings.Cut(filepath.ToSlash(rel), "/")
		dir := filepath.Join(path, name)
		if k := slices.IndexFunc(list, func(s System) bool { return s.dir == dir }); k >= 0 {
			list[k].runs = append(list[k].runs, r)
			several = several || below
			continue
		}
		list = append(list, System{dir: dir, runs: []*runfiles.Run{r}})
	}
	if !several || len(list) < 2 {
		return whole
	}
	return list
}

// options gives the systems their names, numbers of GPUs and prices.
func (c *Comparison) options(o *Options) error {
	n := c.places
	var names []string
	for k := range c.Systems {
		names = append(names, c.Systems[k].base())
	}
	list := strings.Join(names, ", ")
	if o.Labels != nil && len(o.Labels) != n {
		return fmt.Errorf("%s: %s for %s (%s): give one for each", o.Spelled.Label, terminal.Plural(len(o.Labels), "name"), terminal.Plural(n, "system"), list)
	}
	for k, name := range o.Labels {
		if slices.Index(o.Labels, name) != k || name == "" {
			return fmt.Errorf("%s %q: each system needs its own name", o.Spelled.Label, name)
		}
	}
	for _, one := range []struct {
		flag  string
		given int
	}{{o.Spelled.GPUs, len(o.GPUs)}, {o.Spelled.Price, len(o.Prices)}} {
		if one.given > 1 && one.given != n {
			return fmt.Errorf("%s: %d values for %s (%s): give one for all, or one for each", one.flag, one.given, terminal.Plural(n, "system"), list)
		}
	}
	for k := range c.Systems {
		s := &c.Systems[k]
		s.Name = names[k]
		for j := range names {
			if j != k && names[j] == names[k] { // tell equal names apart by the directory above
				s.Name = s.parent() + "/" + names[k]
			}
		}
		if o.Labels != nil {
			s.Name = o.Labels[s.place]
		}
		if len(o.GPUs) > 0 {
			s.flag = o.GPUs[min(s.place, len(o.GPUs)-1)]
		}
		if len(o.Prices) > 0 {
			s.Price = o.Prices[min(s.place, len(o.Prices)-1)]
		}
	}
	for k := range c.Systems { // the directories above are equal too
		if slices.IndexFunc(c.Systems, func(s System) bool { return s.Name == c.Systems[k].Name }) != k {
			c.Systems[k].Name += " (" + strconv.Itoa(k+1) + ")"
		}
	}
	return nil
}

func (s *System) base() string   { return filepath.Base(absolute(s.dir)) }
func (s *System) parent() string { return filepath.Base(filepath.Dir(absolute(s.dir))) }

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// points makes the points of a system: runs with the same settings are one point.
func (c *Comparison) points(k int) error {
	s := &c.Systems[k]
	var list []Point
	for _, r := range s.runs {
		sum, err := r.Summary()
		if errors.Is(err, runfiles.ErrRange) {
			return err
		}
		if err != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: the summary of run %s cannot be read; the run is skipped.", s.Name, r.Name))
			continue
		}
		one := measured{run: r, sum: sum, settings: workSettings(sum)}
		at := slices.IndexFunc(list, func(p Point) bool { return p.same(&one) })
		if at < 0 {
			list = append(list, Point{System: k, Settings: one.settings})
			at = len(list) - 1
		}
		list[at].measured = append(list[at].measured, one)
	}
	for i := range list {
		list[i].finish(s, c.Spelled.GPUs)
	}
	distinguish(list)
	sorting.Stable(list, func(a, b Point) int { return cmp.Or(cmp.Compare(a.load(), b.load()), cmp.Compare(a.Name, b.Name)) })
	s.GPUs = gpuWords(list, c.Spelled.GPUs)
	c.Points = append(c.Points, list...)
	return nil
}

// distinguish adds settings to the names of points that are equal.
func distinguish(list []Point) {
	by := map[string][]int{}
	for i := range list {
		by[list[i].Name] = append(by[list[i].Name], i)
	}
	for _, equal := range by {
		if len(equal) < 2 {
			continue
		}
		var group []Point
		for _, i := range equal {
			group = append(group, list[i])
		}
		keys := differing(group)
		for n, i := range equal {
			for _, key := range keys[:min(len(keys), 2)] {
				list[i].Name += ", " + lastKey(key) + " " + cmp.Or(list[i].Settings[key], "not set")
			}
			if len(keys) == 0 {
				list[i].Name += fmt.Sprintf(" (%d)", n+1)
			}
		}
	}
}

// lastKey returns the last part of a key, with the part before it if it is only a statistic: "isl mean".
func lastKey(key string) string {
	parts := strings.Split(key, ".")
	if n := len(parts); n > 1 && (parts[n-1] == "mean" || parts[n-1] == "stddev") {
		parts = []string{parts[n-2] + " " + parts[n-1]}
	}
	return parts[len(parts)-1]
}
