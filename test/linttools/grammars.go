package main

import (
	"os"
	"path/filepath"
)

// noGrammars is what vale's package of programming languages has to offer, for no language.
const noGrammars = `package code

import (
	"errors"
	"regexp"

	"github.com/vale-cli/vale/v3/internal/core"
)

// Language is a programming language.
type Language struct {
	Delims  *regexp.Regexp
	Queries []core.Scope
	Cutset  string
	Padding func(string) int
}

// Comment is a comment in code.
type Comment struct {
	Text, Source, Scope string
	Line, Offset        int
}

// StripAt returns the bytes removed from the front of a line.
func (Comment) StripAt(int) (int, bool) { return 0, false }

var errNoGrammar = errors.New("this program was built without grammars of programming languages")

// GetLanguageFromExt knows no language.
func GetLanguageFromExt(string) (*Language, error) { return nil, errNoGrammar }

// GetComments knows no language.
func GetComments([]byte, *Language) ([]Comment, error) { return nil, errNoGrammar }
`

// dropGrammars removes the grammars of programming languages from a copy of vale in dir.
func dropGrammars(dir string) error {
	code := filepath.Join(dir, "internal", "lint", "code")
	if err := os.RemoveAll(code); err != nil {
		return err
	}
	if err := os.Mkdir(code, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(code, "none.go"), []byte(noGrammars), 0o644)
}
