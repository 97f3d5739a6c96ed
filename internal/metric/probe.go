package metric

// Probe is what one request before the load told of the server; it is in no result.
type Probe struct {
	Failure        string      `json:"failure,omitempty"` // why it told nothing; the rest is empty then
	Streamed       bool        `json:"streamed"`
	ContentEvents  int         `json:"content_events"`
	TokensPerEvent float64     `json:"tokens_per_event,omitempty"` // 0 = not known
	Usage          string      `json:"usage,omitempty"`            // where token counts came: one of the words below
	ReasoningField string      `json:"reasoning_field,omitempty"`  // "" = there was no reasoning
	Done           bool        `json:"done"`                       // the stream ended with data: [DONE]
	TokensAsked    int         `json:"tokens_asked"`
	Length         string      `json:"length,omitempty"` // what became of ignore_eos and min_tokens; "" = they were not sent
	Prompt         ProbeTokens `json:"prompt_tokens"`
	Output         ProbeTokens `json:"output_tokens"`
	Model          string      `json:"model,omitempty"` // that the answer names
	Findings       []string    `json:"findings"`        // what is worth knowing, each with the setting that mends it
}

// ProbeTokens are the tokens of a text as the server and as the client count them; 0 = not known. Templated is the client's count of the
// prompt as the model's chat template writes it.
type ProbeTokens struct {
	Server    int `json:"server,omitempty"`
	Client    int `json:"client,omitempty"`
	Templated int `json:"templated,omitempty"`
}

// Where token counts came in an answer.
const (
	UsageNone  = "none"
	UsageEnd   = "end"   // of the stream, behind the last content
	UsageSome  = "some"  // events with content
	UsageEvery = "every" // event with content
	UsageBody  = "body"  // that is the whole answer
)

// What became of ignore_eos and min_tokens.
const (
	LengthReached = "reached" // as asked for, which proves nothing where the model had more to say
	LengthIgnored = "ignored"
	LengthRefused = "refused"
)

// Observe adds to the notes of a verdict what a probe found; nil = there was none.
func (v *Validity) Observe(p *Probe) {
	if p == nil {
		return
	}
	for _, text := range p.Findings {
		v.Notes = append(v.Notes, "Probe: "+text)
	}
}
