package custom

import (
	"errors"
	"slices"

	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/synth"
)

// sequence opens the prompt sequence. Its first prompt is the shared system message, if there is one.
func (l *loader) sequence() (*synth.Sequence, error) {
	if l.set.prompts != nil {
		return l.set.prompts, nil
	}
	if l.Corpus == nil {
		return nil, errors.New(l.Spell.Text("prompts with a given number of tokens need a tokenizer ({tokenizer.name})"))
	}
	corpus, err := l.Corpus(l.corpus)
	if err != nil {
		return nil, err
	}
	s := synth.NewSequence(corpus, l.Root)
	if l.Context.SharedSystem > 0 {
		n := l.Context.SharedSystem
		if l.Marker != nil {
			marker, _ := l.Marker()
			n = max(1, n-marker)
		}
		s.Add(n, synth.NoPrefix)
	}
	l.set.prompts = s
	return s, nil
}

// finish sets the model and output length of every turn, adds context to the conversations and counts what the dataset contains.
func (l *loader) finish() error {
	assign, err := dataset.NewAssigner(l.Assignment, l.Root)
	if err != nil {
		return err
	}
	for i := range l.set.conversations {
		complete(&l.set.conversations[i], assign, &l.set.info)
	}
	return l.addSystemAndContexts()
}

// complete sets the models and output lengths of the next conversation's turns and updates the info.
func complete(c *conversation.Conversation, assign *dataset.Assigner, info *dataset.Info) {
	info.CheckFirst(c.Turns[0].Timestamp, func() string { return c.Turns[0].Origin })
	for k := range c.Turns {
		t := &c.Turns[k]
		if t.Model == "" {
			t.Model = assign.Models[assign.Model()]
		}
		if t.MaxTokens == nil {
			if n := assign.MaxTokens(); n > 0 && t.RawPayload == nil {
				t.MaxTokens = &n
			}
		}
		info.Timestamps = info.Timestamps || t.Timestamp != nil
		info.Delays = info.Delays || k > 0 && t.Delay != nil
	}
	info.Turns += len(c.Turns)
}

// addSystem puts a system message before a conversation; "" = none.
func addSystem(c *conversation.Conversation, system string) {
	if system == "" {
		return
	}
	if c.System != "" {
		c.System = "\n\n" + c.System
	}
	c.System = system + c.System
}

// addSystemAndContexts adds the system message and the user contexts to the conversations. The contexts are drawn after all prompts.
func (l *loader) addSystemAndContexts() error {
	system := l.Context.System
	if l.Context.SharedSystem > 0 || l.Context.User > 0 {
		texts, err := l.sequence()
		if err != nil {
			return err
		}
		if l.Context.SharedSystem > 0 {
			system = texts.Text(0)
		}
		if l.Context.User > 0 {
			l.addContexts(texts)
		}
	}
	l.set.system = system
	for i := 0; system != "" && i < len(l.set.conversations); i++ {
		if first := &l.set.conversations[i].Turns[0]; first.RawPayload != nil {
			return bodyTakesNoSystem(first.Origin, l.Spell)
		}
	}
	return nil
}

// bodyTakesNoSystem returns the error that unchanged request bodies cannot get a system message.
func bodyTakesNoSystem(origin string, as setting.Spell) error {
	return errors.New(origin + as.Text(": the body is sent unchanged, so {datasets.main.system_prompt} and {datasets.main.prefix_prompts.shared_system_length} cannot be added"))
}

// addContexts requests a user context for every conversation. It is generated with the conversation.
func (l *loader) addContexts(texts *synth.Sequence) {
	first := 0
	for i := range dataset.All(l.set) {
		if n := texts.Add(l.Context.User, synth.NoPrefix); i == 0 {
			first = n
		}
	}
	inner := l.set.fill
	l.set.fill = func(i int, c *conversation.Conversation) {
		if inner != nil {
			inner(i, c)
		}
		c.UserContext = texts.Text(first + dataset.Position(i, l.set.Len()))
	}
}

// Len returns the number of conversations that can be drawn.
func (s *Dataset) Len() int {
	if s.source != nil {
		return s.source.drawn()
	}
	return len(s.conversations) - s.info.Started
}

// at returns conversation i from memory.
func (s *Dataset) at(i int) *conversation.Conversation {
	return &s.conversations[dataset.Position(i, s.Len())]
}

// Info describes the dataset.
func (s *Dataset) Info() dataset.Info { return s.info }

// Inexact returns the number of prompts so far whose length differs from the requested one.
func (s *Dataset) Inexact() int {
	if s.prompts == nil {
		return 0
	}
	return s.prompts.Inexact()
}

// Timings returns the send times of conversation i.
func (s *Dataset) Timings(i int) []dataset.Timing {
	if s.source != nil {
		return s.source.timings(i)
	}
	return timingsOf(s.at(i).Turns)
}

func timingsOf(turns []conversation.Turn) []dataset.Timing {
	out := make([]dataset.Timing, len(turns))
	for k := range turns {
		out[k] = dataset.Timing{Timestamp: turns[k].Timestamp, Delay: turns[k].Delay, Branches: turns[k].Branches, Silent: turns[k].Silent, After: turns[k].After}
	}
	return out
}

// ID returns the session id of conversation i.
func (s *Dataset) ID(i int) string {
	if s.source != nil {
		return s.source.id(i)
	}
	return s.at(i).ID
}

// Conversation returns conversation i.
func (s *Dataset) Conversation(i int) *conversation.Conversation {
	c, whole := s.Draft(i)
	if !whole {
		s.fill(i, c)
	}
	return c
}

// Draft returns conversation i without generated texts.
func (s *Dataset) Draft(i int) (c *conversation.Conversation, whole bool) {
	if s.source != nil {
		taken := s.source.draft(i)
		c = &taken
	} else {
		copied := *s.at(i)
		copied.Turns = slices.Clone(copied.Turns)
		c = &copied
	}
	addSystem(c, s.system)
	if s.readStored != nil {
		s.readStored(i, c)
	}
	return c, s.fill == nil
}
