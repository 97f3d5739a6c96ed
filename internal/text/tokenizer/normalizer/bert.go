package normalizer

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"aiperf/internal/base/budget"
	cc "aiperf/internal/text/tokenizer/charclass"
)

// Bert is the normaliser of BERT. It applies each step whose flag is set, in this order.
type Bert struct {
	CleanText    bool // drop control characters, convert white space to spaces
	ChineseChars bool // put spaces around ideographs
	StripAccents bool
	Lowercase    bool
}

// Normalize implements Normalizer.
func (n Bert) Normalize(_ *budget.Budget, s string) string {
	plain := ascii(s)
	if n.CleanText || n.ChineseChars && !plain {
		s = n.clean(s)
	}
	if n.StripAccents && !plain {
		s = drop(form(s, norm.NFD), cc.BertAccents())
	}
	if n.Lowercase {
		s = Lowercase(s)
	}
	return s
}

func (n Bert) clean(s string) string {
	control := cc.BertControl()
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if n.CleanText {
			if control.Has(r) {
				continue
			}
			if cc.Of(r)&cc.Space != 0 {
				r = ' '
			}
		}
		if n.ChineseChars && ideograph(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ideographs are the blocks that BERT treats as Chinese characters.
var ideographs = []cc.Range{
	{Lo: 0x3400, Hi: 0x4DBF}, {Lo: 0x4E00, Hi: 0x9FFF}, {Lo: 0xF900, Hi: 0xFAFF}, {Lo: 0x20000, Hi: 0x2A6DF},
	{Lo: 0x2A700, Hi: 0x2B73F}, {Lo: 0x2B740, Hi: 0x2B81F}, {Lo: 0x2B920, Hi: 0x2CEAF}, {Lo: 0x2F800, Hi: 0x2FA1F},
}

func ideograph(r rune) bool {
	for _, x := range ideographs {
		if r < x.Lo {
			return false
		}
		if r <= x.Hi {
			return true
		}
	}
	return false
}
