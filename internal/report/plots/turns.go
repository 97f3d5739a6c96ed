package plots

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/runfiles"
)

// TurnOptions limits how much of the conversations is shown.
type TurnOptions struct {
	Conversations int // largest number; roots first, then the earliest
	Turns         int // largest number per conversation
	Letters       int // largest number per message
}

// shownTurn is a turn: the messages that it adds to those of the previous turn.
type shownTurn struct {
	Index, Same int // Same: number of first messages that the previous turn had too
	New         []shownMessage
	At          string
}

type shownMessage struct {
	Role, Text string
	Cut        int // number of letters omitted
}

type conversation struct {
	Name, Session, Parent string
	Depth, More           int // More: number of turns omitted
	Turns                 []shownTurn
	start                 int64
}

// TurnPage returns the conversations of a run as one HTML page without scripts, to read turn by turn. Every turn sends the whole history again; the
// messages that it shares with the previous turn are only counted.
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
		sorting.Stable(turns, func(a, b runfiles.Turn) int {
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
	sorting.Stable(list, func(a, b conversation) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.start, b.start))
	})
	total := len(list)
	list = list[:min(len(list), max(o.Conversations, 0))]
	for i := range list {
		list[i].fill(by[list[i].Session], zero, o)
	}
	said := fmt.Sprintf("Shown: %d of %s. Each turn sends the whole history again; only its new messages are shown.", len(list), terminal.Plural(total, "conversation"))
	return []byte(htmlgen.Fill(turnShell, map[string]htmlgen.Node{
		"Title": htmlgen.Text("Messages of " + run.Name), "Lead": htmlgen.Text(said),
		"Conversations": htmlgen.Each(list, func(_ int, c conversation) htmlgen.Node { return c.markup() }),
	})), nil
}

// markup returns a conversation, collapsed at first.
func (c *conversation) markup() htmlgen.Node {
	about := c.Session + ", " + terminal.Plural(len(c.Turns), "turn")
	if c.Depth > 0 {
		about += ", agent at depth " + strconv.Itoa(c.Depth)
	}
	if c.Parent != "" {
		about += ", started by " + c.Parent
	}
	turns := htmlgen.Each(c.Turns, func(_ int, t shownTurn) htmlgen.Node {
		what := "at " + t.At + ", " + terminal.Plural(len(t.New), "new message")
		if t.Same > 0 {
			what += fmt.Sprintf(", %d repeated from the turn before", t.Same)
		}
		return htmlgen.El("details", nil, htmlgen.El("summary", nil, htmlgen.Text("Turn "+strconv.Itoa(t.Index)+" "), htmlgen.T("span", "dim", what)),
			htmlgen.Each(t.New, func(_ int, m shownMessage) htmlgen.Node {
				if m.Cut > 0 {
					m.Text += "\n… " + terminal.Plural(m.Cut, "more character")
				}
				return htmlgen.T("div", "role", m.Role) + htmlgen.El("pre", nil, htmlgen.Text(m.Text))
			}))
	})
	more := htmlgen.If(c.More > 0, htmlgen.T("p", "dim", "Not shown: "+terminal.Plural(c.More, "more turn")+"."))
	return htmlgen.El("details", nil, htmlgen.El("summary", nil, htmlgen.T("strong", "", c.Name), " ", htmlgen.T("span", "dim", about)), turns, more)
}

// fill adds the turns of a conversation.
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

// capped returns the first most letters of a text, and how many were omitted.
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
