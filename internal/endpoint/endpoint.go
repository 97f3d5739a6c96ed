package endpoint

import (
	"fmt"
	"sort"
	"strings"

	"aiperf/internal/conversation"
)

// Endpoint is one endpoint type: what it is called, where it lives, what it can do, and how it speaks. The zero functions of a type
// that is not built are nil; Built tells.
type Endpoint struct {
	Name       string // value of --endpoint-type
	Path       string // default path, "" = the base URL itself
	StreamPath string // path of streaming requests where it differs, "" = Path
	Title      string // title of the console table
	Summary    string // one line for help and listings

	Streams         bool // --streaming changes something
	MustStream      bool // refuses to run without --streaming
	ProducesTokens  bool // OSL family of metrics
	TokenizesInput  bool // ISL family of metrics
	Images          bool // accepts images, and so on
	Audio           bool
	Video           bool
	ProducesImages  bool
	ProducesVideo   bool
	SystemMessage   bool // takes the generated system and user-context messages
	ContextText     bool // has no messages: puts those texts in front of the prompt
	History         bool // sends the turns before this one
	Replies         bool // captured replies become part of the history
	MultipartOnly   bool // bodies are multipart/form-data
	MultipartByUser bool // bodies may be multipart/form-data
	InlineMedia     bool // media must be inside the body
	Polls           bool // the answer is fetched later
	Replays         bool // sends ready bodies only

	Built bool // this build can run it

	encode func(b *body, in *Input) error
	member func(d *decoder, s *scanner, key []byte) bool // reads one top-level member of an answer; false = not consumed
	array  func(d *decoder, s *scanner) bool             // reads a top-level array; nil = such an answer has no data
	input  func(x *inputTexts, s *scanner, key []byte) bool

	remarks func(t *conversation.Turn) []string // what a body leaves out of a turn; nil = nothing
}

// Remarks tells what the user should know about the body of a turn: what it leaves out, what it lacks.
func (e *Endpoint) Remarks(t *conversation.Turn) []string {
	if e.remarks == nil || t.RawPayload != nil {
		return nil
	}
	return e.remarks(t)
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
