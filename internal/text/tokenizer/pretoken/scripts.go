package pretoken

import (
	"sync"
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// Rewrite is a stage that changes the text of pieces.
type Rewrite func(string) string

// Split implements Stage.
func (f Rewrite) Split(s string, first bool, next Sink) { next.Piece(f(s), first) }

// Scripts splits where the script of the letters changes. Japanese scripts count as Han. Spaces belong to the text before them.
type Scripts struct{ scripts []scriptTable }

type scriptTable struct {
	name string
	has  *cc.Table
}

// NewScripts returns the stage.
func NewScripts() Scripts { return Scripts{scriptTables()} }

var scriptTables = sync.OnceValue(func() (all []scriptTable) {
	for _, n := range cc.ScriptNames() {
		if n != "Common" { // code points without a script
			all = append(all, scriptTable{n, cc.NewTable(cc.Script(n))})
		}
	}
	return all
})

// script returns the script of r; "" = any.
func (p Scripts) script(r rune) string {
	switch r {
	case ' ':
		return ""
	case 0x30FC:
		return "Han"
	}
	for _, t := range p.scripts {
		if t.has.Has(r) {
			if t.name == "Hiragana" || t.name == "Katakana" {
				return "Han"
			}
			return t.name
		}
	}
	return "Common"
}

// Split implements Stage. As in the reference, spaces before the first letter are lost.
func (p Scripts) Split(s string, first bool, next Sink) {
	last, begin := "", len(s)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if sc := p.script(r); sc != "" {
			switch {
			case last == "":
				begin = i
			case sc != last:
				next.Piece(s[begin:i], first && begin == 0)
				begin = i
			}
			last = sc
		}
		i += n
	}
	if begin < len(s) {
		next.Piece(s[begin:], first && begin == 0)
	}
}
