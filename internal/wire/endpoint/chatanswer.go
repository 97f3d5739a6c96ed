package endpoint

import "aiperf/internal/base/jsontext"

// chatMember reads the choices of a chat answer.
func chatMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) == "metrics" {
		d.chunk.readDrafts(s)
		return true
	}
	if string(key) != "choices" {
		return false
	}
	if d.chunk.delta.set || d.chunk.message.set { // a second list of choices: the last one counts
		d.chunk.delta.reset()
		d.chunk.message.reset()
	}
	d.chunk.finish = jsontext.Text{}
	firstChoice(d, s, chatChoice)
	return true
}

func chatChoice(d *jsonAnswer, s *jsontext.Scanner, key []byte) {
	switch string(key) {
	case "delta":
		d.chunk.delta.read(s)
	case "message":
		d.chunk.message.read(s)
	case "finish_reason":
		d.chunk.finish = s.Text()
	case "speculative_decoding_stats": // of older servers
		d.chunk.keepDrafts(s)
	default:
		s.Skip()
	}
}

// read reads a message or delta. It ignores values of an unexpected type.
func (p *part) read(s *jsontext.Scanner) {
	if p.set {
		p.reset()
	}
	if !s.Open('{') {
		s.Skip()
		return
	}
	p.set = true
	for first := true; s.Next('}', first); first = false {
		switch string(s.Key()) {
		case "content":
			p.readContent(s)
		case "reasoning_content":
			p.reasoning = s.Text()
		case "reasoning":
			p.reasoningText = s.Text()
		case "refusal":
			p.refusal = s.Text()
		case "tool_calls":
			p.readCalls(s)
		case "function_call":
			c := call{}
			c.read(s, "arguments")
			p.tools = append(p.tools, c)
		case "audio":
			p.readAudio(s)
		default:
			s.Skip()
		}
	}
}

// readContent reads a string, or the texts of a list of parts. Parts may be thoughts (Mistral).
func (p *part) readContent(s *jsontext.Scanner) {
	p.content, p.parts, p.thoughts = jsontext.Text{}, p.parts[:0], jsontext.Text{}
	if s.Kind() != '[' {
		p.content = s.Text()
		return
	}
	s.Open('[')
	for first := true; s.Next(']', first); first = false {
		if !s.Open('{') {
			s.Skip()
			continue
		}
		var t jsontext.Text
		for first := true; s.Next('}', first); first = false {
			switch string(s.Key()) {
			case "text":
				t = s.Text()
			case "thinking":
				p.readThoughts(s)
			default:
				s.Skip()
			}
		}
		if !t.Empty() {
			p.parts = append(p.parts, t)
		}
	}
}

// readThoughts reads a string, or the texts of a list of parts, and appends them to the thoughts.
func (p *part) readThoughts(s *jsontext.Scanner) {
	thoughts := p.thoughts.Append(nil)
	if s.Kind() == '"' {
		thoughts = s.Text().Append(thoughts)
	} else {
		elements(s, func() {
			members(s, func(key string) {
				if key == "text" {
					thoughts = s.Text().Append(thoughts)
				} else {
					s.Skip()
				}
			})
		})
	}
	p.thoughts = jsontext.Text{Raw: thoughts, Set: true}
}

func (p *part) readCalls(s *jsontext.Scanner) {
	p.tools = p.tools[:0]
	if !s.Open('[') {
		s.Skip()
		return
	}
	for first := true; s.Next(']', first); first = false {
		c := call{index: len(p.tools)}
		if !s.Open('{') {
			s.Skip()
			continue
		}
		for first := true; s.Next('}', first); first = false {
			switch string(s.Key()) {
			case "index":
				if n, ok := number(s); ok {
					c.index = int(n)
				}
			case "id":
				c.id = s.Text()
			case "type":
				c.kind = s.Text()
			case "function":
				c.read(s, "arguments")
			case "custom":
				c.custom = true
				c.read(s, "input")
			default:
				s.Skip()
			}
		}
		p.tools = append(p.tools, c)
	}
}

// read reads the name and the arguments, which are in the member with a name. Arguments that are not a string count as their compact JSON.
func (c *call) read(s *jsontext.Scanner, arguments string) {
	c.name, c.arguments = jsontext.Text{}, jsontext.Text{}
	if !s.Open('{') {
		s.Skip()
		return
	}
	for first := true; s.Next('}', first); first = false {
		switch string(s.Key()) {
		case "name":
			c.name = s.Text()
		case arguments:
			switch s.Kind() {
			case '{', '[':
				c.arguments = jsontext.Text{Raw: jsontext.AppendCompact(nil, s), Set: true}
			default:
				c.arguments = s.Text()
			}
		default:
			s.Skip()
		}
	}
}

func (p *part) readAudio(s *jsontext.Scanner) {
	p.transcript, p.isAudio = jsontext.Text{}, false
	if !s.Open('{') {
		s.Skip()
		return
	}
	for first := true; s.Next('}', first); first = false {
		switch string(s.Key()) {
		case "transcript":
			p.transcript = s.Text()
		case "data":
			p.isAudio = !s.Text().Empty()
		default:
			s.Skip()
		}
	}
}
