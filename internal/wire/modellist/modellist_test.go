package modellist

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		body      string
		names     []string
		simulated bool
		err       string
	}{
		{body: `{"object":"list","data":[{"id":"a/b","owned_by":"vllm"}]}`, names: []string{"a/b"}},
		{body: `{"data":[{"id":"x","owned_by":"aiperf"}]}`, names: []string{"x"}, simulated: true},
		{body: `{"data":[{"id":"x","owned_by":"aiperf"},{"id":"y"}]}`, names: []string{"x", "y"}},
		{body: `{"models":[{"name":"m"},{"name":"m"}]}`, names: []string{"m"}},
		{body: `{"data":[{"id":"a"},{"id":"a"},{"id":""},{"id":"bad\u001b[31m"},{"id":"\u202eabc"},{"id":"` + strings.Repeat("n", 300) + `"}]}`, names: []string{"a"}},
		{body: `{"data":[]}`}, {body: `{}`},
		{body: `<html>`, err: "not a list of models"}, {body: `[1]`, err: "not a list of models"}, {body: ``, err: "not a list of models"},
	} {
		got, err := Parse([]byte(c.body))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%.40s: error %v, want %s", c.body, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Names, c.names) || got.Simulated != c.simulated {
			t.Errorf("%.40s: %+v %v", c.body, got, err)
		}
	}
}

// TestGet: the key goes to the server that was named and to no other; the words of a failure hold no URL.
func TestGet(t *testing.T) {
	var seen http.Header
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			seen = r.Header
			_, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`))
		case "/moved":
			http.Redirect(w, r, other.URL+"/v1?token=abc", http.StatusFound)
		case "/long":
			_, _ = w.Write(make([]byte, maxBody+1))
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	o := Options{Headers: http.Header{"Authorization": {"Bearer k"}}}
	list, err := Get(t.Context(), s.URL+Path, o)
	if err != nil || !slices.Equal(list.Names, []string{"m"}) || seen.Get("Authorization") != "Bearer k" {
		t.Errorf("%+v %v, headers %v", list, err, seen)
	}
	for path, want := range map[string]string{"/x": "401 Unauthorized", "/long": "longer than"} {
		if _, err := Get(t.Context(), s.URL+path, o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "http:") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	moved := "302 Found: the redirect to " + other.URL + "/v1?token=<redacted> is not followed"
	if _, err := Get(t.Context(), s.URL+"/moved", o); err == nil || err.Error() != moved {
		t.Errorf("%v, want %s", err, moved)
	}
	if _, err := Get(t.Context(), "http://127.0.0.1:1"+Path, Options{}); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "http:") {
		t.Errorf("a closed port: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a"}]}`))
	f.Add([]byte(`{"models":[{"name":"\u0000"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := Parse(body)
		if err != nil && len(list.Names) > 0 {
			t.Error("names beside an error")
		}
		for _, n := range list.Names {
			if !usable(n) {
				t.Errorf("%q", n)
			}
		}
	})
}
