package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// firefox is a headless Firefox, driven by WebDriver BiDi, which it speaks itself.
type firefox struct {
	t       *testing.T
	answers chan answer
	send    func(text []byte) error
	last    int
	context string
	// complaints are errors of scripts and of the console, and every address that a page asked for besides its own.
	complaints []string
	address    string
}

// answer is a message of the browser: to a command, or an event.
type answer struct {
	ID      int
	Type    string
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Error   string
	Message string
}

// openFirefox starts the browser and makes a session.
func openFirefox(t *testing.T) *firefox {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, "firefox-esr", "--headless", "--no-remote", "--profile", t.TempDir(), "--remote-debugging-port", "0")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	at := ""
	for in := bufio.NewScanner(said); at == "" && in.Scan(); {
		_, at, _ = strings.Cut(in.Text(), "WebDriver BiDi listening on ")
	}
	if at == "" {
		t.Fatal("Firefox does not listen")
	}
	go func() { // what else it says must not fill the pipe
		for in := bufio.NewScanner(said); in.Scan(); {
		}
	}()
	conn, _, _, err := ws.Dial(ctx, at+"/session")
	if err != nil {
		t.Fatal(err)
	}
	f := &firefox{t: t, answers: make(chan answer, 1000), send: func(text []byte) error { return wsutil.WriteClientText(conn, text) }}
	go func() {
		defer close(f.answers)
		for {
			text, err := wsutil.ReadServerText(conn)
			if err != nil {
				return
			}
			var a answer
			if json.Unmarshal(text, &a) == nil {
				f.answers <- a
			}
		}
	}()
	f.do("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.do("session.subscribe", map[string]any{"events": []string{"log.entryAdded", "network.beforeRequestSent"}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.do("browsingContext.getTree", map[string]any{}, &tree)
	f.context = tree.Contexts[0].Context
	return f
}

// do sends a command and waits for its result; earlier events are stored.
func (f *firefox) do(method string, params map[string]any, result any) {
	f.t.Helper()
	f.last++
	text, err := json.Marshal(map[string]any{"id": f.last, "method": method, "params": params})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.send(text); err != nil {
		f.t.Fatal(err)
	}
	for a := range f.answers {
		switch {
		case a.Type == "event":
			f.note(a)
		case a.ID != f.last:
		case a.Type == "error":
			f.t.Fatalf("%s: %s: %s", method, a.Error, a.Message)
		default:
			if result != nil {
				if err := json.Unmarshal(a.Result, result); err != nil {
					f.t.Fatal(err)
				}
			}
			return
		}
	}
	f.t.Fatalf("%s: Firefox is gone", method)
}

// note keeps events that should not have been.
func (f *firefox) note(a answer) {
	var e struct {
		Level, Text string
		Request     struct{ URL string }
	}
	if err := json.Unmarshal(a.Params, &e); err != nil {
		f.t.Fatal(err)
	}
	switch {
	case a.Method == "log.entryAdded" && e.Level == "error":
		f.complaints = append(f.complaints, e.Text)
	case a.Method == "network.beforeRequestSent" && !strings.HasPrefix(e.Request.URL, f.address) && !strings.HasPrefix(e.Request.URL, "data:"):
		f.complaints = append(f.complaints, "asked for "+e.Request.URL)
	}
}

// open loads a page; what it may ask for begins with its own address.
func (f *firefox) open(address string) {
	f.t.Helper()
	f.address, _, _ = strings.Cut(address, "?")
	f.complaints = nil
	f.do("browsingContext.navigate", map[string]any{"context": f.context, "url": address, "wait": "complete"}, nil)
}

// text is what a script of the page gives, as text; a promise is waited for.
func (f *firefox) text(script string) string {
	f.t.Helper()
	var got struct {
		Type             string
		Result           struct{ Value any }
		ExceptionDetails struct{ Text string }
	}
	f.do("script.evaluate", map[string]any{"expression": script, "target": map[string]any{"context": f.context}, "awaitPromise": true}, &got)
	if got.Type != "success" {
		f.t.Fatalf("%s: %s", script, got.ExceptionDetails.Text)
	}
	return fmt.Sprint(got.Result.Value)
}

// until is a script that waits for a mark of the page.
func until(mark string) string {
	return `new Promise((done) => { const look = () => document.documentElement.dataset.` + mark + ` ? done("") : setTimeout(look, 20); look(); })`
}

// TestFirefox: in Firefox, too, no script of any page fails, charts are drawn, the clock moves, and nothing is asked of a network.
func TestFirefox(t *testing.T) {
	t.Parallel()
	f := openFirefox(t)
	all := maps.Clone(pages(t))
	maps.Copy(all, states(t))
	for name, path := range all {
		f.open("file://" + path)
		if name != "turns" && name != "swim lane" {
			f.text(until("ready"))
			if name != "all failed" && name != "agents' cache" && f.text(`String(document.querySelectorAll(".uplot canvas").length > 0)`) != "true" {
				t.Errorf("%s: no chart", name)
			}
			f.text(`document.querySelector("#theme").click()`)
		}
		if name == "run" {
			f.text(`document.querySelector('[data-clock="in"]').click()`)
			if got := f.text(`document.querySelector(".view").textContent`); !strings.Contains(got, " to ") {
				t.Errorf("after Zoom in the view is %q", got)
			}
			f.text(`document.querySelector("#waterfall").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }))`)
			if got := f.text(`document.querySelector("#detail").textContent`); !strings.Contains(got, "started at") {
				t.Errorf("the detail is %q", got)
			}
			f.text(`(() => { const s = document.querySelector("#filter"); s.value = "failed"; s.onchange(); })()`)
			f.text(`new Promise((done) => { const look = () => ["time=", "requests=failed", "request="].every((s) => location.hash.includes(s)) ? done("") : setTimeout(look, 20); look(); })`)
			f.text(`document.querySelector(".lane").uplot.setCursor({ left: 200, top: 50 })`)
		}
		f.text(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(""))))`)
		if f.complaints != nil {
			t.Errorf("%s: %v", name, f.complaints)
		}
	}
	f.open(dashboard(t, work))
	f.text(until("loaded"))
	if got := f.text(`String(document.querySelectorAll(".plot").length)`); got != "4" {
		t.Errorf("%s plots in the dashboard", got)
	}
	if f.complaints != nil {
		t.Errorf("dashboard: %v", f.complaints)
	}
}
