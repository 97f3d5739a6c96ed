package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/creack/pty"
)

// dashboardFigure keeps the same schedule without a view, and on terminals of three sizes that read everything: the dashboard must cost the schedule
// nothing. Rounds take turns, so that a machine that changes meanwhile changes all of them.
func dashboardFigure(b *suite) error {
	seconds, rounds := 10, 3
	if b.quick {
		seconds, rounds = 3, 1
	}
	views := []*view{{name: "--ui none", aim: "the baseline"}, {name: "80x24", width: 80, height: 24, aim: "0.5 % of a core"}, {name: "120x40", width: 120, height: 40}, {name: "200x50", width: 200, height: 50, aim: "1 % of a core"}}
	err := b.withServer(func(s *server) error {
		for range rounds {
			for _, v := range views {
				if err := v.measure(b, s, seconds); err != nil {
					return err
				}
			}
		}
		return nil
	}, "--ttft=0", "--itl=0", "--tokens=1")
	if err != nil {
		return err
	}
	b.row("1000/s poisson", "lag p50", "p99", "max", "client CPU", "more, of a core", "bytes/s", "verdict", "aim")
	for _, v := range views {
		p50, p99, largest := v.lags.spread()
		more, bytes := "", ""
		if v.width > 0 {
			more = fmt.Sprintf("%.1f %%", 100*(v.cpu-views[0].cpu).Seconds()/float64(rounds*seconds))
			bytes = strconv.FormatInt(v.bytes/int64(rounds*seconds), 10)
		}
		b.row(v.name, p50, p99, largest, span(float64(v.cpu)/float64(rounds)), more, bytes, v.verdict, v.aim)
	}
	return nil
}

// view is a way to watch a run, and what its runs took.
type view struct {
	name          string
	width, height uint16 // of the terminal; 0 = there is none
	aim           string

	lags    sample
	cpu     time.Duration
	bytes   int64
	verdict string
}

// measure adds a run.
func (v *view) measure(b *suite, s *server, seconds int) error {
	args := []string{"--url", s.url, "--isl", "16", "--request-rate", "1000", "--arrival-pattern", "poisson", "--benchmark-duration", strconv.Itoa(seconds), "--no-gpu-telemetry"}
	var dir string
	var used usage
	var err error
	if v.width == 0 {
		dir, used, err = b.profile(args...)
	} else {
		dir, used, err = v.onTerminal(b, args...)
	}
	if err != nil {
		return err
	}
	records, err := readRecords(dir)
	if err != nil {
		return err
	}
	validity, err := readValidity(dir)
	if err != nil {
		return err
	}
	v.lags = append(v.lags, lagsOf(records)...)
	v.cpu += used.cpu
	v.verdict = validity.Verdict
	return nil
}

// onTerminal is profile with the dashboard on a terminal that reads whatever comes.
func (v *view) onTerminal(b *suite, args ...string) (dir string, used usage, err error) {
	b.runs++
	dir = fmt.Sprintf("%s/run%d", b.dir, b.runs)
	cmd := exec.Command(b.aiperf, append([]string{"profile", "--model", "mock", "--ui", "dashboard", "--no-probe", "--random-seed", "1", "--artifact-dir", dir}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8")
	began := time.Now()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: v.width, Rows: v.height})
	if err != nil {
		return dir, used, err
	}
	n, _ := io.Copy(io.Discard, tty) // a terminal ends with an error when its program does
	v.bytes += n
	if err := cmd.Wait(); err != nil {
		return dir, used, fmt.Errorf("the dashboard on %s: %w", v.name, err)
	}
	return dir, usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(began)}, tty.Close()
}
