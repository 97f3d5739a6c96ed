package custom

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/infile"
)

// readRawPayload reads one request body a row. The body is sent as it stands.
func readRawPayload(l *loader, path string) error {
	return rows.Read(path, func(line rows.Line) bool {
		if rows.Parse(line.Where(), line.Text, &l.faults) != nil {
			l.set.conversations = append(l.set.conversations, conversation.Conversation{
				ID:    l.newID(),
				Turns: []conversation.Turn{{RawPayload: line.Text, Origin: line.Where()}},
				Mode:  conversation.MessageArrayWithResponses,
			})
		}
		return true
	})
}

// maxInputs is the size of the largest inputs.json, in bytes.
const maxInputs = 4 << 30

// isInputs tells whether the whole file is an inputs.json: an object whose data is a list of sessions with payloads.
func isInputs(path string) bool {
	text, err := infile.ReadAll(filepath.Clean(path), maxInputs)
	if err != nil {
		return false
	}
	var file struct {
		Data []struct {
			Payloads json.RawMessage `json:"payloads"`
		} `json:"data"`
	}
	return json.Unmarshal(text, &file) == nil && (len(file.Data) == 0 && file.Data != nil || len(file.Data) > 0 && file.Data[0].Payloads != nil)
}

// readInputs reads an inputs.json: the bodies of earlier runs, sent as they stand.
func readInputs(l *loader, path string) error {
	text, err := infile.ReadAll(filepath.Clean(path), maxInputs)
	if err != nil {
		return fmt.Errorf("--input-file %w", err)
	}
	file := rows.Parse(path, text, &l.faults)
	if file == nil {
		return nil
	}
	if !file.Has("data") {
		file.Fault("data", "missing")
		return nil
	}
	items := file.List("data")
	if items != nil && len(items) == 0 {
		file.Fault("data", "at least one session is needed")
	}
	seen := map[string]bool{}
	for i, raw := range items {
		if session := file.Item("data", i, raw); session != nil {
			l.inputs(session, path+": data["+strconv.Itoa(i)+"]", seen)
		}
	}
	return nil
}

// inputs reads one session of an inputs.json.
func (l *loader) inputs(session *rows.Row, where string, seen map[string]bool) {
	c := conversation.Conversation{Mode: conversation.MessageArrayWithResponses}
	switch id := session.String("session_id"); {
	case id == nil:
		if !session.Has("session_id") {
			session.Fault("session_id", "missing")
		}
	case seen[*id]:
		session.Fault("session_id", "%q is there twice", *id)
	default:
		c.ID, seen[*id] = *id, true
	}
	payloads := session.List("payloads")
	if len(payloads) == 0 && (payloads != nil || !session.Has("payloads")) {
		session.Fault("payloads", "at least one body is needed")
	}
	for k, raw := range payloads {
		if session.Item("payloads", k, raw) != nil {
			c.Turns = append(c.Turns, conversation.Turn{RawPayload: rows.Compact(raw), Origin: where + ".payloads[" + strconv.Itoa(k) + "]"})
		}
	}
	l.set.conversations = append(l.set.conversations, c)
}
