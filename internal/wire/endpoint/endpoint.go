package endpoint

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/plugin"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// Endpoint describes one endpoint type: its name, its path, its abilities and its codec. Everything that the program needs to know about a type is a
// field here; no code compares names.
type Endpoint struct {
	Name       string // value of --endpoint-type
	Path       string // default path, "" = the base URL itself
	StreamPath string // path of streaming requests if it differs, "" = Path
	Title      string // title of the console table
	Summary    string // one line for help and listings

	Streams        bool        // supports --streaming
	MustStream     bool        // requires --streaming
	ProducesTokens bool        // has the OSL metrics
	TokenizesInput bool        // has the ISL metrics
	Produces       record.Kind // content of answers, for example Text
	Images         bool        // accepts images; likewise the following
	Audio          bool
	Video          bool
	CacheBust      bool   // accepts markers that defeat prefix caches
	SystemMessage  bool   // accepts the generated system and user-context messages
	ContextText    bool   // has no messages: those texts precede the prompt
	Replies        bool   // answers become part of the history
	FollowsUp      bool   // an answer may need further requests: polls, downloads
	TokenIDs       bool   // prompts may be token ids
	GRPC           bool   // uses gRPC unless the user chose HTTP
	NoLength       bool   // bodies hold no output length
	FixesLength    bool   // accepts ignore_eos and min_tokens, which enforce the requested output length
	Marked         bool   // streams end with data: [DONE]
	TextBy         string // extra that makes answers text with countable tokens; "" = none
	InlineMedia    bool   // sends content, not addresses: media are fetched before the run

	Framing  framing.Format // format of streamed answers; nil = server-sent events
	Forms    Forms          // encoding of bodies
	Reserved []string       // members that extras cannot replace
	Reads    []string       // extras that the type reads instead of sending them

	// Open makes the codec of a run, for Codec; nil = this build does not support the type. An error names the flag at fault.
	Open func(Settings) (Codec, error)
	// Auth returns the headers that replace the Bearer token for an API key ("" = none); user holds the user's headers. nil = the key is sent as a
	// Bearer token.
	Auth func(key string, user []record.Header) []record.Header
	// Remarks returns what the user should know about a turn: what its body omits and what it lacks. nil = nothing.
	Remarks func(*conversation.Turn) []string
}

// Forms lists the body encodings of a type.
type Forms uint8

// The encodings.
const (
	JSONOnly    Forms = iota
	FormsOnly         // multipart/form-data
	FormsOrJSON       // multipart/form-data unless JSON is asked for
)

// Accepts reports whether bodies may be of a content type that the user asked for, "" = none.
func (e *Endpoint) Accepts(contentType string) bool {
	switch contentType {
	case "application/json":
		return e.Forms != FormsOnly
	case "multipart/form-data":
		return e.Forms != JSONOnly
	}
	return true
}

// Given returns the type as it is in a run with some extras.
func (e *Endpoint) Given(has func(extra string) bool) *Endpoint {
	if e.TextBy == "" || !has(e.TextBy) {
		return e
	}
	one := *e
	one.ProducesTokens, one.Produces = true, record.Text
	return &one
}

// Codec makes the codec of a run. An error names the setting that is to blame.
func (e *Endpoint) Codec(s Settings) (Codec, error) {
	s.Framing = e.Framing
	return e.Open(s)
}

// Built reports whether this build supports the type.
func (e *Endpoint) Built() bool { return e.Open != nil }

// Ranks reports whether requests hold a query and passages.
func (e *Endpoint) Ranks() bool { return e.Produces == record.Rankings }

// RemarksOn returns the remarks on a turn. Ready bodies and messages have none.
func (e *Endpoint) RemarksOn(t *conversation.Turn) []string {
	if t.RawPayload != nil || t.RawMessages != nil {
		return nil
	}
	var list []string
	if e.Remarks != nil {
		list = e.Remarks(t)
	}
	for _, key := range e.reservedIn(t) {
		list = append(list, "extra "+key+" is not sent: endpoint type "+e.Name+" fills this field from the data")
	}
	for _, m := range []struct {
		kind      conversation.Kind
		supported bool
		name      string
	}{{conversation.Image, e.Images, "images"}, {conversation.Audio, e.Audio, "audio"}, {conversation.Video, e.Video, "video"}} {
		if !m.supported && slices.ContainsFunc(t.Parts, func(p conversation.Part) bool { return p.Kind == m.kind }) {
			list = append(list, "endpoint type "+e.Name+" sends no "+m.name+": they are skipped")
		}
	}
	if t.TokenIDs != nil && !e.TokenIDs {
		list = append(list, "endpoint type "+e.Name+" sends no token ids: they are skipped")
	}
	return list
}

// reservedIn returns the members of a turn's own extras that are not sent.
func (e *Endpoint) reservedIn(t *conversation.Turn) (list []string) {
	if len(e.Reserved) == 0 || t.ExtraBody == nil {
		return nil
	}
	s := jsontext.Scanner{Doc: t.ExtraBody}
	members(&s, func(key string) {
		if slices.Contains(e.Reserved, key) {
			list = append(list, key)
		}
		s.Skip()
	})
	return list
}

// StreamFraming returns the framing of answers that stream in a run. A framing that shares its media type with whole answers applies only if streams are
// requested.
func (e *Endpoint) StreamFraming(streaming bool) framing.Format {
	if !streaming && e.Framing != nil && slices.Contains(e.Framing.Media(), "application/json") {
		return nil
	}
	return e.Framing
}

// URLPath returns the default path of a request.
func (e *Endpoint) URLPath(streaming bool) string {
	if streaming && e.StreamPath != "" {
		return e.StreamPath
	}
	return e.Path
}

// All lists every built-in endpoint type in the order of the documentation.
func All() []*Endpoint {
	list := make([]*Endpoint, len(catalogue))
	for i := range catalogue {
		list[i] = &catalogue[i]
	}
	return list
}

// Lookup finds a type by name, built in or of a plug-in; case and "-" or "_" do not matter. notice is a sentence for the user if the name is an old one
// for another type.
func Lookup(name string) (e *Endpoint, notice string, err error) {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	if a, ok := aliases[key]; ok {
		if a.refuse != "" {
			return nil, "", fmt.Errorf("endpoint type %q: %s", name, a.refuse)
		}
		notice = fmt.Sprintf("endpoint type %q is the old name of %q", name, a.name)
		key = a.name
	}
	at := slices.IndexFunc(catalogue, func(e Endpoint) bool { return e.Name == key })
	if e, err = pluginType(key, at >= 0); e != nil || err != nil {
		return e, notice, err
	}
	if at >= 0 {
		return &catalogue[at], notice, nil
	}
	names := BuiltIn()
	names = append(names, plugin.Installed().Names(Category, names)...)
	sort.Strings(names)
	return nil, "", fmt.Errorf("unknown endpoint type %q; allowed are %s (for your own request body, use template)", name, strings.Join(names, ", "))
}
