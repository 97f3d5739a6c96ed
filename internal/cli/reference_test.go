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

var update = flag.Bool("update", false, "write the pages of the reference")

// TestReference: the pages of the reference say what the tables say, and there are no others. They are written by go test ./internal/cli -run Reference -update.
func TestReference(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	pages := reference()
	old, err := filepath.Glob(filepath.Join(docs, "reference", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if _, wanted := pages["reference/"+filepath.Base(path)]; wanted {
			continue
		}
		if !*update {
			t.Errorf("%s is not a page of the reference: run go test ./internal/cli -run Reference -update", path)
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range pages {
		path := filepath.Join(docs, filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the table says (%v): run go test ./internal/cli -run Reference -update", path, err)
		}
	}
}

// referenceSection is a part of a page of the reference: a heading and the rows of its table.
type referenceSection struct {
	heading string
	head    []string // columns
	rows    [][]string
}

// referencePage is a page of the reference.
type referencePage struct {
	file, title, about string
	sections           []referenceSection
}

const (
	generated = "Made of the tables of settings (`go test ./internal/cli -run Reference -update`); do not edit."
	keyNote   = "A key is a place in a configuration file, below `benchmark:`; `random_seed`, `multi_run`, `sweep` and `tables` are next to it. `datasets.main` and\n" +
		"`phases.profiling` stand for the data set and the measured phase whatever their names. `aiperf config schema` prints the JSON Schema.\n" +
		"Lengths of time are numbers or have a unit: `500ms`, `90s`, `2m`, `1h`."
)

// reference returns the pages of all settings by their file: one for each topic of profile, for each other command and for the variables, and the index.
func reference() map[string]string {
	pages := append(append(profilePages(), commandPages()...), variablePages()...)
	files := map[string]string{}
	var index strings.Builder
	index.WriteString("# Settings\n\n" + generated + "\n\nEvery flag, key and variable, on one page for each subject. `aiperf help request-rate` explains one flag, `aiperf help load` a page of `profile`.\nCommands without a page list their flags with `--help`.\n\n" +
		keyNote + "\n\n| page | what it has | sections |\n|---|---|---|\n")
	for _, p := range pages {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s\n\n%s. [All settings](../reference.md) explains keys and values.\n", p.title, generated, strings.ToUpper(p.about[:1])+p.about[1:])
		var links []string
		for _, s := range p.sections {
			fmt.Fprintf(&b, "\n## %s\n\n| %s |\n|%s\n", s.heading, strings.Join(s.head, " | "), strings.Repeat("---|", len(s.head)))
			for _, row := range s.rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			}
			mark := anchor(s.heading)
			if len(p.sections) == 1 {
				links = append(links, fmt.Sprintf("<a id=\"%s\"></a>", mark))
				continue
			}
			links = append(links, fmt.Sprintf("<a id=\"%s\"></a>[%s](reference/%s#%s)", mark, s.heading, p.file, mark))
		}
		files["reference/"+p.file] = b.String()
		fmt.Fprintf(&index, "| [%s](reference/%s) | %s | %s |\n", p.title, p.file, cell(p.about), strings.Join(links, ", "))
	}
	files["reference.md"] = index.String()
	return files
}

// anchor returns the mark of a heading, as GitHub and the site make it.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if strings.ContainsRune("(),/:.", r) {
			return -1
		}
		return r
	}, strings.ToLower(heading)), " ", "-")
}

// profilePages returns the pages of the flags of profile: one for each topic of its help.
func profilePages() (pages []referencePage) {
	for _, one := range topics {
		page := referencePage{file: "profile-" + one.name + ".md", title: "aiperf profile: " + one.name, about: one.text}
		for _, group := range one.groups {
			s := referenceSection{heading: group, head: []string{"flag", "key", "value", "what"}}
			for i := range resolve.Flags.Rows {
				if f := &resolve.Flags.Rows[i]; f.Group == group {
					s.rows = append(s.rows, []string{ticked(append(append([]string(nil), f.Flags...), f.FalseNames...)...), ticked(f.Key), cell(valueOf(f)), cell(what(f))})
				}
			}
			page.sections = append(page.sections, s)
		}
		pages = append(pages, page)
	}
	return pages
}

// commandPages returns the pages of the other commands with a table of flags.
func commandPages() (pages []referencePage) {
	for _, c := range []struct {
		file, name, about string
		table             *setting.Table
	}{
		{"report", "report", "new report of a finished run", reportTable()}, {"plot", "plot", "charts of finished runs, as images, as a page and in a browser", plotTable()},
		{"find-capacity", "find-capacity, in addition to the flags of profile", "search for the largest load that meets objectives", capacityTable()},
		{"ab", "ab, in addition to the flags of profile", "comparison of two servers in alternating blocks", turnsTable()},
		{"mock-server", "mock-server", "simulated servers", mockServerTable()}, {"chat", "chat", "a conversation with a server", chatTable()},
		{"watch", "watch", "live view of a run in another process", watchTable()}, {"doctor", "doctor", "check of this machine as a client of benchmarks", doctorTable()},
		{"support-bundle", "support-bundle", "archive for a report of a fault", supportBundleTable()},
		{"tokenizer", "tokenizer info, count, encode, decode", "tokens of texts", tokenizerTable([]string{"--jsonl", "--special", "--chat"})},
	} {
		s := referenceSection{heading: "aiperf " + c.name, head: []string{"flag", "value", "what"}}
		for i := range c.table.Rows {
			f := &c.table.Rows[i]
			s.rows = append(s.rows, []string{ticked(append(append([]string(nil), f.Flags...), f.FalseNames...)...), cell(valueOf(f)), cell(what(f))})
		}
		pages = append(pages, referencePage{c.file + ".md", "aiperf " + c.file, c.about, []referenceSection{s}})
	}
	return pages
}

// variablePages returns the page of the variables of the environment.
func variablePages() []referencePage {
	s := referenceSection{heading: "Variables of the environment", head: []string{"variable", "key", "value", "what"}}
	standard := config.Default()
	for _, row := range config.Rows() {
		if row.Env != "" {
			row.Default = fmt.Sprint(standard.Lookup(row.Key))
			s.rows = append(s.rows, []string{ticked(config.EnvPrefix + row.Env), ticked(row.Key), cell(valueOf(&row)), cell(what(&row))})
		}
	}
	return []referencePage{{"environment.md", "Variables of the environment", "settings that have no flag, or a name besides it", []referenceSection{s}}}
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
