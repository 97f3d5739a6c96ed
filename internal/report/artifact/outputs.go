package artifact

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// outputsVersion is the version of the layout of outputs.json.
const outputsVersion = "1.1"

// outputMetrics lists the metrics written with an answer, if the answer has them.
var outputMetrics = []string{
	"input_sequence_length", "output_token_count", "output_sequence_length", "request_latency", "time_to_first_token", "inter_token_latency",
}

// Outputs writes outputs.json: the answer to every request that the run did not cancel, sorted by session and turn. The answers wait in a temporary
// file; only their positions are in memory.
type Outputs struct {
	path    string
	answers *os.File
	size    int64
	places  []outputPlace
}

// outputPlace is the position of an answer in the temporary file.
type outputPlace struct {
	session, at int64
	turn, size  int
	warmup      bool
}

// CreateOutputs starts the file; Close writes it.
func CreateOutputs(path string) (*Outputs, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("artifact directory: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".aiperf-outputs-*")
	if err != nil {
		return nil, fmt.Errorf("create artifact: %w", err)
	}
	_ = os.Remove(f.Name()) // where the system allows it, the temporary file vanishes however the process ends
	return &Outputs{path: path, answers: f}, nil
}

// Encode appends the entry of a request after its sort key.
func (w *Outputs) Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte {
	if row.Class == metric.Cut {
		return dst
	}
	kind := profilingPhase
	if rec.Warmup {
		kind = warmupPhase
	}
	dst = fmt.Appendf(dst, "%s %d %d ", kind, rec.SessionNum, rec.TurnIndex)
	wall := wallClock(rec)
	o := jsontext.Open(dst)
	o.Int("session_num", rec.SessionNum)
	o.Text("conversation_id", rec.ConversationID)
	o.Int("turn_index", int64(rec.TurnIndex))
	o.Text("x_request_id", rec.RequestID)
	o.Text("benchmark_phase", kind)
	o.Int("request_start_ns", wall(rec.Start))
	o.Int("request_end_ns", wall(rec.End))
	o.Key("metrics")
	m := jsontext.Open(o.B)
	for _, tag := range outputMetrics {
		if v, ok := row.Value(tag); ok {
			d, _ := metric.Lookup(tag) // every value has a metric
			m.Key(tag)
			m.B = metricMembers()[d.Place].appendValue(m.B, v)
		}
	}
	o.B = m.Close()
	o.Key("response_text")
	if text := answered(reply); text != "" {
		o.B = jsontext.AppendString(o.B, text)
	} else {
		o.B = append(o.B, "null"...)
	}
	return append(o.Close(), '\n')
}

// answered returns all text of an answer in the order of arrival, including reasoning.
func answered(reply *record.Reply) string {
	if reply == nil {
		return ""
	}
	var b strings.Builder
	for i := range reply.Contents {
		b.WriteString(reply.Contents[i].Reasoning)
		b.WriteString(reply.Contents[i].Text)
	}
	return b.String()
}

// Write accepts whole lines of Encode.
func (w *Outputs) Write(p []byte) error {
	for line := range bytes.Lines(p) {
		kind, rest, _ := bytes.Cut(line, []byte{' '})
		session, rest, _ := bytes.Cut(rest, []byte{' '})
		turn, entry, _ := bytes.Cut(rest, []byte{' '})
		place := outputPlace{at: w.size, size: len(entry), warmup: string(kind) == warmupPhase}
		var err error
		if place.session, err = strconv.ParseInt(string(session), 10, 64); err == nil {
			place.turn, err = strconv.Atoi(string(turn))
		}
		if err == nil {
			_, err = w.answers.Write(entry)
		}
		if err != nil {
			return err
		}
		w.size += int64(len(entry))
		w.places = append(w.places, place)
	}
	return nil
}

// Close sorts the answers and writes the file. Only the owner can read it, because answers may reveal the prompts.
func (w *Outputs) Close() (err error) {
	defer func() {
		_ = w.answers.Close() // the file was only read, so its error does not matter
		_ = os.Remove(w.answers.Name())
	}()
	sorting.Stable(w.places, func(a, b outputPlace) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.turn, b.turn))
	})
	f, err := os.CreateTemp(filepath.Dir(w.path), ".aiperf-outputs-*") // readable only by the owner
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	_, _ = out.WriteString("{\n  \"schema_version\": \"" + outputsVersion + "\"") // bufio keeps the error until Flush
	if err = w.list(out, "data", false); err == nil {
		err = w.list(out, "warmup", true)
	}
	_, _ = out.WriteString("\n}")
	if e := out.Flush(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), w.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// list writes the answers of the warm-up or the profiling phases.
func (w *Outputs) list(out *bufio.Writer, key string, warmup bool) error {
	_, _ = out.WriteString(",\n  \"" + key + "\": [")
	some := false
	for _, p := range w.places {
		if p.warmup != warmup {
			continue
		}
		entry := make([]byte, p.size)
		if _, err := w.answers.ReadAt(entry, p.at); err != nil && err != io.EOF {
			return err
		}
		text, err := jsontext.Indent(bytes.TrimSuffix(entry, []byte{'\n'}))
		if err != nil {
			return err
		}
		if some {
			_ = out.WriteByte(',')
		}
		some = true
		_, _ = out.WriteString("\n    ")
		_, _ = out.Write(bytes.ReplaceAll(text, []byte{'\n'}, []byte("\n    ")))
	}
	if some {
		_, _ = out.WriteString("\n  ")
	}
	_ = out.WriteByte(']')
	return nil
}
