package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/creack/pty"
)

// updatesPerSecond is how often a view is drawn, and the file of a run is written.
const updatesPerSecond = 4

// dashboardFigure measures the cost of watching a run: the CPU time of an update in a nearly idle run, and the effect on the lag of a schedule. Runs
// with and without a view alternate, and each round gives its own value; the differences between rounds are noise.
func dashboardFigure(b *suite) error {
	seconds, rounds := 8, 3
	if b.short {
		seconds, rounds = 3, 1
	}
	return b.withServer(func(s *server) error {
		if err := updateCost(b, s, seconds, rounds); err != nil {
			return err
		}
		return watchedLag(b, s, seconds, rounds+1)
	}, "--ttft=0", "--itl=0", "--tokens=1")
}

// view is a way to watch a run.
type view struct {
	name          string
	width, height uint16 // size of the terminal; 0 = no terminal
	file          bool   // write the file that aiperf watch reads
	aim           string

	cpu   []time.Duration // CPU time of each round
	bytes int64
	p99   []float64 // p99 lag of each round, ns
}

// updateCost measures the CPU time of an update.
func updateCost(b *suite, s *server, seconds, rounds int) error {
	views := []*view{
		{name: "nobody watches", aim: "the baseline"}, {name: "the file of aiperf watch", file: true, aim: "0.5 % of a core"},
		{name: "80x24", width: 80, height: 24, aim: "0.5 % of a core"}, {name: "120x40", width: 120, height: 40}, {name: "200x50", width: 200, height: 50, aim: "1 % of a core"},
	}
	for range rounds {
		for _, v := range views {
			if _, err := v.measure(b, s, seconds, "20"); err != nil {
				return err
			}
		}
	}
	b.row("20 requests/s", "client CPU", "an update", "of a core", "rounds", "bytes an update", "aim")
	updates := float64(seconds * updatesPerSecond)
	for _, v := range views {
		var shares []float64
		for i, cpu := range v.cpu {
			shares = append(shares, 100*(cpu-views[0].cpu[i]).Seconds()/float64(seconds))
		}
		slices.Sort(shares)
		middle, bytes := shares[len(shares)/2], ""
		if v.width > 0 {
			bytes = strconv.FormatInt(v.bytes/int64(float64(rounds)*updates), 10)
		}
		cost, share, each := "", "", ""
		if v != views[0] {
			cost = span(middle / 100 * float64(seconds) * 1e9 / updates)
			share, each = fmt.Sprintf("%.2f %%", middle), fmt.Sprintf("%.2f to %.2f", shares[0], shares[len(shares)-1])
		}
		b.row(v.name, span(float64(slices.Max(v.cpu))), cost, share, each, bytes, v.aim)
	}
	b.row()
	return nil
}

// watchedLag runs a schedule alternately with and without a view.
func watchedLag(b *suite, s *server, seconds, rounds int) error {
	alone, watched := &view{name: "nobody watches"}, &view{name: "120x40, and the file", width: 120, height: 40, file: true}
	var ratios []float64
	for i := range rounds {
		for _, v := range [][]*view{{alone, watched}, {watched, alone}}[i%2] {
			lags, err := v.measure(b, s, seconds, "1000")
			if err != nil {
				return err
			}
			v.p99 = append(v.p99, lags.at(.99))
		}
		ratios = append(ratios, watched.p99[i]/alone.p99[i])
	}
	slices.Sort(ratios)
	b.row("1000/s poisson", "lag p99 of the rounds")
	for _, v := range []*view{alone, watched} {
		slices.Sort(v.p99)
		b.row(v.name, span(v.p99[0])+" to "+span(v.p99[rounds-1]))
	}
	b.row("with / without", fmt.Sprintf("%.2f (%.2f to %.2f)", ratios[rounds/2], ratios[0], ratios[rounds-1]), "goal: range includes 1")
	return nil
}

// measure adds a run, and returns the lags of its requests.
func (v *view) measure(b *suite, s *server, seconds int, rate string) (lags sample, err error) {
	args := []string{"--url", s.url, "--isl", "16", "--request-rate", rate, "--arrival-pattern", "poisson", "--benchmark-duration", strconv.Itoa(seconds), "--no-gpu-telemetry"}
	if err := os.Setenv("AIPERF_UI_LIVE_FILE", strconv.FormatBool(v.file)); err != nil {
		return nil, err
	}
	var dir string
	var used usage
	if v.width == 0 {
		dir, used, err = b.profile(args...)
	} else {
		dir, used, err = v.onTerminal(b, args...)
	}
	if err != nil {
		return nil, err
	}
	records, err := readRecords(dir)
	if err != nil {
		return nil, err
	}
	v.cpu = append(v.cpu, used.cpu)
	return lagsOf(records), nil
}

// onTerminal is profile with the dashboard on a terminal whose output is discarded.
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
	n, _ := io.Copy(io.Discard, tty) // reading a terminal ends with an error when its program ends
	v.bytes += n
	if err := cmd.Wait(); err != nil {
		return dir, used, fmt.Errorf("the dashboard on %s: %w", v.name, err)
	}
	return dir, usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(began)}, tty.Close()
}
