// Command selfbench prints the figures by which the program is judged: its cost, the accuracy of its stamps, how well it follows a schedule, and what
// it needs at scale. Every figure that depends on the machine is shown next to a baseline from the same run. It fails only if a ratio is more than twice
// its budget; otherwise read the table.
//
//	go run ./selfbench [-quick] [-run NAME] [-aiperf BINARY] [-budgets FILE] [-soak TIME] [-python PYTHON] [-tokenizer-file PATH,PATH]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// figure is one group of rows.
type figure struct {
	name       string
	title      string
	byNameOnly bool // runs only if -run names it, because it takes long
	run        func(b *suite) error
}

var figures = []figure{
	{"cpu", "CPU time (user and system) of the client per unit, without start-up; the minimum of several rounds", false, cpuFigure},
	{"closed", "Requests per second in a closed loop", false, closedLoopFigure},
	{"memory", "Memory of the client", false, memoryFigure},
	{"wire", "CPU time per event over TLS and HTTP/2, from another server; ratios are relative to HTTP/1.1", false, wireFigure},
	{"stamps", "Timestamps of messages, compared with the server's own log of its writes", false, stampFigure},
	{"badday", "Client that is paused or shares its cores with busy programs: TTFT p99, compared with the server's own log", false, badDayFigure},
	{"schedule", "Times of sending, compared with the requested times", false, scheduleFigure},
	{"exporters", "A schedule with and without reading exporters", false, exportersFigure},
	{"dashboard", "Cost of watching a run: one update, and the lag of a schedule with and without", false, dashboardFigure},
	{"burst", "A burst", false, burstFigure},
	{"crowd", "Many slow streams at once", false, crowdFigure},
	{"replay", "Replay of a trace", false, replayFigure},
	{"tokenizer", "Tokenizer: loading, encoding and decoding; medians", false, tokenizerFigure},
	{"certainty", "Verdict and bounds of a disturbed client, compared with the server's own log", true, certaintyFigure},
	{"million", "A million short requests", true, millionFigure},
	{"soak", "Memory and descriptors over a long run", true, soakFigure},
}

// suite holds the settings of the figures.
type suite struct {
	aiperf string // the program under test
	dir    string // scratch folder
	short  bool
	runs   int
	python string // Python that may have tiktoken, "" = the one in PATH

	situation      string        // for the figure certainty: only situations whose name contains it
	tokenizerFiles string        // more tokenizers to measure, comma-separated
	soak           time.Duration // length of the figure soak
	budgets        budgets
	problems       []string // ratios far above their budgets
	table
}

func main() {
	if len(os.Args) > 1 {
		if play, ok := roles[os.Args[1]]; ok { // this program also plays the baselines, as its own child processes
			exit(play(os.Args[2:]))
			return
		}
	}
	quick := flag.Bool("quick", false, "short runs, for a quick look; the figures are not reliable")
	only := flag.String("run", "", "comma-separated list of the figures to measure: "+names())
	aiperf := flag.String("aiperf", "", "the program under test (default: built from this module)")
	b := &suite{table: table{out: os.Stdout}}
	flag.StringVar(&b.python, "python", "", "Python with tiktoken, for comparison with the tokenizer (default: python3 in PATH, if it has tiktoken)")
	flag.StringVar(&b.tokenizerFiles, "tokenizer-file", "", "comma-separated list of additional tokenizer files or folders to measure")
	flag.StringVar(&b.situation, "situation", "", "for -run certainty: only situations whose name contains this text")
	flag.DurationVar(&b.soak, "soak", 24*time.Hour, "for -run soak: its length")
	limits := flag.String("budgets", "", "file with the budgets of the figures; a figure of more than twice its budget fails")
	flag.Parse()
	b.short, b.aiperf = *quick, *aiperf
	var err error
	if b.budgets, err = readBudgets(*limits); err == nil {
		err = b.measure(*only)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func names() string {
	var list []string
	for _, f := range figures {
		list = append(list, f.name)
	}
	return strings.Join(list, ", ")
}

func (b *suite) measure(only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "aiperf-benchmark-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	if b.aiperf == "" {
		b.aiperf = filepath.Join(dir, "aiperf")
		if out, err := exec.Command("go", "build", "-o", b.aiperf, "./cmd/aiperf").CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/aiperf: %w\n%s", err, out)
		}
	}
	fmt.Printf("%s/%s, %d cores%s, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load(), runtime.Version())
	for _, f := range chosen {
		began := time.Now()
		b.section(f.title)
		err := f.run(b)
		b.flush()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Printf("(%s: %.0f s)\n", f.name, time.Since(began).Seconds())
	}
	if len(b.problems) > 0 {
		return errors.New(strings.Join(b.problems, "\n"))
	}
	return nil
}

// choose returns the figures of a comma-separated list; an empty list selects all but the long ones.
func choose(only string) ([]figure, error) {
	var list []figure
	if only == "" {
		for _, f := range figures {
			if !f.byNameOnly {
				list = append(list, f)
			}
		}
		return list, nil
	}
next:
	for name := range strings.SplitSeq(only, ",") {
		for _, f := range figures {
			if f.name == name {
				list = append(list, f)
				continue next
			}
		}
		return nil, fmt.Errorf("-run %s: unknown figure; allowed are %s", name, names())
	}
	return list, nil
}

// load returns the load average of the machine. Other programs distort absolute figures, and ratios less so.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	word, _, _ := strings.Cut(string(b), " ")
	return ", load average " + word
}
