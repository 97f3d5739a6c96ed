package sandbox

import (
	_ "embed" // the driver
	"encoding/json"
)

// driver runs a job inside the sandbox.
//
//go:embed driver.py
var driver string

func encode(job Job) ([]byte, error) { return json.Marshal(job) }

// command is the interpreter with the driver, and its environment.
func (p interpreter) command() (args, environment []string) {
	return []string{p.Path, "-I", "-X", "utf8", "-c", driver},
		[]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", "OMP_NUM_THREADS=1",
			"OPENBLAS_MAIN_FREE=1", "GOTOBLAS_MAIN_FREE=1"} // numpy sets these two itself, by a function that the driver takes away
}
