package custom

import (
	"errors"
	"fmt"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// Loader collects the conversations of a source for a Dataset.
type Loader = loader

// Collect builds a dataset of the conversations that read adds. name appears in errors.
func Collect(name string, o Options, info dataset.Info, read func(*Loader) error) (*Dataset, error) {
	if o.Context.PrefixLength > 0 || o.Context.PrefixPool > 0 {
		return nil, errors.New(o.Spell.Text("{datasets.main.prefix_prompts.length} and {datasets.main.prefix_prompts.pool_size} work with generated data only, not with ") + name)
	}
	l := newLoader(o, info)
	if err := read(l); err != nil {
		return nil, err
	}
	if err := l.inline(true); err != nil {
		return nil, err
	}
	if err := l.faults.Err(); err != nil {
		return nil, err
	}
	if l.set.Len() == 0 {
		return nil, l.nothingLeft(name)
	}
	if err := l.finish(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l.set, nil
}

// Add appends a conversation. It generates an id if there is none.
func (l *loader) Add(c conversation.Conversation) {
	if c.ID == "" {
		c.ID = l.newID()
	}
	l.add(c)
}

// Coding selects the programming corpus as the default text that prompts are cut from.
func (l *loader) Coding() { l.corpus = codingCorpus }

// Len returns the number of conversations so far.
func (l *loader) Len() int { return l.set.Len() + l.sinkCount }

// Warn adds a warning for the user, one line.
func (l *loader) Warn(format string, args ...any) {
	l.set.info.Warnings = append(l.set.info.Warnings, fmt.Sprintf(format, args...))
}

// Media returns the blob for a URL, a data URL or a file name of a row. where is the position of the row.
func (l *loader) Media(where string, kind conversation.Kind, text string) (*conversation.Blob, error) {
	return l.media.blob(where, kind, text)
}

// Made returns a blob of content that is in memory.
func (l *loader) Made(media string, content []byte) *conversation.Blob {
	return conversation.Made(media, int64(len(content)), l.media.store, func() ([]byte, error) { return content, nil })
}
