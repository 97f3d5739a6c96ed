package jsontext

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFloatsAreSpelledAsPythonDoes(t *testing.T) {
	for v, want := range map[float64]string{
		6: "6.0", 0: "0.0", 0.1: "0.1", 1e16: "1e+16", 1e15: "1000000000000000.0", 1e-4: "0.0001", 0.00001: "1e-05", -2.5: "-2.5",
		123456789.125: "123456789.125", 1.0 / 3: "0.3333333333333333", 5e-324: "5e-324", 9007199254740993: "9007199254740992.0",
	} {
		if got := string(AppendFloat(nil, v)); got != want {
			t.Errorf("%g is written %s, not %s", v, got, want)
		}
	}
}

// TestMillionths: floats with few decimals are written as the general search for the shortest digits writes them, also where six decimals or fifteen
// digits end.
func TestMillionths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	check := func(f float64) {
		want := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(want, ".") {
			want += ".0"
		}
		if got := string(appendPlain(nil, f)); got != want {
			t.Fatalf("%v is written %s, not %s", f, got, want)
		}
	}
	check(math.Copysign(0, -1))
	for range 20_000 {
		n := float64(random.Int64N(1 << (1 + random.IntN(53))))
		for _, unit := range []float64{1, 1e3, 1e5, 1e6, 1e7, 1e9} {
			f := n / unit
			check(f)
			check(-f)
			check(math.Nextafter(f, math.Inf(1)))
			check(math.Nextafter(f, 0))
		}
	}
}

// BenchmarkAppendFloat writes latencies of whole nanoseconds, in ms; "general" is the search for the shortest digits.
func BenchmarkAppendFloat(b *testing.B) {
	values := make([]float64, 1024)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range values {
		values[i] = float64(random.Int64N(1e10)) / 1e6
	}
	var buffer [32]byte
	b.Run("ours", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			AppendFloat(buffer[:0], values[i%len(values)])
		}
	})
	b.Run("general", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			strconv.AppendFloat(buffer[:0], values[i%len(values)], 'f', -1, 64)
		}
	})
}

func TestObjectKeepsTheOrderOfItsMembers(t *testing.T) {
	o := Open([]byte("x"))
	if o.Any() {
		t.Error("a new object has members")
	}
	o.Text("b", "<\"\b>")
	o.TextIfAny("none", "")
	o.Int("a", -3)
	o.IntIfPositive("zero", 0)
	o.Float("f", 2)
	o.Bool("t", true)
	o.Raw("r", []byte(`[1]`))
	o.Key("i")
	o.B = AppendInts(AppendInts(o.B, []int64{-1 << 63, 0, 7}), []int(nil))
	if got, want := string(o.Close()), `x{"b":"<\"\b>","a":-3,"f":2.0,"t":true,"r":[1],"i":[-9223372036854775808,0,7][]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMarshalLeavesHTMLAlone(t *testing.T) {
	b, err := Marshal(map[string]string{"a": "<b>&"})
	if err != nil || string(b) != `{"a":"<b>&"}` {
		t.Errorf("%s, %v", b, err)
	}
	if b, err = Indent(b); err != nil || string(b) != "{\n  \"a\": \"<b>&\"\n}" {
		t.Errorf("%s, %v", b, err)
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{`{"a":[1]}`: "", ` 1 `: "", `{"a":1} x`: "after top-level value", `{"a":`: "unexpected end", `NaN`: "invalid character 'N'"} {
		err := Check([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// roundTrip writes a text as a JSON string and reads it back.
func roundTrip(t *testing.T, s string) {
	var back string
	text := AppendString(nil, s)
	if err := json.Unmarshal(text, &back); err != nil || !utf8.Valid(text) {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	if utf8.ValidString(s) && back != s || !strings.Contains(back, "\ufffd") && !utf8.ValidString(s) {
		t.Fatalf("%q came back as %q", s, back)
	}
	scan := Scanner{Doc: text}
	if got := scan.Text().String(); got != back || !scan.Done() {
		t.Fatalf("%q is scanned as %q", text, got)
	}
}

func TestStringEnd(t *testing.T) {
	for text, want := range map[string]int{`"a"b`: 3, `"\""`: 4, `"\\"x`: 4, `"open`: 5, `"open\`: 6, `""`: 2} {
		if got := StringEnd([]byte(text), 0); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
