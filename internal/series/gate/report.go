package gate

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/measure/metric"
)

type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name       string      `xml:"name,attr"`
		Tests      int         `xml:"tests,attr"`
		Failures   int         `xml:"failures,attr"`
		Errors     int         `xml:"errors,attr"`
		Skipped    int         `xml:"skipped,attr"`
		Time       string      `xml:"time,attr"`
		Properties *properties `xml:"properties,omitempty"`
		Cases      []testCase  `xml:"testcase"`
	}
	properties struct {
		List []property `xml:"property"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Error   *failure `xml:"error,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the results as a JUnit XML file: a suite for every subject with its verdict as properties, and in it a case "requests succeeded" and
// one for every gate. An undecided gate is an error; a passed one reports the measured value.
func JUnit(subjects []Subject, results []Result) ([]byte, error) {
	all, total := suites{}, 0.0
	for i := range subjects {
		one := subjects[i].suite(results)
		all.Suites = append(all.Suites, one)
		all.Tests += one.Tests
		all.Failures += one.Failures
		all.Errors += one.Errors
		total += subjects[i].seconds()
	}
	all.Time = clock(total)
	out, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(out, '\n')...), err
}

// suite returns the suite of a subject.
func (s *Subject) suite(results []Result) suite {
	one := suite{Name: cmp.Or(s.Name, "aiperf"), Time: clock(s.seconds()), Properties: s.properties()}
	first := testCase{Class: one.Name, Name: "requests succeeded", Time: one.Time}
	if s.Fault != "" {
		first.Failure = &failure{s.Fault, "run", s.Fault}
		one.Failures++
	}
	one.Cases = append(one.Cases, first)
	for i := range results {
		r := &results[i]
		if r.Subject != s.Name {
			continue
		}
		c, text := testCase{Class: one.Name, Name: r.Gate.Text, Time: clock(0)}, r.Sentence()
		switch r.Outcome {
		case Failed:
			c.Failure = &failure{text, "gate", text}
			one.Failures++
		case Undecided:
			c.Error = &failure{text, "undecided", text}
			one.Errors++
		default:
			c.Out = text
		}
		one.Cases = append(one.Cases, c)
	}
	one.Tests = len(one.Cases)
	return one
}

// properties returns the verdict of every run of a subject and its explanation; nil if no run has one.
func (s *Subject) properties() *properties {
	var list []property
	for k, run := range s.Runs {
		v := run.Validity
		if v == nil || v.Verdict == "" {
			continue
		}
		name := "verdict"
		if len(s.Runs) > 1 {
			name = fmt.Sprintf("verdict of run %d", k+1)
		}
		list = append(list, property{name, string(v.Verdict)}, property{name + " reason", v.Reason})
	}
	if list == nil {
		return nil
	}
	return &properties{list}
}

// clock formats a time in s for JUnit.
func clock(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }

// columns are the columns of the step summary.
var columns = []struct {
	title, tag string
	stat       metric.Stat
}{
	{"requests/s", "request_throughput", metric.Avg}, {"output tokens/s", "output_token_throughput", metric.Avg},
	{"TTFT p50 (ms)", "time_to_first_token", metric.P50}, {"TTFT p99 (ms)", "time_to_first_token", metric.P99},
	{"latency p50 (ms)", "request_latency", metric.P50}, {"latency p99 (ms)", "request_latency", metric.P99},
}

// StepSummary returns the summary of a GitHub step in Markdown: the main figures and the results of the gates.
func StepSummary(subjects []Subject, results []Result) []byte {
	var b strings.Builder
	b.WriteString("### aiperf\n\n| run |")
	line := "|---|"
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.title)
		line += "---:|"
	}
	b.WriteString(" failed | verdict |\n" + line + "---:|---|\n")
	for i := range subjects {
		subjects[i].row(&b)
	}
	if len(results) > 0 {
		b.WriteString("\n")
	}
	for i := range results {
		text := cell(results[i].Sentence())
		if o := string(results[i].Outcome); results[i].Outcome != Passed {
			text = "**" + strings.ToLower(o) + "**" + strings.TrimPrefix(text, o)
		}
		fmt.Fprintf(&b, "- %s\n", text)
	}
	return []byte(b.String() + "\n")
}

// row writes the table row of a subject: figures, with their ranges where they are not exact, failed requests, verdict.
func (s *Subject) row(b *strings.Builder) {
	fmt.Fprintf(b, "| %s |", cell(cmp.Or(s.Name, "all")))
	failed := int64(0)
	for _, c := range columns {
		g := Gate{Tag: c.tag, Stat: c.stat}
		if v, r := g.mean(s.Runs); v == v {
			fmt.Fprintf(b, " %s |", withRange(v, shown(v, r), ""))
		} else {
			b.WriteString(" – |")
		}
	}
	for _, r := range s.Runs {
		failed += r.Profiling.Failed
	}
	fmt.Fprintf(b, " %d | %s |\n", failed, cell(cmp.Or(s.verdicts(), "–")))
}

// shown returns the range of a figure, or a single value if both ends round to the same number.
func shown(v float64, r metric.Range) metric.Range {
	if figure(r.Low) == figure(v) && figure(r.High) == figure(v) {
		return metric.Range{Low: v, High: v}
	}
	return r
}

// cell escapes a text for a table cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ", "\r", " ", "`", "'", `\`, `\\`, "[", `\[`, "*", `\*`).Replace(s)
}
