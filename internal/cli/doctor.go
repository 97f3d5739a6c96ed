package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/doctor"
)

const doctorLong = "Examines this machine as a client of benchmarks: time stamps of the kernel, CPUs and quotas, other load, clocks, ports, files, disks, tokenizers, " +
	"proxies and GPU tools. For each it says what it means for a measurement and what to change. It contacts no server and changes nothing.\n\n" +
	"The exit status is 3 if there is a problem, with --strict also if there is a note."

// doctorTable returns the flags of doctor.
func doctorTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--json"}, Kind: setting.Bool, Help: "print JSON"},
		{Flags: []string{"--strict"}, Kind: setting.Bool, Help: "exit status 3 for notes as well"},
		{Flags: []string{"--sample"}, Kind: setting.Float, Unit: "s", Bounds: "> 0, <= 3600", Default: "1", Help: "how long to watch the load of the machine, in s"},
	})
}

// doctorCommand builds the command that examines this machine.
func (p *Program) doctorCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "doctor", short: "check of this machine as a client of benchmarks", long: doctorLong,
		table: doctorTable, bare: cobra.ShellCompDirectiveNoFileComp,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			ctx, done := cmd.Context(), func(status int) int { return status }
			if p.Watch != nil {
				ctx, done = p.Watch(ctx, io.Discard)
			}
			sample := time.Second
			if list := set.Floats("--sample"); len(list) > 0 {
				sample = time.Duration(list[0] * float64(time.Second))
			}
			facts := doctor.Read(ctx, sample, func(name string) string { return lookup(p.Environ, name) })
			interrupted := ctx.Err()
			if status := done(0); status != 0 || interrupted != nil {
				return exitStatus(max(1, status))
			}
			checks := facts.Checks()
			var err error
			if set.True("--json", false) {
				err = writeDoctorJSON(p.data(), facts, checks)
			} else {
				err = p.writeDoctorPage(facts, checks)
			}
			if err != nil {
				return err
			}
			worst := doctor.Worst(checks)
			if worst == doctor.Problem || worst == doctor.Note && set.True("--strict", false) {
				return exitStatus(gateFailed)
			}
			return nil
		},
	})
}

// gateFailed is the exit status of a check that was made and failed, as of a gate.
const gateFailed = 3

// writeDoctorJSON writes the checks for programs.
func writeDoctorJSON(w io.Writer, f *doctor.Facts, checks []doctor.Check) error {
	for i := range checks {
		checks[i].Name = strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(checks[i].Name, "-", "_")), " ", "_")
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version string         `json:"aiperf_version"`
		OS      string         `json:"os"`
		Arch    string         `json:"arch"`
		Kernel  string         `json:"kernel,omitempty"`
		Level   doctor.Level   `json:"level"`
		Checks  []doctor.Check `json:"checks"`
	}{Version(), f.OS, f.Arch, f.Kernel, doctor.Worst(checks), checks})
}

// writeDoctorPage prints the checks for people.
func (p *Program) writeDoctorPage(f *doctor.Facts, checks []doctor.Check) error {
	const margin = "          "
	width := min(max(p.columns(), 60), 110)
	var b strings.Builder
	fmt.Fprintf(&b, "aiperf %s on %s/%s", Version(), f.OS, f.Arch)
	if f.Kernel != "" {
		b.WriteString(", kernel " + terminal.Line(f.Kernel))
	}
	b.WriteString("\n")
	count := map[doctor.Level]int{}
	for _, c := range checks {
		count[c.Level]++
		fmt.Fprintf(&b, "\n%-8s  %s: %s\n", c.Level, c.Name, hang(c.Found, len(c.Name)+2, margin, width))
		fmt.Fprintf(&b, "%s%s\n", margin, hang(c.Meaning, 0, margin, width))
		if c.Change != "" {
			fmt.Fprintf(&b, "%sTo change it: %s\n", margin, hang(c.Change, len("To change it: "), margin, width))
		}
	}
	fmt.Fprintf(&b, "\n%s, %s, %d ok\n", terminal.Plural(count[doctor.Problem], "problem"), terminal.Plural(count[doctor.Note], "note"), count[doctor.OK])
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// hang breaks a text into lines of a width. The first begins after used columns behind the margin, the others at the margin.
func hang(text string, used int, margin string, width int) string {
	lines := wrap(strings.Repeat("x", max(0, used-1))+" "+text, width-len(margin))
	if used == 0 {
		lines = wrap(text, width-len(margin))
	} else {
		lines[0] = strings.TrimPrefix(lines[0], strings.Repeat("x", used-1)+" ")
	}
	return strings.Join(lines, "\n"+margin)
}
