package custom

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// Category is the category of plug-ins that read files.
const Category = "custom_dataset_loader"

// endless starts programs that nothing ends but their own deadlines.
var endless = program.Under(context.Background(), nil)

// external returns the format of a plug-in. Its program runs while it reads a file.
func external(e plugin.Entry) Format {
	timed, _ := e.Metadata["is_trace"].(bool)
	return Format{Name: e.Name, Times: true, Folder: true, external: true,
		read: func(l *loader, path string) error { return readExternal(l, &e, path) },
		glance: func(s *FileSample, path string) error {
			s.First, s.Timed, s.AllTimed = path, timed, timed // the program is not started for a look
			return nil
		},
	}
}

// readExternal lets the program of a plug-in read a file.
func readExternal(l *loader, e *plugin.Entry, path string) (err error) {
	start := l.Programs
	if start == nil {
		start = endless
	}
	p, err := start(e, "load")
	if err != nil {
		return err
	}
	defer func() {
		if fault := p.Close(); err == nil {
			err = fault
		}
	}()
	full, err := filepath.Abs(path) // the program works in the directory of its manifest
	if err != nil {
		return err
	}
	params := map[string]any{"path": full, "options": map[string]any{}}
	before := l.rowNo
	err = p.Stream("load", params, func(part json.RawMessage) error { return l.addExternal(e, path, part) })
	if err == nil && l.rowNo == before {
		return &program.Error{Plugin: e.ID(), Method: "load", Err: fmt.Errorf(`%s has no conversations: no part of the answer holds any ({"id":…,"part":{"conversations":[…]}})`, path)}
	}
	return err
}

// addExternal adds the conversations of one part of the answer. A conversation with an error is recorded like a row with an error.
func (l *loader) addExternal(e *plugin.Entry, path string, part json.RawMessage) error {
	var list struct {
		Conversations []json.RawMessage `json:"conversations"`
	}
	if err := json.Unmarshal(part, &list); err != nil || list.Conversations == nil {
		return &program.Error{Plugin: e.ID(), Method: "load", Err: fmt.Errorf(`a part of the result has no array "conversations": %.200q`, part)}
	}
	for _, raw := range list.Conversations {
		l.rowNo++
		r := rows.Parse(fmt.Sprintf("%s: plug-in %s: conversations[%d]", path, e.ID(), l.rowNo-1), raw, &l.faults)
		if r == nil {
			continue
		}
		l.externalConversation(r)
		if l.Reading != nil && l.rowNo%rowsPerReport == 0 {
			l.Reading(l.rowNo)
		}
	}
	return nil
}

// conversationKeys are the keys of a conversation, and externalTurnKeys those of its turns.
var (
	conversationKeys = []string{"session_id", "turns", "system_message", "user_context_message", "context_messages"}
	externalTurnKeys = []string{"texts", "images", "audios", "videos", "role", "model", "max_tokens", "timestamp", "delay", "tools", "extra"}
)

// externalConversation reads a conversation. Unlike in a file of the user, unknown keys are errors, because the program was written for aiperf.
func (l *loader) externalConversation(r *rows.Row) {
	refuseUnknown(r, conversationKeys)
	if !r.Has("turns") {
		r.Fault("turns", "missing")
		return
	}
	c := conversation.Conversation{ID: ownID(r), System: textOf(r, "system_message"), UserContext: textOf(r, "user_context_message")}
	c.UserContext = cmp.Or(c.UserContext, contextMessage(r))
	for i, raw := range r.List("turns") {
		if item := r.Item("turns", i, raw); item != nil {
			c.Turns = append(c.Turns, l.externalTurn(item))
		}
	}
	switch {
	case len(c.Turns) == 0:
		r.Fault("turns", "at least one turn is needed")
		return
	case l.outside(c.Turns[0].Timestamp):
		return
	case l.rowNo == 1:
		l.set.info.FirstHasTime = c.Turns[0].Timestamp != nil
	}
	l.Add(c)
}

func refuseUnknown(r *rows.Row, known []string) {
	for _, key := range unknownKeys(r, known) {
		r.Fault(key, "unknown key%s; allowed are %s", guess(key, known), strings.Join(known, ", "))
	}
}

func textOf(r *rows.Row, key string) string {
	if text := r.String(key); text != nil {
		return *text
	}
	return ""
}

// contextMessage returns the message before the first turn.
func contextMessage(r *rows.Row) string {
	if !r.Has("context_messages") {
		return ""
	}
	var list []struct{ Role, Content string }
	if json.Unmarshal(r.Raw("context_messages"), &list) != nil || len(list) != 1 || list[0].Role != "user" || list[0].Content == "" {
		r.Fault("context_messages", `must be one message of the user: [{"role": "user", "content": "…"}]; write other messages as turns`)
		return ""
	}
	return list[0].Content
}

// externalTurn reads a turn: the keys of single_turn, with max_tokens for output_length, and model and tools.
func (l *loader) externalTurn(r *rows.Row) conversation.Turn {
	refuseUnknown(r, externalTurnKeys)
	if r.Has("max_tokens") {
		r.Respell("max_tokens", "output_length")
	}
	t := l.readTurn(r)
	t.Model = textOf(r, "model")
	if r.Has("tools") {
		if rows.Kind(r.Raw("tools")) != "array" {
			r.Fault("tools", "must be an array")
		}
		o := jsontext.Open(nil)
		o.Raw("tools", rows.Compact(r.Raw("tools")))
		if len(t.ExtraBody) > len("{}") {
			o.B = append(append(o.B, ','), t.ExtraBody[1:len(t.ExtraBody)-1]...)
		}
		t.ExtraBody = o.Close()
	}
	return t
}

// detectAny returns the format of a file: that of a plug-in that wants to be asked and can read it, else the built-in one that fits.
func detectAny(path, column string, start program.Starter) (string, error) {
	if start == nil {
		start = endless
	}
	if name, err := detectExternal(path, start); name != "" || err != nil {
		return name, err
	}
	return detect(path, column)
}

// detectExternal asks the plug-ins whose metadata say "detect: true" whether they can read a file. "" = none can.
func detectExternal(path string, start program.Starter) (string, error) {
	set := plugin.Installed()
	for _, e := range set.Of(Category) {
		if wants, _ := e.Metadata["detect"].(bool); !wants || !e.Runs() {
			continue
		}
		can, err := canLoad(&e, path, start)
		if err != nil {
			return "", fmt.Errorf("%s: the format is unknown: %w", path, err)
		}
		if can {
			return e.Name, nil
		}
	}
	return "", nil
}

// canLoad asks one plug-in.
func canLoad(e *plugin.Entry, path string, start program.Starter) (can bool, err error) {
	p, err := start(e, "can_load")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	full, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	var answer struct {
		CanLoad *bool `json:"can_load"`
	}
	if err := p.Call("can_load", map[string]any{"path": full, "head": head(path)}, &answer); err != nil {
		return false, err
	}
	if answer.CanLoad == nil {
		return false, &program.Error{Plugin: e.ID(), Method: "can_load", Err: errors.New(`the result has no "can_load"`)}
	}
	return *answer.CanLoad, nil
}

// headLines is the number of lines that a plug-in gets for a look.
const headLines = 10

// head returns the first lines of a file, within its first headBytes bytes; none of a folder.
func head(path string) []string {
	list := []string{}
	if isFolder(path) {
		return list
	}
	f, err := rows.Open(path, io.Discard)
	if err != nil {
		return list // the plug-in sees it, too
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, headBytes))
	for len(list) < headLines && in.Scan() {
		list = append(list, strings.ToValidUTF8(in.Text(), "\ufffd"))
	}
	return list
}

// chosen returns the format of a plug-in with this name. ok = false: there is none, or the built-in format wins.
func chosen(name string, builtIn bool) (f Format, ok bool, err error) {
	e, ok, err := plugin.Installed().Choose(Category, name, builtIn)
	if !ok || err != nil {
		return Format{}, false, err
	}
	return external(e), true, nil
}
