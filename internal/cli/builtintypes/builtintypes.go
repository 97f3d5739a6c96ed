// Package builtintypes describes the built-in types of every category of plug-ins, for aiperf plugins. The names are those of the Python tool, and ours.
package builtintypes

import (
	_ "embed" // for the table
	"strings"
	"sync"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset/public"
)

// Type is a built-in type.
type Type struct {
	Name  string
	About string // one line
}

// Category holds the built-in types of a category.
type Category struct {
	// Source is the Go package of the types; "" = the category is a part of the Python tool that one process does not need.
	Source string
	Types  []Type
}

//go:embed types.txt
var table string

// ofTable reads the table once: categories by name.
var ofTable = sync.OnceValue(func() map[string]*Category {
	all := map[string]*Category{}
	var current *Category
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " "):
			name, about, _ := strings.Cut(strings.TrimSpace(line), " ")
			current.Types = append(current.Types, Type{name, strings.TrimSpace(about)})
		default:
			name, source, _ := strings.Cut(line, ":")
			current = &Category{Source: strings.TrimPrefix(strings.TrimSpace(source), "-")}
			all[name] = current
		}
	}
	all[endpoint.Category].Types = endpointTypes()
	all["public_dataset_loader"].Types = publicSets()
	return all
})

// Of returns the built-in types of a category. files are the formats of files, which only the command line knows.
func Of(category string, files []string) Category {
	c, ok := ofTable()[category]
	if !ok {
		return Category{}
	}
	one := *c
	if category == "custom_dataset_loader" {
		one.Types = fileTypes(c.Types, files)
	}
	return one
}

func endpointTypes() (list []Type) {
	for _, e := range endpoint.All() {
		list = append(list, Type{e.Name, e.Summary})
	}
	return list
}

func publicSets() (list []Type) {
	for i := range public.Sets {
		s := &public.Sets[i]
		about := "rows of " + s.Repo
		if s.Repo == "" {
			about = "published file"
		}
		list = append(list, Type{s.Name, about})
	}
	return list
}

// fileTypes describes the formats of files. The last row of the table is a prefix with many names.
func fileTypes(table []Type, names []string) (list []Type) {
	described := map[string]string{}
	for _, t := range table {
		described[t.Name] = t.About
	}
	prefix := table[len(table)-1]
	for _, name := range names {
		about := described[name]
		if rest, ok := strings.CutPrefix(name, prefix.Name); ok && rest != "" {
			about = prefix.About + " " + strings.ReplaceAll(rest, "_", " ")
		}
		list = append(list, Type{name, about})
	}
	return list
}
