package htmlgen

import "testing"

// TestMarkup: text and values of attributes never become markup; an attribute that is a switch; elements without an end; slots are filled once.
func TestMarkup(t *testing.T) {
	evil := `</p><img src="x" onerror='alert(1)'>&`
	safe := `&lt;/p&gt;&lt;img src=&#34;x&#34; onerror=&#39;alert(1)&#39;&gt;&amp;`
	for _, c := range []struct {
		got  Node
		want string
	}{
		{T("p", "", evil), "<p>" + safe + "</p>"},
		{T("p", "", "a\x1b[31m\u202eb\n"), `<p>a\x1b[31m\u202eb` + "\n</p>"},
		{T("p", "big", "a"), `<p class="big">a</p>`},
		{El("a", Attrs{"href", evil}, Text("x"), El("br", nil)), `<a href="` + safe + `">x<br></a>`},
		{El("input", Attrs{"hidden?", "yes", "disabled?", "", "value", ""}), `<input hidden value="">`},
		{If(false, "x") + If(true, "y"), "y"},
		{Each([]string{"a", "<"}, func(i int, s string) Node { return El("li", Attrs{"value", string(rune('0' + i))}, Text(s)) }), `<li value="0">a</li><li value="1">&lt;</li>`},
		{Node(Fill("<p>{{A}}</p>{{B}}", map[string]Node{"A": "{{B}}", "B": "b"})), "<p>{{B}}</p>b"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s\nwant %s", c.got, c.want)
		}
	}
}
