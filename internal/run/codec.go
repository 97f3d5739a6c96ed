package run

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/endpoint"
	"aiperf/internal/rng"
	"aiperf/internal/transport"
)

// settings are what the codec of the run needs to know of the configuration.
func (r *runner) settings() endpoint.Settings {
	b := r.cfg
	s := endpoint.Settings{
		Model: b.Models.Items[0].Name, Streaming: r.metrics.Options().Streaming,
		Spell: b.As, LegacyMaxTokens: b.Endpoint.UseLegacyMaxTokens, ServerTokenCount: b.Endpoint.UseServerTokenCount, PerChunkUsage: b.Endpoint.PerChunkUsage,
		ForceContentParts: b.Environment.ForceContentParts,
		ContentType:       b.Endpoint.RequestContentType, PollInterval: b.Environment.HTTP.VideoPollInterval.Duration(), Download: b.Endpoint.DownloadVideo,
	}
	if t := b.Endpoint.Timeout; !t.Infinite() {
		s.Timeout = t.Duration()
	}
	if t := b.Endpoint.Template; t != nil { // --extra-inputs win over the file's section
		s.Extras = append(s.Extras, textMember("payload_template", t.Body), textMember("response_field", t.ResponseField))
	}
	for _, m := range b.Endpoint.Extra {
		s.Extras = append(s.Extras, endpoint.Member{Key: m.Key, Value: m.Value})
	}
	return s
}

// textMember is a member whose value is a text.
func textMember(key, value string) endpoint.Member {
	raw, _ := json.Marshal(value) // a string always has a JSON form
	return endpoint.Member{Key: key, Value: raw}
}

func (r *runner) newExecutor(reuse transport.Reuse) *executor {
	e := &executor{
		data: &prepared{data: r.data}, codec: r.codec, carrier: http1{r.client}, addresses: r.addresses, put: r.gate.put,
		model:    r.cfg.Models.Items[0].Name,
		headers:  headers(r.cfg, r.opts.Version),
		dialLate: reuse == transport.Never,
		sticky:   reuse == transport.Sticky,
		replies:  r.endpoint.Replies, followsUp: r.endpoint.FollowsUp,
		worker: "worker_" + rng.UUID()[:8], processor: "record_processor_" + rng.UUID()[:8],
	}
	e.headers.Streaming = r.metrics.Options().Streaming
	if r.endpoint.Auth != nil {
		e.headers.Auth = r.endpoint.Auth(e.headers.APIKey, e.headers.User)
	}
	if t := r.cfg.Endpoint.Timeout; !t.Infinite() {
		e.timeout = t.Duration()
	}
	for _, p := range r.plan.Phases {
		e.firstToken = e.firstToken || p.Prefill > 0
	}
	for _, name := range e.headers.Overridden() {
		r.warn(fmt.Sprintf("%s %s: this header is set by the client itself; the given value is not sent", r.cfg.As("endpoint.headers"), name))
	}
	return e
}
