package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/genaiperf"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/run/kube"
	"aiperf/internal/run/rereport"
	"aiperf/internal/wire/endpoint"
)

// oldName is the program whose command lines are also accepted; users can create a link with that name to this program.
const oldName = "genai-perf"

// oldBrand is the beginning of titles in reports under the old name.
const oldBrand = "GenAI-Perf"

// Words returns the words after "aiperf" for a command line including the program name: a link with the old name becomes the first word.
func Words(args []string) []string {
	if isOldName(args[0]) {
		return append([]string{oldName}, args[1:]...)
	}
	return args[1:]
}

// ReportedWords returns the words that reports show as the command line: those of this process, or in a pod of a run those of the user who started the run.
func ReportedWords(args, environ []string) (words []string) {
	if json.Unmarshal([]byte(lookup(environ, kube.CommandVariable)), &words) == nil && len(words) > 0 {
		return words
	}
	return Words(args)
}

// isOldName reports whether a program was called by a link with the old name.
func isOldName(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == oldName
}

// takeOldName detects whether the program runs under GenAI-Perf's name, and removes that name from a command line.
func (p *Program) takeOldName(argv []string) []string {
	p.old = isOldName(p.Name)
	if len(argv) > 0 && argv[0] == oldName {
		p.old, argv = true, argv[1:]
	}
	if p.old {
		p.printErr("note: this is aiperf under the name of %s", oldName)
	}
	return argv
}

// oldDefaults returns GenAI-Perf's default settings for a command line.
func oldDefaults(words []string) (f *genaiperf.File, rest []string) {
	rest = withoutUnset(words)
	set, _ := setting.Scan(resolve.Flags, rest) // errors are reported when the line is parsed for the run
	f = &genaiperf.File{Flags: genaiperf.Defaults(set.Text("--service-kind", ""))}
	if !set.Has("--endpoint-type") && slices.Contains(genaiperf.ServiceKinds, set.Text("--service-kind", "")) {
		rest = removeFlags(rest, "--service-kind")
	}
	if set.Has("--request-rate") {
		f.Flags = append(f.Flags, [2]string{"--arrival-pattern", "constant"})
	}
	return f, rest
}

// withoutUnset removes numbers of -1 from a command line: in GenAI-Perf's help, -1 is the default of unset flags.
func withoutUnset(words []string) (rest []string) {
	for i := 0; i < len(words); i++ {
		if words[i] == "--" {
			return append(rest, words[i:]...)
		}
		name, value, joined := strings.Cut(words[i], "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		row, _, known := resolve.Flags.Lookup(name)
		switch unset := known && value == "-1" && strings.HasPrefix(row.Bounds, ">"); {
		case unset && !joined:
			i++
		case !unset:
			rest = append(rest, words[i])
		}
	}
	return rest
}

// rankingSizes maps GenAI-Perf's flags for the sizes of generated ranking requests to our settings.
var rankingSizes = []struct {
	flag string
	here []string
}{
	{"--batch-size-text", []string{"--rankings-passages-mean"}},
	{"--isl", []string{"--rankings-passages-prompt-token-mean", "--rankings-query-prompt-token-mean"}},
	{"--isl-stddev", []string{"--rankings-passages-prompt-token-stddev", "--rankings-query-prompt-token-stddev"}},
}

// oldRankings rewrites a command line with generated ranking requests: GenAI-Perf used the flags of prompts for their sizes, with --batch-size-text
// passages per query. Explicit settings of ranking requests take precedence. The notes say what was rewritten.
func oldRankings(words []string) (rest, notes []string) {
	set, faults := setting.Scan(resolve.Flags, words)
	if file := set.Text("--input-file", ""); len(faults) > 0 || !ranking(set) || file != "" && !strings.HasPrefix(file, "synthetic:") {
		return words, nil
	}
	for _, size := range rankingSizes {
		g := set.Get(size.flag)
		if g == nil || len(g.Numbers()) != 1 || slices.ContainsFunc(size.here, set.Has) {
			continue
		}
		if v, fraction := g.Numbers()[0].(float64); fraction && v != math.Trunc(v) {
			continue // the sizes here are integers: the flag stays as it is, and a rule says that it has no effect
		}
		words = removeFlags(words, g.Spelled...)
		var now []string
		for _, flag := range size.here {
			now = append(now, flag, fmt.Sprint(g.Numbers()[0]))
		}
		words = append(now, words...)
		notes = append(notes, fmt.Sprintf("%s is a GenAI-Perf flag; it is run as %s", set.Spelled(size.flag), strings.Join(now, " ")))
	}
	return words, notes
}

// oldImages refuses a width of images without a height, or the reverse: GenAI-Perf generated images only if both were given.
func oldImages(set *setting.CommandLine) []string {
	const width, height = "--image-width-mean", "--image-height-mean"
	if set.Has(width) == set.Has(height) {
		return nil
	}
	given, missing := width, height
	if set.Has(height) {
		given, missing = height, width
	}
	return []string{fmt.Sprintf("%s: images need both sides; give %s too", set.Spelled(given), missing)}
}

// ranking reports whether a command line names a ranking endpoint type.
func ranking(set *setting.CommandLine) bool {
	kind, _, err := endpoint.Lookup(set.Text("--endpoint-type", ""))
	return err == nil && kind.Ranks()
}

// rankingAxis returns the key that a sweep varies: the batch of a ranking request is its number of passages.
func rankingAxis(key string, set *setting.CommandLine) string {
	if key == "datasets.main.prompts.batch_size" && ranking(set) {
		return "datasets.main.rankings.passages.mean"
	}
	return key
}

// oldArtifacts makes a run also write GenAI-Perf's files, in a directory with its name. Our files keep their names, because --profile-export-file
// names the old ones.
func oldArtifacts(run *config.Run, set *setting.CommandLine) error {
	a := &run.Artifacts
	a.OldFiles, a.Prefix = cmp.Or(strings.TrimSuffix(a.Prefix, ".json"), rereport.OldStem), ""
	a.Raw, a.Records = true, config.Formats{"jsonl"}
	several := run.Sweep != nil || run.MultiRun.NumRuns > 1
	if several && filepath.IsAbs(a.OldFiles) {
		return fmt.Errorf("%s %s.json: several runs cannot write one file; give a name without a directory", set.Spelled("--profile-export-file"), a.OldFiles)
	}
	if run.Resume || several && !a.KeepPrevious {
		return nil
	}
	ownLoad := strings.HasPrefix(set.Text("--input-file", ""), "payload:") && len(setPace(set)) == 0
	name := config.OldDir(&run.Benchmark, set.Text("--endpoint-type", run.Endpoint.Type), ownLoad)
	a.Dir = filepath.Join(set.Text("--artifact-dir", "artifacts"), name)
	if err := resolve.CheckDirectory(a.Dir); err != nil {
		return fmt.Errorf("%s %s: %w", set.Spelled("--artifact-dir"), a.Dir, err)
	}
	return nil
}

// oldFiles writes GenAI-Perf's files of a finished run and returns the exit status.
func (p *Program) oldFiles(run *config.Run, status int) int {
	if !runfiles.HasRun(run.Artifacts.Dir) {
		return status
	}
	if err := rereport.WriteOld(run.Artifacts.Dir, run.Artifacts.OldFiles); err != nil {
		p.errorf("files of %s: %v", oldName, err)
		return max(status, 1)
	}
	return status
}
