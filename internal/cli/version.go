package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker of a release build.
var version = ""

// ContractVersion is the release of the Python tool that this program follows in its command line, files and numbers.
const ContractVersion = "0.13"

// Version returns the version of this build: the release, else the revision it was built from, else dev.
func Version() string {
	if version != "" {
		return version
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
	_, err := fmt.Fprintf(p.Out, "aiperf %s (command line, files and numbers of NVIDIA AIPerf %s)\n", Version(), ContractVersion)
	return err
}
