package endpoint

// chatMember reads the choices of a chat answer.
func chatMember(d *jsonAnswer, s *scanner, key []byte) bool {
	if string(key) != "choices" {
		return false
	}
	if d.chunk.delta.set || d.chunk.message.set { // a second list of choices: the last one counts
		d.chunk.delta.reset()
		d.chunk.message.reset()
	}
	d.chunk.finish = text{}
	firstChoice(d, s, chatChoice)
	return true
}

func chatChoice(d *jsonAnswer, s *scanner, key []byte) {
	switch string(key) {
	case "delta":
		d.chunk.delta.read(s)
	case "message":
		d.chunk.message.read(s)
	case "finish_reason":
		d.chunk.finish = s.text()
	default:
		s.skip()
	}
}

// read reads a message or delta. Values of an unexpected kind are no data.
func (p *part) read(s *scanner) {
	if p.set {
		p.reset()
	}
	if !s.open('{') {
		s.skip()
		return
	}
	p.set = true
	for first := true; s.next('}', first); first = false {
		switch string(s.key()) {
		case "content":
			p.readContent(s)
		case "reasoning_content":
			p.reasoning = s.text()
		case "reasoning":
			p.thought = s.text()
		case "refusal":
			p.refusal = s.text()
		case "tool_calls":
			p.readCalls(s)
		case "function_call":
			c := call{}
			c.readFunction(s)
			p.tools = append(p.tools, c)
		case "audio":
			p.readAudio(s)
		default:
			s.skip()
		}
	}
}

// readContent reads a string, or the texts of a list of parts.
func (p *part) readContent(s *scanner) {
	p.content, p.parts = text{}, p.parts[:0]
	if s.kind() != '[' {
		p.content = s.text()
		return
	}
	s.open('[')
	for first := true; s.next(']', first); first = false {
		if !s.open('{') {
			s.skip()
			continue
		}
		var t text
		for first := true; s.next('}', first); first = false {
			if string(s.key()) == "text" {
				t = s.text()
			} else {
				s.skip()
			}
		}
		if !t.empty() {
			p.parts = append(p.parts, t)
		}
	}
}

func (p *part) readCalls(s *scanner) {
	p.tools = p.tools[:0]
	if !s.open('[') {
		s.skip()
		return
	}
	for first := true; s.next(']', first); first = false {
		c := call{index: len(p.tools)}
		if !s.open('{') {
			s.skip()
			continue
		}
		for first := true; s.next('}', first); first = false {
			switch string(s.key()) {
			case "index":
				if n, ok := number(s); ok {
					c.index = int(n)
				}
			case "id":
				c.id = s.text()
			case "type":
				c.kind = s.text()
			case "function":
				c.readFunction(s)
			default:
				s.skip()
			}
		}
		p.tools = append(p.tools, c)
	}
}

// readFunction reads name and arguments; arguments that are no string count as their compact JSON.
func (c *call) readFunction(s *scanner) {
	c.name, c.arguments = text{}, text{}
	if !s.open('{') {
		s.skip()
		return
	}
	for first := true; s.next('}', first); first = false {
		switch string(s.key()) {
		case "name":
			c.name = s.text()
		case "arguments":
			switch s.kind() {
			case '{', '[':
				c.arguments = text{raw: appendCompact(nil, s), set: true}
			default:
				c.arguments = s.text()
			}
		default:
			s.skip()
		}
	}
}

func (p *part) readAudio(s *scanner) {
	p.transcript, p.sound = text{}, false
	if !s.open('{') {
		s.skip()
		return
	}
	for first := true; s.next('}', first); first = false {
		switch string(s.key()) {
		case "transcript":
			p.transcript = s.text()
		case "data":
			p.sound = !s.text().empty()
		default:
			s.skip()
		}
	}
}
