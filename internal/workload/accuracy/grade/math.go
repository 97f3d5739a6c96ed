package grade

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/workload/accuracy/pystring"
)

// mathematics compares the value in the last box, otherwise the number or expression after an answer phrase, otherwise the last number. (The steps of
// TensorRT-LLM's AIME grader, which goes back to Hendrycks' MATH.)
func mathematics(_ context.Context, answer, gold string) Result {
	got, how, guessed := mathAnswer(answer)
	a, b := normalMath(got), normalMath(gold)
	if a == "" || b == "" { // only units or a month: compare the original texts
		a, b = pystring.Strip(got), pystring.Strip(gold)
	}
	return resultOf(a != "" && b != "" && sameMath(a, b, 0), guessed, got, pystring.Strip(gold), how)
}

// mathAnswer finds the part of an answer that counts.
func mathAnswer(answer string) (text, how string, guessed bool) {
	if body, ok := lastBox(answer); ok {
		return trimmedBox(body), "the last box", false
	}
	if tail, ok := lastPhrase(answer); ok {
		how = "the text after the last answer phrase"
		if body, ok := lastBox(tail); ok {
			return trimmedBox(body), how, true
		}
		if n := lastNumber(tail); n != "" && !strings.ContainsAny(tail, `\{}`) {
			return n, how, true
		}
		return tail, how, true
	}
	if n := lastNumber(answer); n != "" {
		return n, "the last number", true
	}
	return pystring.Strip(answer), "the whole answer", true
}

const box = `\boxed{`

// lastBox returns the content of the last box that is closed.
func lastBox(text string) (string, bool) {
	for end := len(text); ; {
		i := strings.LastIndex(text[:end], box)
		if i < 0 {
			return "", false
		}
		depth, start := 0, i+len(box)
		for j := start; j < len(text); j++ {
			switch text[j] {
			case '{':
				depth++
			case '}':
				if depth == 0 {
					return text[start:j], true
				}
				depth--
			}
		}
		end = i
	}
}

var lineBreak = lazyregexp.New(`\n[\s\p{Z}]*`)

// trimmedBox joins the lines in a box. It removes a leading colon, a trailing full stop and a trailing slash.
func trimmedBox(text string) string {
	text = strings.TrimPrefix(lineBreak.ReplaceAllString(text, ""), ":")
	return strings.TrimSuffix(strings.TrimSuffix(text, "."), "/")
}

var answerPhrase = lazyregexp.New(`(?i)(?:final[\s\p{Z}]+answer|the[\s\p{Z}]+answer[\s\p{Z}]+is|answer[\s\p{Z}]*[:=]|answer[\s\p{Z}]+is)[\s\p{Z}]*[:=]?[\s\p{Z}]*`)

// lastPhrase returns the text after the last answer phrase, up to the end of its sentence or line. Phrases are found from left to right and do not
// overlap.
func lastPhrase(text string) (tail string, ok bool) {
	for from := 0; ; {
		at := answerPhrase.FindStringIndex(text[from:])
		if at == nil {
			return pystring.Strip(tail), ok
		}
		start := from + at[1]
		if start == len(text) {
			// If only white space follows the phrase, its own white space counts as the text.
			start = from + at[0] + len(strings.TrimRightFunc(text[from+at[0]:start], pystring.Space))
			if start == len(text) {
				return pystring.Strip(tail), ok
			}
			return "", true
		}
		end := phraseEnd(text, start)
		tail, ok, from = text[start:end], true, end
	}
}

// phraseEnd returns the end of the text that begins at start: a full stop that is not a decimal point, or the end of the line. The text has at least
// one character.
func phraseEnd(text string, start int) int {
	_, size := utf8.DecodeRuneInString(text[start:])
	for i := start + size; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '.' && !digitBefore(text, i) && !digitAt(text, i+1) {
			return i
		}
	}
	return len(text)
}

func digitBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsDigit(r)
}

func digitAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsDigit(r)
}

var number = lazyregexp.New(`-?(?:\d{1,3}(?:,\d{3})+|\p{Nd}+)(?:\.\p{Nd}+)?(?:/\p{Nd}+)?`)

// lastNumber returns the last whole number, decimal or ratio in a text; thousands groups are one number.
func lastNumber(text string) string {
	last := ""
	for from := 0; from < len(text); {
		at := number.FindStringIndex(text[from:])
		if at == nil {
			break
		}
		start, end := from+at[0], from+at[1]
		if comma := strings.IndexByte(text[start:end], ','); comma >= 0 && digitAt(text, end) && text[end-1] != '/' && !strings.ContainsAny(text[start:end], "./") {
			end = start + comma // 1,2345: not a thousands group
		}
		if text[start] == '-' && !signed(text, start) {
			start++
		}
		last, from = text[start:end], end
	}
	return last
}
