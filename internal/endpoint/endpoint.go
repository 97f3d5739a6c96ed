package endpoint

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/jsontext"
	"aiperf/internal/record"
)

// Endpoint is one endpoint type: what it is called, where it lives, what it can do, and how it speaks. Everything that the rest of the
// program wants to know of a type is a field here; nobody looks at names.
type Endpoint struct {
	Name       string // value of --endpoint-type
	Path       string // default path, "" = the base URL itself
	StreamPath string // path of streaming requests where it differs, "" = Path
	Title      string // title of the console table
	Summary    string // one line for help and listings

	Streams        bool        // --streaming changes something
	MustStream     bool        // refuses to run without --streaming
	ProducesTokens bool        // OSL family of metrics
	TokenizesInput bool        // ISL family of metrics
	Produces       record.Kind // what answers hold; Text where it is text
	Images         bool        // accepts images, and so on
	Audio          bool
	Video          bool
	CacheBust      bool   // takes markers that defeat prefix caches
	SystemMessage  bool   // takes the generated system and user-context messages
	ContextText    bool   // has no messages: puts those texts in front of the prompt
	Replies        bool   // answers become part of the history
	FollowsUp      bool   // an answer may take further requests: polls, downloads
	TokenIDs       bool   // prompts may be token ids
	GRPC           bool   // goes over gRPC, unless the user wants HTTP
	FixesLength    bool   // takes ignore_eos and min_tokens, which make answers as long as is asked for
	Marked         bool   // streams end with data: [DONE]
	TextBy         string // extra that makes answers text, whose tokens count; "" = there is none
	InlineMedia    bool   // sends content, no addresses: they are fetched before the run

	Forms    Forms    // encoding of bodies
	Reserved []string // members that extras do not replace

	// Open makes the codec of a run; nil = this build cannot run the type. An error names the flag that is to blame.
	Open func(Settings) (Codec, error)
	// Auth gives the headers that stand in place of a Bearer token for an API key ("" = none), knowing those that the user gave; nil =
	// the key goes out as a Bearer token.
	Auth func(key string, user []record.Header) []record.Header
	// Remarks tells what the user should know about a turn: what its body leaves out, what it lacks; nil = nothing.
	Remarks func(*conversation.Turn) []string
}

// Forms says which encodings of bodies a type knows.
type Forms uint8

// The encodings.
const (
	JSONOnly    Forms = iota
	FormsOnly         // multipart/form-data
	FormsOrJSON       // multipart/form-data unless JSON is asked for
)

// Accepts tells whether bodies may be of a content type that the user asked for, "" = none.
func (e *Endpoint) Accepts(contentType string) bool {
	switch contentType {
	case "application/json":
		return e.Forms != FormsOnly
	case "multipart/form-data":
		return e.Forms != JSONOnly
	}
	return true
}

// Given is the type in a run with some extras.
func (e *Endpoint) Given(has func(extra string) bool) *Endpoint {
	if e.TextBy == "" || !has(e.TextBy) {
		return e
	}
	one := *e
	one.ProducesTokens, one.Produces = true, record.Text
	return &one
}

// Built tells whether this build can run the type.
func (e *Endpoint) Built() bool { return e.Open != nil }

// Ranks tells whether requests hold a query and passages.
func (e *Endpoint) Ranks() bool { return e.Produces == record.Rankings }

// RemarksOn gives the remarks on a turn; ready bodies and messages get none.
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
		kind  conversation.Kind
		takes bool
		name  string
	}{{conversation.Image, e.Images, "images"}, {conversation.Audio, e.Audio, "audio"}, {conversation.Video, e.Video, "video"}} {
		if !m.takes && slices.ContainsFunc(t.Parts, func(p conversation.Part) bool { return p.Kind == m.kind }) {
			list = append(list, "endpoint type "+e.Name+" sends no "+m.name+": they are left out")
		}
	}
	if t.TokenIDs != nil && !e.TokenIDs {
		list = append(list, "endpoint type "+e.Name+" sends no token ids: they are left out")
	}
	return list
}

// reservedIn are the members of a turn's own extras that are not sent.
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

// URLPath is the default path of a request.
func (e *Endpoint) URLPath(streaming bool) string {
	if streaming && e.StreamPath != "" {
		return e.StreamPath
	}
	return e.Path
}

// All lists every endpoint type in the order of the documentation.
func All() []*Endpoint {
	list := make([]*Endpoint, len(catalogue))
	for i := range catalogue {
		list[i] = &catalogue[i]
	}
	return list
}

// Lookup finds a type by name: letter case does not matter, "-" and "_" are the same. notice is a sentence for the user when the name
// is an old one that stands for another type.
func Lookup(name string) (e *Endpoint, notice string, err error) {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
	if a, ok := aliases[key]; ok {
		if a.refuse != "" {
			return nil, "", fmt.Errorf("endpoint type %q: %s", name, a.refuse)
		}
		notice = fmt.Sprintf("endpoint type %q is the old name of %q", name, a.name)
		key = a.name
	}
	for i := range catalogue {
		if catalogue[i].Name == key {
			return &catalogue[i], notice, nil
		}
	}
	names := make([]string, len(catalogue))
	for i := range catalogue {
		names[i] = catalogue[i].Name
	}
	sort.Strings(names)
	return nil, "", fmt.Errorf("unknown endpoint type %q; allowed: %s (a body of your own: template)", name, strings.Join(names, ", "))
}
