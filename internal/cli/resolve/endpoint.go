package resolve

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// endpointSection fills in the settings of the endpoint.
func (r *resolver) endpointSection() {
	e := &r.run.Endpoint
	r.endpointType()
	r.urls()
	if r.set.Get("--endpoint") != nil {
		path := strings.TrimSpace(r.set.Text("--endpoint", ""))
		if path != "" && !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		e.Path = &path
	}
	hook(r, "--reset-kv-cache", &e.ResetKVCache)
	hook(r, "--server-profiler", &e.ServerProfiler)
	r.bind("endpoint.")
	if r.has("--api-key") {
		key, err := APIKey(e.APIKey, r.Environ)
		if err != nil {
			r.fail("%s: %v", r.spelled("--api-key"), err)
		}
		e.APIKey = key
	}
	r.streaming()
	r.extraInputs()
	if r.endpoint != nil {
		r.endpoint = r.endpoint.Given(e.Extra.Has)
	}
	r.headers()
}

// hook enables or disables a section of the endpoint by its flag; a later flag for a setting in it enables it.
func hook[T any](r *resolver, flag string, section **T) {
	switch {
	case !r.has(flag):
	case !r.on(flag):
		*section = nil
	case *section == nil:
		*section = new(T)
	}
}

// streaming is disabled if the endpoint type cannot stream.
func (r *resolver) streaming() {
	e := &r.run.Endpoint
	if e.Streaming && r.endpoint != nil && !r.endpoint.Streams {
		r.warn("%s: endpoint type %s cannot stream; streaming is switched off", r.spell("endpoint.streaming"), e.Type)
		e.Streaming = false
	}
	if e.Streaming && r.endpoint != nil && r.endpoint.GRPC && e.Transport != grpcScheme {
		r.warn("%s: endpoint type %s streams over gRPC alone; streaming is switched off (endpoint type generate streams over HTTP)", r.spell("endpoint.streaming"), e.Type)
		e.Streaming = false
	}
}

// serverKinds lists the values of GenAI-Perf's --service-kind that imply an endpoint type.
var serverKinds = []string{"tensorrtllm_engine", "dynamic_grpc"}

// endpointType finds the type and refuses one that is not built.
func (r *resolver) endpointType() {
	said, name := r.spell("endpoint.type"), r.set.Text("--endpoint-type", r.run.Endpoint.Type)
	if kind := r.set.Text("--service-kind", ""); slices.Contains(serverKinds, kind) {
		said, name = r.spelled("--service-kind"), kind
	}
	e, notice, err := endpoint.Lookup(name)
	if err != nil {
		r.fail("%s: %v", said, err)
		return
	}
	switch {
	case notice != "" && r.on(config.NoLegacyFlags):
		r.translated(said+" "+name, e.Name)
	case notice != "":
		r.warn("%s: %s", said, notice)
	}
	if !e.Built() {
		r.fail("%s %s: not built yet; built are %s", said, e.Name, strings.Join(builtEndpoints(), ", "))
	}
	r.endpoint, r.run.Endpoint.Type = e, e.Name
}

func builtEndpoints() []string {
	var names []string
	for _, e := range endpoint.All() {
		if e.Built() {
			names = append(names, e.Name)
		}
	}
	return names
}

func (r *resolver) urls() {
	given := r.set.Texts("--url")
	defer r.transport()
	if given == nil {
		if r.scheme() == grpcScheme && !r.has("--config") {
			r.run.Endpoint.URLs = []string{"grpc://localhost:8001"}
		}
		r.fileURLs()
		return
	}
	r.run.Endpoint.URLs = nil
	for _, text := range given {
		u, err := parseURLOf(r.scheme(), text)
		if err != nil {
			r.fail("%s: %v", r.spelled("--url"), err)
			continue
		}
		r.run.Endpoint.URLs = append(r.run.Endpoint.URLs, u)
	}
}

// scheme returns the default scheme of URLs: gRPC for types that use it, unless HTTP is requested.
func (r *resolver) scheme() string {
	if r.endpoint != nil && r.endpoint.GRPC && r.set.Text("--transport", r.run.Endpoint.Transport) != "http" {
		return grpcScheme
	}
	return "http"
}

// transport decides whether the requests use gRPC. A simulated server supports both.
func (r *resolver) transport() {
	e := &r.run.Endpoint
	asked := r.set.Text("--transport", e.Transport)
	over := 0
	for _, u := range e.URLs {
		if isGRPC(u) || IsMock(u) && r.scheme() == grpcScheme {
			over++
		}
	}
	switch {
	case r.endpoint == nil || len(e.URLs) == 0:
	case asked == grpcScheme && !r.endpoint.GRPC: // a rule reports this
	case over != 0 && over != len(e.URLs):
		r.fail("%s: gRPC and HTTP addresses are mixed; a run has one transport", r.spell("endpoint.urls"))
	case over == 0 && (asked == grpcScheme || r.endpoint.GRPC && r.endpoint.Path == ""):
		r.fail("%s: %s is not a gRPC URL; write grpc://host:port, or grpcs:// for TLS", r.spell("endpoint.urls"), redact.URL(e.URLs[0]))
	case over != 0:
		e.Transport = grpcScheme
	}
}

func (r *resolver) extraInputs() {
	extra, err := parseExtras(r.set.Texts("--extra-inputs"))
	if err != nil {
		r.fail("%s: %v", r.spelled("--extra-inputs"), err)
		return
	}
	if r.on("--output-tokens-mean-deterministic") {
		r.old("--output-tokens-mean-deterministic", "--extra-inputs with a minimum length, min_tokens for most servers")
		osl := r.set.Ints("--osl")
		if osl == nil {
			r.fail("%s needs --osl", r.spelled("--output-tokens-mean-deterministic"))
			return
		}
		if r.run.Endpoint.Type == "generate" {
			r.fail("%s: endpoint type generate has no input for a minimum length", r.spelled("--output-tokens-mean-deterministic"))
		}
		if r.run.Endpoint.Type == "kserve" { // an input of the model
			extra.Set("min_length", json.RawMessage(fmt.Sprint(osl[0])))
		} else {
			extra.Set("min_tokens", json.RawMessage(fmt.Sprint(osl[0])))
			extra.Set("ignore_eos", json.RawMessage("true"))
		}
	}
	merged := append(config.Extra{}, r.run.Endpoint.Extra...)
	for _, m := range extra {
		merged.Set(m.Key, m.Value)
	}
	r.run.Endpoint.Extra = merged
	r.template()
	r.teiRankings()
}

// template sets the body template and the path of the answer text from the extra inputs, as files do.
func (r *resolver) template() {
	e := &r.run.Endpoint
	if e.Type != "template" {
		return
	}
	t := config.Template{ResponseField: "text"}
	if e.Template != nil {
		t = *e.Template
	}
	rest, found := config.Extra{}, false
	for _, m := range e.Extra {
		to := map[string]*string{"payload_template": &t.Body, "response_field": &t.ResponseField}[m.Key]
		if to == nil || json.Unmarshal(m.Value, to) != nil { // the endpoint type refuses values that are not text
			rest = append(rest, m)
			continue
		}
		found = true
	}
	if found {
		e.Template, e.Extra = &t, rest
	}
}

// teiRankings follows GenAI-Perf, whose type rankings used text-embeddings-inference if the extra input rankings was tei.
func (r *resolver) teiRankings() {
	e := &r.run.Endpoint
	value, given := e.Extra.Get("rankings")
	if !given || string(value) != `"tei"` || !strings.EqualFold(r.set.Text("--endpoint-type", ""), "rankings") {
		return
	}
	e.Extra = slices.DeleteFunc(slices.Clone(e.Extra), func(m config.Member) bool { return m.Key == "rankings" })
	kind, _, err := endpoint.Lookup("hf_tei_rankings")
	if err != nil {
		r.fail("%s: %v", r.spelled("--endpoint-type"), err)
		return
	}
	r.endpoint, e.Type = kind, kind.Name
}

func (r *resolver) headers() {
	h, err := ParseHeaders(r.set.Texts("--header"))
	if err != nil {
		r.fail("%s: %v", r.spelled("--header"), err)
		return
	}
	merged := append(config.Headers{}, r.run.Endpoint.Headers...)
	for _, one := range h {
		merged.Set(one.Name, one.Value)
	}
	r.run.Endpoint.Headers = merged
}
