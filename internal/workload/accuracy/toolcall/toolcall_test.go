package toolcall

import (
	"strings"
	"testing"
)

const functions = `[
 {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}, "x": {"type": "float"}, "s": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}},
  "t": {"type": "tuple", "items": {"type": "integer"}}, "d": {"type": "dict"}, "ds": {"type": "array", "items": {"type": "dict"}}, "b": {"type": "boolean"}}, "required": ["n"]}},
 {"name": "a.g", "parameters": {"properties": {"n": {"type": "integer"}}, "required": []}}]`

// TestPython: rules of the checker with their negatives.
func TestPython(t *testing.T) {
	one := `[{"f": {"n": [1, 2], "x": ["", 2.0], "s": ["", "April 1, 2024", "v"], "l": ["", ["a b", "c"]], "t": ["", [1, 2]], "d": ["", {"k": [1, "one"], "o": [2, ""]}],
	  "ds": ["", [{"k": ["v"]}]], "b": ["", true]}}]`
	for _, c := range []struct {
		category, answers, answer, begins string
		unparsed                          bool
	}{
		{"simple_python", one, "[f(n=1)]", Correct, false},
		{"simple_python", one, "f(n=2)", Correct, false},
		{"simple_python", one, "```[f(n=1)]```", Correct, false},
		{"simple_python", one, "[f(n=1, x=2)]", Correct, false}, // a whole number for a float
		{"simple_python", one, "[f(n=1.0)]", WrongType, false},
		{"simple_python", one, "[f(n=True)]", WrongType, false},
		{"simple_python", one, "[f(n='1')]", WrongType, false},
		{"simple_python", one, "[f(n=3)]", WrongValue, false},
		{"simple_python", one, "[f(n=1 + 1)]", Correct, false},
		{"simple_python", one, "[f(n=2**3 - 7 % 4 * 2)]", Correct, false},
		{"simple_python", one, "[f(x=2.0)]", WrongValue, false},              // a required one is missing
		{"simple_python", one, "[f(n=1, more=2)]", WrongValue, false},        // no such argument
		{"simple_python", one, "[f(1)]", WrongValue, false},                  // without a name
		{"simple_python", one, "[f(n=1, s='april 1 2024')]", Correct, false}, // case, blanks and punctuation do not count
		{"simple_python", one, "[f(n=1, s='april 2 2024')]", WrongValue, false},
		{"simple_python", one, "[f(n=1, s=v)]", Correct, false}, // a variable is its name
		{"simple_python", one, "[f(n=1, l=['A-b', 'c'])]", Correct, false},
		{"simple_python", one, "[f(n=1, l=['c', 'a b'])]", WrongValue, false},
		{"simple_python", one, "[f(n=1, l=[1, 'c'])]", WrongValue, false}, // where one is optional, types of elements are not looked at,
		{"simple_python", one, "[f(n=1, t=(1, 2))]", Correct, false},
		{"simple_python", one, "[f(n=1, t=(2, 1))]", WrongValue, false},
		{"simple_python", one, "[f(n=1, d={'k': 'ONE'})]", Correct, false},
		{"simple_python", one, "[f(n=1, d={'k': 1, 'o': 2})]", Correct, false},
		{"simple_python", one, "[f(n=1, d={'o': 2})]", WrongValue, false},
		{"simple_python", one, "[f(n=1, d={'k': 1, 'z': 2})]", WrongValue, false},
		{"simple_python", one, "[f(n=1, ds=[{'k': 'v'}])]", Correct, false},
		{"simple_python", one, "[f(n=1, ds=[])]", WrongValue, false},
		{"simple_python", one, "[f(n=1, b=True)]", Correct, false},
		{"simple_python", one, "[f(n=1, b=1)]", WrongType, false},
		{"simple_python", one, "[g(n=1)]", WrongTool, false},
		{"simple_python", one, "[f(n=1), f(n=1)]", WrongTool, false},
		{"simple_python", one, "[]", CallWanted, false},
		{"simple_python", one, "I call [f(n=1)]", Unparsed, true},
		{"simple_python", one, "[f(n=1]", Unparsed, true},
		{"simple_python", one, "[f(n=1, n=1)]", Unparsed, true},
		{"simple_python", one, "[f(n=f'x')]", Unparsed, true},
		{"simple_python", one, "[f(n=a.b)]", Unparsed, true},
		{"simple_python", one, "", CallWanted, false},
		{"simple_python", `[{"f": {"n": [1], "l": [["a"]]}}]`, "[f(n=1, l=[1])]", WrongType, false},
		{"simple_python", `[{"f": {"n": [1], "s": ["x"]}}]`, "[f(n=1)]", WrongValue, false}, // not marked as optional
		{"parallel_multiple", `[{"f": {"n": [1]}}, {"a.g": {"n": [2]}}]`, "[a.g(n=2), f(n=1)]", Correct, false},
		{"parallel", `[{"f": {"n": [1]}}, {"f": {"n": [2]}}]`, "[f(n=2), f(n=1)]", Correct, false},
		{"parallel", `[{"f": {"n": [1]}}, {"f": {"n": [2]}}]`, "[f(n=2), f(n=2)]", WrongValue, false},
		{"parallel", `[{"f": {"n": [1]}}, {"f": {"n": [2]}}]`, "[f(n=2)]", WrongTool, false},
		{"irrelevance", `null`, "No function fits.", Correct, false},
		{"irrelevance", `null`, "[]", Correct, false},
		{"irrelevance", `null`, "[f(n=1)]", NoCallWanted, false},
		{"irrelevance", `null`, " \n", Unparsed, true},
		{"live_relevance", `null`, "[g(n=9)]", Correct, false},
		{"live_relevance", `null`, "Which one?", CallWanted, false},
	} {
		g, err := ReadGold(`{"category": "` + c.category + `", "functions": ` + functions + `, "answers": ` + c.answers + `}`)
		if err != nil {
			t.Fatal(err)
		}
		passed, unparsed, why := g.Judge(c.answer)
		wantPass := c.begins == Correct || c.category == "irrelevance" && c.unparsed
		if passed != wantPass || unparsed != c.unparsed || !strings.HasPrefix(why, c.begins) {
			t.Errorf("%s %s: %v %v %q, want %s", c.category, c.answer, passed, unparsed, why, c.begins)
		}
	}
}

// TestScripts: values of Java and JavaScript are read as the types that are described.
func TestScripts(t *testing.T) {
	for _, c := range []struct{ category, kind, items, allowed, value, begins string }{
		{"simple_java", "integer", "", `[5]`, "5", Correct},
		{"simple_java", "integer", "", `[5]`, "5L", WrongType},
		{"simple_java", "long", "", `[5]`, "5L", Correct},
		{"simple_java", "long", "", `[5]`, "5", WrongType},
		{"simple_java", "float", "", `[0.5]`, "0.5f", Correct},
		{"simple_java", "float", "", `[0.5]`, "0.5", WrongType},
		{"simple_java", "double", "", `[0.5]`, "5e-1", Correct},
		{"simple_java", "boolean", "", `[true]`, "true", Correct},
		{"simple_java", "boolean", "", `[true]`, "True", WrongType},
		{"simple_java", "String", "", `["a, b"]`, `"a, b"`, Correct},
		{"simple_java", "any", "", `["ctx.get"]`, "ctx.get", Correct},
		{"simple_java", "ArrayList", "integer", `[[1, 2]]`, "new ArrayList<Integer>(Arrays.asList(1, 2))", Correct},
		{"simple_java", "ArrayList", "integer", `[[1, 2]]`, "new ArrayList<>() {{ add(1); add(2); }}", Correct},
		{"simple_java", "Array", "String", `[["x", "y"]]`, `new String[]{"x", "y"}`, Correct},
		{"simple_java", "Array", "integer", `[[1]]`, `new int[]{2}`, WrongValue},
		{"simple_java", "HashMap", "", `[{"k": [1]}]`, `new HashMap<String, Object>() {{ put("k", 1); }}`, Correct},
		{"simple_java", "HashMap", "", `[{"k": [1]}]`, `new HashMap<String, Object>() {{ put("k", 2); }}`, WrongValue},
		{"simple_javascript", "Bigint", "", `[5]`, "5n", Correct},
		{"simple_javascript", "Bigint", "", `[5]`, "5", WrongType},
		{"simple_javascript", "float", "", `[2.5]`, "2.5", Correct},
		{"simple_javascript", "Boolean", "", `[false]`, "false", Correct},
		{"simple_javascript", "array", "String", `[["a", "b"]]`, `["a", 'b']`, Correct},
		{"simple_javascript", "array", "integer", `[[1]]`, "new Array(1)", Correct},
		{"simple_javascript", "dict", "", `[{"k": ["v"], "n": [[1]]}]`, `{"k": "v", n: [1]}`, Correct},
		{"simple_javascript", "dict", "", `[{"k": ["v"]}]`, `{"k": "w"}`, WrongValue},
	} {
		items := ""
		if c.items != "" {
			items = `, "items": {"type": "` + c.items + `"}`
		}
		g, err := ReadGold(`{"category": "` + c.category + `", "functions": [{"name": "F.g", "parameters": {"properties": {"p": {"type": "` + c.kind + `"` + items + `}}, "required": ["p"]}}],
			"answers": [{"F.g": {"p": ` + c.allowed + `}}]}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, why := g.Judge("[F.g(p=" + c.value + ")]"); !strings.HasPrefix(why, c.begins) {
			t.Errorf("%s %s: %q, want %s", c.kind, c.value, why, c.begins)
		}
	}
	for _, text := range []string{"F.g(p=1", "F.g(p=1))", "1 + 1", `F.g(p="x)`, "F.g(p=1, p=2)", ""} {
		if calls, err := Parse(text, "java"); err == nil {
			t.Errorf("%q: %v", text, calls)
		}
	}
}

// FuzzParse: any text is calls or an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"[f(a=1)]", `f(a={"b": (1, "\x41\u00e9")})[0]`, "F.g(p=new HashMap<String, Object>() {{ put(\"k\", 1); }})", "[[[", `f(a=2**9//0)`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, language := range []string{"python", "java", "javascript"} {
			calls, err := Parse(text, language)
			if err != nil && calls != nil {
				t.Errorf("%s: calls and an error", language)
			}
		}
		for _, kind := range []string{"HashMap", "ArrayList", "long"} {
			_ = show(scriptValue("java", text, kind, "String"))
		}
		_ = show(scriptValue("javascript", text, "dict", ""))
	})
}
