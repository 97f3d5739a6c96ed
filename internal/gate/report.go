package gate

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/metric"
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
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the results as a JUnit XML file: a suite for every subject, in it a case "requests succeeded" and one for every gate.
func JUnit(subjects []Subject, results []Result) ([]byte, error) {
	all, total := suites{}, 0.0
	for _, s := range subjects {
		name := s.Name
		if name == "" {
			name = "aiperf"
		}
		one := suite{Name: name, Time: clock(s.seconds())}
		add := func(what, kind, fault string, took float64) {
			c := testCase{Class: name, Name: what, Time: clock(took)}
			if fault != "" {
				c.Failure = &failure{fault, kind, fault}
				one.Failures++
			}
			one.Cases = append(one.Cases, c)
			one.Tests++
		}
		add("requests succeeded", "run", s.Fault, s.seconds())
		for i := range results {
			if r := &results[i]; r.Subject == s.Name {
				fault := ""
				if r.Failed {
					fault = r.Sentence()
				}
				add(r.Gate.Text, "gate", fault, 0)
			}
		}
		all.Suites = append(all.Suites, one)
		all.Tests += one.Tests
		all.Failures += one.Failures
		total += s.seconds()
	}
	all.Time = clock(total)
	out, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(out, '\n')...), err
}

// clock is a time in s as JUnit writes it.
func clock(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }

// seconds is how long the runs of a subject took.
func (s *Subject) seconds() (sum float64) {
	for _, r := range s.Runs {
		sum += max(0, r.End.Sub(r.Start).Seconds())
	}
	return sum
}

// columns of the step summary.
var columns = []struct {
	title, tag string
	stat       metric.Stat
}{
	{"requests/s", "request_throughput", metric.Avg}, {"output tokens/s", "output_token_throughput", metric.Avg},
	{"TTFT p50 (ms)", "time_to_first_token", metric.P50}, {"TTFT p99 (ms)", "time_to_first_token", metric.P99},
	{"latency p50 (ms)", "request_latency", metric.P50}, {"latency p99 (ms)", "request_latency", metric.P99},
}

// StepSummary is the summary of a GitHub step, in Markdown: the headline figures and what came of the gates.
func StepSummary(subjects []Subject, results []Result) []byte {
	var b strings.Builder
	b.WriteString("### aiperf\n\n| run |")
	line := "|---|"
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.title)
		line += "---:|"
	}
	b.WriteString(" failed |\n" + line + "---:|\n")
	for _, s := range subjects {
		name := s.Name
		if name == "" {
			name = "all"
		}
		fmt.Fprintf(&b, "| %s |", cell(name))
		failed := int64(0)
		for _, c := range columns {
			g := Gate{Tag: c.tag, Stat: c.stat}
			if v := g.mean(s.Runs); v == v {
				fmt.Fprintf(&b, " %s |", figure(v))
			} else {
				b.WriteString(" – |")
			}
		}
		for _, r := range s.Runs {
			failed += r.Profiling.Failed
		}
		fmt.Fprintf(&b, " %d |\n", failed)
	}
	if len(results) > 0 {
		b.WriteString("\n")
	}
	for i := range results {
		mark := "passed"
		if results[i].Failed {
			mark = "**failed**"
		}
		fmt.Fprintf(&b, "- %s: %s\n", mark, cell(results[i].Sentence()))
	}
	return []byte(b.String() + "\n")
}

// cell is text that stays in its cell and is not markup.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ", "\r", " ", "`", "'", `\`, `\\`, "[", `\[`, "*", `\*`).Replace(s)
}
