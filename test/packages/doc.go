// Package packages has tests of the files of a release: their names, checksums and lists of contents, and how each package is installed, used, upgraded
// and removed on a machine that has nothing else. `make packages-test` makes the files and runs the tests. They have the build tag release, because the
// files of a release are needed; linters always read them with this tag.
package packages
