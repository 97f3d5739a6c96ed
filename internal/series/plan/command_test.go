package plan

import "testing"

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"profile", "-m", "plain", "--concurrency", "2", "--ui", "none", "--streaming"}, "aiperf profile -m 'plain' --concurrency 2 --ui 'none' --streaming"},
		{[]string{"profile", "--api-key", "sk-1"}, "aiperf profile --api-key '<redacted>'"},
		{[]string{"genai-perf", "profile", "-m", "profile"}, "aiperf genai-perf profile -m 'profile'"},
		{[]string{"kube", "profile", "--name", "one"}, "aiperf kube profile --name 'one'"},
		{nil, "aiperf"},
	} {
		if got := commandLine(c.args); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}
