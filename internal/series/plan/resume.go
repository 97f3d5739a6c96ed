package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
)

// cellDigest returns a digest that distinguishes configurations, without the paths of the output files. text is the configuration.
func cellDigest(b *config.Benchmark, seed *config.Seed) (digest string, text []byte, err error) {
	plain := *b
	plain.Artifacts.Dir = ""
	run := config.Run{SchemaVersion: config.SchemaVersion, RandomSeed: seed, Benchmark: plain}
	if text, err = run.InputConfig(); err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", digits(seed), text))
	return hex.EncodeToString(sum[:]), text, nil
}

// reuse reuses the finished run of an earlier series for a trial, if there is one. A run with another configuration is an error: its results do not
// belong to this series, and it must not be overwritten.
func (i *invocation) reuse(t *trial, cell *config.Cell) error {
	if !i.run.Resume {
		return nil
	}
	b, seed := i.prepared(t, cell)
	digest, text, err := cellDigest(&b, seed)
	if err != nil {
		return err
	}
	layout := artifact.NewLayout(t.dir, i.run.Artifacts.Prefix)
	was, earlier, torn := artifact.ReadCell(layout)
	if was == "" {
		return nil
	}
	if was != digest {
		return fmt.Errorf("the series cannot continue: %s was run with other settings (%s); give the same settings or another directory, or remove that run",
			terminal.Line(t.dir), terminal.Line(i.Secrets.Text(changed(earlier, text))))
	}
	run, err := artifact.ReadSummary(layout.SummaryJSON())
	if err != nil && torn == "" {
		torn = filepath.Base(layout.SummaryJSON())
	}
	if torn != "" {
		fmt.Fprintf(i.Err, "aiperf: %s is not complete in %s: the run is repeated\n", terminal.Line(torn), terminal.Line(t.dir))
		return nil
	}
	t.run, t.reused, t.pause = run, true, 0
	fmt.Fprintf(i.Err, "aiperf: %s has already finished\n", terminal.Line(t.dir))
	return nil
}

// changed returns the first setting in which two JSON configurations differ, in the order of their keys.
func changed(was, is []byte) string {
	var a, b any
	if json.Unmarshal(was, &a) == nil && json.Unmarshal(is, &b) == nil {
		if found := departs("", a, b); found != "" {
			return found
		}
	}
	return "another random seed"
}

// departs returns the first path below path at which two values differ; "" = none.
func departs(path string, was, is any) string {
	switch a := was.(type) {
	case map[string]any:
		b, ok := is.(map[string]any)
		if !ok {
			break
		}
		var keys []string
		for _, m := range []map[string]any{a, b} {
			for key := range m {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if found := departs(joinPath(path, key), a[key], b[key]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		b, ok := is.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for k := range a {
			if found := departs(fmt.Sprintf("%s[%d]", path, k), a[k], b[k]); found != "" {
				return found
			}
		}
		return ""
	}
	before, _ := json.Marshal(was)
	now, _ := json.Marshal(is)
	if string(before) == string(now) {
		return ""
	}
	return fmt.Sprintf("%s: %s, now %s", path, before, now)
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
