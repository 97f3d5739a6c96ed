package termdraw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestSVG: a screen as a picture is valid XML, has all of its text and every ink's colour, and asks nobody for anything.
func TestSVG(t *testing.T) {
	var row Row
	row.Put(Bold, "Model ").Put(Plain, "<千问>&\"x\" 🚀").Put(Picture, "▁▄█").Put(Work, "██▌").Put(Faint, "──┬──").Put(Bad, "× wrong").Put(Question, "Stop?")
	svg := Rows{row, {}, Text(Warn, "! last")}.SVG(80, "a <title>")
	var text bytes.Buffer
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case xml.CharData:
			text.Write(v)
		case xml.StartElement:
			for _, a := range v.Attr {
				if strings.Contains(a.Value, "//") && a.Name.Local != "xmlns" {
					t.Errorf("%s=%q asks somebody", a.Name.Local, a.Value)
				}
			}
		}
	}
	for _, want := range []string{"a <title>", "Model ", "<千问>&\"x\" 🚀", "× wrong", "Stop?", "! last", "prefers-color-scheme: light"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in the picture's text", want)
		}
	}
	for _, part := range []string{`width="660" height="71"`, `class="i3" x="170" y="`, `textLength="104"`, "<rect"} { // 13 cells of plain text, of which 3 are twice as wide
		if !bytes.Contains(svg, []byte(part)) {
			t.Errorf("no %s in\n%s", part, svg)
		}
	}
	if n := bytes.Count(svg, []byte("█")); n != 0 {
		t.Errorf("%d blocks are text", n)
	}
}
