package exposition

import (
	"math"
	"strings"
	"testing"
)

// one reads a page of a single sample.
func one(t *testing.T, text string) (*Family, *Sample) {
	t.Helper()
	p := Parse([]byte(text))
	if p.BadLines > 0 || p.Samples != 1 || len(p.Families) != 1 {
		t.Fatalf("%q: %+v", text, p)
	}
	return p.Families[0], &p.Families[0].Samples[0]
}

func TestSamples(t *testing.T) {
	for _, c := range []struct {
		line, name string
		value      float64
		labels     []Label
	}{
		{"up 1", "up", 1, nil},
		{"up\t+Inf 1700000000000", "up", math.Inf(1), nil},
		{"up{} -1e-3", "up", -1e-3, nil},
		{`a:b{x="1",y="2"} 3`, "a:b", 3, []Label{{"x", "1"}, {"y", "2"}}},
		{`a { x = "1" , } 3`, "a", 3, []Label{{"x", "1"}}},
		{`a{x="q\"\\\n}"} 0x1p4`, "a", 16, []Label{{"x", "q\"\\\n}"}}},
		{`a_bucket{le="1"} 5 # {trace="x"} 0.5 1.7`, "a_bucket", 5, []Label{{"le", "1"}}},
		{`{"weird name",l="v"} 2`, "weird name", 2, []Label{{"l", "v"}}},
		{`{"weird name", "l.m"="v"} 2`, "weird name", 2, []Label{{"l.m", "v"}}},
		{"a{x=\"\xff\"} 1", "a", 1, []Label{{"x", "\uFFFD"}}},
		{"a 1e999", "a", math.Inf(1), nil},
	} {
		_, s := one(t, c.line+"\r\n")
		if s.Name != c.name || s.Value != c.value || len(s.Labels) != len(c.labels) {
			t.Errorf("%s: %+v", c.line, s)
			continue
		}
		for i, l := range c.labels {
			if s.Labels[i] != l {
				t.Errorf("%s: label %d is %q", c.line, i, s.Labels[i])
			}
		}
	}
	if _, s := one(t, "a NaN"); !math.IsNaN(s.Value) {
		t.Error(s.Value)
	}
}

// TestBadLines: a line that is none costs that line.
func TestBadLines(t *testing.T) {
	for _, line := range []string{
		"a", "a b", "1a 2", "a{x} 1", "a{x=1} 1", `a{x="1} 1`, `a{x="1"`, `a{x="1"} `, `a{x="1" y="2"} 1`, "a-b 1", "a 1 x", `{} 1`, `a{x="1"}1x`,
		"# TYPE a what", "# TYPE", "# HELP 1a x", "this is { not = prometheus", `[{"iter":1}]`,
	} {
		p := Parse([]byte("ok 1\n" + line + "\nok 2\n"))
		if p.BadLines != 1 || p.First.Line != 2 || p.First.Why == "" || p.Samples != 2 || !p.IsText() {
			t.Errorf("%q: %+v", line, p)
		}
		if Parse([]byte(line)).IsText() {
			t.Errorf("%q alone is a page", line)
		}
	}
	if !Parse(nil).IsText() || !Parse([]byte("# only comments\n\n")).IsText() {
		t.Error("a page without samples is none")
	}
}

func TestFamilies(t *testing.T) {
	p := Parse([]byte(strings.Join([]string{
		`# HELP c Words\nof it \\`, "# TYPE c counter", "c_total 1", "c_created 2",
		"# TYPE d_total counter", "d_total 1",
		"# TYPE h histogram", `h_bucket{le="+Inf"} 1`, "h_count 1", "h_sum 1", "h_other 1",
		"# TYPE s summary", `s{quantile="0.5"} 1`, "s_sum 1",
		"# TYPE i info", `i_info{a="b"} 1`, "# TYPE u untyped", "u 1", "free 1", "# EOF",
	}, "\n")))
	var got []string
	for _, f := range p.Families {
		got = append(got, f.Name+" "+string(f.Type)+" "+strings.Repeat("*", len(f.Samples)))
	}
	want := "c counter **, d_total counter *, h histogram ***, h_other unknown *, s summary **, i info *, u unknown *, free unknown *"
	if strings.Join(got, ", ") != want || p.Families[0].Help != "Words\nof it \\" {
		t.Errorf("%s, %q", strings.Join(got, ", "), p.Families[0].Help)
	}
}

func TestSamplesAreBounded(t *testing.T) {
	p := Parse([]byte(strings.Repeat("a 1\n", MaxSamples+3)))
	if p.Samples != MaxSamples || p.BadLines != 3 {
		t.Errorf("%d samples, %d bad lines", p.Samples, p.BadLines)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# HELP a b\n# TYPE a counter\na_total{x=\"1\"} 5 1700 # {t=\"x\"} 1\n", "a{x=\"\\\\\\n\\\"\"} NaN", `{"a b","c"="d"} 1`, "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_sum 1",
		"[{\"iter\":1}]", "a 1\x00\n\xff 2",
		"# TYPE r counter\n# UNIT r requests\nr_total{c=\"2\"} 1 # {t=\"x\"} 5 1.7e9\nr_created{c=\"2\"} 1.7e9\n# TYPE b info\nb_info{v=\"1\"} 1\n" +
			"# TYPE s stateset\ns{s=\"up\"} 1\n# TYPE g gaugehistogram\ng_bucket{le=\"+Inf\"} 1\ng_gcount 1\ng_gsum 2\n# EOF\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := Parse(body)
		n := 0
		for _, fam := range p.Families {
			for i := range fam.Samples {
				n++
				if fam.Samples[i].Name == "" || !strings.HasPrefix(fam.Samples[i].Name, fam.Name) {
					t.Fatalf("sample %q in family %q", fam.Samples[i].Name, fam.Name)
				}
			}
		}
		if n != p.Samples || p.BadLines > 0 && (p.First.Line < 1 || p.First.Why == "") {
			t.Fatalf("%+v", p)
		}
	})
}
