package custom

import (
	"io"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// payloadFiles lists the files of bodies: the file itself, or the .jsonl files of a folder, each of which is a conversation.
func payloadFiles(path string) (files []string, folder bool, err error) {
	if !isFolder(path) {
		return []string{path}, false, nil
	}
	files, err = members(path, ".jsonl", false)
	return files, true, err
}

// readRawPayload reads one request body a row. The body is sent as it stands. A row of a file is a conversation, a file of a folder is one.
func readRawPayload(l *loader, path string) error {
	files, folder, err := payloadFiles(path)
	if err != nil {
		return err
	}
	for _, file := range files {
		var turns []conversation.Turn
		err := l.lines(file, io.Discard, func(line rows.Line) bool {
			if rows.Parse(line.Where(), line.Text, &l.faults) != nil {
				turns = append(turns, conversation.Turn{RawPayload: line.Text, Origin: line.Where()})
			}
			return true
		})
		switch {
		case err != nil:
			return err
		case folder:
			l.add(conversation.Conversation{ID: stem(file), Turns: turns})
			continue
		}
		for i := range turns {
			l.add(conversation.Conversation{ID: l.newID(), Turns: turns[i : i+1 : i+1]})
		}
	}
	return nil
}

var payloadLayout = layout{supply: openLines, entry: payloadEntry, sessions: true, files: func(path string) ([]string, error) {
	files, _, err := payloadFiles(path)
	return files, err
}}

// payloadEntry is a body on its own; in a folder it is one of the session that its file is.
func payloadEntry(l *loader, r *rows.Row) entry {
	e := entry{Conversation: conversation.Conversation{Turns: []conversation.Turn{{RawPayload: r.Line.Text, Origin: r.Where}}}}
	if l.folder {
		e.ID = stem(r.Line.Path)
	}
	return e
}

// glancePayload counts bodies.
func glancePayload(l *Look, path string) error {
	files, _, err := payloadFiles(path)
	if err != nil {
		return err
	}
	return glanceFiles(l, files)
}
