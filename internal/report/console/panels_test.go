package console

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestAdvice404: an unknown path is not reported as an unknown model, although the answer lists paths with that word in it.
func TestAdvice404(t *testing.T) {
	for text, want := range map[string]string{
		`{"error":{"message":"unknown path; this server answers /v1/chat/completions, /v1/models, /metrics and /health","type":"not_found","code":404}}`: "has no such path",
		`{"detail":"Not Found"}`: "has no such path",
		``:                       "has no such path",
		`{"object":"error","message":"The model ` + "`llama`" + ` does not exist.","type":"NotFoundError","code":404}`:       "does not know the model",
		`{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","code":"model_not_found"}}`: "does not know the model",
		`{"error":"model \"llama\" not found, try pulling it first"}`:                                                        "does not know the model",
		`model "llama" not found`: "does not know the model",
	} {
		r := run(t, 0, 3)
		r.Profiling.Errors[0].Error = record.Error{Code: 404, Type: "Not Found", Message: text}
		got := string(Text(r, 140, nil))
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", text, want, got)
		}
	}
}

// TestAdviceTLS: https against an http server, and the other way round, get the right advice.
func TestAdviceTLS(t *testing.T) {
	for _, c := range []struct {
		e    record.Error
		want string
	}{
		{record.Error{Type: "ClientConnectorSSLError", Message: "tls: first record does not look like a TLS handshake"}, "One side uses http"},
		{record.Error{Code: 400, Type: "Bad Request", Message: "Client sent an HTTP request to an HTTPS server."}, "One side uses http"},
		{record.Error{Type: "ClientConnectorCertificateError", Message: "x509: certificate signed by unknown authority"}, "- endpoint.tls.ca_file: trusts the authority"},
		{record.Error{Type: "ClientConnectorError", Message: "connection refused"}, "that the server listens there"},
	} {
		r := run(t, 0, 3)
		r.Profiling.Errors[0].Error = c.e
		if got := string(Text(r, 140, nil)); !strings.Contains(got, c.want) {
			t.Errorf("%+v: no %q in\n%s", c.e, c.want, got)
		}
	}
}

// TestLengthsOfGradedAnswers: answers of an accuracy benchmark end by themselves, so nobody is advised to make them longer.
func TestLengthsOfGradedAnswers(t *testing.T) {
	for _, graded := range []bool{false, true} {
		r := run(t, 4, 0)
		var v [metric.Stats]float64
		v[metric.Avg] = 4
		r.Profiling = metric.SummaryOf(map[string][metric.Stats]float64{"osl_mismatch_count": v}, 4, 0)
		if graded {
			r.Accuracy = &metric.Accuracy{}
		}
		if got := string(Text(r, 140, nil)); strings.Contains(got, "Output Lengths Differ") == graded {
			t.Errorf("graded %v:\n%s", graded, got)
		}
	}
}
