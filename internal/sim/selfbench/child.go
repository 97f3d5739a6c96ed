package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// roles are the parts that this program plays as its own child process.
var roles = map[string]func(args []string) error{
	"floor":   playFloor,
	"nethttp": playNetHTTP, "nethttp2": playNetHTTP2,
	"wire": playWire, "witness": playWitness,
	"spin": playSpin,
}

// self returns the path of this program.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// usage is the resource usage of a child.
type usage struct {
	cpu  time.Duration // user plus system time
	peak int64         // largest resident set, bytes; 0 = not reported by this system
	wall time.Duration
}

// run runs a child to its end. Exit status 1 is an error. Other statuses, with which the program under test reports invalid measurements, are
// ignored.
func run(name string, args ...string) (usage, error) {
	cmd := exec.Command(name, args...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return usage{}, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, tail(out))
	}
	return usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(began), peak: peak(cmd.ProcessState)}, nil
}

// resident returns a largest resident set in bytes. macOS counts in bytes, the other systems in KiB.
func resident(counted int64, system string) int64 {
	if system == "darwin" {
		return counted
	}
	return counted << 10
}

func tail(out []byte) []byte {
	const keep = 2000
	return out[max(0, len(out)-keep):]
}

// profile runs a benchmark with the program under test and returns the folder with its files.
func (b *suite) profile(args ...string) (dir string, u usage, err error) {
	dir, args = b.profileArgs(args)
	u, err = run(b.aiperf, args...)
	return dir, u, err
}

// profileArgs returns the arguments of a benchmark, and the new folder that it writes to.
func (b *suite) profileArgs(more []string) (dir string, args []string) {
	b.runs++
	dir = fmt.Sprintf("%s/run%d", b.dir, b.runs)
	return dir, append([]string{"profile", "--model", "mock", "--ui", "none", "--random-seed", "1", "--artifact-dir", dir}, more...)
}

// server is a simulated server in its own process.
type server struct {
	cmd *exec.Cmd
	url string
}

// serve starts a server on a free port.
func (b *suite) serve(args ...string) (*server, error) {
	cmd := exec.Command(b.aiperf, append([]string{"mock-server", "--port", "0", "--count-prompt=false"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) == 0 {
		cmd.Process.Kill()
		return nil, errors.Join(errors.New("the mock server did not start"), err, cmd.Wait())
	}
	return &server{cmd, words[len(words)-1]}, nil
}

// stop ends the server gracefully; its log is then complete.
func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait() // a signal ended it
}

// withServer runs a server while f runs.
func (b *suite) withServer(f func(s *server) error, args ...string) error {
	s, err := b.serve(args...)
	if err != nil {
		return err
	}
	defer s.stop()
	return f(s)
}

// whileBusy keeps every core busy with its own process while f runs.
func whileBusy(cores int, f func() error) error {
	var spinners []*exec.Cmd
	defer func() {
		for _, c := range spinners {
			c.Process.Kill()
			_ = c.Wait() // it was killed
		}
	}()
	for range cores {
		c := exec.Command(self(), "spin", strconv.Itoa(os.Getpid()))
		if err := c.Start(); err != nil {
			return err
		}
		spinners = append(spinners, c)
	}
	return f()
}

// playSpin keeps one core busy until its parent has ended.
func playSpin(args []string) error {
	for len(args) == 1 && strconv.Itoa(os.Getppid()) == args[0] {
		for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
		}
	}
	return nil
}
