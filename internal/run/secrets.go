package run

import (
	"strings"

	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// secretsOf are the values that nothing written of a request may show: those of the run, and of headers that the request alone had, from a
// file of prompts. The ids of sessions, which stand in headers as well as in the records, are none.
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
