package endpoint

import (
	"encoding/json"
	"strings"

	"github.com/jmespath/go-jmespath"

	"aiperf/internal/base/jsontext"
)

// compilePath compiles a JMESPath expression. Literals without quotation marks (`text`) are texts, as in the old form of the language that 0.13 and most
// examples on the web accept.
func compilePath(expression string) (*jmespath.JMESPath, error) {
	var b strings.Builder
	for rest := expression; rest != ""; {
		end := tokenEnd(rest)
		token := rest[:end]
		if rest = rest[end:]; token[0] == '`' && len(token) > 1 {
			token = quotedLiteral(token)
		}
		b.WriteString(token)
	}
	return jmespath.Compile(b.String())
}

// tokenEnd returns the index behind a text in quotation marks or backquotes at the start of s, or behind one other character.
func tokenEnd(s string) int {
	mark := s[0]
	if mark != '`' && mark != '\'' && mark != '"' {
		return 1
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case mark:
			return i + 1
		}
	}
	return len(s)
}

// quotedLiteral returns a literal with its text in quotation marks, unless it is JSON already.
func quotedLiteral(literal string) string {
	text := strings.TrimLeft(literal[1:len(literal)-1], " \t\r\n")
	if plain := strings.ReplaceAll(text, "\\`", "`"); !json.Valid([]byte(plain)) {
		quoted := "\"" + plain + "\""
		if jsontext.Check([]byte(quoted)) == nil {
			return "`" + strings.ReplaceAll(quoted, "`", "\\`") + "`"
		}
	}
	return literal
}
