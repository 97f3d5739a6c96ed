//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/base/testhome"
)

// Secrets that a run is given in every way there is.
const (
	apiKey    = `sk-Key/with+"quotes"\and%more`
	headerKey = "hdr-9f8e7d6c5b4a"
	urlKey    = "urlkey-31337-abcdef"
	userWord  = "p@ss:w0rd/long"
	extraKey  = "extra-0123456789xyz"
	shortKey  = "S3CRE7"
)

// planted are all secrets as texts that must not be found anywhere, in the spellings in which a program may leave them.
func planted() []string {
	user := url.UserPassword("bob", userWord).String()
	list := []string{apiKey, headerKey, urlKey, userWord, user, base64.StdEncoding.EncodeToString([]byte("bob:" + userWord)), extraKey, shortKey}
	for _, s := range list {
		quoted, _ := json.Marshal(s)
		list = append(list, string(quoted[1:len(quoted)-1]), url.QueryEscape(s))
	}
	return list
}

// parrots answer with every secret in every field that an answer has.
func parrots() map[string]http.HandlerFunc {
	all := strings.Join([]string{apiKey, headerKey, urlKey, userWord, extraKey, shortKey}, " ")
	echo := func(w http.ResponseWriter) {
		w.Header().Set("X-Echo", all)
		w.Header().Set("X-"+headerKey, "name")
		w.Header().Set("Location", "/login?api_key="+url.QueryEscape(apiKey)+"&sig="+urlKey+"&KEY="+shortKey)
		w.Header().Set("Set-Cookie", "a="+headerKey)
	}
	text, _ := json.Marshal(all)
	failing := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			echo(w)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":%s,"path":"%s"}}`, text, r.URL.String())
		}
	}
	return map[string]http.HandlerFunc{
		"unauthorized": failing(401), "redirect": failing(302), "server error": failing(500),
		"body": func(w http.ResponseWriter, _ *http.Request) {
			echo(w)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":%[1]s,"model":%[1]s,"choices":[{"message":{"role":%[1]s,"content":%[1]s},"finish_reason":%[1]s}],"usage":{"prompt_tokens":3}}`, text)
		},
		"stream": func(w http.ResponseWriter, _ *http.Request) {
			echo(w)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": %s\nid: %s\nevent: %s\ndata: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\ndata: [DONE]\n\n", all, all, headerKey, text)
		},
		"error in a stream": func(w http.ResponseWriter, _ *http.Request) {
			echo(w)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: error\ndata: {\"error\":{\"message\":%s,\"type\":%s}}\n\n", text, text)
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) {
			echo(w)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<h1>", all)
		},
		"cut in the middle": func(w http.ResponseWriter, _ *http.Request) {
			echo(w)
			w.WriteHeader(http.StatusBadRequest)
			for n := 4080; n < 4110; n += len(headerKey) + 1 {
				fmt.Fprint(w, strings.Repeat("x", n%100)+" ")
			}
			fmt.Fprint(w, strings.Repeat("y", 3900), strings.Repeat(headerKey+" ", 100))
		},
	}
}

// TestSecretsNowhere plants every secret in every field of every kind of answer and looks at every byte that a run leaves: files of every
// export level and all that it says.
func TestSecretsNowhere(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for name, answer := range parrots() {
		for _, level := range []string{"summary", "records", "raw"} {
			t.Run(name+"/"+level, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(answer)
				defer server.Close()
				host := strings.TrimPrefix(server.URL, "http://")
				p := program(t, "--model", "m", "--tokenizer", "builtin", "--url", "http://"+url.UserPassword("bob", userWord).String()+"@"+host,
					"--custom-endpoint", "/v1/chat/completions?key="+urlKey, "--api-key", apiKey, "-H", "X-API-Key: "+headerKey, "-H", "X-Auth: "+shortKey,
					"--extra-inputs", "api_key:"+extraKey, "--extra-inputs", `{"nested":{"client_secret":"`+shortKey+`"}}`, "--streaming",
					"--export-level", level, "--export-http-trace", "--request-count", "3", "-vv")
				p.run()
				said := p.stdout.String() + p.stderr.String()
				look := func(where, text string) {
					for _, s := range planted() {
						if i := strings.Index(text, s); i >= 0 {
							t.Errorf("%s shows %s: …%.120q", where, s, text[max(0, i-60):])
						}
					}
				}
				look("what it says", said)
				files := 0
				err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
					if err != nil || entry.IsDir() {
						return err
					}
					files++
					text, err := os.ReadFile(path)
					look(filepath.Base(path), string(text))
					if strings.HasSuffix(path, ".json") && !json.Valid(text) {
						t.Errorf("%s is no JSON any more", path)
					}
					return err
				})
				if err != nil || files < 4 {
					t.Fatalf("%d files, %v\n%s", files, err, said)
				}
			})
		}
	}
}

// hostileText is what a server may answer to steer a terminal and a page.
const hostileText = "\x1b]0;owned\a\x1b[2J\u202e</script><img src=x onerror=alert(1)>"

// TestHostileAnswersShown: neither a secret nor text that steers a terminal or a page reaches what people look at: the live view and the report at a
// terminal, the page of the run with the data packed in it, the plots, the page of the messages.
func TestHostileAnswersShown(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	all := strings.Join([]string{apiKey, headerKey, urlKey, userWord, extraKey, shortKey}, " ") + " " + hostileText
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if n.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error":{"message":%s,"type":%s}}`, text, text)
			return
		}
		fmt.Fprintf(w, `{"model":%s,"choices":[{"message":{"content":%s}}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`, text, text)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	s := atTerminal(t, 200, 50, "--model", "m</script><img src=x>\x1b[31m", "--url", "http://"+url.UserPassword("bob", userWord).String()+"@"+host, "--custom-endpoint", "/v1/chat/completions?key="+urlKey,
		"--api-key", apiKey, "-H", "X-API-Key: "+headerKey, "-H", "X-Auth: "+shortKey, "--extra-inputs", "api_key:"+extraKey, "--request-count", "40", "--concurrency", "2", "--no-probe",
		"--export-level", "raw", "--export-html", "--tables", "all")
	if status, left := s.ends(); status != 0 {
		t.Fatalf("status %d\n%s", status, left)
	}
	look := func(where, text string, never ...string) {
		for _, one := range append(planted(), never...) {
			if i := strings.Index(text, one); i >= 0 {
				t.Errorf("%s shows %q: …%.120q", where, one, text[max(0, i-60):])
			}
		}
	}
	look("the terminal", s.raw(), "\x1b]0;owned", "\x1b[2J\u202e", "\u202e")
	for _, words := range [][]string{{"plot", s.dir, "--format", "svg"}, {"analyze", "turn-messages", s.dir}} {
		out, err := command(t, words...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		look(words[0], string(out), "\x1b", "\u202e")
	}
	pages := 0
	for _, path := range tree(t, s.dir) {
		kind := filepath.Ext(path)
		if kind != ".html" && kind != ".svg" {
			continue
		}
		pages++
		content, err := os.ReadFile(filepath.Join(s.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		look(path, string(content)+unpacked(t, content), "</script><img", "<img src", "\x1b")
	}
	if pages < 4 {
		t.Errorf("%d pages and pictures in %v", pages, tree(t, s.dir))
	}
}

// unpacked is the data in a page, of which a script makes its charts.
func unpacked(t *testing.T, page []byte) string {
	t.Helper()
	m := regexp.MustCompile(`>(H4sI[A-Za-z0-9+/=]+)<`).FindSubmatch(page)
	if m == nil {
		return ""
	}
	packed, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), `\u003c`, "&lt;")
}
