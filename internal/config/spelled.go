package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spelled names a point, the n-th: the directory by the last parts of its paths, the label by the whole ones. A value that has parts of its own
// gives the directory the label.
func spelled(values []Axis, n int) (dir, label string) {
	var dirs, labels []string
	nested := false
	for _, a := range values {
		v := a.Values[0]
		switch v.(type) {
		case map[string]any, []any:
			nested = true
		}
		dirs = append(dirs, a.Path[strings.LastIndexByte(a.Path, '.')+1:]+"_"+spell(v))
		labels = append(labels, a.Path+"="+spell(v))
	}
	label = strings.Join(labels, ", ")
	if nested {
		return segment(label, n), label
	}
	return segment(strings.Join(dirs, "__"), n), label
}

var (
	separators = regexp.MustCompile(`[/\\]|\.\.`)
	unsafe     = regexp.MustCompile(`[<>:"|?*]`)
)

// segment is a name as one directory of any file system, as the Python tool writes it; one of which nothing is left is called by its number.
func segment(name string, n int) string {
	name = unsafe.ReplaceAllString(separators.ReplaceAllString(name, ""), "")
	if strings.Trim(name, ".") == "" {
		return "variation_" + strconv.Itoa(n)
	}
	return name
}

// only is a directory that no other point has; used counts them by name.
func only(used map[string]int, dir string) string {
	if used[dir]++; used[dir] > 1 {
		return dir + "_" + strconv.Itoa(used[dir])
	}
	return dir
}

// spell prints a value the way Python does; members of a mapping in the order of their names.
func spell(v any) string {
	switch v := v.(type) {
	case float64:
		return FormatFloat(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		if v {
			return "True"
		}
		return "False"
	case nil:
		return "None"
	case map[string]any:
		var list []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, quoted(key)+": "+quoted(v[key]))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case []any:
		var list []string
		for _, one := range v {
			list = append(list, quoted(one))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// quoted is a value inside another one.
func quoted(v any) string {
	text, ok := v.(string)
	if !ok {
		return spell(v)
	}
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}
