package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

var update = flag.Bool("update", false, "write docs/reference.md")

// TestReference: the reference page says what the table says. It is written by go test ./internal/cli -run Reference -update.
func TestReference(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "reference.md")
	want := reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the table says (%v): run go test ./internal/cli -run Reference -update", path, err)
	}
}

// reference is the page of all settings.
func reference() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nMade of the table of settings (`go test ./internal/cli -run Reference -update`); do not edit.\n\n" +
		"A key is a place in a configuration file, below `benchmark:`; `random_seed`, `multi_run`, `sweep` and `tables` are next to it. `datasets.main` and\n" +
		"`phases.profiling` stand for the data set and the measured phase whatever their names. `aiperf config schema` prints the JSON Schema.\n" +
		"Lengths of time are numbers or have a unit: `500ms`, `90s`, `2m`, `1h`.\n")
	for _, one := range topics {
		for _, group := range one.groups {
			fmt.Fprintf(&b, "\n## %s\n\n| flag | key | value | what |\n|---|---|---|---|\n", group)
			for i := range resolve.Flags.Rows {
				if f := &resolve.Flags.Rows[i]; f.Group == group {
					fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", ticked(append(append([]string(nil), f.Flags...), f.FalseNames...)...), ticked(f.Key), cell(valueOf(f)), cell(what(f)))
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		table *setting.Table
	}{{"report", reportTable()}, {"plot", plotTable()}, {"find-capacity, in addition to the flags of profile", capacityTable()}, {"ab, in addition to the flags of profile", turnsTable()}, {"mock-server", mockServerTable()}, {"chat", chatTable()}, {"watch", watchTable()}, {"doctor", doctorTable()}, {"support-bundle", supportBundleTable()}, {"tokenizer info, count, encode, decode", tokenizerTable([]string{"--jsonl", "--special", "--chat"})}} {
		fmt.Fprintf(&b, "\n## aiperf %s\n\n| flag | value | what |\n|---|---|---|\n", c.name)
		for i := range c.table.Rows {
			f := &c.table.Rows[i]
			fmt.Fprintf(&b, "| %s | %s | %s |\n", ticked(append(append([]string(nil), f.Flags...), f.FalseNames...)...), cell(valueOf(f)), cell(what(f)))
		}
	}
	b.WriteString("\n## Variables of the environment\n\n| variable | key | value | what |\n|---|---|---|---|\n")
	standard := config.Default()
	for _, row := range config.Rows() {
		if row.Env != "" {
			row.Default = fmt.Sprint(standard.Lookup(row.Key))
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", ticked(config.EnvPrefix+row.Env), ticked(row.Key), cell(valueOf(&row)), cell(what(&row)))
		}
	}
	return b.String()
}

func valueOf(f *setting.Row) string {
	var notes []string
	if v := placeholder(f); v != "" {
		notes = append(notes, v)
	} else {
		notes = append(notes, "on or off")
	}
	choices := f.Choices
	if f.Shown != nil { // of a registry, which grows by itself
		choices = []string{"see --help " + strings.TrimPrefix(f.Name(), "--")}
	}
	for i := 0; i < len(choices) && i < 12; i++ {
		if i == 0 {
			notes = append(notes, choices[i])
			continue
		}
		notes[len(notes)-1] += ", " + choices[i]
	}
	if len(choices) > 12 {
		notes[len(notes)-1] += " …"
	}
	if f.Bounds != "" {
		notes = append(notes, f.Bounds)
	}
	if f.Default != "" {
		notes = append(notes, "default "+f.Default)
	}
	return strings.Join(notes, "; ")
}

func what(f *setting.Row) string {
	switch {
	case f.NotBuilt && f.NoEffect != "":
		return f.Help + "; " + f.NoEffect
	case f.NotBuilt:
		return f.Help + "; not built yet"
	case f.NoEffect != "":
		return f.Help + "; no effect: " + f.NoEffect
	}
	return f.Help
}

func ticked(names ...string) string {
	if len(names) == 0 || names[0] == "" {
		return ""
	}
	return "`" + strings.Join(names, "`, `") + "`"
}

// cell keeps text inside a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(text)
}
