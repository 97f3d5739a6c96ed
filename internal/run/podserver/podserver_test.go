package podserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain is also the run that a keeper starts: it writes a file, waits for an interruption and ends with status 3.
func TestMain(m *testing.M) {
	dir := os.Getenv("KEPT_RUN_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	fmt.Println("begun")
	<-interrupted
	fmt.Fprintln(os.Stderr, "stopped")
	if err := os.WriteFile(filepath.Join(dir, "report.csv"), []byte("0123456789"), 0o600); err != nil {
		os.Exit(9)
	}
	os.Exit(3)
}

// kept is a keeper for a test.
type kept struct {
	t      *testing.T
	url    string
	out    strings.Builder
	dir    string
	status chan int
}

func newKept(t *testing.T, keep time.Duration) *kept {
	t.Helper()
	k := &kept{t: t, dir: t.TempDir(), status: make(chan int, 1)}
	t.Setenv("KEPT_RUN_DIR", k.dir)
	keeper := New(Options{Command: []string{os.Args[0]}, Dir: k.dir, Keep: keep, Out: &k.out})
	server := httptest.NewServer(keeper.Handler())
	t.Cleanup(server.Close)
	k.url = server.URL
	go func() {
		status, err := keeper.Run(t.Context())
		if err != nil {
			status = -1
		}
		k.status <- status
	}()
	return k
}

// answer is what a keeper answered.
type answer struct {
	StatusCode int
	Header     http.Header
}

// ask sends a request and returns the answer and its body.
func (k *kept) ask(method, path string, header ...string) (answer, string) {
	k.t.Helper()
	r, err := http.NewRequestWithContext(k.t.Context(), method, k.url+path, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header}, string(body)
}

// output reads the output of the run until it has a word or the run has finished.
func (k *kept) output(word string) string {
	k.t.Helper()
	all := ""
	for {
		resp, text := k.ask("GET", "/api/output?from="+strconv.Itoa(len(all)))
		if all += text; strings.Contains(all, word) && word != "" || resp.Header.Get(PhaseHeader) == Finished {
			return all
		}
	}
}

// TestKeeper: the run is followed, cancelled and fetched, and its exit status is that of the keeper.
func TestKeeper(t *testing.T) {
	k := newKept(t, time.Hour)
	if got := k.output("begun"); got != "begun\n" {
		t.Fatalf("%q", got)
	}
	if resp, body := k.ask("GET", "/readyz"); resp.StatusCode != http.StatusOK || body != "ok" {
		t.Error(resp.StatusCode, body)
	}
	if resp, _ := k.ask("POST", "/readyz"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Error(resp.StatusCode)
	}
	if resp, body := k.ask("POST", "/api/shutdown"); resp.StatusCode != http.StatusConflict || !strings.Contains(body, "has not finished") {
		t.Error(resp.StatusCode, body)
	}
	if _, body := k.ask("POST", "/api/cancel"); body != "{\"cancelled\":true}\n" {
		t.Error(body)
	}
	if got := k.output(""); got != "begun\nstopped\n" {
		t.Errorf("%q", got)
	}
	var state State
	_, body := k.ask("GET", "/api/state")
	if err := json.Unmarshal([]byte(body), &state); err != nil || state.Phase != Finished || state.Status != 3 || state.Output != 14 || state.Left < 3500 {
		t.Error(body, err)
	}
	if resp, _ := k.ask("GET", "/readyz"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Error(resp.StatusCode)
	}
	if resp, _ := k.ask("GET", "/healthz"); resp.StatusCode != http.StatusOK {
		t.Error(resp.StatusCode)
	}
	k.checkFiles()
	k.ask("POST", "/api/shutdown")
	if status := <-k.status; status != 3 || k.out.String() != "begun\nstopped\n" {
		t.Error(status, k.out.String())
	}
}

// checkFiles: the files have digests, are sent in parts, and nothing outside of the folder is.
func (k *kept) checkFiles() {
	k.t.Helper()
	sum := sha256.Sum256([]byte("0123456789"))
	_, body := k.ask("GET", "/api/results/list")
	want := fmt.Sprintf(`{"files":[{"name":"report.csv","size":10,"sha256":"%s"}]}`, hex.EncodeToString(sum[:]))
	if strings.TrimSpace(body) != want {
		k.t.Errorf("%s, want %s", body, want)
	}
	if resp, body := k.ask("GET", "/api/results/files/report.csv", "Range", "bytes=4-"); resp.StatusCode != http.StatusPartialContent || body != "456789" {
		k.t.Error(resp.StatusCode, body)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(k.dir, "link")); err != nil {
		k.t.Fatal(err)
	}
	for path, status := range map[string]int{"none": 404, "link": 404, "%2e%2e/x": 400, "a%5c..": 400} {
		if resp, _ := k.ask("GET", "/api/results/files/"+path); resp.StatusCode != status {
			k.t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	if _, body := k.ask("GET", "/api/state"); !strings.Contains(body, `"fetched":false`) {
		k.t.Error(body)
	}
	if _, body := k.ask("POST", "/api/fetched"); !strings.Contains(body, `"fetched":true`) {
		k.t.Error(body)
	}
	if resp, _ := k.ask("GET", "/api/output?from=x"); resp.StatusCode != http.StatusBadRequest {
		k.t.Error(resp.StatusCode)
	}
}

// TestKeptTime: files that nobody fetches are given up after a while.
func TestKeptTime(t *testing.T) {
	k := newKept(t, 50*time.Millisecond)
	k.output("begun")
	k.ask("POST", "/api/cancel")
	select {
	case status := <-k.status:
		if status != 3 {
			t.Error(status)
		}
	case <-time.After(10 * time.Second):
		t.Error("the keeper does not end")
	}
}

// TestNoProgram: a run that cannot be started is an error.
func TestNoProgram(t *testing.T) {
	k := New(Options{Command: []string{filepath.Join(t.TempDir(), "none")}, Dir: t.TempDir(), Out: io.Discard})
	if _, err := k.Run(t.Context()); err == nil {
		t.Error("no error")
	}
}

// TestLongOutput: the beginning of a long output is given up, and readers learn where what they get begins.
func TestLongOutput(t *testing.T) {
	o := newOutput(io.Discard)
	line := []byte(strings.Repeat("x", 1<<20))
	for range 2 * keptOutput / len(line) {
		if _, err := o.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	text, first := o.read(t.Context(), 0, 0)
	if first == 0 || first+int64(len(text)) != o.size() || len(text) > keptOutput*9/8 {
		t.Error(first, len(text), o.size())
	}
	o.close()
	if text, _ := o.read(t.Context(), o.size(), time.Hour); text != nil {
		t.Error(len(text))
	}
}
