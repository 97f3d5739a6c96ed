package table

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestCSV checks that quotes, commas and line ends inside fields are preserved, and that errors name the line.
func TestCSV(t *testing.T) {
	for _, c := range []struct {
		text string
		rows []Row
		err  string
	}{
		{"a,b\n1,2\n", []Row{{"a": "1", "b": "2"}}, ""},
		{"\xef\xbb\xbfa,b\r\n1,\r\n\r\n,\"\"", []Row{{"a": "1", "b": nil}, {"a": nil, "b": nil}}, ""},
		{"a,b\n\"x\r\ny\n\",\"q\"\"q,\"\"\"\n", []Row{{"a": "x\r\ny\n", "b": `q"q,"`}}, ""},
		{"a,b\nx\"y, z\n", []Row{{"a": `x"y`, "b": " z"}}, ""},
		{"a\n" + strings.Repeat("long", 50_000) + "\n", []Row{{"a": strings.Repeat("long", 50_000)}}, ""},
		{"a,b\n1\n", nil, "line 2: 1 fields, but the header has 2"},
		{"a,b\n1,2\n\"x\ny", []Row{{"a": "1", "b": "2"}}, "line 3: a quote is not closed"},
		{"a,b\n\"x\"y,2\n", nil, "line 2: text after a closing quote"},
		{"", nil, "the header with the column names is missing"},
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var rows []Row
		in, err := Open(path)
		if err == nil {
			var row Row
			for row, err = in.Next(); err == nil; row, err = in.Next() {
				rows = append(rows, row)
			}
			in.Close()
		}
		if err == io.EOF { //nolint:errorlint // Next hands it out as it is
			err = nil
		}
		if !reflect.DeepEqual(rows, c.rows) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.60q: %.200q, %v; want %.200q, %q", c.text, rows, err, c.rows, c.err)
		}
	}
}
