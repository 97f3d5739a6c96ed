package mockserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the aiperf binary: called with the arguments that Start gives, it is a server.
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
		case ParentFlag:
			ctx = UntilEOF(ctx, os.Stdin)
		default:
			if err := o.Set(name, value); err != nil {
				return err
			}
		}
	}
	return Run(ctx, o, address, func(url string) { fmt.Println(ReadyLine(url)) })
}

func executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChild(t *testing.T) {
	c, err := Start(t.Context(), executable(t), "ttft=1ms&model=tiny")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(c.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(b), "tiny") {
		t.Errorf("%s", b)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(c.URL + "/health"); err == nil {
		t.Error("the server lives on")
	}
}

func TestChildThatDoesNotStart(t *testing.T) {
	if _, err := Start(t.Context(), executable(t), "tokens=none"); err == nil || !strings.Contains(err.Error(), "tokens") {
		t.Errorf("%v", err)
	}
	if _, err := Start(t.Context(), "/nonexistent/aiperf", ""); err == nil {
		t.Error("no error")
	}
	if _, err := Start(t.Context(), executable(t), "truth-log=/nonexistent/dir/x"); err == nil || !strings.Contains(err.Error(), "truth log") {
		t.Errorf("%v", err)
	}
}
