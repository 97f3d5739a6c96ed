package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// cellName names point number n. The directory name uses the last parts of the paths, the label the whole paths. If a value is a list or a mapping,
// the directory name is derived from the label.
func cellName(values []Axis, n int) (dir, label string) {
	var dirs, labels []string
	nested := false
	for _, a := range values {
		v := a.Values[0]
		switch v.(type) {
		case map[string]any, []any:
			nested = true
		}
		dirs = append(dirs, a.Path[strings.LastIndexByte(a.Path, '.')+1:]+"_"+pythonText(v))
		labels = append(labels, a.Path+"="+pythonText(v))
	}
	label = strings.Join(labels, ", ")
	if nested {
		return segment(label, n), label
	}
	return segment(strings.Join(dirs, "__"), n), label
}

var (
	separators = lazyregexp.New(`[/\\]|\.\.`)
	unsafe     = lazyregexp.New(`[<>:"|?*]`)
)

// segment makes a name valid as a directory name in any file system, as the Python tool does. If no character is left, the name is "variation_" and
// n.
func segment(name string, n int) string {
	name = unsafe.ReplaceAllString(separators.ReplaceAllString(name, ""), "")
	if strings.Trim(name, ".") == "" {
		return "variation_" + strconv.Itoa(n)
	}
	return name
}

// uniqueDir makes a directory name unique by appending a number. used counts the names.
func uniqueDir(used map[string]int, dir string) string {
	if used[dir]++; used[dir] > 1 {
		return dir + "_" + strconv.Itoa(used[dir])
	}
	return dir
}

// pythonText formats a value as Python does. Members of a mapping are sorted by name.
func pythonText(v any) string {
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

// quoted formats a value inside another one.
func quoted(v any) string {
	text, ok := v.(string)
	if !ok {
		return pythonText(v)
	}
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}
