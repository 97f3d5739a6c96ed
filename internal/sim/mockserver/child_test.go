package mockserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the aiperf binary: called as `mock-server FLAGS` it is a server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "mock-server" {
		if err := stand(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func stand(args []string) error {
	o, address := Defaults(), "127.0.0.1:0"
	ctx := context.Background()
	for _, arg := range args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch name {
		case "host", "port":
		case LifelineFlag:
			ctx = UntilEOF(ctx, os.Stdin)
		default:
			if err := o.Set(name, value); err != nil {
				return err
			}
		}
	}
	return Run(ctx, o, address, func(url string) { fmt.Println(ReadyLine(url)) })
}

// child is a server in a separate process, as `aiperf mock-server` runs it.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	url   string
}

func startChild(t testing.TB, query string) *child {
	t.Helper()
	args, err := Args(query)
	if err != nil {
		t.Fatal(err)
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"mock-server", "--port=0", "--" + LifelineFlag}, args...)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, stdin: stdin}
	t.Cleanup(func() { c.stop(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c.url = line[strings.Index(line, "http://") : len(line)-1]
	return c
}

// stop hangs up and waits for the process to end by itself.
func (c *child) stop(t testing.TB) {
	t.Helper()
	if c.cmd.ProcessState != nil {
		return
	}
	c.stdin.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// cpu is the processor time of a child that has ended.
func (c *child) cpu() time.Duration {
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

func TestChildEndsWithItsLifeline(t *testing.T) {
	c := startChild(t, "ttft=1ms&model=tiny")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(c.url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(b), "tiny") {
		t.Errorf("%s", b)
	}
	c.stop(t)
	if resp, err := client.Get(c.url + "/health"); err == nil {
		resp.Body.Close()
		t.Error("the server lives on")
	}
}

func TestServerThatCannotStart(t *testing.T) {
	if _, err := New(Options{TruthLog: "/nonexistent/dir/x"}); err == nil || !strings.Contains(err.Error(), "truth log") {
		t.Errorf("%v", err)
	}
	if err := Run(t.Context(), Defaults(), "256.0.0.1:0", nil); err == nil {
		t.Error("no error")
	}
}
