package conversation

// Kind says what a part of a turn is.
type Kind uint8

// Kinds of parts.
const (
	Text Kind = iota
	Image
	Audio
	Video
	ToolResult // the answer of a tool, as text; ID names the call
)

// Part is one piece of a turn: a text, or media that requests share.
type Part struct {
	Kind Kind
	Name string // of the list it was read from, "" = none; rankings use "query" and "passages"
	Text string // of a Text or ToolResult
	Blob *Blob  // of an Image, Audio or Video; nil = its id alone is sent
	ID   string // authored id of an image, or of the call that a ToolResult answers; "" = none
}

// Texts makes a text part of every string.
func Texts(name string, texts ...string) []Part {
	parts := make([]Part, len(texts))
	for i, s := range texts {
		parts[i] = Part{Name: name, Text: s}
	}
	return parts
}

// Contents lists the texts of the turn's parts that are not empty.
func (t *Turn) Contents() []string {
	var list []string
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Kind == Text && p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return list
}
