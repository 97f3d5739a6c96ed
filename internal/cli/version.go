package cli

import (
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"aiperf/internal/cli/version"
)

// Version returns the version of this build: the release, else the revision it was built from, else dev.
func Version() string {
	if version.Release != "" {
		return version.Release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "dev-" + s.Value[:12]
		}
	}
	return "dev"
}

// versionCommand prints the version, as --version does.
func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "version of this program", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		return p.printVersion()
	}}
}

func (p *Program) printVersion() error {
	_, err := io.WriteString(p.Out, version.Line(Version()))
	return err
}
