package artifact

import (
	"encoding/csv"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// GradesWriter writes the JSONL file of graded answers.
type GradesWriter struct {
	*stream
	encode func(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte
}

// CreateGraded creates the file; encode makes the line of a request.
func CreateGraded(path string, encode func(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte) (*GradesWriter, error) {
	s, err := create(path, false)
	return &GradesWriter{s, encode}, err
}

// Encode appends the line of a request.
func (w *GradesWriter) Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte {
	return w.encode(dst, rec, reply, row)
}

// Graded is the file of graded answers.
func (l Layout) Graded() string { return l.named("accuracy_export.jsonl", "_accuracy.jsonl") }

// Scores is the file of scores.
func (l Layout) Scores() string { return l.named("accuracy_results.csv", "_accuracy_results.csv") }

// WriteScores writes the scores as CSV; the first row is the score of all tasks.
func WriteScores(path string, a *metric.Accuracy) error {
	var b strings.Builder
	c := csv.NewWriter(&b)
	c.Write([]string{"task", "correct", "total", "unparsed", "accuracy"})
	overall := a.Overall()
	overall.Task = "OVERALL"
	for _, s := range append([]metric.Score{overall}, a.Tasks...) {
		rate := ""
		if a.Scored(s) {
			rate = ratio(s.Rate())
		}
		c.Write([]string{s.Task, strconv.FormatInt(s.Correct, 10), strconv.FormatInt(s.Total, 10), strconv.FormatInt(s.Unparsed, 10), rate})
	}
	c.Flush()
	return WriteFile(path, []byte(b.String()))
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

// accuracyValue is one of the values that the scores add to the summary.
type accuracyValue struct {
	tag, header string
	score       metric.Score
	unparsed    bool
}

// accuracyValues lists the values in the order of the summary.
func accuracyValues(a *metric.Accuracy) []accuracyValue {
	var list []accuracyValue
	for _, kind := range []struct {
		tag, header string
		unparsed    bool
	}{{"accuracy", "Accuracy", false}, {"accuracy.unparsed", "Accuracy Unparsed", true}} {
		whole := kind.tag
		if !kind.unparsed {
			whole += ".overall"
		}
		if a.Scored(a.Overall()) {
			list = append(list, accuracyValue{whole, kind.header + " (Overall)", a.Overall(), kind.unparsed})
		}
		for _, s := range a.Tasks {
			list = append(list, accuracyValue{kind.tag + ".task." + s.Task, kind.header + " (" + s.Task + ")", s, kind.unparsed})
		}
	}
	return list
}

// appendAccuracy writes the scores after the other metrics of the summary.
func appendAccuracy(o *jsontext.Object, a *metric.Accuracy) {
	if a == nil {
		return
	}
	for _, v := range accuracyValues(a) {
		o.Key(v.tag)
		m := jsontext.Open(o.B)
		m.Text("unit", "ratio")
		m.Int("count", v.score.Total)
		if v.unparsed {
			m.Int("sum", v.score.Unparsed)
			m.Float("current", v.score.UnparsedRate())
		} else {
			m.Int("sum", v.score.Correct)
			m.Float("current", v.score.Rate())
			low, high := v.score.Interval()
			m.Float("ci95_low", low)
			m.Float("ci95_high", high)
		}
		o.B = m.Close()
	}
	if a.Ungraded > 0 {
		o.Key("accuracy.ungraded")
		m := jsontext.Open(o.B)
		m.Text("unit", "answers")
		m.Int("count", a.Ungraded)
		m.Int("current", a.Ungraded)
		o.B = m.Close()
	}
}

// accuracyCSV returns the rows that the scores add to the summary CSV.
func accuracyCSV(a *metric.Accuracy) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	for _, v := range accuracyValues(a) {
		rate := v.score.Rate()
		if v.unparsed {
			rate = v.score.UnparsedRate()
		}
		c.Write([]string{v.header + " (ratio)", ratio(rate)})
	}
	if a.Ungraded > 0 {
		c.Write([]string{"Accuracy Ungraded (answers)", strconv.FormatInt(a.Ungraded, 10)})
	}
	c.Flush()
	return b.String()
}
