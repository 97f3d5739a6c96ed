// Package packages has tests of the files of a release: their names, checksums and lists of contents, and how each package is installed, used, upgraded
// and removed on a machine that has nothing else. `make packages-test` makes the files and runs the tests; without -newer they are skipped.
package packages
