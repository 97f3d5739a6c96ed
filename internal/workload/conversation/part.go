package conversation

// Kind is the kind of a part of a turn.
type Kind uint8

// Kinds of parts.
const (
	Text Kind = iota
	Image
	Audio
	Video
	ToolResult // result of a tool call, as text; ID names the call
)

// Part is one piece of a turn: a text, or media that requests share.
type Part struct {
	Kind Kind
	Name string // name of its source list, "" = none; rankings use "query" and "passages"
	Text string // of a Text or ToolResult
	Blob *Blob  // of an Image, Audio or Video; nil = only its id is sent
	ID   string // authored id of an image, or of the call that a ToolResult answers; "" = none
}

// Texts makes a text part from each string.
func Texts(name string, texts ...string) []Part {
	parts := make([]Part, len(texts))
	for i, s := range texts {
		parts[i] = Part{Name: name, Text: s}
	}
	return parts
}

// Contents returns the non-empty texts of the turn's parts.
func (t *Turn) Contents() []string {
	var list []string
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Kind == Text && p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return list
}
