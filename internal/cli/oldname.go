package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/cli/genaiperf"
	"aiperf/internal/config"
	"aiperf/internal/reanalyze"
	"aiperf/internal/runfiles"
	"aiperf/internal/setting"
)

// oldName is the program whose command lines are understood too; people link it to this one.
const oldName = "genai-perf"

// takeOldName finds out whether the program runs under GenAI-Perf's name, and takes that name off a command line.
func (p *Program) takeOldName(argv []string) []string {
	p.old = strings.TrimSuffix(filepath.Base(p.Name), ".exe") == oldName
	if len(argv) > 0 && argv[0] == oldName {
		p.old, argv = true, argv[1:]
	}
	if p.old {
		p.printErr("note: this is aiperf under the name of %s", oldName)
	}
	return argv
}

// oldNameCommand lists the old name in help; takeOldName takes the word before commands are looked up.
func (p *Program) oldNameCommand() *cobra.Command {
	return &cobra.Command{
		Use: oldName + " COMMAND", Short: "run a command with GenAI-Perf's defaults and files",
		Long: "Runs profile, analyze, config, create-template or process-export-files as GenAI-Perf did. A link named " + oldName + " does the same.\n\n" +
			"The default endpoint type is kserve on localhost:8001, request rates are constant, and -1 means unset. " +
			"A run also writes profile_export.json, profile_export_genai_perf.json and profile_export_genai_perf.csv.",
		Example: "  aiperf genai-perf profile -m gpt2 --backend tensorrtllm --streaming",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// oldDefaults are GenAI-Perf's settings where its command line gives none.
func oldDefaults(words []string) (f *genaiperf.File, rest []string) {
	rest = withoutUnset(words)
	set, _ := setting.Scan(profileTable, rest) // faults are reported where the line is read for good
	f = &genaiperf.File{Flags: genaiperf.Defaults(set.Text("--service-kind", ""))}
	if !set.Has("--endpoint-type") && slices.Contains(genaiperf.ServiceKinds, set.Text("--service-kind", "")) {
		rest = without(rest, "--service-kind")
	}
	if set.Has("--request-rate") {
		f.Flags = append(f.Flags, [2]string{"--arrival-pattern", "constant"})
	}
	return f, rest
}

// withoutUnset takes numbers of -1 out of a command line: GenAI-Perf's help gives -1 as the default of what is not set.
func withoutUnset(words []string) (rest []string) {
	for i := 0; i < len(words); i++ {
		if words[i] == "--" {
			return append(rest, words[i:]...)
		}
		name, value, joined := strings.Cut(words[i], "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		row, _, known := profileTable.Lookup(name)
		switch unset := known && value == "-1" && strings.HasPrefix(row.Bounds, ">"); {
		case unset && !joined:
			i++
		case !unset:
			rest = append(rest, words[i])
		}
	}
	return rest
}

// oldArtifacts lets a run write GenAI-Perf's files beside ours, in a directory of its name. Ours keep their own names: --profile-export-file is
// about the old ones.
func oldArtifacts(run *config.Run, set *setting.CommandLine) error {
	a := &run.Artifacts
	a.OldFiles, a.Prefix = cmp.Or(strings.TrimSuffix(a.Prefix, ".json"), reanalyze.OldStem), ""
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
	if err := dirExists(a.Dir); err != nil {
		return fmt.Errorf("%s %s: %w", set.Spelled("--artifact-dir"), a.Dir, err)
	}
	return nil
}

// oldFiles writes GenAI-Perf's files of a finished run and returns the exit status.
func (p *Program) oldFiles(run *config.Run, status int) int {
	if !runfiles.HasRun(run.Artifacts.Dir) {
		return status
	}
	if err := reanalyze.WriteOld(run.Artifacts.Dir, run.Artifacts.OldFiles); err != nil {
		p.errorf("files of %s: %v", oldName, err)
		return max(status, 1)
	}
	return status
}
