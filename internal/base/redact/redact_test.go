package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	for name, secret := range map[string]bool{
		"Authorization": true, "X-API-Key": true, "x-Session-ID": true, "X-Session-Affinity": true, "Cookie": true,
		"X-My-Private-Key": true, "X-Correlation-ID": false, "X-Request-ID": false, "Accept": false, "Content-Type": false,
	} {
		if got := Header(name, "v"); (got == Placeholder) != secret {
			t.Errorf("Header(%q) = %q, secret %v", name, got, secret)
		}
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://u:p@h:1/v1?token=S3&a=b": "http://<redacted>@h:1/v1?token=<redacted>&a=b",
		"http://h/v1":                    "http://h/v1",
		"h:8000/x?API_KEY=1#f":           "h:8000/x?API_KEY=<redacted>#f",
		"http://h/a@b":                   "http://h/a@b",
		"http://h?x-amz-signature=%20z":  "http://h?x-amz-signature=<redacted>",
		"":                               "",
	} {
		if got := URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"Authorization: Bearer abc.def, next":       "Authorization: Bearer <redacted>, next",
		`{"authorization":"Bearer abc"}`:            `{"authorization":"Bearer <redacted>"}`,
		"bad api_key=abc&x=1":                       "bad api_key=<redacted>&x=1",
		"token: abc":                                "token: <redacted>",
		`{"secret":"s"}`:                            `{"secret":"<redacted>"}`,
		"X-API-Key: s2":                             "X-API-Key: <redacted>",
		"dial http://u:p@h/x failed":                "dial http://<redacted>@h/x failed",
		"This model's maximum context is 10 tokens": "This model's maximum context is 10 tokens",
		"max_tokens: 5 is too many":                 "max_tokens: 5 is too many",
		"completion_tokens=5":                       "completion_tokens=5",
		"plain":                                     "plain",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	in := []string{"profile", "--api-key", "K", "-H", "X-API-Key: S2", "X-B: ok", "--url=http://u:p@h", "-u", "h?token=S3",
		"--extra-inputs", "a:1", "--hf-access-token=Z", "--seed", "-1"}
	want := []string{"profile", "--api-key", Placeholder, "-H", "X-API-Key:" + Placeholder, "X-B: ok", "--url=http://<redacted>@h", "-u",
		"h?token=<redacted>", "--extra-inputs", "a:1", "--hf-access-token=<redacted>", "--seed", "-1"}
	if got := Args(in, someKinds); !slices.Equal(got, want) {
		t.Errorf("Args:\n got %q\nwant %q", got, want)
	}
}

// TestArgsForms: every way to write a flag hides what it holds.
func TestArgsForms(t *testing.T) {
	for line, want := range map[string]string{
		"-H=Authorization: S":                       "-H=Authorization:<redacted>",
		"--H|Authorization: S":                      "--H|Authorization:<redacted>",
		"-u=http://u:S@h":                           "-u=http://<redacted>@h",
		"-u|http://a,http://u:S@h":                  "-u|http://a,http://<redacted>@h",
		"--mlflow_tracking_uri|http://u:S@h":        "--mlflow_tracking_uri|http://<redacted>@h",
		"--endpoint|/v1?token=S":                    "--endpoint|/v1?token=<redacted>",
		"--server-metrics|http://u:S@h|u:S@h":       "--server-metrics|http://<redacted>@h|<redacted>@h",
		`-H|{"X-B":"1","Authorization":"S"}`:        `-H|{"Authorization":"<redacted>","X-B":"1"}`,
		`-H|{"X-B": "1"}`:                           `-H|{"X-B": "1"}`,
		`-H|{"Authorization":"S"`:                   "-H|<redacted>",
		"--api_key=S":                               "--api_key=<redacted>",
		"--concurrency=4|-m=a|--extra-inputs|b:-1":  "--concurrency=4|-m=a|--extra-inputs|b:-1",
		"-u|mock://?ttft=5ms,itl=1ms|-b|-1|-|--x=-": "-u|mock://?ttft=5ms,itl=1ms|-b|-1|-|--x=-",
	} {
		if got := strings.Join(Args(strings.Split(line, "|"), someKinds), "|"); got != want {
			t.Errorf("Args(%q, someKinds) = %q, want %q", line, got, want)
		}
	}
}
