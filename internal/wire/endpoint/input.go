package endpoint

import "aiperf/internal/base/jsontext"

// inputTexts collects the texts of a request payload that count as input (endpoints, section 12).
type inputTexts struct {
	texts  []jsontext.Text
	last   []jsontext.Text // texts that follow all others (tool definitions)
	tokens int
	images int
}

// readInput reads a payload member by member.
func readInput(member func(x *inputTexts, s *jsontext.Scanner, key []byte) bool, payload []byte) (in Input) {
	var x inputTexts
	s := jsontext.Scanner{Doc: payload}
	if !s.Open('{') {
		return in
	}
	for first := true; s.Next('}', first); first = false {
		if !member(&x, &s, s.Key()) {
			s.Skip()
		}
	}
	if !s.Done() {
		return in
	}
	in.Tokens, in.Images = x.tokens, x.images
	x.texts = append(x.texts, x.last...)
	if all := x.texts; len(all) > 0 {
		in.Texts = make([]string, len(all))
		for i, t := range all {
			in.Texts[i] = t.String()
		}
	}
	return in
}

func (x *inputTexts) add(t jsontext.Text) {
	if t.Set {
		x.texts = append(x.texts, t)
	}
}

// elements calls visit for each element of a list; it skips a value of another type.
func elements(s *jsontext.Scanner, visit func()) {
	if !s.Open('[') {
		s.Skip()
		return
	}
	for first := true; s.Next(']', first); first = false {
		visit()
	}
}

// members calls visit for each member of an object; it skips a value of another type.
func members(s *jsontext.Scanner, visit func(key string)) {
	if !s.Open('{') {
		s.Skip()
		return
	}
	for first := true; s.Next('}', first); first = false {
		visit(memberName(s.Key()))
	}
}

// frequentNames are the names that nearly every payload or answer has.
var frequentNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{"role", "content", "text", "type", "prompt_tokens", "completion_tokens", "total_tokens"} {
		names[name] = name
	}
	return names
}()

// memberName returns a name as a string. It allocates nothing for frequent names.
func memberName(key []byte) string {
	if name, ok := frequentNames[string(key)]; ok {
		return name
	}
	return string(key)
}

// chatInput reads messages and tools. A payload in another format (a replayed completion) is read as a prompt.
func chatInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "messages":
		elements(s, func() { x.message(s) })
	case "tools":
		elements(s, func() { x.tool(s) })
	default:
		return promptInput(x, s, key)
	}
	return true
}

func (x *inputTexts) message(s *jsontext.Scanner) {
	var calls []jsontext.Text
	members(s, func(key string) {
		switch key {
		case "content":
			x.content(s)
		case "tool_calls":
			elements(s, func() { calls = append(calls, callTexts(s)...) })
		default:
			s.Skip()
		}
	})
	for _, t := range calls {
		x.add(t)
	}
}

// content reads a string or the texts of a list of parts, and counts the images.
func (x *inputTexts) content(s *jsontext.Scanner) {
	if s.Kind() == '"' {
		x.add(s.Text())
		return
	}
	elements(s, func() {
		if s.Kind() == '"' {
			x.add(s.Text())
			return
		}
		var t jsontext.Text
		members(s, func(key string) {
			switch key {
			case "text":
				t = s.Text()
			case "type":
				if k := s.Text(); string(k.Raw) == "image_url" || string(k.Raw) == "input_image" {
					x.images++
				}
			default:
				s.Skip()
			}
		})
		x.add(t)
	})
}

// callTexts returns the name and the arguments of a tool call.
func callTexts(s *jsontext.Scanner) []jsontext.Text {
	var c call
	members(s, func(key string) {
		switch key {
		case "function":
			c.read(s, "arguments")
		case "custom":
			c.read(s, "input")
		default:
			s.Skip()
		}
	})
	return present(c.name, c.arguments)
}

func present(list ...jsontext.Text) (out []jsontext.Text) {
	for _, t := range list {
		if !t.Empty() {
			out = append(out, t)
		}
	}
	return out
}

// tool reads a tool definition: its name, its description, and its parameters as compact JSON.
func (x *inputTexts) tool(s *jsontext.Scanner) {
	var name, description, parameters jsontext.Text
	read := func(key string) {
		switch key {
		case "name":
			name = s.Text()
		case "description":
			description = s.Text()
		case "parameters", "input_schema":
			parameters = jsontext.Text{Raw: jsontext.AppendCompact(nil, s), Set: true}
		default:
			s.Skip()
		}
	}
	members(s, func(key string) {
		if (key == "function" || key == "custom") && s.Kind() == '{' {
			members(s, read)
			return
		}
		read(key)
	})
	x.last = append(x.last, present(name, description, parameters)...)
}

// promptInput reads a prompt: a text, texts, token ids, or lists of token ids.
func promptInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "prompt" {
		return false
	}
	x.prompt(s)
	return true
}

func (x *inputTexts) prompt(s *jsontext.Scanner) {
	switch c := s.Kind(); {
	case c == '"':
		x.add(s.Text())
	case c == '[':
		elements(s, func() { x.prompt(s) })
	case digit(c):
		x.tokens++
		s.Skip()
	default:
		s.Skip()
	}
}

// embeddingsInput reads the texts to embed.
func embeddingsInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "input" {
		return false
	}
	x.prompt(s)
	return true
}

// rankingsInput reads query and passages, as plain texts or as objects with a text.
func rankingsInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "query":
		x.ranked(s)
	case "passages", "documents", "texts":
		elements(s, func() { x.ranked(s) })
	default:
		return false
	}
	return true
}

func (x *inputTexts) ranked(s *jsontext.Scanner) {
	if s.Kind() == '"' {
		x.add(s.Text())
		return
	}
	members(s, func(key string) {
		if key == "text" {
			x.add(s.Text())
		} else {
			s.Skip()
		}
	})
}
