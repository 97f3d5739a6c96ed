//go:build unix

package main

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/terminal"
	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
)

// TestOneRunEverywhere: names, units and numbers of a run are the same on the console, in CSV and JSON, in the data of the plots and on the page.
func TestOneRunEverywhere(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	p := program(t, "--url", "mock://?ttft=3ms&itl=300us&tokens=10&jitter=0.5&error-rate=0.1", "--streaming", "--concurrency", "4", "--request-count", "60", "--export-html")
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	summary, page := sameFigures(t, p, 15)
	text, err := os.ReadFile(filepath.Join(p.dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	sameCards(t, unmarked(string(text)), summary)
	if !strings.Contains(p.stdout.String(), "\nHTML Report: "+filepath.Join(p.dir, "report.html")+"\n") || !filepath.IsAbs(p.dir) {
		t.Errorf("the place of the page is not told:\n%s", p.stdout.String())
	}

	dump := filepath.Join(t.TempDir(), "charts.json")
	if out, err := command(t, "plot", p.dir, "--dump-charts", dump, "--size", "small").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var charts []struct {
		File   string
		Y      string `json:"y_title"`
		Traces []struct{ Y []*float64 }
	}
	if text, err = os.ReadFile(dump); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &charts); err != nil {
		t.Fatal(err)
	}
	for _, c := range charts {
		tag := map[string]string{"ttft_over_time.png": "time_to_first_token", "itl_over_time.png": "inter_token_latency", "latency_over_time.png": "request_latency"}[c.File]
		if tag == "" {
			continue
		}
		var one struct{ Avg, Count float64 }
		if err := json.Unmarshal(summary[tag], &one); err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0.0
		for _, y := range c.Traces[0].Y {
			if y != nil {
				sum, n = sum+*y, n+1
			}
		}
		if page[c.Y] == nil || n != one.Count || math.Abs(sum/n-one.Avg) > 1e-9*one.Avg {
			t.Errorf("plot %s: %q, mean %v of %v, want %v of %v", c.File, c.Y, sum/n, n, one.Avg, one.Count)
		}
	}
}

// TestOtherRunsEverywhere: the same of runs that lack what the usual one has: tokens, streams, answers, requests.
func TestOtherRunsEverywhere(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		status int
		least  int // rows of the console
	}{
		"embeddings":  {[]string{"--url", "mock://?ttft=3ms", "--endpoint-type", "embeddings", "--request-count", "30"}, 0, 3},
		"images":      {[]string{"--url", "mock://?ttft=3ms", "--endpoint-type", "image_generation", "--request-count", "6"}, 0, 3},
		"one request": {[]string{"--url", "mock://?ttft=3ms&itl=300us&tokens=10", "--streaming", "--request-count", "1"}, 0, 12},
		"all fail":    {[]string{"--url", "mock://?error-rate=1", "--streaming", "--request-count", "12", "--no-fail-fast"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := program(t, append(c.args, "--export-html")...)
			if got := p.run(); got != c.status {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			sameFigures(t, p, c.least)
		})
	}
}

// approximate is the mark of a figure that is known only approximately, and its limits on a page.
var approximate = regexp.MustCompile(`<abbr title="[^"]*">|</abbr>|` + metric.ApproximateMark)

// unmarked is a report without the marks of figures that a busy machine made approximate.
func unmarked(text string) string { return approximate.ReplaceAllString(text, "") }

// sameFigures compares console, pipe, CSV, JSON and page of a run; it returns the figures of the summary and the rows of the page.
func sameFigures(t *testing.T, p *process, least int) (summary map[string]json.RawMessage, page map[string][]string) {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	saved := read("profile_export_console.txt")
	console := consoleRows(unmarked(saved))
	if piped := p.stdout.String(); !slices.Equal(tableLines(piped), tableLines(saved)) || strings.ContainsAny(piped, "\x1b\r") || strings.ContainsAny(p.stderr.String(), "\x1b\r") {
		t.Errorf("the pipe has other tables than the file, or what a terminal obeys:\n%s", piped)
	}
	lines, err := csv.NewReader(strings.NewReader(strings.Split(read("profile_export_aiperf.csv"), "\r\n\r\n")[0])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	inCSV := map[string]map[string]string{}
	for _, row := range lines[1:] {
		inCSV[row[0]] = map[string]string{}
		for i, cell := range row {
			inCSV[row[0]][lines[0][i]] = cell
		}
	}
	if err := json.Unmarshal([]byte(read("profile_export_aiperf.json")), &summary); err != nil {
		t.Fatal(err)
	}
	page = pageRows(unmarked(read("report.html")))
	stats := []string{"avg", "min", "max", "p99", "p90", "p50", "std"}

	seen := 0
	for tag, raw := range summary {
		var one map[string]any
		m, known := metric.Lookup(tag)
		if json.Unmarshal(raw, &one) != nil || !known {
			continue
		}
		name := m.Header + " (" + m.Display + ")"
		for label, cells := range console {
			if cells == nil || label != name {
				continue
			}
			seen++
			for i, stat := range stats {
				v, there := one[stat].(float64)
				want := "N/A"
				if there {
					want = terminal.Exact(v)
				}
				if cells[i] != want {
					t.Errorf("console: %s %s is %s, want %s", label, stat, cells[i], want)
				}
				if got := page[label][i]; got != strings.ReplaceAll(want, "N/A", "") {
					t.Errorf("page: %s %s is %q, want %s", label, stat, got, want)
				}
				row := inCSV[label]
				if row == nil { // counts have no unit there
					row = inCSV[label[:strings.LastIndex(label, " (")]]
				}
				if cell := row[stat]; there && cell != "" && cell != strings.ReplaceAll(want, ",", "") {
					t.Errorf("CSV: %s %s is %s, want %s", label, stat, cell, want)
				}
			}
		}
	}
	if seen < least || seen > len(console) {
		t.Errorf("%d of %d rows of the console compared", seen, len(console))
	}
	return summary, page
}

// sameCards: the head figures of the page are those of the summary, in its unit, to the last digit that is shown.
func sameCards(t *testing.T, page string, summary map[string]json.RawMessage) {
	t.Helper()
	cards := map[string][]string{} // by name: the figure, its unit, the figures below it
	for _, m := range regexp.MustCompile(`<div class="card"><h2>([^<]*)</h2><p class="big">([^<]*) <small>([^<]*)</small></p>(.*?)</dl></div>`).FindAllStringSubmatch(page, -1) {
		cards[m[1]] = []string{m[2], html.UnescapeString(m[3])}
		for _, d := range regexp.MustCompile(`<dt>([^<]*)</dt><dd>([^<]*)</dd>`).FindAllStringSubmatch(m[4], -1) {
			cards[m[1]] = append(cards[m[1]], d[1], d[2])
		}
	}
	for _, c := range []struct {
		card, tag, stat string
		more            [][2]string // names below it, and their statistics or tags
	}{
		{"Time to first token", "time_to_first_token", "p50", [][2]string{{"p90", "p90"}, {"max", "max"}}},
		{"Inter-token latency", "inter_token_latency", "p50", [][2]string{{"p90", "p90"}, {"max", "max"}}},
		{"Request latency", "request_latency", "p50", [][2]string{{"p90", "p90"}, {"max", "max"}}},
		{"Speed per user", "output_token_throughput_per_user", "p50", [][2]string{{"slowest 10 %", "p10"}, {"min", "min"}}},
		{"Output throughput", "output_token_throughput", "avg", [][2]string{{"tokens out", "total_osl"}, {"tokens in", "total_isl"}, {"all tokens/s", "total_token_throughput"}}},
		{"Requests", "request_throughput", "avg", [][2]string{{"succeeded", "request_count"}, {"failed", "error_request_count"}}},
	} {
		value := func(tag, stat string) (string, string) {
			var one map[string]any
			if err := json.Unmarshal(summary[tag], &one); err != nil {
				t.Fatalf("%s: %v", tag, err)
			}
			v, _ := one[stat].(float64)
			unit, _ := one["unit"].(string)
			if m, _ := metric.Lookup(tag); m.Integer && m.Kind != metric.Record {
				return strings.TrimSuffix(terminal.Exact(v), ".00"), unit
			}
			return terminal.Figure(v), unit
		}
		figure, unit := value(c.tag, c.stat)
		want := []string{figure, unit}
		got := cards[c.card]
		if len(got) < 2 || !slices.Equal(got[:2], want) {
			t.Errorf("card %s: %q, want %q", c.card, got, want)
			continue
		}
		for _, more := range c.more {
			tag, stat := c.tag, more[1]
			if summary[more[1]] != nil {
				tag, stat = more[1], "avg"
			}
			want, _ := value(tag, stat)
			if i := slices.Index(got[2:], more[0]); i < 0 || got[2+i+1] != want {
				t.Errorf("card %s: %q, want %s %s", c.card, got[2:], more[0], want)
			}
		}
	}
}

// TestTerminalAgrees: the table that a terminal gets has the names, units and numbers of the summary, and so do its closing figures.
func TestTerminalAgrees(t *testing.T) {
	t.Parallel()
	s := atTerminal(t, 140, 40, "--url", "mock://?ttft=3ms&itl=300us&tokens=10&jitter=0.5&error-rate=0.1", "--streaming", "--concurrency", "4", "--request-count", "60", "--no-probe")
	status, left := s.ends()
	if status != 0 {
		t.Fatalf("status %d\n%s", status, left)
	}
	left = unmarked(strings.ReplaceAll(left, "\r", ""))
	var summary map[string]json.RawMessage
	text, err := os.ReadFile(filepath.Join(s.dir, "profile_export_aiperf.json"))
	if err == nil {
		err = json.Unmarshal(text, &summary)
	}
	if err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(filepath.Join(s.dir, "profile_export_console.txt"))
	if err != nil {
		t.Fatal(err)
	}
	file := consoleRows(unmarked(string(saved))) // of the contract, whatever the terminal got
	seen := 0
	for tag, raw := range summary {
		var one map[string]any
		m, known := metric.Lookup(tag)
		if json.Unmarshal(raw, &one) != nil || !known || m.Kind == metric.Adjustment {
			continue
		}
		_, row, found := strings.Cut(left, "\n"+m.Header+" ("+m.Display+") ")
		if !found {
			continue
		}
		seen++
		row, _, _ = strings.Cut(row, "\n")
		var want []string
		for _, stat := range []string{"avg", "min", "max", "p99", "p90", "p50", "std"} {
			if v, there := one[stat].(float64); there {
				want = append(want, terminal.Exact(v))
			}
		}
		if got := slices.DeleteFunc(slices.Clone(file[m.Header+" ("+m.Display+")"]), func(cell string) bool { return cell == "N/A" }); !slices.Equal(got, want) {
			t.Errorf("%s is %q in the console file, want %q", m.Header, got, want)
		}
		if len(want) == 1 && m.Integer {
			want[0] = strings.TrimSuffix(want[0], ".00")
		}
		if got := strings.Fields(row); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", m.Header, got, want)
		}
	}
	if seen < 12 {
		t.Errorf("%d rows of the terminal compared:\n%s", seen, left)
	}
	var latency struct{ P50, P90, Max float64 }
	if err := json.Unmarshal(summary["request_latency"], &latency); err != nil {
		t.Fatal(err)
	}
	_, slowest, _ := strings.Cut(left, "Slowest requests")
	if fields := strings.Fields(slowest); !slices.Contains(fields[:min(40, len(fields))], terminal.Figure(latency.Max)) {
		t.Errorf("the slowest request is not the maximum of %v ms: %.300s", latency.Max, slowest)
	}
	var requests, tokens struct{ Avg float64 }
	for tag, into := range map[string]any{"request_throughput": &requests, "output_token_throughput": &tokens} {
		if err := json.Unmarshal(summary[tag], into); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"p50 " + terminal.Figure(latency.P50) + " ms", "p90 " + terminal.Figure(latency.P90) + " ms", terminal.Figure(requests.Avg), terminal.Figure(tokens.Avg),
	} {
		if !strings.Contains(left, want) {
			t.Errorf("the closing figures have no %q", want)
		}
	}
}

// tableLines are the lines of a console's tables.
func tableLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.ContainsAny(line, "┃│┏┡└") })
}

// consoleRows are the rows of metric tables: label with unit, then the cells.
func consoleRows(text string) map[string][]string {
	rows, label := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "│\n"), "│") {
			cells = append(cells, strings.TrimSpace(c))
		}
		switch {
		case !strings.HasPrefix(line, "│") || len(cells) != 8:
		case cells[1] == "" && strings.HasPrefix(cells[0], "("): // the unit of a long name
			rows[label+" "+cells[0]] = rows[label]
			delete(rows, label)
		default:
			label = cells[0]
			rows[label] = cells[1:]
		}
	}
	return rows
}

// pageRows are the rows of the page's table of all figures.
func pageRows(text string) map[string][]string {
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile(`<tr><th scope="row">([^<]*)</th>((?:<td[^>]*>[^<]*</td>){7})</tr>`).FindAllStringSubmatch(text, -1) {
		for _, c := range regexp.MustCompile(`<td[^>]*>([^<]*)</td>`).FindAllStringSubmatch(m[2], -1) {
			name := html.UnescapeString(m[1])
			rows[name] = append(rows[name], html.UnescapeString(c[1]))
		}
	}
	return rows
}
