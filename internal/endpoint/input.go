package endpoint

// inputTexts collects what a request payload holds of texts that count as input (endpoints, section 12).
type inputTexts struct {
	texts  []text
	last   []text // texts that come behind all others (tool definitions)
	tokens int
	images int
}

// readInput reads a payload member by member.
func readInput(member func(x *inputTexts, s *scanner, key []byte) bool, payload []byte) (in Input) {
	var x inputTexts
	s := scanner{b: payload}
	if !s.open('{') {
		return in
	}
	for first := true; s.next('}', first); first = false {
		if !member(&x, &s, s.key()) {
			s.skip()
		}
	}
	if !s.done() {
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

func (x *inputTexts) add(t text) {
	if t.set {
		x.texts = append(x.texts, t)
	}
}

// elements visits the elements of a list; a value of another kind is skipped.
func elements(s *scanner, visit func()) {
	if !s.open('[') {
		s.skip()
		return
	}
	for first := true; s.next(']', first); first = false {
		visit()
	}
}

// members visits the members of an object; a value of another kind is skipped.
func members(s *scanner, visit func(key string)) {
	if !s.open('{') {
		s.skip()
		return
	}
	for first := true; s.next('}', first); first = false {
		visit(string(s.key()))
	}
}

// chatInput reads messages and tools. A payload of another shape (a replayed completion) is read as a prompt.
func chatInput(x *inputTexts, s *scanner, key []byte) bool {
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

func (x *inputTexts) message(s *scanner) {
	var calls []text
	members(s, func(key string) {
		switch key {
		case "content":
			x.content(s)
		case "tool_calls":
			elements(s, func() { calls = append(calls, callTexts(s)...) })
		default:
			s.skip()
		}
	})
	for _, t := range calls {
		x.add(t)
	}
}

// content reads a string or the texts of a list of parts, and counts the images.
func (x *inputTexts) content(s *scanner) {
	if s.kind() == '"' {
		x.add(s.text())
		return
	}
	elements(s, func() {
		if s.kind() == '"' {
			x.add(s.text())
			return
		}
		var t text
		members(s, func(key string) {
			switch key {
			case "text":
				t = s.text()
			case "type":
				if k := s.text(); string(k.raw) == "image_url" || string(k.raw) == "input_image" {
					x.images++
				}
			default:
				s.skip()
			}
		})
		x.add(t)
	})
}

// callTexts gives name and arguments of a tool call.
func callTexts(s *scanner) []text {
	var c call
	members(s, func(key string) {
		if key == "function" {
			c.readFunction(s)
		} else {
			s.skip()
		}
	})
	return present(c.name, c.arguments)
}

func present(list ...text) (out []text) {
	for _, t := range list {
		if !t.empty() {
			out = append(out, t)
		}
	}
	return out
}

// tool reads a tool definition: its name, its description and its parameters as compact JSON.
func (x *inputTexts) tool(s *scanner) {
	var name, description, parameters text
	read := func(key string) {
		switch key {
		case "name":
			name = s.text()
		case "description":
			description = s.text()
		case "parameters", "input_schema":
			parameters = text{raw: appendCompact(nil, s), set: true}
		default:
			s.skip()
		}
	}
	members(s, func(key string) {
		if key == "function" && s.kind() == '{' {
			members(s, read)
			return
		}
		read(key)
	})
	x.last = append(x.last, present(name, description, parameters)...)
}

// promptInput reads a prompt: a text, texts, token ids, or lists of token ids.
func promptInput(x *inputTexts, s *scanner, key []byte) bool {
	if string(key) != "prompt" {
		return false
	}
	x.prompt(s)
	return true
}

func (x *inputTexts) prompt(s *scanner) {
	switch c := s.kind(); {
	case c == '"':
		x.add(s.text())
	case c == '[':
		elements(s, func() { x.prompt(s) })
	case isDigit(c):
		x.tokens++
		s.skip()
	default:
		s.skip()
	}
}

// embeddingsInput reads the texts to embed.
func embeddingsInput(x *inputTexts, s *scanner, key []byte) bool {
	if string(key) != "input" {
		return false
	}
	x.prompt(s)
	return true
}

// rankingsInput reads query and passages, as plain texts or as objects with a text.
func rankingsInput(x *inputTexts, s *scanner, key []byte) bool {
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

func (x *inputTexts) ranked(s *scanner) {
	if s.kind() == '"' {
		x.add(s.text())
		return
	}
	members(s, func(key string) {
		if key == "text" {
			x.add(s.text())
		} else {
			s.skip()
		}
	})
}
