// Package house holds the layers of the program, its floors: which one each package stands on. Its tests enforce that packages import lower ones only,
// so that data flows one way, and follow the pages about how to add something.
package house

import "strings"

// Floors gives the floor of every package, by import path below the module. A package may import packages on lower floors only.
var Floors = map[string]int{
	"cmd/aiperf":         7,
	"internal/selfbench": 7,
	"test/mutants":       7,

	"internal/cli": 6,

	"internal/plan": 5,
	"internal/talk": 5,

	"internal/run":       4,
	"internal/reanalyze": 4,

	"internal/page":  5,
	"internal/plots": 4,

	"internal/assembly": 3,
	"internal/runfiles": 3,

	"internal/ui":        2,
	"internal/adaptive":  2,
	"internal/artifact":  2,
	"internal/pipeline":  2,
	"internal/report":    2,
	"internal/load":      2,
	"internal/telemetry": 2,
	"internal/gate":      3,
	"internal/objective": 2,
	"internal/capacity":  2, "internal/comparison": 2,
	"internal/probe":      2,
	"internal/rules":      3,
	"internal/accuracy":   2,
	"internal/speedbench": 2,
	"internal/recount":    2,

	"internal/metric":     1,
	"internal/endpoint":   1,
	"internal/transport":  1,
	"internal/dataset":    1,
	"internal/mockserver": 1,
	"internal/draw":       1,

	// Messages that a protocol's own file generates.
	"internal/openinference": 0,

	"internal/capture":      0,
	"internal/chart":        0,
	"internal/clock":        0,
	"internal/config":       0,
	"internal/conversation": 0,
	"internal/exposition":   0,
	"internal/foreign":      0,
	"internal/house":        0,
	"internal/models":       0,
	"internal/record":       0,
	"internal/rng":          -2,
	"internal/qmc":          -1,
	"internal/templates":    0,
	"internal/sse":          0,
	"internal/stats":        0,
	"internal/tokenizer":    0,

	// Engines that know nothing of benchmarks.
	"internal/golden":    -1,
	"internal/redact":    -2,
	"internal/infile":    -1,
	"internal/hub":       -1,
	"internal/jinja":     -1,
	"internal/marshal":   -1,
	"internal/setting":   -1,
	"internal/jsontext":  -3,
	"internal/markup":    0,
	"internal/budget":    -2,
	"internal/suggest":   -2,
	"internal/utf8text":  -4,
	"internal/openfiles": -4,
	"internal/terminal":  -1,
	"internal/mathtext":  -1,
	"internal/pytext":    -1,
}

// Floor returns the floor of a package; one below a package of the plan stands on its parent's floor.
func Floor(name string) (int, bool) {
	if f, ok := Floors[name]; ok {
		return f, true
	}
	f, ok := Floors[top(name)]
	return f, ok
}

// top is the package of the plan that a path belongs to: its first two elements.
func top(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 2 {
		return name
	}
	return parts[0] + "/" + parts[1]
}
