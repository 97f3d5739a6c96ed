// Release makes and checks what belongs to a release besides the program: the licences of its parts, a list of its contents (SBOM), man pages and
// completions, a Python wheel, and the proof that two builds of one commit are equal. It needs only Go. Nothing is published.
//
//	go run ./test/release licences             docs/licences.md again
//	go run ./test/release notices FILE         texts of all licences
//	go run ./test/release sbom PROGRAM FILE    CycloneDX 1.6 of a built program
//	go run ./test/release pages PROGRAM DIR    man pages and completions
//	go run ./test/release wheel PROGRAM DIR    Python wheel that carries the program
//	go run ./test/release manifests SUMS URL DIR    Homebrew formula and Scoop manifest from checksums.txt and the page of the releases
//	go run ./test/release changelog VERSION    fails without a complete section of the version; an empty one checks all since the last tag
//	go run ./test/release image PROGRAM CERTIFICATES FILE    OCI image of a static program for linux
//	go run ./test/release snapshot VERSION DIR the files of a release of this system only, as if this tree had the version (needs GoReleaser)
//	go run ./test/release reproducible         builds the last commit twice, in two directories, and compares
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// systems are the operating systems for which releases are made.
func systems() []string { return []string{"linux", "darwin", "windows"} }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: release COMMAND …; the commands are licences, notices, sbom, pages, wheel, manifests, changelog, image, snapshot and reproducible (see go doc ./test/release)")

// commands are the commands with the number of their arguments.
var commands = []struct {
	name string
	args int
	run  func(a []string) error
}{
	{"licences", 0, func([]string) error { return writeLicences(licencePage, filepath.Join("docs", "licences.md")) }},
	{"notices", 1, func(a []string) error { return writeLicences(licenceTexts, a[0]) }},
	{"sbom", 2, func(a []string) error { return writeSBOM(a[0], a[1]) }},
	{"pages", 2, func(a []string) error { return writePages(a[0], a[1]) }},
	{"wheel", 2, func(a []string) error { return writeWheel(a[0], a[1]) }},
	{"manifests", 3, func(a []string) error { return writeManifests(a[0], a[1], a[2]) }},
	{"changelog", 1, func(a []string) error { return checkChangelog(a[0]) }},
	{"image", 3, func(a []string) error { return writeImage(a[0], a[1], a[2]) }},
	{"snapshot", 2, func(a []string) error { return snapshot(a[0], a[1]) }},
	{"reproducible", 0, func([]string) error { return reproducible() }},
}

// run carries out one command.
func run(args []string) error {
	for _, c := range commands {
		if len(args) == c.args+1 && args[0] == c.name {
			return c.run(args[1:])
		}
	}
	return errUsage
}

// writeLicences writes a text about the linked modules.
func writeLicences(text func([]module) (string, error), path string) error {
	list, err := linked()
	if err != nil {
		return err
	}
	out, err := text(list)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(out), 0o644)
}
