package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// shells lists the supported shells, each with the path below the home directory where it looks for completions.
var shells = []struct {
	name, place, hint string
	write             func(root *cobra.Command, w io.Writer) error
}{
	{"bash", ".local/share/bash-completion/completions/aiperf", "", writeBash},
	{"zsh", ".zfunc/_aiperf", "add 'fpath+=~/.zfunc' before 'compinit' in ~/.zshrc", (*cobra.Command).GenZshCompletion},
	{"fish", ".config/fish/completions/aiperf.fish", "", func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) }},
	{"powershell", "", "", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func shellNames() string {
	var names []string
	for _, s := range shells {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// completionCommands adds "completion SHELL" and the command that is spelled --install-completion.
func (p *Program) completionCommands(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(&cobra.Command{
		Use:       "completion SHELL",
		Short:     "shell completion script (" + shellNames() + ")",
		ValidArgs: strings.Split(shellNames(), ", "),
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) != 1 {
				return fmt.Errorf("completion takes the name of one shell: %s", shellNames())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, words []string) error {
			script, _, err := completionScript(root, words[0])
			if err != nil {
				return err
			}
			_, err = p.Out.Write(script)
			return err
		},
	})
	var install bool
	var shell, output string
	flags := root.Flags()
	flags.BoolVar(&install, "install-completion", false, "write a completion script where your shell looks for it")
	flags.StringVar(&shell, "shell", "", "shell of that script (default: from $SHELL)")
	flags.StringVarP(&output, "output", "o", "", "file of that script (default: the shell's place)")
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, words []string) error {
		if install {
			return p.installCompletion(root, shell, output)
		}
		return run(cmd, words)
	}
}

// completionScript returns the script of a shell and its usual place.
func completionScript(root *cobra.Command, shell string) (script []byte, index int, err error) {
	for i, s := range shells {
		if s.name == strings.ToLower(shell) {
			var b bytes.Buffer
			err = s.write(root, &b)
			return b.Bytes(), i, err
		}
	}
	return nil, 0, fmt.Errorf("no completion for shell %q; allowed are %s", shell, shellNames())
}

func (p *Program) installCompletion(root *cobra.Command, shell, output string) error {
	if shell == "" {
		shell = filepath.Base(lookup(p.Environ, "SHELL"))
		if shell == "." {
			return fmt.Errorf("--install-completion: $SHELL is not set; name the shell with --shell: %s", shellNames())
		}
	}
	script, i, err := completionScript(root, shell)
	if err != nil {
		return err
	}
	if output == "" {
		home := lookup(p.Environ, "HOME")
		if home == "" || shells[i].place == "" {
			return fmt.Errorf("--install-completion: %s has no usual place here; name a file with --output", shells[i].name)
		}
		output = filepath.Join(home, shells[i].place)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(output), 0o755), os.WriteFile(output, script, 0o644)); err != nil {
		return fmt.Errorf("--install-completion: %w", err)
	}
	fmt.Fprintf(p.Out, "%s completion written to %s\n", shells[i].name, output)
	if shells[i].hint != "" {
		fmt.Fprintln(p.Out, shells[i].hint)
	}
	return nil
}

// lookup finds a variable in an environment.
func lookup(environ []string, name string) string {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
