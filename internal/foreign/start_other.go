//go:build !linux

package foreign

import (
	"errors"
	"time"
)

const interpreter = ""

func start(string, time.Duration) (*Process, error) {
	return nil, errors.New("libraries can be opened on Linux only")
}
