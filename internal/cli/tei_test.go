package cli

import (
	"strings"
	"testing"
)

// TestTEIRankings: GenAI-Perf's rankings are NIM's, or those of text-embeddings-inference with an extra input that is not sent.
func TestTEIRankings(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"--endpoint-type rankings":                                   "nim_rankings",
		"--endpoint-type Rankings --extra-inputs rankings:tei,k:1":   "hf_tei_rankings",
		"--endpoint-type nim_rankings --extra-inputs rankings:tei":   "nim_rankings",
		"--endpoint-type rankings --extra-inputs rankings:something": "nim_rankings",
	} {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		status := Main(t.Context(), p, append(strings.Fields("profile --dry-run -m m --tokenizer builtin"), strings.Fields(line)...))
		if status != 0 || !strings.Contains(out.String(), "type: "+want) || want == "hf_tei_rankings" && strings.Contains(out.String(), "tei:") {
			t.Errorf("%s: exit status %d, want %s\n%s\n%s", line, status, want, out.String(), errs.String())
		}
		if kept := strings.Contains(out.String(), "rankings: "); kept != (strings.Contains(line, "extra") && want == "nim_rankings") {
			t.Errorf("%s: the extra input is kept: %v\n%s", line, kept, out.String())
		}
	}
}
