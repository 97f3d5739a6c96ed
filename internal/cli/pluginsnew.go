package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/pluginexamples"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

const newPluginLong = "Writes a working plug-in with its manifest, a README and a test that runs alone, into a new directory with the name of the plug-in. Change what the program " +
	"does; the protocol is on the page docs/plugin-protocol.md.\n\n" +
	"KIND is endpoint, loader, grader or exporter."

// newPluginCommand builds the command that writes an example plug-in.
func (p *Program) newPluginCommand() *cobra.Command {
	cmd := p.command(tableCommand{
		use: "new KIND NAME", short: "example of a plug-in, with its test", long: newPluginLong, words: true, bare: cobra.ShellCompDirectiveNoFileComp,
		table: func() *setting.Table {
			return setting.NewTable([]setting.Row{
				{Flags: []string{"--language"}, Kind: setting.Enum, Choices: pluginexamples.Languages(), Default: "python", Help: "language of the program"},
				{Flags: []string{"--directory"}, Kind: setting.Path, Folder: true, Default: ".", Help: "directory in which the new directory is made"},
			})
		},
		run: func(_ *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) != 2 {
				return fmt.Errorf("%d words are given, but two are needed: the kind (%s) and the name of the plug-in", len(set.Words), strings.Join(pluginexamples.Kinds(), ", "))
			}
			example, err := pluginexamples.New(set.Words[0], set.Words[1], set.Text("--language", "python"))
			if err != nil {
				return err
			}
			return p.writeExample(example, filepath.Join(set.Text("--directory", "."), example.Name()))
		},
	})
	cmd.Args = cobra.ArbitraryArgs
	return cmd
}

// writeExample writes the files of an example into a new directory, whole or not at all.
func (p *Program) writeExample(e pluginexamples.Example, dir string) error {
	files, err := e.Files()
	if err != nil {
		return err
	}
	switch err := os.Mkdir(dir, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists already; choose another name, or another place with --directory", dir)
	case err != nil:
		return err
	}
	for _, f := range files {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(f.Text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), mode); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s has a plug-in of category %s. Try it:\n\n  cd %s\n", dir, e.Category(), dir)
	if build := e.Build(); build != "" {
		fmt.Fprintf(&b, "  %s\n", build)
	}
	fmt.Fprintf(&b, "  %s\n  export %s=$PWD\n  aiperf plugins --validate\n  %s\n", e.Test(), plugin.PathVariable, e.Run("."))
	_, err = fmt.Fprint(p.Out, b.String())
	return err
}

const lockLong = "Writes the SHA-256 of every file of the installed plug-ins, and of the programs that they start, into a lock file. aiperf profile --plugins-locked FILE refuses " +
	"plug-ins that differ from it. Hidden files, the lock file, and folders that hold only the results of runs do not count."

// lockCommand builds the command that writes a lock file.
func (p *Program) lockCommand() *cobra.Command {
	cmd := p.command(tableCommand{
		use: "lock [FILE]", short: "lock file of the installed plug-ins", long: lockLong, words: true, bare: cobra.ShellCompDirectiveDefault,
		table: func() *setting.Table { return setting.NewTable(nil) },
		run: func(_ *cobra.Command, set *setting.CommandLine, _ []string) error {
			file := plugin.LockName
			switch len(set.Words) {
			case 0:
			case 1:
				file = set.Words[0]
			default:
				return fmt.Errorf("unexpected word %q: lock takes one file", set.Words[1])
			}
			lock, err := plugin.Installed().Lock(file)
			if err != nil {
				return err
			}
			text, err := lock.Bytes()
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return err
			}
			count := 0
			for i := range lock.Packages {
				count += len(lock.Packages[i].Plugins)
			}
			_, err = fmt.Fprintf(p.Out, "%s: %s of %s\n", file, terminal.Plural(int64(count), "plug-in"), terminal.Plural(int64(len(lock.Packages)), "package"))
			return err
		},
	})
	cmd.Args = cobra.ArbitraryArgs
	return cmd
}

// locked adds a problem to a run whose plug-ins differ from its lock file. It comes before anything starts a plug-in.
func locked(run *config.Run, set *setting.CommandLine, found resolve.Findings) (*config.Run, *setting.CommandLine, resolve.Findings) {
	if run != nil && len(found.Problems) == 0 {
		if err := checkLock(run); err != nil {
			found.Problems = append(found.Problems, err.Error())
		}
	}
	return run, set, found
}

// checkLock returns an error if the installed plug-ins differ from the lock file of a run.
func checkLock(run *config.Run) error {
	file := run.Runtime.PluginsLock
	if file == "" {
		return nil
	}
	lock, err := plugin.ReadLock(file)
	if err != nil {
		return fmt.Errorf("%s: %w", run.As("runtime.plugins_lock"), err)
	}
	installed, err := plugin.Installed().Lock(file)
	if err != nil {
		return fmt.Errorf("%s: %w", run.As("runtime.plugins_lock"), err)
	}
	if changes := lock.Changes(installed); len(changes) > 0 {
		return fmt.Errorf("%s %s: %s; check the change, then write the lock file again with aiperf plugins lock", run.As("runtime.plugins_lock"), file, strings.Join(changes, "; "))
	}
	return nil
}
