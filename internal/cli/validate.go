package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
	"aiperf/internal/infile"
	"aiperf/internal/jsontext"
	"aiperf/internal/terminal"
)

// The targets of validate.
const (
	targetTrace     = "mooncake-trace"
	targetArtifacts = "artifacts"
)

// validateCommand checks a trace or the files of a run.
func (p *Program) validateCommand() *cobra.Command {
	var target, input string
	cmd := &cobra.Command{
		Use:   "validate [" + targetTrace + "|" + targetArtifacts + "] PATH",
		Short: "Check a trace, or the files of a run",
		Long: targetTrace + ": every row of a file must be one that profile can replay; all bad lines are listed.\n" + targetArtifacts +
			": every JSON and JSON Lines file of a directory must be whole, and summaries count the requests that their records hold.\nWithout a target a directory is one of artifacts and a file is a trace. The exit status is 1 if something is wrong.",
		Example: "  aiperf validate mooncake-trace --input trace.jsonl\n  aiperf validate artifacts/my-run",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 && !slices.Contains([]string{targetTrace, targetArtifacts}, words[0]) && (len(words) == 1 || target != "") {
				words = append([]string{""}, words...)
			}
			for i, to := range []*string{&target, &input} {
				if i < len(words) && words[i] != "" {
					*to = words[i]
				}
			}
			return p.validate(target, input)
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", "", targetTrace+" or "+targetArtifacts)
	f.StringVar(&input, "input", "", "the file or directory")
	return cmd
}

func (p *Program) validate(target, input string) error {
	if input == "" {
		return errors.New("--input: the file or directory to check is missing")
	}
	info, err := os.Stat(input)
	if err != nil {
		return fmt.Errorf("--input %s: %w", input, err)
	}
	if target == "" {
		if target = targetTrace; info.IsDir() {
			target = targetArtifacts
		}
	}
	switch {
	case target != targetTrace && target != targetArtifacts:
		return fmt.Errorf("--target %q: must be %s or %s", target, targetTrace, targetArtifacts)
	case target == targetTrace && info.IsDir():
		return fmt.Errorf("--input %s: is a directory, not a trace", input)
	case target == targetArtifacts && !info.IsDir():
		return fmt.Errorf("--input %s: is not a directory", input)
	}
	check := p.validateTrace
	if target == targetArtifacts {
		check = p.validateArtifacts
	}
	faults, passed, err := check(input)
	if err != nil {
		return err
	}
	if len(faults) == 0 {
		_, err = fmt.Fprintf(p.Out, "Validation passed: %s.\n", passed)
		return err
	}
	fmt.Fprintf(p.Out, "Validation failed with %d error(s):\n", len(faults))
	for _, line := range faults {
		fmt.Fprintln(p.Out, "  "+terminal.Line(line))
	}
	return exit(1)
}

// validateTrace lists what is wrong with the rows of a trace.
func (p *Program) validateTrace(path string) (faults []string, passed string, err error) {
	n, m := 0, p.newMeter("validate", "rows read")
	defer m.done()
	ways := map[string]*trace.Record{} // the first record of every session
	err = rows.Read(path, func(l rows.Line) bool {
		n++
		m.tick()
		var wrong dataset.Faults
		if row := rows.Parse(fmt.Sprintf("Line %d", l.Number), l.Text, &wrong); row != nil {
			rec := trace.Mooncake(row)
			if wrong.Count() == 0 && rec.Session != "" {
				first := ways[rec.Session]
				if first == nil {
					first = &trace.Record{Where: rec.Where, Messages: rec.Messages, Payload: rec.Payload}
					ways[rec.Session] = first
				}
				trace.Session{ID: rec.Session, Records: []trace.Record{*first, rec}}.Check(&wrong)
			}
		}
		if err := wrong.Err(); err != nil {
			faults = append(faults, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		return true
	})
	return faults, fmt.Sprintf("%d rows are Mooncake-compatible", n), err
}

// counted is what a line of records, or a summary of them, says of requests.
type counted struct {
	Metadata struct {
		Phase string `json:"benchmark_phase"`
	}
	Error json.RawMessage

	Good   *struct{ Avg float64 } `json:"request_count"`
	Failed *struct{ Avg float64 } `json:"error_request_count"`
}

// validateCounts tells where a run's summary counts other requests than its records hold.
func validateCounts(dir string) (faults []string) {
	summary, records := filepath.Join(dir, "profile_export_aiperf.json"), filepath.Join(dir, "profile_export.jsonl")
	var said counted
	text, err := infile.ReadAll(summary, maxArtifact)
	if err != nil || json.Unmarshal(text, &said) != nil || said.Good == nil && said.Failed == nil {
		return nil // a file that is not whole is a fault of its own
	}
	good, failed := 0, 0
	err = rows.Read(records, func(l rows.Line) bool {
		var r counted
		switch {
		case json.Unmarshal(l.Text, &r) != nil || r.Metadata.Phase != "" && r.Metadata.Phase != "profiling":
		case r.Error == nil || string(r.Error) == "null":
			good++
		default:
			failed++
		}
		return true
	})
	if err != nil { // there are none
		return nil
	}
	for _, one := range []struct {
		key  string
		said *struct{ Avg float64 }
		held int
	}{{"request_count", said.Good, good}, {"error_request_count", said.Failed, failed}} {
		if n := 0.0; one.said != nil || one.held > 0 {
			if one.said != nil {
				n = one.said.Avg
			}
			if n != float64(one.held) {
				faults = append(faults, fmt.Sprintf("%s: %s is %v, %s holds %d", summary, one.key, n, records, one.held))
			}
		}
	}
	return faults
}

// maxArtifact is the size of the largest JSON document that is checked, in bytes; JSON Lines have no limit.
const maxArtifact = 1 << 30

// validateArtifacts lists what is wrong with the files of a directory.
func (p *Program) validateArtifacts(dir string) (faults []string, passed string, err error) {
	files, lines := 0, 0
	m := p.newMeter("validate", "lines read")
	defer m.done()
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		switch filepath.Ext(path) {
		case ".json":
			files++
			text, err := infile.ReadAll(path, maxArtifact)
			if err == nil {
				err = jsontext.Check(text)
			}
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v", path, err))
			}
			if entry.Name() == "profile_export_aiperf.json" {
				faults = append(faults, validateSummary(path, text)...)
				faults = append(faults, validateCounts(filepath.Dir(path))...)
			}
		case ".jsonl":
			files++
			err := rows.Read(path, func(l rows.Line) bool {
				lines++
				m.tick()
				if err := jsontext.Check(l.Text); err != nil {
					faults = append(faults, fmt.Sprintf("%s: %v", l.Where(), err))
				}
				return true
			})
			if err != nil && !errors.Is(err, rows.ErrNoRecords) {
				faults = append(faults, err.Error())
			}
		}
		return nil
	})
	if err == nil && files == 0 {
		faults = append(faults, dir+": no JSON file: not a directory of artifacts")
	}
	return faults, fmt.Sprintf("%d JSON files, %d lines of records are whole", files, lines), err
}
