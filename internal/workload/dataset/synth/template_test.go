package synth

import (
	"errors"
	"strings"
	"testing"
)

func TestMeasureTemplate(t *testing.T) {
	tok := testCorpus(t).tok
	wrap := func(messages []Message) (string, error) {
		var b strings.Builder
		for _, m := range messages {
			b.WriteString("\n@" + m.Role + "\n" + m.Content + "\n@end\n")
		}
		return b.String() + "\n@answer\n", nil
	}
	got := MeasureTemplate(tok, 0, wrap)
	if got.Message < 4 || got.Message > 10 || got.Request < 1 || got.Request > 5 {
		t.Errorf("got %+v", got)
	}
	if less := MeasureTemplate(tok, 1, wrap); less.Request != got.Request-1 || less.Message != got.Message {
		t.Errorf("got %+v with a special token, %+v without", less, got)
	}
	for name, render := range map[string]func([]Message) (string, error){
		"failing": func([]Message) (string, error) { return "", errors.New("no template") },
		"cutting": func([]Message) (string, error) { return "x", nil },
	} {
		if got := MeasureTemplate(tok, 0, render); got != (TemplateCost{}) {
			t.Errorf("%s template: got %+v", name, got)
		}
	}
}
