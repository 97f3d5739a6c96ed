package custom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"aiperf/internal/workload/dataset"
)

// named writes a file with a name.
func named(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// texts returns the prompt of every conversation.
func texts(s dataset.Dataset) []string {
	list := make([]string, dataset.All(s))
	for i := range list {
		list[i] = strings.Join(s.Conversation(dataset.Nth(i, s.Len())).Turns[0].Contents(), "|")
	}
	return list
}

// TestPromptFiles checks the format and the prompts of prompt files, and the line numbers of errors.
func TestPromptFiles(t *testing.T) {
	for _, c := range []struct {
		name, content, column string
		format                string // "" = an error
		want                  []string
	}{
		{"a.txt", "\ufeffOne, two\r\n\r\n  three\tfour \r\n", "", linesType, []string{"One, two", "three\tfour"}},
		{"a", "What is a mutex?\n", "", linesType, []string{"What is a mutex?"}},
		{"a.txt", "text\nprompt\n", "", linesType, []string{"text", "prompt"}},
		{"a.txt", "a\n[1, 2]\n", "", "", []string{"a.txt:2: ", "the line is JSON"}},
		{"a.txt", "\"a\"\n", "", "", []string{"a.txt:1: ", "the line is JSON"}},
		{"a.txt", "[INST] a\n", "", "", []string{"a.txt:1: invalid JSON"}},
		{"a.txt", "a\n\xff\n", "", "", []string{"a.txt:2: ", "not UTF-8"}},
		{"a.jsonl", "a\n", "", "", []string{"a.jsonl:1: ", "not a JSON object"}},
		{"a.yaml", "text: a\n", "", "", []string{"a.yaml:1: "}},

		{"a.csv", "query,Prompt,answer\n1,a,b\n", "", tableType, []string{"a"}},
		{"a.csv", "\ufeff\"instruction\",\"input\"\r\n\"x\r\ny\",z\r\n\r\n", "", tableType, []string{"x\ny"}},
		{"a.csv", "instruction,text\na,b\n", "", tableType, []string{"b"}},
		{"a.csv", "\"prompt\"\na\n", "", tableType, []string{"a"}},
		{"a.tsv", "id\tquestion\n1\ta, b\n", "", tableType, []string{"a, b"}},
		{"a.csv", "id;input\n1;a, b\n", "", tableType, []string{"a, b"}},
		{"a", "id,query\n1,a\n", "", tableType, []string{"a"}},
		{"a.csv", "id,words\n1,a\n", "words", tableType, []string{"a"}},
		{"a.csv", "id,words\n1,a\n", "", "", []string{"a.csv:1: no column is named text", "the columns are id, words"}},
		{"a.csv", "id,words\n1,a\n", "wrds", "", []string{"a.csv:1: no column \"wrds\" (did you mean words?)"}},
		{"a.csv", "text,text\n1,a\n", "", "", []string{"a.csv:1: column \"text\" exists twice"}},
		{"a.csv", "id,text\n1,a\n2\n", "", "", []string{"a.csv:3: the row has 1 columns, the header has 2"}},
		{"a.csv", "id,text\n1,\"a\n2,b\n", "", "", []string{"a.csv:", "quote"}},
		{"a.csv", "id,text\n1,a\n2, \n", "", "", []string{"a.csv:3: the prompt is empty"}},
		{"a.csv", "id,text\n1,a\n2,\xff\n", "", "", []string{"a.csv:3: the prompt is not UTF-8"}},
		{"a.csv", "id,text\n", "", "", []string{"a.csv: no records"}},
		{"a.csv", "Timestamp,text,Request tokens,Response tokens\n1,2,3,4\n", "", "burst_gpt_trace", nil},

		{"a.jsonl", `{"instruction":"a"}`, "", singleType, []string{"a"}},
		{"a.jsonl", `{"input":"b","instruction":"a"}`, "", singleType, []string{"a"}},
		{"a.jsonl", `{"query":"a","text":"b"}`, "query", singleType, []string{"a"}},
		{"a.jsonl", `{"words":"a"}`, "words", singleType, []string{"a"}},
		{"a.jsonl", `{"words":"a"}` + "\n" + `{"text":"b"}`, "words", "", []string{"a.jsonl:2: words: must be a text"}},
		{"a.jsonl", `{"messages":[{"role":"user","content":"x"}],"input":"a"}`, "", "raw_payload", nil},
		{"a.jsonl", `{"turns":[{"text":"a"}]}`, "text", "", []string{"has the format multi_turn, whose prompt keys are fixed"}},
	} {
		path := named(t, c.name, c.content)
		o := base("")
		o.InputColumn = c.column
		s, err := Open(path, o)
		if c.format == "" {
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %q: %v, want %s", c.name, c.content, err, want)
				}
			}
			continue
		}
		if err != nil || s.Info().Type != c.format {
			t.Errorf("%s %q: %v, want %s", c.name, c.content, err, c.format)
			continue
		}
		if look, err := SampleFile(path, "", c.column, nil); err != nil || look.Format.Name != c.format || look.Turns != s.Len() {
			t.Errorf("%s %q: a look sees %+v, %v", c.name, c.content, look, err)
		}
		if got := texts(s); c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.name, c.content, got, c.want)
		}
	}
}

// TestPromptColumnOfLargeFiles checks that rows that stay in their file are read again with the named key.
func TestPromptColumnOfLargeFiles(t *testing.T) {
	leave(t)
	o := base("")
	o.InputColumn = "words"
	s, err := Open(write(t, `{"words":"a","text":"x"}`+"\n"+`{"words":"b"}`), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(s); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}

// TestPromptsOfParquet reads a Parquet file with a prompt column and without the columns of a recorded trace.
func TestPromptsOfParquet(t *testing.T) {
	type row struct {
		ID    int64  `parquet:"id"`
		Input string `parquet:"question"`
		Other string `parquet:"other"`
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	if err := parquet.WriteFile(path, []row{{1, "a", "x"}, {2, "b", "y"}}); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string][]string{"": {"a", "b"}, "other": {"x", "y"}} {
		o := base("")
		o.InputColumn = column
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q", column, got)
		}
	}
	o := base("")
	o.InputColumn = "id"
	if _, err := Open(path, o); err == nil || !strings.Contains(err.Error(), `row 0: column "id" must hold texts, got 1`) {
		t.Error(err)
	}
	if l, err := SampleFile("testdata/baseten.parquet", "", "", nil); err != nil || l.Format.Name != basetenType {
		t.Errorf("%+v, %v", l, err)
	}
}
