// Package version names the release of the program, and answers --version before most packages are initialised: their tables take most of the memory
// and time of a start, and the answer needs none of them. A package is initialised after all that it imports, so this one imports next to nothing.
package version

import "os"

// Release is set by the linker of a release build; empty in other builds.
var Release = ""

// Contract is the release of the Python tool that this program follows in its command line, files and numbers.
const Contract = "0.13"

func init() {
	if Release != "" && len(os.Args) > 1 && Asked(os.Args[1:]) {
		os.Stdout.WriteString(Line(Release)) //nolint:errcheck // an error of standard output cannot be reported
		os.Exit(0)
	}
}

// Line returns the line that --version prints for a build with this name.
func Line(name string) string {
	return "aiperf " + name + " (command line, files and numbers of NVIDIA AIPerf " + Contract + ")\n"
}

// Asked reports whether --version occurs anywhere before "--".
func Asked(argv []string) bool {
	for _, a := range argv {
		if a == "--" {
			return false
		}
		if a == "--version" {
			return true
		}
	}
	return false
}
