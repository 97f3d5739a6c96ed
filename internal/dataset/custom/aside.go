package custom

import (
	"io"

	"aiperf/internal/infile"
)

// aside keeps the texts of the calls of a table out of memory: a table gives its rows only in their order, so that they cannot be read again one by one.
type aside struct {
	kept     infile.Kept
	sessions map[string]string // one text for all calls of a session
	places   [][]laid          // by conversation and turn
	fault    error
}

// laid is where a call's prompt is kept, and behind it its hints.
type laid struct {
	at            int64
	prompt, hints uint32 // bytes
}

func newAside(path string) *aside {
	return &aside{kept: infile.Kept{Name: path}, sessions: map[string]string{}}
}

// put takes the texts of a call out of it.
func (a *aside) put(c *call) {
	if a.fault == nil {
		c.laid = laid{a.kept.Size(), uint32(len(c.prompt)), uint32(len(c.hints))}
		if _, a.fault = io.WriteString(&a.kept, c.prompt); a.fault == nil {
			_, a.fault = a.kept.Write(c.hints)
		}
	}
	c.prompt, c.hints = "", nil // also where they are lost: the fault ends it
	if known, ok := a.sessions[c.session]; ok {
		c.session = known
	} else {
		a.sessions[c.session] = c.session
	}
}

// of says that a call is the next turn of a conversation.
func (a *aside) of(conversation int, c *call) {
	if conversation == len(a.places) {
		a.places = append(a.places, nil)
	}
	a.places[conversation] = append(a.places[conversation], c.laid)
}

// get returns the prompt and the hints of a call.
func (a *aside) get(at laid) (prompt string, hints []byte) {
	text := make([]byte, int(at.prompt)+int(at.hints))
	if _, err := a.kept.ReadAt(text, at.at); err != nil {
		panic(changed(a.kept.Name, err))
	}
	return string(text[:at.prompt]), text[at.prompt:]
}
