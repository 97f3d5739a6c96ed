// Package artifact writes every file that a run leaves, one file of code per file of a run, and reads those files back: ours and the
// Python tool's. Layouts: artifacts.
package artifact
