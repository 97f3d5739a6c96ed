package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"aiperf/internal/markup"
	"aiperf/internal/runfiles"
	"aiperf/internal/terminal"
)

// TurnOptions say how much of the conversations is shown.
type TurnOptions struct {
	Conversations int // the most; roots first, then the earliest
	Turns         int // the most of a conversation
	Letters       int // the most of a message
}

// shownTurn is a turn: what it adds to the messages of the turn before.
type shownTurn struct {
	Index, Same int // Same: messages at the beginning that the turn before had, too
	New         []shownMessage
	At          string
}

type shownMessage struct {
	Role, Text string
	Cut        int // letters left out
}

type conversation struct {
	Name, Session, Parent string
	Depth, More           int // More: turns left out
	Turns                 []shownTurn
	start                 int64
}

// TurnPage is the conversations of a run to read turn by turn, as one HTML page without scripts. Every turn sends the whole history again; what
// it shares with the turn before is only counted.
func TurnPage(run *runfiles.Run, o TurnOptions) ([]byte, error) {
	by := map[string][]runfiles.Turn{}
	var order []string
	err := run.Turns(func(t runfiles.Turn) {
		if t.Session == "" {
			t.Session = fmt.Sprintf("request %d", len(order)+1)
		}
		if by[t.Session] == nil {
			order = append(order, t.Session)
		}
		by[t.Session] = append(by[t.Session], t)
	})
	if err != nil {
		return nil, missing(err)
	}
	zero := int64(0)
	var list []conversation
	for _, name := range order {
		turns := by[name]
		slices.SortStableFunc(turns, func(a, b runfiles.Turn) int {
			return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Start, b.Start))
		})
		if zero == 0 || turns[0].Start < zero {
			zero = turns[0].Start
		}
		first := turns[0]
		list = append(list, conversation{Name: first.Conversation, Session: name, Depth: first.Depth, start: first.Start})
		if parent := by[first.Parent]; parent != nil {
			list[len(list)-1].Parent = parent[0].Conversation
		}
	}
	slices.SortStableFunc(list, func(a, b conversation) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.start, b.start))
	})
	total := len(list)
	list = list[:min(len(list), max(o.Conversations, 0))]
	for i := range list {
		list[i].fill(by[list[i].Session], zero, o)
	}
	said := fmt.Sprintf("%d of %s. A turn sends the whole history again: only what it adds is shown.", len(list), terminal.Plural(total, "conversation"))
	return []byte(markup.Fill(turnShell, map[string]markup.Node{
		"Title": markup.Text("Messages of " + run.Name), "Lead": markup.Text(said),
		"Conversations": markup.Each(list, func(_ int, c conversation) markup.Node { return c.markup() }),
	})), nil
}

// markup is a conversation, closed until somebody opens it.
func (c *conversation) markup() markup.Node {
	about := c.Session + ", " + terminal.Plural(len(c.Turns), "turn")
	if c.Depth > 0 {
		about += ", agent of depth " + strconv.Itoa(c.Depth)
	}
	if c.Parent != "" {
		about += ", started by " + c.Parent
	}
	turns := markup.Each(c.Turns, func(_ int, t shownTurn) markup.Node {
		what := "at " + t.At + ", " + terminal.Plural(len(t.New), "new message")
		if t.Same > 0 {
			what += fmt.Sprintf(", %d as in the turn before", t.Same)
		}
		return markup.El("details", nil, markup.El("summary", nil, markup.Text("Turn "+strconv.Itoa(t.Index)+" "), markup.T("span", "dim", what)),
			markup.Each(t.New, func(_ int, m shownMessage) markup.Node {
				if m.Cut > 0 {
					m.Text += "\n… " + terminal.Plural(m.Cut, "more character")
				}
				return markup.T("div", "role", m.Role) + markup.El("pre", nil, markup.Text(m.Text))
			}))
	})
	more := markup.If(c.More > 0, markup.T("p", "dim", "Left out: "+terminal.Plural(c.More, "more turn")+"."))
	return markup.El("details", nil, markup.El("summary", nil, markup.T("strong", "", c.Name), " ", markup.T("span", "dim", about)), turns, more)
}

// fill shows the turns of a conversation.
func (c *conversation) fill(turns []runfiles.Turn, zero int64, o TurnOptions) {
	if c.Name == "" {
		c.Name = c.Session
	}
	var before []runfiles.Message
	for i, t := range turns {
		if i >= o.Turns {
			c.More = len(turns) - i
			return
		}
		same := 0
		for same < len(before) && same < len(t.Messages) && before[same] == t.Messages[same] {
			same++
		}
		one := shownTurn{Index: t.Index, Same: same, At: fmt.Sprintf("%.3f s", float64(t.Start-zero)/1e9)}
		for _, m := range t.Messages[same:] {
			text, cut := capped(m.Text, o.Letters)
			one.New = append(one.New, shownMessage{m.Role, text, cut})
		}
		c.Turns, before = append(c.Turns, one), t.Messages
	}
}

// capped is a text of so many letters at most, and how many are left out.
func capped(text string, most int) (string, int) {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text, 0
	}
	return string([]rune(text)[:max(most, 0)]), n - max(most, 0)
}

// turnShell is the page around the conversations.
const turnShell = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{Title}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1100px;padding:16px}
h1{font-size:22px}details{border:1px solid #8886;border-radius:6px;margin:8px 0;padding:4px 12px}summary{cursor:pointer;padding:4px 0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:8px;border-radius:6px;font:13px/1.45 ui-monospace,monospace;margin:4px 0 12px}
.dim{opacity:.75}.role{font-weight:600}
@media print{details{border:none}}
</style></head><body><main>
<h1>{{Title}}</h1>
<p>{{Lead}}</p>
{{Conversations}}</main></body></html>
`
