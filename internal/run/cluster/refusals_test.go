package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/wire/bus"
)

// TestRefusalsAreSeen: the controller says in one line which machine was refused and why, once for each place and reason, and never without end.
func TestRefusalsAreSeen(t *testing.T) {
	notes, three := make(chan string, 100), config.Seconds(3)
	c, err := Open(t.Context(), Options{
		Machines: config.Machines{On: "1", Listen: "127.0.0.1:0", Timeout: &three}, Version: "test", Secret: func(string) {}, Note: func(text string) { notes <- text },
		As: func(key string) string { return key }, Words: func(join, _, _ string) []string { return []string{"worker", "--join", join} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	<-notes // that it waits
	for range 2 {
		if _, err := bus.Dial(t.Context(), bus.DialOptions{Join: c.server.Join(), Token: c.token + "x", Name: "a"}); !errors.Is(err, bus.ErrRefused) {
			t.Fatal(err)
		}
	}
	client, err := bus.Dial(t.Context(), bus.DialOptions{Join: c.server.Join(), Token: c.token, Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, h := range []hello{{Version: "0.1\x1b", Build: "another", Host: "far"}, {Version: "test", Build: build(), Host: "far"}} {
		data, err := encode(&h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Ask(t.Context(), askHello, data); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"machine a (127.0.0.1) was refused: its token is wrong", "machine b (far) was refused: it runs another build of aiperf (0.1", "machine b joined (1 of 1)"} {
		select {
		case got := <-notes:
			if !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") {
				t.Errorf("%q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no note %q", want)
		}
	}
	for i := range 100 {
		c.refused(fmt.Sprint("10.0.0.", i), "", bus.DroppedToken)
	}
	if len(notes) != maxRefusals-2 {
		t.Errorf("%d further notes", len(notes))
	}
	if got, want := <-notes, "machine (10.0.0.0) was refused: its token is wrong"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
