package supportbundle

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
)

// put writes the files of a run.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// options are those of a test.
func options(dir string) Options {
	return Options{Dir: dir, MaxSize: 20e6, Secrets: redact.NewSecrets(), Flag: config.FlagSecret}
}

// pack makes a bundle and returns its archive and its files by name.
func pack(t *testing.T, o Options) (archive []byte, plan *Plan, files map[string]string, names []string) {
	t.Helper()
	plan, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := plan.Write(&b); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
		names = append(names, f.Name)
	}
	return b.Bytes(), plan, files, names
}

// TestPlantedSecrets: no credential of a run leaves the machine, whichever file names it and in whichever form another repeats it.
func TestPlantedSecrets(t *testing.T) {
	dir := t.TempDir()
	planted := map[string]string{
		"member":       "plain-Secret-one",
		"header list":  "plain-Secret-two",
		"header pair":  "plain-Secret-three",
		"flag":         "plain-Secret-four",
		"flag in log":  "plain-Secret-five",
		"url password": "plain-Secret-six",
		"url query":    "plain-Secret-seven",
		"provider key": "sk-proj-abcdefghijklmnop0123",
		"hub token":    "hf_abcdefghijklmnopqrstuvwx",
		"web token":    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
		"environment":  "plain-Secret-eight",
		"yaml":         "plain-Secret-nine",
		"pem":          "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
		"bearer":       "opaque0123456789",
		"basic":        "opaque-basic-99",
		"known":        "known-Secret-ten",
		"header map":   "plain-Secret-eleven",
	}
	s := planted
	put(t, dir, map[string]string{
		"profile_export_aiperf.json": fmt.Sprintf(`{
  "input_config": {"endpoint": {"api_key": %q, "urls": ["http://u:%s@h/v1?api_key=%s"], "headers": {"X-Custom-Auth": %q}}},
  "cli_command": "aiperf profile --api-key '%s' --url h"
}`, s["member"], s["url password"], s["url query"], s["header map"], s["flag"]),
		"profile_export.jsonl": fmt.Sprintf(`{"request_headers": [{"name": "X-Api-Key", "value": %q}], "n": 12345678901234567890}
{"headers": [["Authorization", "Bearer %s"], ["X-Session-ID", "session-12345678"]]}
{"error": {"message": "the server says: %s is wrong, also %s"}}
`, s["header list"], s["header pair"], s["member"], base64.StdEncoding.EncodeToString([]byte(s["header pair"]))),
		"logs/aiperf.log": fmt.Sprintf("msg=run command=\"aiperf profile --api-key %s\"\nAuthorization: Bearer %s\nuses basic %s for x\nkey %s\nagain %s %s\n",
			s["flag in log"], s["bearer"], base64.StdEncoding.EncodeToString([]byte("u:"+s["basic"])), s["provider key"], s["flag"], s["known"]),
		"x.csv":       "a,b\r\n" + s["hub token"] + "," + s["web token"] + "\r\n" + s["environment"] + ",1\r\n",
		"config.yaml": "endpoint:\n  api_key: " + s["yaml"] + "\n",
		"key.txt":     "before\n-----BEGIN PRIVATE KEY-----\n" + s["pem"] + "\n" + s["pem"] + "\n-----END PRIVATE KEY-----\nafter\n",
		"one.jsonl":   `{"k": "-----BEGIN RSA PRIVATE KEY-----\n` + s["pem"] + `\n-----END RSA PRIVATE KEY-----"}` + "\n" + `{"x": 1}` + "\n",
	})
	o := options(dir)
	o.Secrets.Add(s["known"])
	o.Secrets.Add(EnvironSecrets([]string{"MY_API_KEY=" + s["environment"], "SSH_AUTH_SOCK=/tmp/agent", "PATH=/bin"})...)
	o.Extra = []Extra{{"program.json", []byte(`{"environment": {"X": "` + s["environment"] + `"}}`)}}
	_, plan, files, _ := pack(t, o)
	for what, value := range planted {
		for name, text := range files {
			for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value))} {
				if strings.Contains(text, form) {
					t.Errorf("%s is in %s:\n%s", what, name, text)
				}
			}
		}
	}
	for name, wants := range map[string][]string{
		"run/profile_export.jsonl": {"12345678901234567890", "session-12345678", "the server says"},
		"run/key.txt":              {"before\n", "after\n"},
		"run/one.jsonl":            {`{"x": 1}`},
		"run/x.csv":                {"a,b\r\n", ",1\r\n"},
		"run/logs/aiperf.log":      {"msg=run command=", "again"},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s lost %q:\n%s", name, want, files[name])
			}
		}
	}
	if !json.Valid([]byte(files["run/profile_export_aiperf.json"])) {
		t.Errorf("no longer JSON: %s", files["run/profile_export_aiperf.json"])
	}
	for line := range strings.Lines(files["run/profile_export.jsonl"]) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no longer JSON: %s", line)
		}
	}
	for _, f := range plan.Files {
		if f.Redacted == 0 {
			t.Errorf("%s: no replacement is reported", f.Name)
		}
	}
}

// TestContents: only plain text of the run itself is packed, in the order of the names; the list says why the rest is missing.
func TestContents(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.txt")
	put(t, dir, map[string]string{
		"b.json": `{"tokenizer": "Qwen/Qwen2.5-7B", "v": 1e400}`, "a/c.csv": "x\n", "picture.png": "\x89PNG", "inputs.json": "{}", "p_raw.jsonl": "{}\n", ".hidden.json": "{}", "outputs.json": "{}",
	})
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	first, plan, files, names := pack(t, options(dir))
	if want := []string{"contents.json", "run/a/c.csv", "run/b.json"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if got := files["run/b.json"]; got != `{"tokenizer": "Qwen/Qwen2.5-7B", "v": 1e400}`+"\n" {
		t.Errorf("a file without credentials was changed: %s", got)
	}
	for _, f := range plan.Files {
		if packed := f.Name == "b.json" || f.Name == "a/c.csv"; packed != (f.Omitted == "") {
			t.Errorf("%+v", f)
		}
		if !strings.Contains(files["contents.json"], f.Name) {
			t.Errorf("%s is not listed", f.Name)
		}
	}
	if again, _, _, _ := pack(t, options(dir)); !bytes.Equal(first, again) {
		t.Error("two bundles of the same files differ")
	}
	with := options(dir)
	with.Content = true
	if _, _, _, names := pack(t, with); !slices.Contains(names, "run/inputs.json") || !slices.Contains(names, "run/p_raw.jsonl") || !slices.Contains(names, "run/outputs.json") {
		t.Errorf("%v", names)
	}
}

// TestBound: long files keep their beginning and end, a line without an end is excluded, and small files are whole.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "{\"n\": %d}\n", i)
	}
	put(t, dir, map[string]string{"long.jsonl": long.String(), "short.csv": "all of it\n", "zero.txt": "", "wide.txt": "first\n" + strings.Repeat("x", 3<<20) + "\nlast\n"})
	o := options(dir)
	o.MaxSize = 40_000
	_, plan, files, _ := pack(t, o)
	got := files["run/long.jsonl"]
	if !strings.HasPrefix(got, "{\"n\": 0}\n") || !strings.HasSuffix(got, "{\"n\": 19999}\n") || len(got) > 40_000 || len(got) < 5_000 {
		t.Errorf("%d bytes: %.40s … %s", len(got), got, got[max(0, len(got)-40):])
	}
	if files["run/short.csv"] != "all of it\n" || files["run/wide.txt"] != "first\nlast\n" {
		t.Errorf("%q, %q", files["run/short.csv"], files["run/wide.txt"])
	}
	for _, f := range plan.Files {
		lines := int64(strings.Count(files["run/"+f.Name], "\n"))
		if f.Name == "long.jsonl" && f.Left+lines != 20_000 || f.Name == "wide.txt" && f.Left != 1 {
			t.Errorf("%+v, %d lines", f, lines)
		}
	}
	total := 0
	for name, text := range files {
		if name != contentsFile {
			total += len(text)
		}
	}
	if total > 41_000 {
		t.Errorf("%d bytes", total)
	}
}

// FuzzScrub: a known value never survives, and JSON stays JSON.
func FuzzScrub(f *testing.F) {
	const secret = "s3cr3t-Value-0123"
	for _, seed := range []string{
		`{"a":"%s"}`, "key=%s&x", "-----BEGIN PRIVATE KEY-----", `["%s",1e9,"\ud800"]`, `{"token":"x","b":[{"name":"authorization","value":"%s"}]}`, "\"%s", `{"%s":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, form string) {
		text := strings.ReplaceAll(form, "%s", secret)
		s := scrubber{secrets: redact.NewSecrets(secret), flag: config.FlagSecret}
		findSecrets(text, config.FlagSecret)
		got := s.line(text)
		if strings.Contains(got, secret) {
			t.Errorf("%q became %q", text, got)
		}
		if json.Valid([]byte(text)) && !strings.Contains(text, "-----BEGIN") && !json.Valid([]byte(got)) {
			t.Errorf("%q became %q, which is not JSON", text, got)
		}
	})
}
