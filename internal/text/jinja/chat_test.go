package jinja

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// recorded is what Python's jinja2 made of real chat templates.
type recorded struct {
	Cases     map[string]json.RawMessage
	Templates []struct {
		Name     string
		Template string
		Results  map[string]struct {
			Text  *string
			Error string
		}
	}
}

func loadRecorded(t *testing.T) (r recorded) {
	t.Helper()
	f, err := os.Open("testdata/chat.json.gz")
	if path := os.Getenv("JINJA_CASES"); path != "" {
		f, err = os.Open(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Templates) < 5 {
		t.Fatalf("%d templates", len(r.Templates))
	}
	return r
}

// TestChatTemplates renders real templates and compares with what Python's jinja2 recorded; where Python fails, ours must fail too.
func TestChatTemplates(t *testing.T) {
	r := loadRecorded(t)
	env := Chat()
	env.Globals["strftime_now"] = Func(func(c *Call) (Value, error) {
		return Strftime(time.Date(2026, 11, 21, 13, 5, 9, 0, time.UTC), Str(c.Arg(0, "format", "")))
	})
	equalTemplates := 0
	for _, x := range r.Templates {
		tmpl, err := env.Parse(x.Template)
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		bad := 0
		for name, want := range x.Results {
			v, err := FromJSON(r.Cases[name])
			if err != nil {
				t.Fatal(err)
			}
			vars := map[string]Value{"tools": nil, "documents": nil, "bos_token": "<s>", "eos_token": "</s>"}
			for _, k := range v.(*Dict).Keys() {
				vars[k.(string)], _ = v.(*Dict).Get(k)
			}
			got, err := tmpl.Render(vars)
			switch {
			case want.Text == nil && err == nil:
				t.Errorf("%s, %s: got %.120q, want an error: %s", x.Name, name, got, want.Error)
			case want.Text != nil && err != nil:
				t.Errorf("%s, %s: %v", x.Name, name, err)
			case want.Text != nil && got != *want.Text:
				n := 0
				for n < len(got) && n < len(*want.Text) && got[n] == (*want.Text)[n] {
					n++
				}
				from := max(0, n-60)
				t.Errorf("%s, %s: at byte %d\n got …%.160q\nwant …%.160q", x.Name, name, n, got[from:], (*want.Text)[from:])
			default:
				continue
			}
			bad++
		}
		if bad == 0 {
			equalTemplates++
		}
	}
	t.Logf("%d of %d templates render equal in all cases", equalTemplates, len(r.Templates))
}
