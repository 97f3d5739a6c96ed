package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// cost runs a child and returns the CPU time that it took, user and system together.
func cost(name string, args ...string) (time.Duration, error) {
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s %v: %w\n%s", name, args, err, tail(out))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

func tail(out []byte) []byte {
	const keep = 2000
	if len(out) > keep {
		return out[len(out)-keep:]
	}
	return out
}

// marginal returns what one more unit costs: the difference between a long and a short run, so that start-up does not count.
func marginal(run func(units int) (time.Duration, error), short, long int) (time.Duration, error) {
	a, err := run(short)
	if err != nil {
		return 0, err
	}
	b, err := run(long)
	if err != nil {
		return 0, err
	}
	return max(b-a, 0) / time.Duration(long-short), nil
}

// self is this program, which also plays the floor.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}
