package resolve

import (
	"encoding/json"
	"testing"
)

// TestConformanceOfExtraInputs: section 16.3 of the corpus, rows E01 to E06.
func TestConformanceOfExtraInputs(t *testing.T) {
	for id, c := range map[string]struct {
		items []string
		want  string // "" = refused
	}{
		"E01": {[]string{"a:1", "b:0.5", "c:true", "d:null", "e:007", "f:1e-3", "g:-2", "h:x:y"}, `{"a":1,"b":0.5,"c":true,"d":null,"e":"007","f":"1e-3","g":-2,"h":"x:y"}`},
		"E02": {[]string{"a:1,b:2"}, `{"a":1,"b":2}`},
		"E03": {[]string{`{"a":"1","b":[1,2]}`}, `{"a":"1","b":[1,2]}`},
		"E04": {[]string{"a"}, ""},
		"E05": {[]string{"a:1", "a:2"}, `{"a":2}`},
		"E06": {[]string{"temperature:1.0"}, `{"temperature":1.0}`},
	} {
		extra, err := parseExtras(c.items)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %v is taken", id, c.items)
			}
			continue
		}
		got := "{"
		for i, m := range extra {
			if i > 0 {
				got += ","
			}
			name, _ := json.Marshal(m.Key)
			got += string(name) + ":" + string(m.Value)
		}
		if got += "}"; err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", id, got, err, c.want)
		}
	}
}
