package metric

// Probe is the result of one request before the load about the server. It is not part of the results.
type Probe struct {
	Failure        string      `json:"failure,omitempty"` // why the probe failed; then the other fields are empty
	Streamed       bool        `json:"streamed"`
	ContentEvents  int         `json:"content_events"`
	TokensPerEvent float64     `json:"tokens_per_event,omitempty"` // 0 = unknown
	Usage          string      `json:"usage,omitempty"`            // where the answer had token counts: one of the words below
	ReasoningField string      `json:"reasoning_field,omitempty"`  // "" = there was no reasoning
	Done           bool        `json:"done"`                       // the stream ended with data: [DONE]
	TokensAsked    int         `json:"tokens_asked"`
	Length         string      `json:"length,omitempty"` // whether the server followed ignore_eos and min_tokens; "" = they were not sent
	Prompt         ProbeTokens `json:"prompt_tokens"`
	Output         ProbeTokens `json:"output_tokens"`
	Model          string      `json:"model,omitempty"` // name of the model in the answer
	Findings       []string    `json:"findings"`        // observations, each with the setting that corrects it
}

// ProbeTokens are the token counts of a text by the server and by the client; 0 = unknown. Templated is the client's count of the prompt in the
// model's chat template.
type ProbeTokens struct {
	Server    int `json:"server,omitempty"`
	Client    int `json:"client,omitempty"`
	Templated int `json:"templated,omitempty"`
}

// Where an answer has token counts.
const (
	UsageNone  = "none"
	UsageEnd   = "end"   // at the end of the stream, after the last content
	UsageSome  = "some"  // in some events with content
	UsageEvery = "every" // in every event with content
	UsageBody  = "body"  // in the body, which is the whole answer
)

// Whether the server followed ignore_eos and min_tokens.
const (
	LengthReached = "reached" // as requested, which proves nothing if the model would have continued
	LengthIgnored = "ignored"
	LengthRefused = "refused"
)

// Observe adds the findings of a probe to the notes of a verdict; nil = no probe.
func (v *Validity) Observe(p *Probe) {
	if p == nil {
		return
	}
	for _, text := range p.Findings {
		v.Notes = append(v.Notes, "Probe: "+text)
	}
}
