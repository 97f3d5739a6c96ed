package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/doctor"
	"aiperf/internal/cli/supportbundle"
	"aiperf/internal/config"
	"aiperf/internal/text/hfhub"
)

const supportBundleLong = "Packs the files of a finished run, and what aiperf doctor says about this machine, into one ZIP archive for somebody who helps. Credentials are replaced, " +
	"prompts and answers are excluded, long files are shortened, and contents.json lists what was done. aiperf writes it to the current directory and sends nothing. Look through it before you send it."

// supportBundleTable returns the flags of support-bundle.
func supportBundleTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--output", "-o"}, Kind: setting.Path, Default: "support-RUN.zip", Help: "file to write; it must not exist"},
		{Flags: []string{"--list"}, Kind: setting.Bool, Help: "list the contents and write nothing"},
		{Flags: []string{"--with-content"}, Kind: setting.Bool, Help: "include prompts and answers"},
		{Flags: []string{"--max-size"}, Kind: setting.Float, Bounds: "> 0, <= 1000", Default: "20", Help: "size of all files before compression, in MB"},
		{Flags: []string{"--no-doctor"}, Kind: setting.Bool, Help: "leave out the check of this machine"},
	})
}

// supportBundleCommand builds the command that packs a run for somebody who helps.
func (p *Program) supportBundleCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "support-bundle RUN-DIR", short: "archive of a run for somebody who helps, without credentials", long: supportBundleLong,
		table: supportBundleTable, bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) != 1 {
				return fmt.Errorf("support-bundle takes one directory of a run, not %d; see aiperf support-bundle --help", len(set.Words))
			}
			dir := filepath.Clean(set.Words[0])
			switch info, err := os.Stat(dir); {
			case err != nil:
				return boundedfile.Named(dir, err)
			case !info.IsDir():
				return fmt.Errorf("%s is not the directory of a run", dir)
			}
			if !holdsRun(dir) {
				return fmt.Errorf("%s has no files of a run; name the directory that --artifact-dir or the last lines of the report name", dir)
			}
			size := 20.0
			if list := set.Floats("--max-size"); len(list) > 0 {
				size = list[0]
			}
			o := supportbundle.Options{
				Dir: dir, Content: set.True("--with-content", false), MaxSize: int64(size * 1e6),
				Secrets: p.Secrets.With(supportbundle.EnvironSecrets(p.Environ)...), Flag: config.FlagSecret, Extra: p.aboutProgram(),
			}
			if !set.True("--no-doctor", false) {
				facts := doctor.Read(cmd.Context(), time.Second, func(name string) string { return lookup(p.Environ, name) })
				var page bytes.Buffer
				if err := writeDoctorJSON(&page, facts, facts.Checks()); err != nil {
					return err
				}
				o.Extra = append(o.Extra, supportbundle.Extra{Name: "doctor.json", Text: page.Bytes()})
			}
			plan, err := supportbundle.Make(o)
			if err != nil {
				return err
			}
			if err := p.listBundle(plan); err != nil || set.True("--list", false) {
				return err
			}
			return p.writeBundle(plan, set.Text("--output", "support-"+bundleName(dir)+".zip"))
		},
	})
}

// holdsRun reports whether a run, also an interrupted one, wrote files into a directory or below it: a log, records or a summary.
func holdsRun(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read has no run
		name := ""
		if err == nil {
			name = d.Name()
		}
		if found = found || name == "aiperf.log" || strings.HasPrefix(name, "profile_export"); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// bundleName returns the name of a run for the name of a file.
func bundleName(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	if name := strings.Trim(filepath.Base(dir), `./\`); name != "" {
		return name
	}
	return "run"
}

// aboutProgram returns a file about this program and the variables of the environment that it reads.
func (p *Program) aboutProgram() []supportbundle.Extra {
	about := struct {
		Version string            `json:"aiperf_version"`
		Go      string            `json:"go"`
		OS      string            `json:"os"`
		Arch    string            `json:"arch"`
		Environ map[string]string `json:"environment"`
	}{Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, map[string]string{}}
	for _, e := range p.Environ {
		name, value, _ := strings.Cut(e, "=")
		if ours(name) {
			about.Environ[name] = redact.URL(value)
			if redact.SecretHeader(name) {
				about.Environ[name] = redact.Placeholder
			}
		}
	}
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return nil
	}
	return []supportbundle.Extra{{Name: "program.json", Text: text}}
}

// ours reports whether aiperf reads a variable of the environment.
func ours(name string) bool {
	upper := strings.ToUpper(name)
	for _, prefix := range []string{"AIPERF_", "HF_", "GO"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "TRANSFORMERS_OFFLINE", "LANG", "TERM", "COLUMNS", "NO_COLOR"}, upper)
}

// listBundle prints what the bundle contains.
func (p *Program) listBundle(plan *supportbundle.Plan) error {
	var b strings.Builder
	for _, f := range plan.Files {
		what := hfhub.Size(f.Packed)
		switch {
		case f.Omitted != "":
			what = "excluded: " + f.Omitted
		case f.Left > 0:
			what += fmt.Sprintf(", without %s from the middle", terminal.Plural(f.Left, "line"))
		}
		if f.Redacted > 0 {
			what += fmt.Sprintf(", credentials replaced in %s", terminal.Plural(f.Redacted, "line"))
		}
		fmt.Fprintf(&b, "%-45s  %s\n", terminal.Line(f.Name), what)
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// writeBundle writes the archive in one step. Only the owner can read it.
func (p *Program) writeBundle(plan *supportbundle.Plan, path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; choose another file with --output", path)
	}
	if err != nil {
		return err
	}
	if err = errors.Join(plan.Write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	_, err = fmt.Fprintf(p.Out, "\n%s: look through it before you send it\n", path)
	return err
}
