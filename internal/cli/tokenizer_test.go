package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestTokenizerCommand(t *testing.T) {
	for _, c := range []struct {
		args, in, want, fail string
	}{
		{args: "count hello world", want: "2\n"},
		{args: "encode hello world", want: "[24912,2375]\n"},
		{args: "encode", in: "hello world", want: "[24912,2375]\n"},
		{args: "encode", in: "", want: "[]\n"},
		{args: "decode 24912 2375", want: "hello world\n"},
		{args: "decode [24912,2375]", want: "hello world\n"},
		{args: "count --jsonl", in: "\"hello world\"\n\n\"\"\n\"a\\nb\"\n", want: "2\n0\n3\n"},
		{args: "encode --jsonl", in: "\"hello world\"\n\"<|endoftext|>\"\n", want: "[24912,2375]\n[199999]\n"},
		{args: "decode --jsonl", in: "[24912]\n[2375, 27]\n", want: "\"hello\"\n\" world<\"\n"},
		{args: "count --special hello", want: "1\n"},
		{args: "encode --jsonl", in: "\"a\"\n7\n", want: "[64]\n", fail: "line 2"},
		{args: "decode x", fail: "want token ids"},
		{args: "count -- --chat", want: "2\n"},
		{args: "count --tokenizer=o200k_base hello world", want: "2\n"},
		{args: "count --jsnol", fail: "exit status 1"},
		{args: "info --jsonl", fail: "exit status 1"},
		{args: "count --chat", in: "[]", fail: "has no chat template"},
		{args: "info --tokenizer ./nowhere", fail: "directory not found"},
		{args: "info", want: "name             builtin\nvocabulary size  200019\nspecial added    0\nBOS              none\n" +
			"EOS              199999 \"<|endoftext|>\"\nchat template    false\n"},
	} {
		var out, told bytes.Buffer
		cmd := (&Program{Streams: Streams{Out: &out, Err: &told}}).newTokenizerCommand()
		cmd.SetIn(strings.NewReader(c.in))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(c.args))
		err := cmd.ExecuteContext(t.Context())
		if c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) || c.fail == "" && err != nil {
			t.Errorf("%s: error %v, want %q", c.args, err, c.fail)
		}
		if c.fail == "exit status 1" && !strings.Contains(told.String(), "unknown flag --js") {
			t.Errorf("%s: told %q", c.args, told.String())
		}
		if out.String() != c.want {
			t.Errorf("%s: printed %q, want %q", c.args, out.String(), c.want)
		}
	}
}
