package custom

import (
	"io"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// payloadFiles lists the files of request bodies: the file itself, or the .jsonl files of a folder. Each file of a folder is one conversation.
func payloadFiles(path string) (files []string, folder bool, err error) {
	if !isFolder(path) {
		return []string{path}, false, nil
	}
	files, err = members(path, ".jsonl", false)
	return files, true, err
}

// readRawPayload reads one request body per row and sends it unchanged. Each row of a single file is a conversation. Each file of a folder is a
// conversation.
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

// payloadEntry reads one body. In a folder it belongs to the session of its file.
func payloadEntry(l *loader, r *rows.Row) entry {
	e := entry{Conversation: conversation.Conversation{Turns: []conversation.Turn{{RawPayload: r.Line.Text, Origin: r.Where}}}}
	if l.folder {
		e.ID = stem(r.Line.Path)
	}
	return e
}

// glancePayload counts the bodies.
func glancePayload(l *FileSample, path string) error {
	files, _, err := payloadFiles(path)
	if err != nil {
		return err
	}
	return glanceFiles(l, files)
}
