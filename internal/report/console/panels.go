package console

import (
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// incomplete says that the numbers cover only a part of the run.
func (d *drawing) incomplete() {
	if d.run.IncompleteReason == "" || d.fits && d.run.AllFailed() { // without numbers there is nothing to warn about
		return
	}
	d.say("\n%s\n%s\n%s\n\n", d.style.bold(d.brand()+" | INCOMPLETE RESULTS"), d.run.IncompleteReason,
		"The numbers cover a part of the run: do not compare them with those of a complete one.")
}

// advices lists errors with a usual cause and what to do about them.
var advices = []struct {
	matches func(code int, kind, text string) bool
	says    []string
}{
	{
		func(code int, _, _ string) bool { return code == 401 || code == 403 },
		[]string{"The server does not accept the credentials.", "Check {endpoint.api_key}, or the header that carries the key ({endpoint.headers})."},
	},
	{
		func(code int, _, text string) bool { return (&record.Error{Code: code, Message: text}).UnknownModel() },
		[]string{"The server does not know the model.", "Check {models.items} against the list that GET /v1/models returns."},
	},
	{
		func(code int, _, _ string) bool { return code == 404 || code == 405 },
		[]string{
			"The server has no such path, or does not take such requests there.",
			"- {endpoint.urls}: the server's root, for example http://localhost:8000, or the part before /v1",
			"- {endpoint.type}: the kind of API, which chooses the path (chat: /v1/chat/completions)",
			"- {endpoint.path}: the path, if the server does not use the usual one of its API",
		},
	},
	{
		func(code int, _, text string) bool {
			return code >= 400 && code < 500 && (strings.Contains(text, "context length") || strings.Contains(text, "max_model_len"))
		},
		[]string{"Prompts and requested outputs are longer than the model's context.", "Lower the input or output length, or serve the model with a longer context."},
	},
	{
		func(code int, _, _ string) bool { return code == 429 },
		[]string{"The server limits the rate.", "Lower {phases.profiling.rate} or {phases.profiling.concurrency}, or lift the limit."},
	},
	{
		func(code int, _, _ string) bool { return code >= 500 },
		[]string{"The server failed while it handled the requests.", "Read the log of the server."},
	},
	{
		func(_ int, kind, _ string) bool { return kind == "TimeoutError" },
		[]string{"The answers took longer than the client's timeout.", "Raise {endpoint.timeout}, or lower the load or the output length."},
	},
	{
		func(code int, kind, text string) bool {
			return strings.Contains(text, "does not look like a tls handshake") || code == 400 && strings.Contains(text, "http request to an https server")
		},
		[]string{"One side uses http and the other https.", "Check the scheme of {endpoint.urls}."},
	},
	{
		func(_ int, kind, _ string) bool {
			return strings.HasPrefix(kind, "ClientConnectorSSL") || kind == "ClientConnectorCertificateError"
		},
		[]string{"No secure connection to the server could be made.", "- {endpoint.tls.ca_file}: trusts the authority that signed the certificate", "- {endpoint.tls.server_name}: the name in the certificate, if it is not that of the URL", "- {endpoint.tls.insecure}: accepts any certificate"},
	},
	{
		func(_ int, kind, _ string) bool { return kind == "ClientConnectorError" },
		[]string{"No connection to the server could be made.", "Check {endpoint.urls} and that the server listens there."},
	},
	{
		func(_ int, kind, _ string) bool { return kind == "ClientConnectorDNSError" },
		[]string{"The name of the server could not be resolved.", "Check the host in {endpoint.urls}."},
	},
}

// advice explains the most frequent error if at least half of the requests had it and its cause is a usual one.
func (d *drawing) advice() {
	if lines := d.advised(); len(lines) > 0 {
		d.panel("API Error", lines...)
	}
}

// advised returns what to do about the most frequent error; nothing if its cause is unknown.
func (d *drawing) advised() []string {
	s := d.run.Profiling
	if len(s.Errors) == 0 || 2*s.Errors[0].Count < s.Valid+s.Failed {
		return nil
	}
	e := s.Errors[0].Error
	for _, a := range advices {
		if a.matches(e.Code, e.Type, strings.ToLower(e.Message)) {
			if d.fits && s.Valid > 0 && strings.HasPrefix(e.Type, "ClientConnector") { // the server was reached, so the address is right
				return nil
			}
			if e.Code == 401 && d.run.Keyless {
				return []string{"The server requires a key, but none was given.", "Set {endpoint.api_key}, or the header that carries the key ({endpoint.headers})."}
			}
			return a.says
		}
	}
	return nil
}

// cacheHint says how to see the prefix cache at work.
func (d *drawing) cacheHint() {
	if !uncached(d.run.Profiling) {
		return
	}
	d.print("\n%s\n", wrap("The server reports token usage but no cached prompt tokens. If it caches prefixes, let it report them "+
		"(vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report) to get the cache metrics.", d.width))
}

// uncached reports whether answers had usage but no count of cached prompt tokens.
func uncached(s *metric.Summary) bool {
	_, prompt := s.Get("usage_prompt_tokens")
	_, cached := s.Get("usage_prompt_cache_read_tokens")
	return prompt && !cached
}

// discrepancies warns if the server's token counts differ from ours.
func (d *drawing) discrepancies() {
	r, ok := d.run.Profiling.Get("usage_discrepancy_count")
	if !ok || r.Values[metric.Avg] == 0 {
		return
	}
	d.panel("Token Counts Differ",
		d.share(r.Values[metric.Avg])+" have a server-side token count that is more than "+plain(d.run.Profiling.Thresholds.UsagePct)+" % away from ours.",
		"",
		"Usual causes: the tokenizer is not the model's, or the server adds a chat template or system prompt.",
		"- The usage_*_diff_pct values of each request are in the records JSONL.",
		"- {tokenizer.name} chooses the tokenizer of the model.",
		"- {endpoint.use_server_token_count} uses the server's counts instead.",
		"- AIPERF_METRICS_USAGE_PCT_DIFF_THRESHOLD changes the threshold.")
}

// lengths warns if answers are not as long as requested.
func (d *drawing) lengths() {
	r, ok := d.run.Profiling.Get("osl_mismatch_count")
	if d.run.Accuracy != nil { // its answers end by themselves, and longer ones would be graded wrongly
		return
	}
	if !ok || r.Values[metric.Avg] == 0 {
		return
	}
	lines := []string{d.share(r.Values[metric.Avg]) + " did not get the requested output length."}
	if m, ok := d.run.Profiling.Get("osl_mismatch_diff_pct"); ok {
		lines = append(lines, "On average the length was off by "+number(&m, metric.Avg)+" %.")
	}
	d.panel("Output Lengths Differ", append(lines,
		"",
		"The model may end its answers early. To get full lengths:",
		"- {endpoint.extra} ignore_eos:true (vLLM, TensorRT-LLM)",
		"- {endpoint.extra} min_tokens:N (vLLM, TensorRT-LLM, SGLang)")...)
}

// share formats "n of m requests (p %)".
func (d *drawing) share(n float64) string {
	total := float64(d.run.Profiling.Valid)
	return trim(n) + " of " + terminal.Plural(int64(total), "request") + " (" + trim1(100*n/total) + " %)"
}

// allFailed is shown instead of metric tables.
func (d *drawing) allFailed() {
	all := "The only request failed; there is nothing to measure."
	if n := d.run.Profiling.Failed; n != 1 {
		all = "All " + terminal.Plural(n, "request") + " failed; there is nothing to measure."
	}
	check := "Check the server's URL, the endpoint path and the format of its answers; the table above lists the errors."
	if d.fits {
		d.nothing(all, check)
		return
	}
	lines := []string{all, check}
	if d.run.LogFile != "" {
		lines = append(lines, "Log: "+d.run.LogFile)
	}
	d.panel(d.brand()+" System Exit Errors", lines...)
}

// nothing is allFailed for a terminal, where every fact appears once.
func (d *drawing) nothing(all, check string) {
	lines := []string{all}
	if d.run.IncompleteReason != "" && !d.run.Cancelled {
		lines = append(lines, d.run.IncompleteReason)
	}
	advice := d.advised()
	if advice == nil {
		advice = []string{check}
	}
	if says := strings.ToLower(strings.TrimSuffix(advice[0], ".")); strings.Contains(strings.ToLower(d.run.IncompleteReason), says) {
		advice = advice[1:]
	}
	d.panel("No results", append(lines, advice...)...)
}
