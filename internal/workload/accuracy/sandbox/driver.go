package sandbox

import (
	_ "embed" // for the embedded driver
	"encoding/json"
)

// driver runs a job inside the sandbox.
//
//go:embed driver.py
var driver string

func encode(job Job) ([]byte, error) { return json.Marshal(job) }

// command returns the interpreter with the driver, and its environment.
func (p interpreter) command() (args, environment []string) {
	return []string{p.Path, "-I", "-X", "utf8", "-c", driver},
		[]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", "OMP_NUM_THREADS=1",
			"OPENBLAS_MAIN_FREE=1", "GOTOBLAS_MAIN_FREE=1"} // otherwise numpy sets these two with a function that the driver removes
}
