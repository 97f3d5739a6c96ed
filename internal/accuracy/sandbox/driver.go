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
