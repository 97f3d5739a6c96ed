// Package artifact writes every file of a run, one source file per result file. It also reads these files back, those of aiperf and those of the
// Python tool. Their layouts are specified in artifacts.
package artifact
