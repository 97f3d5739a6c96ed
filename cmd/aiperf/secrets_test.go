package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
