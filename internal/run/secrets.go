package run

import (
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/measure/record"
)

// secretsOf returns the values that must not appear in any output of a request: those of the run, and headers that only this request had, from a file
// of prompts. Session ids occur in headers too, but they are not secret.
func secretsOf(run *redact.Secrets, rec *record.Record) *redact.Secrets {
	var own []string
	for _, h := range rec.RequestHeaders {
		if redact.SecretHeader(h.Name) && !strings.Contains(strings.ToLower(h.Name), "session") {
			own = append(own, redact.HeaderSecrets(h.Name, h.Value)...)
		}
	}
	if len(own) == 0 {
		return run
	}
	return run.With(own...)
}
