package podserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUploads: the run starts when all its data files are here, with the right content.
func TestUploads(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KEPT_RUN_DIR", dir)
	sum, err := Digest(strings.NewReader("data"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	keeper := New(Options{Command: []string{os.Args[0]}, Dir: dir, Keep: time.Hour, Out: &out, Uploads: Uploads{Dir: filepath.Join(dir, "in"), SHA256: map[string]string{"a": sum, "b": sum}, Limit: time.Hour}})
	server := httptest.NewServer(keeper.Handler())
	t.Cleanup(server.Close)
	status := make(chan int, 1)
	go func() {
		code, err := keeper.Run(t.Context())
		if err != nil {
			code = -1
		}
		status <- code
	}()
	k := &kept{t: t, url: server.URL, dir: dir}
	put := func(name, content string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/api/data/"+name, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, one := range []struct {
		name, content string
		status        int
	}{{"a", "data", 200}, {"a", "data", 200}, {"b", "dat", 422}, {"c", "data", 404}, {"..%2Fa", "data", 404}} {
		if got := put(one.name, one.content); got != one.status {
			t.Errorf("%s %q: status %d, want %d", one.name, one.content, got, one.status)
		}
	}
	if resp, _ := k.ask("GET", "/readyz"); resp.StatusCode != http.StatusOK {
		t.Error("a controller that waits for data is not ready for it")
	}
	if _, state := k.ask("GET", "/api/state"); !strings.Contains(state, Starting) {
		t.Error(state)
	}
	if got := put("b", "data"); got != http.StatusOK {
		t.Error(got)
	}
	k.output("begun")
	if text, err := os.ReadFile(filepath.Join(dir, "in", "b")); err != nil || string(text) != "data" {
		t.Errorf("%q %v", text, err)
	}
	k.ask("POST", "/api/cancel")
	k.output("")
	k.ask("POST", "/api/shutdown")
	if code := <-status; code != 3 {
		t.Error(code)
	}
}

// TestUploadsThatDoNotCome: a run ends if nobody sends its data.
func TestUploadsThatDoNotCome(t *testing.T) {
	var out strings.Builder
	keeper := New(Options{Command: []string{"none"}, Dir: t.TempDir(), Out: &out, Uploads: Uploads{SHA256: map[string]string{"a": "0"}, Limit: time.Millisecond}})
	code, err := keeper.Run(t.Context())
	if code != 1 || err == nil || !strings.Contains(err.Error(), "did not arrive") {
		t.Error(code, err)
	}
	u := newUploads(Uploads{Dir: "/dev/null/x", SHA256: map[string]string{"a": "0"}, Limit: time.Hour})
	if err := u.store("a", strings.NewReader("x")); err == nil || errors.Is(err, errDamaged) {
		t.Errorf("%v, want an error of the file system", err)
	}
}
