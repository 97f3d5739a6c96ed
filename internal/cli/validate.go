package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/verify"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/trace"
)

// The targets of validate.
const (
	targetTrace     = "mooncake-trace"
	targetArtifacts = "artifacts"
)

// validateCommand builds the command that checks a trace or the files of a run.
func (p *Program) validateCommand() *cobra.Command {
	var target, input string
	var block int
	cmd := &cobra.Command{
		Use:   "validate [" + targetTrace + "|" + targetArtifacts + "] PATH",
		Short: "check of a trace, or of the files of a run",
		Long: targetTrace + ": checks that profile can replay every row of a file, and lists all bad lines.\n" + targetArtifacts +
			": checks that every JSON and JSON Lines file of a directory is complete, and computes the numbers of the summary again from the records: " +
			"counts, tokens, statistics, duration, rates and failures.\nWithout a target, a directory is checked as artifacts and a file as a trace. The exit status is 1 if something is wrong.",
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
			if block < 1 {
				return fmt.Errorf("--block-size %d: must be at least 1", block)
			}
			return p.validate(target, input, block)
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", "", targetTrace+" or "+targetArtifacts)
	f.StringVar(&input, "input", "", "the file or directory")
	f.IntVar(&block, "block-size", custom.MooncakeBlock, "number of tokens per hash id of a trace")
	return cmd
}

func (p *Program) validate(target, input string, block int) error {
	if input == "" {
		return errors.New("--input: the file or directory to check is missing")
	}
	info, err := os.Stat(input)
	if errors.Is(err, fs.ErrNotExist) {
		return boundedfile.Missing(input)
	}
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
	check := func(path string) ([]string, string, error) { return p.validateTrace(path, block) }
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
	return exitStatus(1)
}

// validateTrace lists the faults in the rows of a trace.
func (p *Program) validateTrace(path string, block int) (faults []string, passed string, err error) {
	n, m := 0, p.newMeter("validate", "rows read")
	defer m.done()
	ways := map[string]*trace.Record{} // the first record of every session
	err = rows.Read(path, func(l rows.Line) bool {
		n++
		m.tick()
		var wrong dataset.Faults
		if row := rows.Parse(fmt.Sprintf("Line %d", l.Number), l.Text, &wrong); row != nil {
			rec := trace.Mooncake(row)
			if wrong.Count() == 0 {
				trace.CheckBlocks(&rec, block, "--block-size", &wrong)
			}
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

// isSummary reports whether a JSON file is the summary of a run, by its name, or for another --profile-export-prefix by its keys.
func isSummary(path string, text []byte) bool {
	if filepath.Base(path) == "profile_export_aiperf.json" {
		return true
	}
	records, _ := verify.Records(path)
	_, err := os.Stat(records)
	return err == nil && bytes.Contains(text, []byte(`"input_config"`)) && bytes.Contains(text, []byte(`"was_cancelled"`))
}

// validateArtifacts lists the faults in the files of a directory.
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
			text, err := boundedfile.ReadAll(path, verify.MaxDocument)
			if err == nil {
				err = jsontext.Check(text)
			}
			if err != nil {
				faults = append(faults, fmt.Sprintf("%s: %v", path, err))
			}
			if err == nil && isSummary(path, text) {
				faults = append(faults, verify.Summary(path, m.tick)...)
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
		faults = append(faults, dir+": has no JSON file, so it is not an artifact directory")
	}
	return faults, fmt.Sprintf("%d JSON files, %d lines of records are whole", files, lines), err
}
