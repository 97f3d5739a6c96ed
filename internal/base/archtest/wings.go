// Package archtest lists the wings of the program: the groups of packages, in the order in which data flows. Its tests check that a package imports
// only its own wing and earlier ones. They also check the pages that explain how to add something.
package archtest

import (
	"slices"
	"strings"
)

// Wings lists the folders of internal in the order in which data flows. A package may import packages of its wing and of earlier wings.
var Wings = []string{"base", "text", "config", "measure", "workload", "wire", "telemetry", "report", "sim", "run", "series", "cli"}

// WingOf returns the wing of a package, given by its path below the module, and the wing's position in Wings. Programs (cmd, test) come after all
// wings: their wing is "" and their position is len(Wings). Texts for other languages (contrib) and the pages of the documentation (docs) import nothing and
// have the position of the first wing. The position is -1 if the package belongs to no wing.
func WingOf(name string) (wing string, position int) {
	if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "test/") {
		return "", len(Wings)
	}
	if strings.HasPrefix(name, "contrib/") {
		return "contrib", 0
	}
	if name == "docs" {
		return "docs", 0
	}
	rest, ok := strings.CutPrefix(name, "internal/")
	if !ok {
		return "", -1
	}
	wing, _, _ = strings.Cut(rest, "/")
	return wing, slices.Index(Wings, wing)
}

// Package returns the package of a file, given by its path below the module.
func Package(file string) string {
	return file[:max(0, strings.LastIndexByte(file, '/'))]
}
