package lazyregexp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCompiledOnce: a pattern is compiled at its first use, once, and works as one of package regexp.
func TestCompiledOnce(t *testing.T) {
	wrong := New("(") // does not panic before its first use
	re := New(`(\d+)-(\d+)`)
	if first := re.compiled(); first != re.compiled() || re.FindStringSubmatch("a 12-34")[2] != "34" || re.ReplaceAllString("1-2", "$2") != "2" {
		t.Errorf("%v", re)
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong pattern was accepted")
		}
	}()
	wrong.MatchString("")
}

// TestPatternsCompile: every pattern that the program compiles late is a sound one, and none of a package is compiled at the start.
func TestPatternsCompile(t *testing.T) {
	literal := regexp.MustCompile("lazyregexp\\.New\\((`[^`]*`|\"(?:[^\"\\\\]|\\\\.)*\")\\)")
	early := regexp.MustCompile(`(?m)^(?:var [a-zA-Z]+ =|	[a-zA-Z]+ +=) regexp\.MustCompile`)
	patterns := 0
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testrecording") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if found := early.Find(text); found != nil {
			t.Errorf("%s: %s: use lazyregexp.New", path, found)
		}
		for _, m := range literal.FindAllSubmatch(text, -1) {
			patterns++
			if m[1][0] == '`' {
				New(strings.Trim(string(m[1]), "`")).MatchString("")
			}
		}
		return nil
	})
	if err != nil || patterns < 60 {
		t.Errorf("%d patterns, %v", patterns, err)
	}
}
