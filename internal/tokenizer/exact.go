package tokenizer

import "unicode/utf8"

// Rounds of the search for a text of exactly so many tokens.
const (
	fitRounds = 10 // decode and encode again
	starts    = 20 // new beginnings after that
	padRounds = 2000
)

// Fit turns ids into a text of exactly n tokens: decode, encode, cut what is too much, ask more for what is missing, up to ten rounds.
// more(k) gives k further ids (it may give fewer when there are none). It returns the text and its ids; exact tells whether they are n.
func (t *Tokenizer) Fit(ids []int32, n int, more func(k int) []int32) (text string, got []int32, exact bool) {
	got = append([]int32(nil), ids...)
	var again []int32
	for range fitRounds {
		text = t.Decode(got)
		again = t.Append(again[:0], text)
		if len(again) == n {
			return text, again, true
		}
		if len(again) > n {
			got = append(got[:0], again[:n]...)
			continue
		}
		got = append(got[:0], again...)
		got = append(got, more(n-len(again))...)
	}
	return text, again, false
}

// Exact makes a text of exactly n tokens from ids that draw gives: draw(k) is k ids from a fresh start. It begins anew up to twenty
// times, then pads or cuts by single characters. exact is false only if the tokenizer cannot reach n at all. The result is a pure
// function of n and of what draw gives.
func (t *Tokenizer) Exact(n int, draw func(k int) []int32) (text string, ids []int32, exact bool) {
	if n <= 0 {
		return "", nil, true
	}
	for range starts {
		if text, ids, exact = t.Fit(draw(n), n, draw); exact {
			return text, ids, true
		}
	}
	return t.pad(text, n)
}

// pads are what pad tries to add, in this order: the first that adds a token without going past the goal is taken.
var pads = []string{" the", " a", ".", "a", " ", "\n", "0", "。"}

// pad adds and cuts until text has exactly n tokens.
func (t *Tokenizer) pad(text string, n int) (string, []int32, bool) {
	count := t.Count(text)
	for i := 0; i < padRounds && count != n; i++ {
		if count > n {
			_, w := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-w]
			count = t.Count(text)
			continue
		}
		grown := false
		for k := range pads {
			more := text + pads[(i+k)%len(pads)]
			if c := t.Count(more); c > count && c <= n {
				text, count, grown = more, c, true
				break
			}
		}
		if !grown {
			break
		}
	}
	return text, t.Append(nil, text), count == n
}
