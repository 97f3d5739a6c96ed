package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// reading is what a process held at an instant.
type reading struct {
	after       time.Duration // since its start
	memory      int64         // its proportional set, bytes
	descriptors int
}

// profileWatched runs a benchmark like profile and reads from time to time what the program holds. There are readings on Linux only.
func (b *suite) profileWatched(every time.Duration, args ...string) (dir string, readings []reading, err error) {
	dir, args = b.profileArgs(args)
	cmd := exec.Command(b.aiperf, args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return dir, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, tail([]byte(out.String())))
			}
			return dir, readings, err
		case <-ticks.C:
			if r, ok := readProcess(cmd.Process.Pid); ok {
				r.after = time.Since(began)
				readings = append(readings, r)
			}
		}
	}
}

// readProcess reads what a process holds; ok is false if the system does not report it or the process has ended.
func readProcess(pid int) (r reading, ok bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(folder + "/smaps_rollup")
	if err != nil {
		return r, false
	}
	files, err := os.ReadDir(folder + "/fd")
	if err != nil {
		return r, false
	}
	r.memory, ok = proportionalSet(string(text))
	r.descriptors = len(files)
	return r, ok
}

// proportionalSet returns the bytes of the line "Pss: N kB".
func proportionalSet(rollup string) (bytes int64, ok bool) {
	for line := range strings.Lines(rollup) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "Pss:" {
			kib, err := strconv.ParseInt(words[1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}

// slope returns by how much a quantity grows per hour: the line of least squares through the readings; 0 with fewer than two instants.
func slope(readings []reading, quantity func(reading) float64) float64 {
	n := float64(len(readings))
	var meanX, meanY float64
	for _, r := range readings {
		meanX += r.after.Hours() / n
		meanY += quantity(r) / n
	}
	var xx, xy float64
	for _, r := range readings {
		x := r.after.Hours() - meanX
		xx += x * x
		xy += x * (quantity(r) - meanY)
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}
